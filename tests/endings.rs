//! How runs end: by a signal in whatever state they are, by a stop in the middle, with nobody who takes the result.
//! Always within a second, with the exit code that is documented, a Report that is true, and nothing attached.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sys::signal::Signal::{self, SIGCONT, SIGHUP, SIGINT, SIGSTOP, SIGTERM};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::thread;
use std::time::Duration;
use support::{End, Finished, NetLab, Report, Running, reports, require_root, tx_and_rx, until, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
/// From a signal to the end of the process.
const PROMPT: Duration = Duration::from_secs(1);
/// Long enough to be in the state that a test is about, where nothing tells of it.
const A_WHILE: Duration = Duration::from_millis(300);
/// From the start to the end of a process that is told to end at once.
const A_FEW_SECONDS: Duration = Duration::from_secs(5);
/// A run that only a signal ends.
const LONG: [&str; 3] = ["--json", "--duration", "60"];

/// Sends a signal and gives what is left after a second at the most.
fn ended(running: Running, signal: Signal) -> Finished {
    running.signal(signal);
    running.wait(PROMPT)
}

fn only(finished: &Finished) -> Report {
    let [report]: [Report; 1] = reports(finished).try_into().expect("one Report");
    report.check_books();
    report
}

/// A sender to the MAC of the other end.
fn tx(lab: &NetLab, args: &[&str]) -> Running {
    let mac = lab.mac(End::B);
    lab.start(End::A, "tx", &[&["--dst-mac", &mac], args].concat())
}

/// A sink that is ready.
fn sink(lab: &NetLab, args: &[&str]) -> Running {
    let rx = lab.start(End::B, "rx", &[&["--json"], args].concat());
    said(&rx, "ready on");
    rx
}

fn said(running: &Running, words: &str) {
    until(words, Duration::from_secs(10), || running.stderr().contains(words));
}

fn set(lab: &NetLab, end: End, state: &str) {
    let args = ["-n", lab.namespace(end), "link", "set", end.interface(), state];
    assert!(Command::new("ip").args(args).status().unwrap().success());
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn before_the_first_frame_a_signal_leaves_no_report() {
    let Some(lab) = NetLab::new(1) else { return };
    set(&lab, End::B, "down");
    let carrier = ["--wait-link", "60"];
    let at_carrier = [(tx(&lab, &carrier), SIGINT), (lab.start(End::A, "rx", &carrier), SIGHUP)];
    at_carrier.iter().for_each(|(running, _)| said(running, "waiting for carrier"));
    at_carrier.into_iter().for_each(no_report);
    set(&lab, End::B, "up");
    let asking = lab.start(End::A, "tx", &[]);
    said(&asking, "asking for a sink");
    no_report((asking, SIGHUP));
    let settling = tx(&lab, &["--settle", "60"]);
    thread::sleep(A_WHILE);
    no_report((settling, SIGTERM));
    lab.wait_until_clean();
}

fn no_report((running, signal): (Running, Signal)) {
    let finished = ended(running, signal).expect_code(1);
    assert!(finished.stderr.contains("[interrupted]") && finished.stdout.is_empty(), "{finished:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn each_signal_ends_a_sender_at_any_rate_with_its_report() {
    let Some(lab) = NetLab::new(1) else { return };
    let cases = [("max", SIGINT), ("max", SIGTERM), ("1pps", SIGHUP), ("1pps", SIGINT)];
    for (rate, signal) in cases {
        let running = tx(&lab, &[&LONG[..], &["--rate", rate]].concat());
        lab.wait_for_frames(End::B, 4);
        let report = only(&ended(running, signal).expect_code(0));
        report.check_full_books();
        assert!(report.known("completed") > 0, "{rate} {signal}: {report}");
    }
    lab.wait_until_clean();
}

/// The sender's own interface goes down: the ring fills, and nothing comes back.
fn stalled(lab: &NetLab, args: &[&str]) -> Running {
    set(lab, End::A, "up");
    let running = tx(lab, &[&["--json", "--rate", "max"], args].concat());
    lab.wait_for_frames(End::B, 1_000);
    set(lab, End::A, "down");
    running
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_full_ring_and_the_wait_for_it_end_with_a_signal() {
    let Some(lab) = NetLab::new(1) else { return };
    let full = stalled(&lab, &["--duration", "60"]);
    thread::sleep(A_WHILE);
    let draining = |report: Report| {
        report.check_full_books();
        assert!(report.known("in_flight") > 0 && report.has_finding("link-lost"), "{report}");
    };
    draining(only(&ended(full, SIGTERM).expect_code(1)));
    // It ends by itself a second after its start, and waits for its frames from then on.
    let over = stalled(&lab, &["--duration", "1"]);
    thread::sleep(Duration::from_millis(900));
    draining(only(&ended(over, SIGINT).expect_code(1)));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_pair_whose_sender_is_stalled_ends_with_a_signal() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let pair = lab.start(End::A, "tx", &[&LONG[..], &["--sink", "v1", "--rate", "max"]].concat());
    lab.wait_for_frames(End::B, 1_000);
    set(&lab, End::A, "down");
    thread::sleep(A_WHILE);
    let finished = ended(pair, SIGINT).expect_code(1);
    let (tx, rx) = tx_and_rx(&finished);
    tx.check_full_books();
    rx.check_books();
    assert!(tx.known("in_flight") > 0 && tx.has_finding("link-lost"), "{tx}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_ends_waiting_and_under_a_flood() {
    let Some(lab) = NetLab::new(1) else { return };
    let waiting = only(&ended(sink(&lab, &[]), SIGHUP).expect_code(0));
    assert_eq!(waiting.known("probes"), 0, "{waiting}");
    let flood = tx(&lab, &[&LONG[..], &["--rate", "max"]].concat());
    for (args, signal) in [(&[][..], SIGTERM), (&["--count-only"], SIGINT)] {
        let rx = sink(&lab, args);
        lab.wait_for_frames(End::B, 10_000);
        let finished = ended(rx, signal).expect_code(0);
        let report = only(&finished);
        assert!(report.known("probes") > 0, "{args:?}: {report}");
    }
    ended(flood, SIGTERM).expect_code(0);
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn demo_ends_in_set_up_and_under_load() {
    if !require_root() {
        return;
    }
    let args = [&["demo", "--rate", "max"], &LONG[..]].concat();
    for (delay, signal) in [(2, SIGINT), (20, SIGTERM), (40, SIGHUP), (80, SIGINT), (160, SIGTERM)] {
        let running = Running::xsk_gen(&args);
        thread::sleep(Duration::from_millis(delay));
        let finished = ended(running, signal);
        match finished.status.code() {
            Some(0) => drop(tx_and_rx(&finished)),
            Some(1) => assert!(finished.stderr.contains("[interrupted]") && finished.stdout.is_empty()),
            // The signal came before the program had begun.
            _ => assert_eq!(finished.status.signal(), Some(signal as i32), "{finished:?}"),
        }
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let running = Running::xsk_gen(&[&args[..], &["--interval", "200ms"]].concat());
        said(&running, "rx");
        thread::sleep(A_WHILE);
        let (tx, rx) = tx_and_rx(&ended(running, signal).expect_code(0));
        [&tx, &rx].into_iter().for_each(Report::check_full_books);
        assert_eq!(rx.known("unexplained"), 0, "{signal}: {rx}");
    }
}

/// Every call that changes what a signal does, with a signal on its way at that moment.
#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_signal_while_the_handlers_are_installed_is_not_lost() {
    if !require_root() {
        return;
    }
    let log = tempfile::NamedTempFile::new().unwrap();
    let ended = |signal: &str, nth: u32| {
        let inject = format!("inject=rt_sigaction:signal={signal}:when={nth}");
        let mut command = Command::new("strace");
        command.args(["-e", "trace=rt_sigaction", "-e", &inject, "-o"]).arg(log.path());
        let finished = Running::start(command.args([xsk_gen(), "demo"]).args(LONG)).wait(A_FEW_SECONDS);
        assert!(!finished.stderr.contains("panicked"), "{finished:?}");
        fs::read_to_string(log.path()).unwrap().contains(&format!("--- {signal} "))
    };
    for signal in ["SIGINT", "SIGTERM", "SIGHUP"] {
        let sent = (1..=12).filter(|&nth| ended(signal, nth)).count();
        assert_eq!(sent, 12, "{signal}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn signals_sent_together_are_one_and_a_later_one_ends_it_at_once() {
    let Some(lab) = NetLab::new(1) else { return };
    let together = stalled(&lab, &["--duration", "60"]);
    together.signal(SIGTERM);
    thread::sleep(Duration::from_millis(20));
    only(&ended(together, SIGTERM).expect_code(1));
    let later = stalled(&lab, &["--duration", "60"]);
    later.signal(SIGINT);
    thread::sleep(A_WHILE);
    let finished = ended(later, SIGINT).expect_code(130);
    assert!(finished.stdout.is_empty(), "{finished:?}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn nohup_keeps_a_sink_when_the_terminal_goes() {
    let Some(lab) = NetLab::new(1) else { return };
    let mut command = lab.command(End::B, "nohup");
    let mut rx = Running::start(command.args([xsk_gen(), "rx", "--iface", "v1", "--json"]));
    said(&rx, "ready on");
    rx.signal(SIGHUP);
    thread::sleep(A_WHILE);
    assert!(rx.is_running());
    only(&ended(rx, SIGINT).expect_code(0));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_that_was_stopped_owns_up_and_does_not_catch_up() {
    const RATE: f64 = 10_000.0;
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &["--interval", "100ms"]);
    let tx = tx(&lab, &["--json", "--rate", "10kpps", "--duration", "4"]);
    lab.wait_for_frames(End::B, 1_000);
    tx.signal(SIGSTOP);
    thread::sleep(Duration::from_secs(2));
    tx.signal(SIGCONT);
    let finished = tx.wait(RUN);
    let (tx, rx) = (only(&finished), only(&ended(rx, SIGINT).expect_code(0)));
    [&tx, &rx].into_iter().for_each(Report::check_full_books);
    assert_eq!((tx.known("completed"), rx.known("unexplained")), (rx.known("completed"), 0), "{rx}");
    assert_eq!(tx.known("completed") + tx.known("shortfall"), 40_000, "{tx}");
    assert!(tx.known("shortfall") > 19_000 && tx.has_finding("shortfall"), "{tx}");
    // The sink may be late by half a second, and a batch may be caught up; 2 s of frames may not.
    for row in rx.at("/intervals").as_array().unwrap() {
        let allowed = RATE * (row["length_s"].as_f64().unwrap() + 0.5) + 64.0;
        assert!(row["frames"].as_f64().unwrap() < allowed, "{row}");
    }
}

/// A short run of both ends whose streams are as `redirect` says, in the words of bash.
fn redirected(lab: &NetLab, redirect: &str, args: &[&str]) -> Finished {
    let script = format!("set -o pipefail; \"$@\" {redirect}");
    let mut command = lab.command(End::A, "bash");
    command.args(["-c", &script, "bash", xsk_gen(), "tx", "--iface", "v0", "--sink", "v1"]);
    command.args(["--count", "200", "--rate", "2kpps", "--interval", "100ms"]).args(args);
    let finished = Running::start(&mut command).wait(RUN);
    assert!(!finished.stderr.contains("panicked"), "{finished:?}");
    lab.wait_until_clean();
    finished
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn streams_that_nobody_reads_are_no_failure_and_full_ones_are() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    for redirect in ["| head -c0", ">&-", "2>&-", "2>/dev/full", "2> >(head -c0)", ">&- 2>&-"] {
        redirected(&lab, redirect, &[]).expect_code(0);
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    for format in ["--json", "--quiet"] {
        let finished = redirected(&lab, ">/dev/full", &[format, "--output", file.to_str().unwrap()]);
        let finished = finished.expect_code(1);
        assert!(finished.stderr.contains("[output-file]") && finished.stderr.contains("stdout"));
        assert!(fs::read_to_string(&file).unwrap().starts_with('['), "the file has it all the same");
    }
}

#[test]
fn commands_without_a_run_do_not_panic_for_a_full_stream() {
    let cases =
        [("schema >/dev/full", 1), ("man >/dev/full", 1), ("schema >&-", 0), ("schema | head -c0", 0)];
    let usage = [("tx --iface x --size 3 2>/dev/full", 2), ("tx --iface x --size 3 2>&-", 2)];
    for (line, code) in cases.into_iter().chain(usage) {
        let script = format!("set -o pipefail; {} {line}", xsk_gen());
        let finished = Running::start(Command::new("bash").args(["-c", &script])).wait(RUN);
        assert!(!finished.stderr.contains("panicked"), "{finished:?}");
        finished.expect_code(code);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_file_that_cannot_be_written_is_known_before_anything_is_attached() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let finished = redirected(&lab, "", &["--output", "/proc/no/such/folder"]).expect_code(3);
    assert!(finished.stderr.contains("[output-file]") && finished.stdout.is_empty(), "{finished:?}");
    assert!(!finished.stderr.contains("ready on"), "{finished:?}");
    let old = tempfile::NamedTempFile::new().unwrap();
    fs::write(old.path(), "old").unwrap();
    let path = old.path().to_str().unwrap();
    redirected(&lab, "", &["--output", path, "--size", "1519"]).expect_code(3);
    assert_eq!(fs::read_to_string(old.path()).unwrap(), "old");
    redirected(&lab, "", &["--output", path]).expect_code(0);
    assert!(fs::read_to_string(old.path()).unwrap().starts_with('['));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_full_disk_costs_the_file_and_not_the_result() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display();
    for (before, after) in [("printf old >out", "old"), ("true", "")] {
        // Two pages: one holds the old file, and a Report is longer than both.
        let script = format!(
            "mount -t tmpfs -o size=8k none {at} && cd {at} && {before}; \"$@\"; code=$?; \
             echo \"left: $(ls) $(cat out 2>/dev/null)\" >&2; exit $code"
        );
        let mut command = lab.command(End::A, "unshare");
        command.args(["-m", "bash", "-c", &script, "bash", xsk_gen(), "tx", "--iface", "v0", "--sink", "v1"]);
        command.args(["--count", "200", "--rate", "2kpps", "--json", "--quiet", "--output", "out"]);
        let finished = Running::start(&mut command).wait(RUN).expect_code(1);
        tx_and_rx(&finished);
        assert!(finished.stderr.contains("[output-file]"), "{finished:?}");
        let name = if after.is_empty() { "" } else { "out" };
        assert!(finished.stderr.contains(&format!("left: {name} {after}\n")), "{finished:?}");
        lab.wait_until_clean();
    }
}
