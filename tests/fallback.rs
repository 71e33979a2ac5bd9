//! A native program whose redirected frames reach no socket: the sink notices, and takes generic XDP within
//! the run or, where native was demanded, ends with the reason.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use serde_json::Value;
use std::process::Command;
use std::time::Duration;
use support::{End, NetLab, Report, Running, only, reports, until};

const RUN: Duration = Duration::from_secs(30);
/// A run of two seconds.
const LONG: [&str; 4] = ["--duration", "2", "--rate", "20kpps"];

/// A sink on both queues that says that it is ready.
fn sink(lab: &NetLab, args: &[&str]) -> Running {
    let rx = lab.start(End::B, "rx", &[&["--json", "--queues", "0-1"], args].concat());
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    rx
}

/// Makes a sink's two sockets change places behind its back.
fn deafen(lab: &NetLab, rx: &Running) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fallback/swap_sockets.py");
    let done = Command::new("python3")
        .args([script, &rx.pid().to_string(), &xskmap(lab).to_string()])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A sink that was deaf before the first frame came.
fn deaf_sink(lab: &NetLab, args: &[&str]) -> Running {
    let rx = sink(lab, args);
    deafen(lab, &rx);
    // Longer than an END may be under way: then the sink knows that it has listened since before the run
    // began.
    std::thread::sleep(Duration::from_millis(400));
    rx
}

fn bpftool(args: &[&str]) -> Value {
    let done = Command::new("bpftool").arg("-j").args(args).output().unwrap();
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The id of the XSKMAP of the program on the receiving end.
fn xskmap(lab: &NetLab) -> u64 {
    let program = lab.programs(End::B)[0]["id"].as_u64().unwrap().to_string();
    let program = bpftool(&["prog", "show", "id", &program]);
    let ids = program["map_ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap());
    let is_xskmap = |id: &u64| bpftool(&["map", "show", "id", &id.to_string()])["type"] == "xskmap";
    ids.into_iter().find(is_xskmap).unwrap()
}

fn send(lab: &NetLab, args: &[&str]) -> Report {
    let tx = lab.start(End::A, "tx", &[&["--json", "--quiet"], args].concat());
    only(&reports(&tx.wait(RUN).expect_code(0)))
}

fn severity<'r>(report: &'r Report, code: &str) -> Option<&'r str> {
    let findings = report.at("/findings").as_array().unwrap();
    findings.iter().find(|finding| finding["code"] == code)?["severity"].as_str()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_redirect_that_reaches_no_socket_is_replaced_within_the_run() {
    let Some(lab) = NetLab::new(2) else { return };
    let mac = lab.mac(End::B);
    let rx = deaf_sink(&lab, &[]);
    let tx = send(&lab, &[&LONG[..], &["--dst-mac", &mac, "--queues", "0-1", "--flows", "8"]].concat());
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
    assert_eq!(severity(&rx, "redirect-silent"), Some("warn"), "{rx}");
    assert_eq!((rx.text("/setup/xdp_mode"), rx.text("/setup/xsk_mode")), ("generic", "copy"), "{rx}");
    rx.check_full_books();
    assert_eq!(rx.known("completed"), tx.known("completed"), "{rx}");
    // It took a quarter of a second to notice, and another moment to change.
    assert!(rx.known("lost") > 1_000 && rx.known("unique") > 1_000, "{rx}");
    assert_eq!((rx.known("duplicate"), rx.known("late")), (0, 0), "{rx}");
    // veth throws away what is in its rings (256 frames each) when a program leaves it, and does not count
    // them.
    assert!(rx.known("unexplained") <= 512, "{rx}");
    for code in ["no-socket", "device-disagrees", "link-lost", "end-missing", "books-unbalanced"] {
        assert_eq!(severity(&rx, code), None, "{code}: {rx}");
    }
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_that_asks_finds_the_sink_once_it_has_fallen_back() {
    let Some(lab) = NetLab::new(2) else { return };
    let rx = deaf_sink(&lab, &[]);
    let tx = send(&lab, &["--count", "5000", "--rate", "20kpps"]);
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
    rx.check_full_books();
    assert!(rx.has_finding("redirect-silent"), "{rx}");
    assert_eq!((tx.known("completed"), rx.known("unique"), rx.known("lost")), (5_000, 5_000, 0), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn where_native_was_demanded_the_run_ends_with_the_reason() {
    let Some(lab) = NetLab::new(2) else { return };
    let mac = lab.mac(End::B);
    let rx = deaf_sink(&lab, &["--xdp-mode", "native"]);
    let tx = lab.start(End::A, "tx", &["--dst-mac", &mac, "--duration", "60", "--rate", "20kpps", "--quiet"]);
    let rx = rx.wait(Duration::from_secs(10)).expect_code(1);
    assert!(rx.stderr.contains("[redirect-silent]") || rx.stdout.contains("redirect-silent"), "{rx:?}");
    let rx = only(&reports(&rx));
    rx.check_books();
    assert_eq!(severity(&rx, "redirect-silent"), Some("fail"), "{rx}");
    assert_eq!((rx.text("/setup/xdp_mode"), rx.known("received")), ("native", 0), "{rx}");
    assert!(rx.known("kernel_drops") > 1_000 && !rx.has_finding("nothing-received"), "{rx}");
    tx.interrupt(RUN);
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_redirect_that_ceases_to_work_is_told_at_the_end() {
    let Some(lab) = NetLab::new(2) else { return };
    let rx = sink(&lab, &[]);
    let tx = lab.start(End::A, "tx", &["--json", "--quiet", "--duration", "60", "--rate", "20kpps"]);
    lab.wait_for_frames(End::B, 2_000);
    deafen(&lab, &rx);
    lab.wait_for_frames(End::B, 5_000);
    tx.interrupt(RUN);
    std::thread::sleep(Duration::from_millis(400));
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(1)));
    rx.check_books();
    assert_eq!(severity(&rx, "redirect-silent"), Some("fail"), "{rx}");
    // The END is one of the frames that did not come.
    assert!(rx.term("lost").is_none() && rx.has_finding("end-missing"), "{rx}");
    assert!(rx.known("unique") > 500 && rx.known("kernel_drops") > 4_000, "{rx}");
}
