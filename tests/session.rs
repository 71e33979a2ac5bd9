//! A sink's session from its first run to its last: who is counted when, what ends it, and what it says of frames that it
//! does not take.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sys::signal::Signal;
use std::process::Command;
use std::time::Duration;
use support::{End, NetLab, Report, Running, only, reports, sink};

const RUN: Duration = Duration::from_secs(30);
const JSON: [&str; 2] = ["--json", "--quiet"];
/// A run of a quarter of a second.
const SHORT: [&str; 4] = ["--count", "5000", "--rate", "20kpps"];

fn start(lab: &NetLab, end: End, subcommand: &str, args: &[&str]) -> Running {
    lab.start(end, subcommand, &[&JSON, args].concat())
}

/// Runs tx to its end and gives its Report.
fn send(lab: &NetLab, args: &[&str]) -> Report {
    only(&reports(&start(lab, End::A, "tx", args).wait(RUN).expect_code(0)))
}

/// The Reports of a sink that Ctrl-C ends.
fn interrupted(rx: Running) -> Vec<Report> {
    reports(&rx.interrupt(RUN).expect_code(0))
}

fn interval_frames(report: &Report) -> u64 {
    report.at("/intervals").as_array().unwrap().iter().map(|row| row["frames"].as_u64().unwrap()).sum()
}

/// One balanced Report a run, each of its own sender.
fn check_runs(sent: &[Report], received: &[Report]) {
    assert_eq!(sent.len(), received.len(), "{received:?}");
    for (tx, rx) in sent.iter().zip(received) {
        rx.check_full_books();
        assert_eq!(tx.text("/id"), rx.text("/id"));
        assert_eq!(tx.known("completed"), rx.known("completed"), "{rx}");
        assert_eq!((rx.known("unexplained"), rx.known("duplicate")), (0, 0), "{rx}");
        assert_eq!(rx.known("rejected"), 0, "{rx}");
        assert_eq!(interval_frames(rx), rx.known("probes"), "{rx}");
    }
    // The time in which the sink waited is no part of a run: it is at work for a frame at most all the time.
    for rx in received {
        let (cost, pps) =
            (rx.at("/cpu/ns_per_frame").as_f64().unwrap(), rx.at("/rates/pps").as_f64().unwrap());
        assert!(cost > 0.0 && cost < 1.1e9 / pps, "{rx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn runs_in_a_row_each_have_a_balanced_report() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let sent: Vec<Report> = (0..3).map(|_| send(&lab, &SHORT)).collect();
    check_runs(&sent, &interrupted(rx));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_started_again_under_the_same_tag_is_another_run() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &["--run-tag", "7"]);
    let sent: Vec<Report> = (0..2).map(|_| send(&lab, &[&SHORT[..], &["--run-tag", "7"]].concat())).collect();
    check_runs(&sent, &interrupted(rx));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_that_came_late_does_not_know_what_was_lost() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    let tx = start(&lab, End::A, "tx", &["--dst-mac", &mac, "--duration", "2", "--rate", "5kpps"]);
    lab.wait_for_frames(End::B, 1_000);
    let rx = sink(&lab, &[]);
    let sent = only(&reports(&tx.wait(RUN).expect_code(0)));
    let rx = only(&interrupted(rx));
    rx.check_books();
    assert_eq!(rx.known("completed"), sent.known("completed"), "{rx}");
    assert_eq!((rx.term("lost"), rx.term("unexplained")), (None, None), "{rx}");
    assert!(rx.text("/balance/lost_absent").contains("START"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_that_ends_under_traffic_agrees_with_its_device() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    let tx = start(&lab, End::A, "tx", &["--dst-mac", &mac, "--duration", "60", "--rate", "50kpps"]);
    lab.wait_for_frames(End::B, 1_000);
    let finished = start(&lab, End::B, "rx", &["--duration", "1"]).wait(RUN).expect_code(0);
    let rx = only(&reports(&finished));
    tx.interrupt(RUN).expect_code(0);
    rx.check_books();
    assert!(rx.known("probes") > 0 && !rx.has_finding("device-disagrees"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn count_duration_and_idle_timeout_end_a_sink() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &["--count", "5000"]);
    send(&lab, &SHORT);
    let rx = only(&reports(&rx.wait(RUN).expect_code(0)));
    rx.check_full_books();
    assert_eq!((rx.known("probes"), rx.known("lost")), (5_000, 0), "{rx}");

    let rx = sink(&lab, &["--idle-timeout", "300ms"]);
    std::thread::sleep(Duration::from_millis(600));
    send(&lab, &SHORT);
    let rx = only(&reports(&rx.wait(RUN).expect_code(0)));
    rx.check_full_books();
    assert_eq!(rx.known("unique"), 5_000, "{rx}");

    let nothing = start(&lab, End::B, "rx", &["--duration", "300ms"]).wait(RUN).expect_code(1);
    assert!(only(&reports(&nothing)).has_finding("nothing-received"), "{nothing:?}");
}

/// `ip link set IF up|down` at one end.
fn set(lab: &NetLab, end: End, state: &str) {
    let args = ["-n", lab.namespace(end), "link", "set", end.interface(), state];
    assert!(Command::new("ip").args(args).status().unwrap().success());
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_link_that_is_lost_is_told_and_sending_goes_on() {
    // The far end first: the kernel completes frames without sending them, and the socket does not notice.
    for end in [End::B, End::A] {
        let Some(lab) = NetLab::new(1) else { return };
        let mac = lab.mac(End::B);
        let tx = start(&lab, End::A, "tx", &["--dst-mac", &mac, "--duration", "2", "--rate", "10kpps"]);
        lab.wait_for_frames(End::B, 1_000);
        set(&lab, end, "down");
        std::thread::sleep(Duration::from_millis(300));
        set(&lab, end, "up");
        let tx = only(&reports(&tx.wait(RUN).expect_code(1)));
        tx.check_full_books();
        assert!(tx.has_finding("link-lost") && !tx.has_finding("system"), "{tx}");
        assert!(tx.known("completed") > 10_000, "{tx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_whose_interface_goes_says_so() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    lab.run(End::B, "ip", &["link", "delete", "v1"]);
    let gone = only(&reports(&rx.wait(RUN).expect_code(1)));
    assert!(gone.has_finding("interface-gone"), "{gone}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_signal_ends_what_has_not_begun() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    for args in [&["--dst-mac", &mac, "--settle", "60"][..], &[]] {
        let mut tx = start(&lab, End::A, "tx", args);
        std::thread::sleep(Duration::from_millis(500));
        assert!(tx.is_running());
        tx.signal(Signal::SIGTERM);
        let finished = tx.wait(Duration::from_secs(1)).expect_code(1);
        assert!(finished.stderr.contains("[interrupted]") && finished.stdout.is_empty(), "{finished:?}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn two_queues_of_one_core_make_one_row_of_cpu() {
    let Some(lab) = NetLab::new(2) else { return };
    let mac = lab.mac(End::B);
    let args = ["--dst-mac", &mac, "--queues", "0-1", "--cores", "0"];
    let tx = send(&lab, &[&args[..], &SHORT].concat());
    tx.check_full_books();
    let rows = |pointer| tx.at(pointer).as_array().unwrap().len();
    assert_eq!((rows("/cpu/cores"), rows("/setup/cores"), rows("/queues")), (1, 1, 2), "{tx}");
}
