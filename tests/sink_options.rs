//! What a sink takes and what it leaves: tags, ports, queues, stacks, and frames that are counted only.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sys::signal::Signal;
use serde_json::Value;
use std::time::Duration;
use support::{End, NetLab, Report, Running, only, reports, sink};

const RUN: Duration = Duration::from_secs(30);
const PROMPT: Duration = Duration::from_secs(1);
/// A run of a quarter of a second.
const SHORT: [&str; 4] = ["--count", "5000", "--rate", "20kpps"];

fn sender(lab: &NetLab, args: &[&str]) -> Running {
    lab.start(End::A, "tx", &[&["--json", "--quiet"], args].concat())
}

/// Runs tx to its end and gives its Report.
fn send(lab: &NetLab, args: &[&str]) -> Report {
    only(&reports(&sender(lab, args).wait(RUN).expect_code(0)))
}

/// The only Report of a sink that Ctrl-C ends.
fn interrupted(rx: Running) -> Report {
    only(&reports(&rx.interrupt(RUN).expect_code(0)))
}

/// Frames rejected as those of another run.
fn other_run(rx: &Report) -> u64 {
    rx.at("/balance/rejected").get("other_run").map_or(0, |n| n.as_u64().unwrap())
}

/// A short run from `tx` to `rx`, whose books must balance with nothing lost in silence.
fn check_pair(lab: &NetLab, tx: &[&str], rx: &[&str]) -> (Report, Report) {
    let running = sink(lab, rx);
    let tx = send(lab, &[&SHORT[..], tx].concat());
    let rx = interrupted(running);
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!((tx.known("completed"), rx.known("completed")), (5_000, 5_000), "{rx}");
    assert_eq!((rx.known("unexplained"), rx.known("rejected")), (0, 0), "{rx}");
    (tx, rx)
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_second_sender_is_rejected_as_another_run() {
    let Some(lab) = NetLab::new(2) else { return };
    let rx = sink(&lab, &[]);
    let first = sender(&lab, &["--queues", "0", "--duration", "60", "--rate", "5kpps"]);
    lab.wait_for_frames(End::B, 1_000);
    let second = send(&lab, &[&SHORT[..], &["--queues", "1"]].concat());
    let first = only(&reports(&first.interrupt(RUN).expect_code(0)));
    let rx = interrupted(rx);
    rx.check_full_books();
    assert_eq!((rx.text("/id"), rx.known("completed")), (first.text("/id"), first.known("completed")));
    assert_eq!(rx.known("unexplained"), 0, "{rx}");
    let lost_of_second = rx.known("kernel_drops");
    assert!(second.known("completed") - other_run(&rx) <= lost_of_second, "{rx}");
    assert!(rx.has_finding("other-run"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_demanded_tag_keeps_all_others_out() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &["--run-tag", "7"]);
    send(&lab, &[&SHORT[..], &["--run-tag", "8"]].concat());
    let sent = send(&lab, &[&SHORT[..], &["--run-tag", "7"]].concat());
    let rx = interrupted(rx);
    rx.check_full_books();
    assert_eq!((rx.text("/id"), rx.known("unique")), (sent.text("/id"), 5_000), "{rx}");
    assert_eq!(other_run(&rx), 5_000, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn count_only_counts_and_redirects_nothing() {
    let Some(lab) = NetLab::new(2) else { return };
    let rx = sink(&lab, &["--count-only"]);
    let tx = send(&lab, &[&SHORT[..], &["--queues", "0-1", "--flows", "8"]].concat());
    let rx = interrupted(rx);
    rx.check_books();
    assert_eq!((rx.known("probes"), rx.known("completed")), (tx.known("completed"), 5_000), "{rx}");
    assert!(rx.known("control") >= 4, "three STARTs and an END at least: {rx}");
    assert_eq!((rx.counter("xdp.redirected"), rx.counter("xdp.counted")), (0, 5_000), "{rx}");
    assert_eq!(rx.text("/setup/xsk_mode"), "none");
    assert_eq!(rx.term("lost"), None, "{rx}");
    assert_eq!(rx.frames_by_queue().iter().sum::<u64>(), 5_000, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_queue_without_a_socket_is_a_finding_and_its_loss_is_explained() {
    let Some(lab) = NetLab::new(2) else { return };
    let rx = sink(&lab, &["--queues", "0"]);
    let tx = send(&lab, &[&SHORT[..], &["--queues", "0-1", "--flows", "8"]].concat());
    let rx = interrupted(rx);
    rx.check_full_books();
    let without = rx.counter("xdp.no_socket");
    assert!(without > 1_000 && rx.has_finding("no-socket"), "{rx}");
    assert_eq!(rx.known("completed"), tx.known("completed"), "END is heard all the same: {rx}");
    assert!(rx.known("lost") >= without && rx.known("unexplained") == 0, "{rx}");
    let streams = rx.at("/streams").as_array().unwrap();
    let lost: u64 = streams.iter().map(|row| row["lost"].as_u64().unwrap()).sum();
    assert_eq!((streams.len(), lost), (2, rx.known("lost")), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn another_port_is_matched_or_passed() {
    let Some(lab) = NetLab::new(1) else { return };
    check_pair(&lab, &["--port", "5201"], &["--match", "udp port 5201"]);
    check_pair(&lab, &["--port", "5201"], &["--port", "5201"]);
    let mac = lab.mac(End::B);
    let rx = sink(&lab, &[]);
    send(&lab, &[&SHORT[..], &["--port", "5201", "--dst-mac", &mac]].concat());
    let rx = interrupted(rx);
    assert_eq!((rx.known("received"), rx.counter("xdp.ours")), (0, 0), "{rx}");
    assert!(rx.counter("xdp.passed") >= 5_000 && rx.has_finding("nothing-received"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn every_plain_stack_arrives() {
    let Some(lab) = NetLab::new(1) else { return };
    let cases: [(&[&str], &[&str], u64); 6] = [
        (&["--l2"], &["--match", "l2"], 64),
        (&["--l2", "--vlan", "5"], &[], 64),
        (&["--dst-ip", "2001:2:0:8000::1"], &[], 84),
        (&["--vlan", "100"], &[], 68),
        (&["--vlan", "100,200", "--flows", "16"], &[], 72),
        (&["--vlan", "100,200", "--dst-ip", "2001:2:0:8000::1", "--size", "1400"], &[], 1400),
    ];
    for (tx, rx, size) in cases {
        let (sent, received) = check_pair(&lab, tx, rx);
        assert_eq!(sent.at("/offered/size_bytes").as_u64(), Some(size), "{tx:?}");
        let same = |pointer: &str| assert_eq!(sent.at(pointer), received.at(pointer), "{tx:?}: {pointer}");
        same("/offered");
        let bytes = received.known("probes") * size;
        assert_eq!(received.at("/totals/rx_bytes"), &Value::from(bytes), "{tx:?}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_condition_that_holds_fails_the_command() {
    let Some(lab) = NetLab::new(2) else { return };
    let cases = [("loss>0", 1), ("loss>90%", 0), ("loss<=100%", 1)];
    for (condition, code) in cases {
        let rx = sink(&lab, &["--queues", "0", "--fail-if", condition]);
        send(&lab, &[&SHORT[..], &["--queues", "0-1"]].concat());
        let rx = only(&reports(&rx.interrupt(RUN).expect_code(code)));
        assert_eq!(rx.has_finding("fail-if"), code == 1, "{condition}: {rx}");
    }
    // In count-only nobody knows the loss, and what cannot be answered must not pass.
    let rx = sink(&lab, &["--count-only", "--fail-if", "loss>0"]);
    send(&lab, &SHORT);
    let unanswered = only(&reports(&rx.interrupt(RUN).expect_code(1)));
    assert!(unanswered.has_finding("fail-if"), "{unanswered}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn sigterm_ends_a_sink_within_a_second() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    send(&lab, &SHORT);
    rx.signal(Signal::SIGTERM);
    let rx = only(&reports(&rx.wait(PROMPT).expect_code(0)));
    rx.check_full_books();
    lab.wait_until_clean();
}
