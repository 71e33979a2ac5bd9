//! What a link, a sender, a scheduler and strangers do to a sink: its Report stays true and says what
//! happened.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sys::signal::Signal;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use support::{End, Finished, NetLab, Report, Running, reports, until, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
/// A run of a quarter of a second.
const SHORT: [&str; 4] = ["--count", "5000", "--rate", "20kpps"];
/// The same as a run that strangers know the tag of.
const TAGGED: [&str; 6] = ["--count", "5000", "--rate", "20kpps", "--run-tag", "7"];

/// A sink that says that it is ready.
fn sink(lab: &NetLab, args: &[&str]) -> Running {
    let rx = lab.start(End::B, "rx", &[&["--json"], args].concat());
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    rx
}

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

fn only(reports: &[Report]) -> Report {
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports[0].clone()
}

fn ip(lab: &NetLab, end: End, args: &[&str]) {
    let all = [&["-n", lab.namespace(end)], args].concat();
    assert!(Command::new("ip").args(&all).status().unwrap().success(), "{args:?}");
}

/// Frames that no xsk-gen has made, sent to the end.
fn strangers(lab: &NetLab, kind: &str, count: &str, per_second: &str) -> Running {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sink_faults/foreign.py");
    let mut command = lab.command(End::A, "python3");
    Running::start(command.args([script, "v0", &lab.mac(End::B), kind, count, per_second]))
}

fn severity<'r>(report: &'r Report, code: &str) -> Option<&'r str> {
    let findings = report.at("/findings").as_array().unwrap();
    findings.iter().find(|finding| finding["code"] == code)?["severity"].as_str()
}

fn rejected(report: &Report, reason: &str) -> u64 {
    report.at("/balance/rejected").get(reason).map_or(0, |n| n.as_u64().unwrap())
}

/// Fails unless the sink has heard all that was sent, and knows where the rest is.
fn check_pair(tx: &Report, rx: &Report) {
    rx.check_full_books();
    assert_eq!((rx.text("/id"), rx.known("completed")), (tx.text("/id"), tx.known("completed")), "{rx}");
    assert_eq!((rx.known("unexplained"), rx.known("duplicate"), rx.known("late")), (0, 0, 0), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_link_that_comes_back_within_the_run_is_told_and_what_follows_is_counted() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let tx = sender(&lab, &["--duration", "2", "--rate", "10kpps"]);
    lab.wait_for_frames(End::B, 2_000);
    ip(&lab, End::B, &["link", "set", "v1", "down"]);
    sleep(Duration::from_millis(300));
    ip(&lab, End::B, &["link", "set", "v1", "up"]);
    let tx = sent(tx, 1);
    let rx = interrupted(rx, 1);
    rx.check_full_books();
    assert_eq!(severity(&rx, "link-lost"), Some("fail"), "{rx}");
    assert!(rx.to_string().contains("set down"), "{rx}");
    assert_eq!(rx.known("completed"), tx.known("completed"), "{rx}");
    assert!(rx.known("lost") > 1_000 && rx.known("unique") > 8_000, "{rx}");
    assert!(!rx.has_finding("interface-gone") && !rx.has_finding("system"), "{rx}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_is_set_down_while_its_carrier_is_waited_for_is_not_called_up() {
    let Some(lab) = NetLab::new(1) else { return };
    ip(&lab, End::A, &["link", "set", "v0", "down"]);
    let rx = lab.start(End::B, "rx", &["--wait-link", "1"]);
    until("the sink to wait", Duration::from_secs(10), || rx.stderr().contains("waiting for carrier"));
    ip(&lab, End::B, &["link", "set", "v1", "down"]);
    let rx = rx.wait(RUN).expect_code(3);
    assert!(rx.stderr.contains("[interface-down]") && !rx.stderr.contains("is up"), "{rx:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_link_that_is_lost_between_two_runs_is_a_warning() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let first = sent(sender(&lab, &SHORT), 0);
    sleep(Duration::from_millis(200));
    ip(&lab, End::B, &["link", "set", "v1", "down"]);
    sleep(Duration::from_millis(200));
    ip(&lab, End::B, &["link", "set", "v1", "up"]);
    let second = sent(sender(&lab, &SHORT), 0);
    let rx = reports(&rx.interrupt(RUN).expect_code(0));
    assert_eq!(rx.len(), 2, "{rx:?}");
    check_pair(&first, &rx[0]);
    check_pair(&second, &rx[1]);
    assert_eq!((severity(&rx[0], "link-lost"), severity(&rx[1], "link-lost")), (Some("warn"), None));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_is_removed_ends_the_sink_at_once() {
    type Removal = fn(&NetLab);
    let removals: [Removal; 4] = [
        |lab| ip(lab, End::B, &["link", "set", "v1", "netns", lab.namespace(End::A)]),
        |lab| ip(lab, End::B, &["link", "delete", "v1"]),
        |lab| ip(lab, End::A, &["link", "delete", "v0"]),
        |lab| {
            assert!(
                Command::new("ip")
                    .args(["netns", "delete", lab.namespace(End::A)])
                    .status()
                    .unwrap()
                    .success()
            )
        },
    ];
    for (case, remove) in removals.into_iter().enumerate() {
        let Some(lab) = NetLab::new(1) else { return };
        let rx = sink(&lab, &[]);
        sent(sender(&lab, &SHORT), 0);
        remove(&lab);
        let rx = rx.wait(Duration::from_secs(5)).expect_code(1);
        let rx = only(&reports(&rx));
        rx.check_full_books();
        assert!(rx.has_finding("interface-gone") && !rx.has_finding("system"), "{case}: {rx}");
        assert_eq!(rx.known("unique"), 5_000, "{case}: {rx}");
    }
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
