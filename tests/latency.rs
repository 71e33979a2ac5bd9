//! What a sink makes of the times of frames over a veth pair: latency, jitter and gaps, of all frames, of a sample, of none.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::{Report, Running, require_root, tx_and_rx};

const FRAMES: u64 = 10_000;

/// What the demo's sink says of [`FRAMES`] frames at 10 kpps, none of which is lost.
fn received(args: &[&str]) -> Report {
    let load = ["demo", "--json", "--quiet", "--count", "10000", "--rate", "10kpps"];
    let finished = Running::xsk_gen(&[&load, args].concat()).wait(Duration::from_secs(30)).expect_code(0);
    let (tx, rx) = tx_and_rx(&finished);
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!(rx.known("unique"), FRAMES, "{rx}");
    assert_eq!(rx.known("shortfall"), tx.known("shortfall"), "{rx}");
    rx
}

fn figure(report: &Report, pointer: &str) -> f64 {
    report.at(pointer).as_f64().unwrap_or_else(|| panic!("no {pointer} in {report}"))
}

fn figures<const N: usize>(report: &Report, of: &str, names: [&str; N]) -> [f64; N] {
    names.map(|name| figure(report, &format!("/{of}/{name}")))
}

fn check_ascending(report: &Report, of: &str, names: &[&str]) {
    let all: Vec<f64> = names.iter().map(|name| figure(report, &format!("/{of}/{name}"))).collect();
    assert!(all.is_sorted(), "{of}: {names:?} are {all:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn every_frame_is_timed_and_the_figures_agree_with_each_other() {
    if !require_root() {
        return;
    }
    let rx = received(&[]);
    assert_eq!(figure(&rx, "/latency_ns/count"), FRAMES as f64, "{rx}");
    assert_eq!((rx.text("/latency_ns/clock"), rx.text("/latency_ns/sampled")), ("xdp-rx", "1/1"));
    assert_eq!((figure(&rx, "/latency_ns/negative"), figure(&rx, "/latency_ns/overflow")), (0.0, 0.0));
    let percentiles = ["min", "p50", "p90", "p99", "p99_9", "p99_99", "p99_999", "max"];
    check_ascending(&rx, "latency_ns", &percentiles);
    let [min, mean, p50, max, stdev, jitter] =
        figures(&rx, "latency_ns", ["min", "mean", "p50", "max", "stdev", "jitter"]);
    // Stamps of this host over a pair of interfaces of this host: far from the milliseconds of a scheduler's tick.
    assert!(0.0 < min && min < 1e6 && p50 < 5e6, "{rx}");
    assert!(min <= mean && mean <= max && stdev <= max && 0.0 <= jitter && jitter <= max - min, "{rx}");
    check_ascending(&rx, "latency_ns/pdv", &["p50", "p99", "p99_9", "max"]);
    let [above_p50, above_max] = figures(&rx, "latency_ns/pdv", ["p50", "max"]);
    assert_eq!((above_p50 + min, above_max + min), (p50, max));
    assert!(rx.at("/streams/0/latency_ns").is_null() && rx.at("/latency_ns/streams_followed").is_null());
    let limited = rx.at("/latency_ns/queue_limited").as_str();
    assert_eq!(limited.is_some_and(|why| why.contains("not sent")), rx.known("shortfall") > 0, "{rx}");
    assert!(limited.is_none_or(|why| !why.contains("max") && !why.contains("lost")), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_run_without_a_limit_to_its_rate_measures_a_queue_and_says_so() {
    if !require_root() {
        return;
    }
    let args = ["demo", "--quiet", "--duration", "1"];
    let run = |more: &[&str]| {
        Running::xsk_gen(&[&args, more].concat()).wait(Duration::from_secs(30)).expect_code(0)
    };
    let (_, rx) = tx_and_rx(&run(&["--json"]));
    assert!(rx.text("/latency_ns/queue_limited").contains("the rate was max"), "{rx}");
    let text = run(&[]).stdout;
    assert!(text.contains("queue-limited: the rate was max"), "{text}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn gaps_add_up_to_the_time_from_the_first_frame_to_the_last() {
    if !require_root() {
        return;
    }
    let rx = received(&[]);
    assert_eq!((rx.text("/gaps_ns/kind"), rx.text("/gaps_ns/clock")), ("arrival", "xdp-rx"));
    check_ascending(&rx, "gaps_ns", &["min", "p50", "p90", "p99", "p99_9", "max"]);
    let [count, mean, overflow] = figures(&rx, "gaps_ns", ["count", "mean", "overflow"]);
    assert_eq!((count, overflow), ((FRAMES - 1) as f64, 0.0), "{rx}");
    // The duration ends where a worker took the last frame, which had waited for it.
    let (gaps_s, duration_s) = (count * mean / 1e9, figure(&rx, "/duration_s"));
    let wait_s = figure(&rx, "/ring_wait_ns/max") / 1e9;
    assert!(
        (gaps_s - duration_s).abs() <= wait_s,
        "{gaps_s} s of {duration_s} s, {wait_s} s in the ring: {rx}"
    );
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn gaps_of_several_queues_are_each_queues_own() {
    if !require_root() {
        return;
    }
    let rx = received(&["--queues", "0-1", "--flows", "64"]);
    assert_eq!(figure(&rx, "/gaps_ns/count"), (FRAMES - 2) as f64, "{rx}");
    assert_eq!(figure(&rx, "/latency_ns/count"), FRAMES as f64, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn each_stream_has_a_latency_of_its_own() {
    if !require_root() {
        return;
    }
    let mixed = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/mixed.toml");
    let rx = received(&["--stream", mixed]);
    let rows = rx.at("/streams").as_array().unwrap();
    assert!(rows.len() > 1 && rx.at("/latency_ns/streams_absent").is_null(), "{rx}");
    assert_eq!(figure(&rx, "/latency_ns/streams_followed"), rows.len() as f64);
    let [min, max] = figures(&rx, "latency_ns", ["min", "max"]);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row["latency_ns"]["count"], row["unique"], "{rx}");
        let of = format!("streams/{at}/latency_ns");
        check_ascending(&rx, &of, &["min", "p50", "p99", "p99_9", "max"]);
        let [own_min, own_max] = figures(&rx, &of, ["min", "max"]);
        assert!(min <= own_min && own_max <= max, "{rx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sample_is_about_its_share() {
    if !require_root() {
        return;
    }
    for (flag, share) in [("1/10", 10.0), ("100", 100.0)] {
        let rx = received(&["--latency-sample", flag]);
        assert_eq!(rx.text("/latency_ns/sampled"), format!("1/{share}"));
        let expected = FRAMES as f64 / share;
        for of in ["latency_ns", "ring_wait_ns", "gaps_ns"] {
            let count = figure(&rx, &format!("/{of}/count"));
            // Four standard deviations and more.
            assert!((count - expected).abs() < 4.5 * expected.sqrt(), "{of}: {count} of 1/{share}");
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn without_latency_nothing_is_timed_and_the_reason_is_told() {
    if !require_root() {
        return;
    }
    let rx = received(&["--no-latency"]);
    for name in ["/latency_ns", "/ring_wait_ns", "/gaps_ns"] {
        assert!(rx.at(name).is_null(), "{rx}");
    }
    assert!(rx.text("/latency_absent").contains("--no-latency"), "{rx}");
}
