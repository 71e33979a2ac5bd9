//! What a sender and a scheduler do to a sink, and a link and strangers in the files beside: its Report stays
//! true and says what happened.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

#[path = "sink_faults/link.rs"]
mod link;
#[path = "sink_faults/strangers.rs"]
mod strangers;

use nix::sys::signal::Signal;
use std::thread::sleep;
use std::time::Duration;
use support::{End, Finished, NetLab, Report, Running, only, reports, sink, until, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
/// A run of a quarter of a second.
const SHORT: [&str; 4] = ["--count", "5000", "--rate", "20kpps"];
fn sender(lab: &NetLab, args: &[&str]) -> Running {
    lab.start(End::A, "tx", &[&["--json", "--quiet"], args].concat())
}

/// The only Report of a sender, which ends with `code`.
fn sent(tx: Running, code: i32) -> Report {
    only(&reports(&tx.wait(RUN).expect_code(code)))
}

/// The only Report of a sink that Ctrl-C ends, and that exits with `code`.
fn interrupted(rx: Running, code: i32) -> Report {
    only(&reports(&rx.interrupt(RUN).expect_code(code)))
}

fn severity<'r>(report: &'r Report, code: &str) -> Option<&'r str> {
    let findings = report.at("/findings").as_array().unwrap();
    findings.iter().find(|finding| finding["code"] == code)?["severity"].as_str()
}

/// Fails unless the sink has heard all that was sent, and knows where the rest is.
fn check_pair(tx: &Report, rx: &Report) {
    rx.check_full_books();
    assert_eq!((rx.text("/id"), rx.known("completed")), (tx.text("/id"), tx.known("completed")), "{rx}");
    assert_eq!((rx.known("unexplained"), rx.known("duplicate"), rx.known("late")), (0, 0, 0), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_that_was_killed_leaves_a_finding() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let tx = sender(&lab, &["--duration", "60", "--rate", "10kpps"]);
    lab.wait_for_frames(End::B, 2_000);
    tx.kill();
    sleep(Duration::from_millis(400));
    let rx = interrupted(rx, 0);
    rx.check_books();
    assert_eq!(severity(&rx, "end-missing"), Some("warn"), "{rx}");
    assert!(rx.text("/balance/lost_absent").contains("END"), "{rx}");
}

/// Stops a process while `busy` runs.
fn stopped(running: &Running, busy: impl FnOnce()) {
    running.signal(Signal::SIGSTOP);
    busy();
    running.signal(Signal::SIGCONT);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_that_was_stopped_while_its_sender_ended_still_learns_the_total() {
    let Some(lab) = NetLab::new(1) else { return };
    // The ring is full at once, and every END of the first tenth of a second is lost.
    let rx = sink(&lab, &["--ring", "64"]);
    let before = lab.rx_packets(End::B);
    let tx = sender(&lab, &["--count", "20000", "--rate", "50kpps"]);
    lab.wait_for_frames(End::B, 5_000);
    stopped(&rx, || {
        let all = || lab.rx_packets(End::B) >= before + 20_000;
        until("the sender to end", Duration::from_secs(15), all);
        sleep(Duration::from_millis(250));
    });
    let tx = sent(tx, 0);
    let rx = interrupted(rx, 0);
    check_pair(&tx, &rx);
    assert!(rx.known("lost") > 1_000, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_is_prompt_though_its_sink_has_stopped() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let tx = sender(&lab, &["--duration", "60", "--rate", "1kpps"]);
    lab.wait_for_frames(End::B, 200);
    stopped(&rx, || {
        let tx = tx.interrupt(RUN).expect_code(0);
        assert!(tx.took < Duration::from_secs(1), "{:?}", tx.took);
        only(&reports(&tx)).check_full_books();
    });
    // The ENDs lie in its ring.
    let rx = interrupted(rx, 0);
    rx.check_full_books();
    assert_eq!((rx.known("lost"), severity(&rx, "end-missing")), (0, None), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_loss_of_a_sink_that_was_stopped_under_load_is_the_kernels() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &["--idle-timeout", "1"]);
    let tx = sender(&lab, &["--duration", "4", "--rate", "50kpps"]);
    lab.wait_for_frames(End::B, 20_000);
    stopped(&rx, || sleep(Duration::from_secs(2)));
    let tx = sent(tx, 0);
    let rx = only(&reports(&rx.wait(RUN).expect_code(0)));
    check_pair(&tx, &rx);
    // Two seconds' worth, less what the rings hold: as a rule more than the window of the sequence numbers.
    assert!(rx.known("lost") > 20_000 && rx.known("lost") == rx.known("kernel_drops"), "{rx}");
    assert_eq!(severity(&rx, "receiver-slow"), Some("warn"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_with_another_clock_has_exact_books_and_no_latency() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let mut elsewhere = lab.command(End::A, "unshare");
    elsewhere.args(["--time", "--monotonic", "1000", "--fork", "--kill-child", xsk_gen()]);
    let tx = Running::start(elsewhere.args(["tx", "--iface", "v0", "--json", "--quiet"]).args(SHORT));
    let tx = sent(tx, 0);
    let rx = interrupted(rx, 0);
    check_pair(&tx, &rx);
    assert!(rx.at("/latency_ns").is_null() && rx.text("/latency_absent").contains("clock"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_that_is_stopped_under_full_load_is_prompt_and_leaves_nothing() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let tx = sender(&lab, &["--duration", "60"]);
    lab.wait_for_frames(End::B, 100_000);
    let finished: Finished = rx.interrupt(RUN).expect_code(0);
    assert!(finished.took < Duration::from_secs(1), "{:?}", finished.took);
    let rx = only(&reports(&finished));
    rx.check_books();
    assert!(rx.text("/balance/lost_absent").contains("before the sender"), "{rx}");
    assert_eq!((severity(&rx, "end-missing"), severity(&rx, "books-unbalanced")), (None, None), "{rx}");
    until("the program to be gone", Duration::from_secs(2), || lab.programs(End::B).is_empty());
    tx.interrupt(RUN);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn generic_mode_takes_many_times_more_frames_than_its_rings_hold() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &["--xdp-mode", "generic", "--ring", "64", "--frames", "128"]);
    let tx = sent(sender(&lab, &["--count", "20000", "--rate", "20kpps"]), 0);
    let rx = interrupted(rx, 0);
    check_pair(&tx, &rx);
    assert_eq!((rx.text("/setup/xdp_mode"), rx.text("/setup/xsk_mode")), ("generic", "copy"), "{rx}");
    assert!(rx.known("unique") > 10_000, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn by_default_every_queue_is_served_and_each_tells_its_share() {
    let Some(lab) = NetLab::new(2) else { return };
    let rx = sink(&lab, &[]);
    let tx = sent(sender(&lab, &[&SHORT[..], &["--queues", "0-1", "--flows", "8"]].concat()), 0);
    let rx = interrupted(rx, 0);
    check_pair(&tx, &rx);
    let shares = rx.frames_by_queue();
    assert!(shares.len() == 2 && shares.iter().all(|frames| *frames > 1_000), "{shares:?}");
}
