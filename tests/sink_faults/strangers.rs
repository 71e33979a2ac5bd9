//! What frames do to a sink that its sender has not sent, or not so: made up, spoilt, cut, or rude.

use super::{RUN, SHORT, check_pair, interrupted, only, sender, sent, severity, sink};
use crate::support::{End, NetLab, Report, Running, reports};

/// The same as a run that strangers know the tag of.
const TAGGED: [&str; 6] = ["--count", "5000", "--rate", "20kpps", "--run-tag", "7"];

/// Frames that no xsk-gen has made, sent to the end.
fn strangers(lab: &NetLab, kind: &str, count: &str, per_second: &str) -> Running {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sink_faults/foreign.py");
    let mut command = lab.command(End::A, "python3");
    Running::start(command.args([script, "v0", &lab.mac(End::B), kind, count, per_second]))
}

fn rejected(report: &Report, reason: &str) -> u64 {
    report.at("/balance/rejected").get(reason).map_or(0, |n| n.as_u64().unwrap())
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn made_up_frames_do_not_disturb_a_run_that_is_announced() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let crowd = strangers(&lab, "random", "6000", "3000");
    lab.wait_for_frames(End::B, 500);
    let tx = sent(sender(&lab, &TAGGED), 0);
    crowd.wait(RUN).expect_code(0);
    let all = reports(&rx.interrupt(RUN).expect_code(0));
    let rx = all.iter().find(|rx| rx.text("/id") == tx.text("/id")).expect("a Report of the run");
    check_pair(&tx, rx);
    assert!(rejected(rx, "other_run") > 0 && rx.has_finding("other-run"), "{rx}");
    // What came before the START is in Reports of its own, or told as another run's.
    let counted = |rx: &Report| rx.known("received") - rx.known("control");
    let told: u64 = all.iter().map(counted).sum();
    assert!((10_900..=11_000).contains(&(told + rx.known("lost"))), "{told} in {} Reports", all.len());
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn control_frames_that_no_sender_writes_are_counted_and_change_nothing() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    // The second time some of the strangers' ENDs are of the run that is counted.
    for run in ["8", "9"] {
        strangers(&lab, "rude", "60", "2000").wait(RUN).expect_code(0);
        let mut tx = sender(&lab, &["--count", "10000", "--rate", "5kpps", "--run-tag", run]);
        lab.wait_for_frames(End::B, 500);
        strangers(&lab, "rude", "60", "2000").wait(RUN).expect_code(0);
        assert!(tx.is_running(), "what the sender says last must come behind the strangers");
        sent(tx, 0).check_full_books();
    }
    let all = reports(&rx.interrupt(RUN));
    all.iter().for_each(Report::check_books);
    assert_eq!(all.len(), 2, "{all:?}");
    let control: u64 = all.iter().map(|rx| rx.known("control")).sum();
    assert!(control >= 4 * 60, "{control}");
    for rx in &all {
        // What the true sender said last counts.
        rx.check_full_books();
        assert_eq!(
            (rx.known("completed"), rx.known("unique"), rx.known("lost")),
            (10_000, 10_000, 0),
            "{rx}"
        );
    }
}

/// KiB of memory that a process has had at the most.
fn peak_kib(running: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn made_up_spaces_take_no_memory_to_speak_of() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let before = peak_kib(&rx);
    strangers(&lab, "streams", "20000", "40000").wait(RUN).expect_code(0);
    let grown = peak_kib(&rx) - before;
    let rx = only(&reports(&rx.interrupt(RUN)));
    rx.check_books();
    // All of them would take 8 KiB each, 160 MB.
    assert!(grown < 16_384, "{grown} KiB: {rx}");
    assert!(rejected(&rx, "no_such_space") > 10_000, "{rx}");
    assert_eq!(rx.at("/streams").as_array().unwrap().len(), 256, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_with_wrong_bytes_are_rejected_and_told() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let tx = sender(&lab, &["--count", "5000", "--rate", "5kpps", "--run-tag", "7"]);
    lab.wait_for_frames(End::B, 500);
    strangers(&lab, "spoilt", "100", "1000").wait(RUN).expect_code(0);
    let tx = sent(tx, 0);
    let rx = interrupted(rx, 1);
    check_pair(&tx, &rx);
    assert_eq!((rx.known("lost"), rejected(&rx, "udp_checksum")), (0, 100), "{rx}");
    assert_eq!(severity(&rx, "corrupted"), Some("fail"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_number_that_was_never_sent_hides_no_loss() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let tx = sender(&lab, &["--l2", "--count", "5000", "--rate", "5kpps", "--run-tag", "7"]);
    lab.wait_for_frames(End::B, 500);
    strangers(&lab, "beyond", "1", "1000").wait(RUN).expect_code(0);
    sent(tx, 0);
    let rx = interrupted(rx, 1);
    rx.check_books();
    assert_eq!((rx.term("lost"), rx.known("completed")), (None, 5_000), "{rx}");
    assert!(rx.text("/balance/lost_absent").contains("not sent"), "{rx}");
    assert_eq!(severity(&rx, "corrupted"), Some("fail"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_that_are_not_parsed_are_a_warning() {
    for kind in ["cut", "split"] {
        let Some(lab) = NetLab::new(1) else { return };
        let rx = sink(&lab, &[]);
        strangers(&lab, kind, "10", "1000").wait(RUN).expect_code(0);
        let tx = sent(sender(&lab, &SHORT), 0);
        let rx = interrupted(rx, 0);
        check_pair(&tx, &rx);
        assert_eq!(rx.counter("xdp.malformed") + rx.counter("xdp.unsupported"), 10, "{kind}: {rx}");
        assert_eq!(severity(&rx, "not-parsed"), Some("warn"), "{kind}: {rx}");
    }
}
