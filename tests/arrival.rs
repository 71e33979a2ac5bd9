//! The time of arrival: taken by the XDP program, in the clock of whatever time namespace the sink is in, and the wait that
//! followed it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::{End, NetLab, Report, Running, only, reports, sink, until, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
const LOAD: [&str; 4] = ["--count", "2000", "--rate", "2kpps"];
/// Seconds by which a time namespace of these tests is ahead.
const AHEAD_S: &str = "1000";
/// Longer than a frame ever takes here, and far shorter than what the namespaces are apart by.
const LONG_NS: u64 = 5_000_000_000;

/// `xsk-gen` at an end, in a time namespace of its own that is ahead.
fn ahead(lab: &NetLab, end: End, args: &[&str]) -> Running {
    let mut command = lab.command(end, "unshare");
    command.args(["--time", "--monotonic", AHEAD_S, "--fork", "--kill-child", xsk_gen()]);
    Running::start(command.args(args))
}

fn sink_ahead(lab: &NetLab) -> Running {
    let rx = ahead(lab, End::B, &["rx", "--iface", "v1", "--json", "--idle-timeout", "3"]);
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    rx
}

fn report(running: Running) -> Report {
    only(&reports(&running.wait(RUN).expect_code(0)))
}

fn send(lab: &NetLab) -> Report {
    report(lab.start(End::A, "tx", &[&["--json", "--quiet"], &LOAD[..]].concat()))
}

fn figure(report: &Report, pointer: &str) -> u64 {
    report.at(pointer).as_u64().unwrap_or_else(|| panic!("no {pointer} in {report}"))
}

/// Each frame waited, for a time that is one of this machine and not of another clock.
fn check_wait(rx: &Report) {
    assert_eq!(figure(rx, "/ring_wait_ns/count"), rx.known("probes"), "{rx}");
    let [min, p50, max] = ["min", "p50", "max"].map(|name| figure(rx, &format!("/ring_wait_ns/{name}")));
    assert!(0 < min && min <= p50 && p50 <= max && max < LONG_NS, "{rx}");
}

/// One-way latency ends at the XDP program, before the frame waits.
fn check_latency(rx: &Report) {
    assert_eq!(rx.text("/latency_ns/clock"), "xdp-rx");
    assert_eq!(figure(rx, "/latency_ns/count"), rx.known("probes"), "{rx}");
    let (min, max) = (figure(rx, "/latency_ns/min"), figure(rx, "/latency_ns/max"));
    assert!(0 < min && max < LONG_NS, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_are_timed_where_they_arrive_and_their_wait_is_a_figure_of_its_own() {
    let Some(lab) = NetLab::new(1) else { return };
    for mode in ["native", "generic"] {
        let rx = sink(&lab, &["--xdp-mode", mode, "--idle-timeout", "3"]);
        let tx = send(&lab);
        let rx = report(rx);
        tx.check_full_books();
        rx.check_full_books();
        assert_eq!((rx.text("/setup/xdp_mode"), rx.known("unique")), (mode, 2_000), "{rx}");
        check_latency(&rx);
        check_wait(&rx);
        // Bytes in front of a frame are none of the frame's.
        assert_eq!(figure(&rx, "/totals/rx_bytes"), 2_000 * 64, "{rx}");
        assert_eq!(rx.at("/sizes").as_array().map(Vec::len), Some(1), "{rx}");
        assert_eq!(rx.counter("xdp.no_room"), 0);
        assert!(tx.at("/ring_wait_ns").is_null());
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_with_another_clock_has_no_latency_and_a_wait_by_its_own() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink_ahead(&lab);
    let tx = send(&lab);
    let rx = report(rx);
    tx.check_full_books();
    rx.check_full_books();
    assert!(rx.at("/latency_ns").is_null() && rx.text("/latency_absent").contains("another clock"), "{rx}");
    check_wait(&rx);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn both_ends_under_one_shifted_clock_have_a_latency() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink_ahead(&lab);
    let tx = ahead(&lab, End::A, &[&["tx", "--iface", "v0", "--json", "--quiet"], &LOAD[..]].concat());
    let (tx, rx) = (report(tx), report(rx));
    tx.check_full_books();
    rx.check_full_books();
    check_latency(&rx);
    check_wait(&rx);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_that_only_counts_times_nothing() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &["--count-only", "--idle-timeout", "3"]);
    send(&lab);
    let rx = report(rx);
    assert!(rx.at("/latency_ns").is_null() && rx.at("/ring_wait_ns").is_null(), "{rx}");
}
