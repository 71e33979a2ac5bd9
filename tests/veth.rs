//! tx and rx as two processes on the ends of a veth pair: they find each other, count alike, end well, and leave
//! nothing behind whatever ends them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sys::signal::Signal;
use serde_json::Value;
use std::time::Duration;
use support::{End, NetLab, Report, Running, only, reports, tx_and_rx, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
/// Within which Ctrl-C must end a run.
const PROMPT: Duration = Duration::from_secs(1);

const JSON: [&str; 2] = ["--json", "--quiet"];

fn start(lab: &NetLab, end: End, subcommand: &str, args: &[&str]) -> Running {
    lab.start(end, subcommand, &[&JSON, args].concat())
}

/// The only Report of a run that ended well.
fn report_of(running: Running) -> Report {
    only(&reports(&running.wait(RUN).expect_code(0)))
}

/// The only Report of rx, which Ctrl-C ends.
fn interrupted(rx: Running) -> Report {
    only(&reports(&rx.interrupt(RUN).expect_code(0)))
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn tx_finds_the_sink_and_the_sink_learns_what_was_sent() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = start(&lab, End::B, "rx", &[]);
    let tx = report_of(start(&lab, End::A, "tx", &["--count", "50000", "--rate", "50kpps"]));
    let rx = interrupted(rx);
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!(tx.text("/offered/dst_mac").to_lowercase(), lab.mac(End::B));
    assert_eq!((tx.known("completed"), rx.known("completed")), (50_000, 50_000), "{rx}");
    assert_eq!((rx.known("unexplained"), rx.known("duplicate")), (0, 0), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_that_was_killed_leaves_the_loss_unknown() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = start(&lab, End::B, "rx", &[]);
    let tx = start(&lab, End::A, "tx", &["--duration", "60", "--rate", "50kpps"]);
    lab.wait_for_frames(End::B, 5_000);
    tx.kill();
    let rx = only(&reports(&rx.interrupt(RUN)));
    rx.check_books();
    assert!(rx.known("unique") > 0, "{rx}");
    assert_eq!((rx.term("lost"), rx.term("completed")), (None, None), "{rx}");
    assert!(!rx.text("/balance/lost_absent").is_empty());
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn without_a_sink_tx_says_what_to_do() {
    let Some(lab) = NetLab::new(1) else { return };
    let tx = start(&lab, End::A, "tx", &["--count", "1000"]).wait(RUN).expect_code(3);
    assert!(tx.took > Duration::from_secs(9), "it gave up after {:?}", tx.took);
    assert!(tx.stderr.contains("[sink-not-found]") && tx.stderr.contains("--dst-mac"), "{}", tx.stderr);
    assert!(tx.stderr.contains("xsk-gen rx"), "{}", tx.stderr);
    assert_eq!(tx.stdout, "");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn after_a_kill_the_same_works_at_once_and_nothing_is_left() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = start(&lab, End::B, "rx", &[]);
    let tx = start(&lab, End::A, "tx", &["--duration", "60", "--rate", "50kpps"]);
    lab.wait_for_frames(End::B, 5_000);
    tx.kill();
    rx.kill();
    let rx = start(&lab, End::B, "rx", &[]);
    let tx = report_of(start(&lab, End::A, "tx", &["--count", "10000", "--rate", "50kpps"]));
    let rx = interrupted(rx);
    assert_eq!(tx.known("completed"), 10_000, "{tx}");
    assert_eq!(rx.known("unique") + rx.known("lost"), 10_000, "{rx}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_sink_counts_what_its_interface_counts() {
    // The interface counts a few frames that rx does not: control frames after rx has ended or before it began.
    const SLACK: u64 = 30;
    let Some(lab) = NetLab::new(1) else { return };
    let before = lab.rx_packets(End::B);
    let rx = start(&lab, End::B, "rx", &[]);
    report_of(start(&lab, End::A, "tx", &["--count", "50000", "--rate", "50kpps"]));
    let rx = interrupted(rx);
    let arrived = lab.rx_packets(End::B) - before;
    let others = ["xdp.passed", "xdp.malformed", "xdp.unsupported"].map(|name| rx.counter(name));
    let seen = rx.known("received") + rx.known("kernel_drops") + others.iter().sum::<u64>();
    assert!((seen..=seen + SLACK).contains(&arrived), "the interface counted {arrived}, rx {seen}: {rx}");
    assert!(rx.known("received") >= 50_000 - rx.known("lost"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn one_process_can_be_both_ends() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let args = ["--sink", "v1", "--count", "20000", "--rate", "50kpps"];
    let finished = start(&lab, End::A, "tx", &args).wait(RUN).expect_code(0);
    let (tx, rx) = tx_and_rx(&finished);
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!((tx.text("/interface/name"), rx.text("/interface/name")), ("v0", "v1"));
    assert_eq!(rx.known("unique") + rx.known("lost"), 20_000, "{rx}");
    assert_eq!(rx.known("unexplained"), 0, "{rx}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn every_report_is_as_the_schema_says() {
    let Some(lab) = NetLab::new(2) else { return };
    let schema: Value = serde_json::from_str(&lab.run(End::A, xsk_gen(), &["schema"])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let small = ["--count", "2000", "--rate", "20kpps"];
    let cases: [&[&str]; 5] = [
        &[],
        &["--queues", "0-1", "--flows", "8"],
        &["--l2"],
        &["--no-verify"],
        &["--vlan", "100", "--size", "128"],
    ];
    for args in cases {
        let rx = start(&lab, End::B, "rx", if args.is_empty() { &["--count-only"] } else { &[] });
        let tx = report_of(start(&lab, End::A, "tx", &[&small, args].concat()));
        for report in [tx, interrupted(rx)] {
            let errors: Vec<String> = validator.iter_errors(&report.0).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{args:?}: {errors:?}\n{report}");
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn ctrl_c_ends_the_sink_within_a_second_with_its_report() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = start(&lab, End::B, "rx", &[]);
    report_of(start(&lab, End::A, "tx", &["--count", "1000", "--rate", "10kpps"]));
    let finished = rx.interrupt(RUN).expect_code(0);
    assert!(finished.took < PROMPT, "it took {:?}", finished.took);
    assert_eq!(only(&reports(&finished)).known("unique"), 1_000);
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn ctrl_c_and_sigterm_end_the_sender_within_a_second_and_the_sink_knows_the_total() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let Some(lab) = NetLab::new(1) else { return };
        let rx = start(&lab, End::B, "rx", &[]);
        let tx = start(&lab, End::A, "tx", &["--duration", "60", "--rate", "20kpps"]);
        lab.wait_for_frames(End::B, 2_000);
        tx.signal(signal);
        let tx = only(&reports(&tx.wait(PROMPT).expect_code(0)));
        let rx = interrupted(rx);
        tx.check_full_books();
        rx.check_full_books();
        assert_eq!(tx.known("completed"), rx.known("completed"), "{signal:?}: {rx}");
        lab.wait_until_clean();
    }
}
