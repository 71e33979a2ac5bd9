//! Times in words: how long frames took, how long they waited, how far apart they came.

use super::table;
use super::text::{space, with_reason};
use super::words::{UNKNOWN, plural};
use crate::report::{DelayVariationNs, GapsKind, GapsNs, LatencyKind, LatencyNs, StreamRow, WaitNs};
use crate::units::{grouped, span};

/// Latency, or why there is none.
pub(super) fn lines(latency: Option<&LatencyNs>, absent: Option<&str>) -> Vec<String> {
    let Some(l) = latency else { return vec![with_reason(UNKNOWN, absent.unwrap_or_default())] };
    let figures = [
        ("min", Some(l.min)),
        ("p50", Some(l.p50)),
        ("p90", Some(l.p90)),
        ("p99", Some(l.p99)),
        ("p99.9", Some(l.p99_9)),
        ("p99.99", Some(l.p99_99)),
        ("p99.999", l.p99_999),
        ("max", Some(l.max)),
    ];
    let figures = figures.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let spread = format!("mean {}, stdev {}", span(l.mean), span(l.stdev));
    let jitter = l.jitter.map(|jitter| format!("jitter {}", span(jitter)));
    let spread = std::iter::once(spread).chain(jitter).collect::<Vec<_>>().join(", ");
    let lines = [head(l), named(figures), spread].into_iter().chain(l.pdv.as_ref().map(variation));
    let lines = lines.chain(l.streams_absent.as_ref().map(|why| format!("not of every stream: {why}")));
    lines.chain(l.queue_limited.as_ref().map(|why| format!("queue-limited: {why}"))).collect()
}

/// What was timed, by which clock, and which samples are not what they seem.
fn head(l: &LatencyNs) -> String {
    let kind = match l.kind {
        LatencyKind::OneWay => "one way",
        LatencyKind::RoundTrip => "round trip",
    };
    let share = l.sampled.as_deref().filter(|share| *share != "1/1");
    let notes = [
        share.map(|share| format!("{share} of the frames")),
        (l.overflow > 0).then(|| format!("{} above the scale", grouped(l.overflow))),
        l.negative.filter(|n| *n > 0).map(|n| format!("{} before they were sent", grouped(n))),
    ];
    let head = format!("{kind}, clock {}, {}", l.clock, plural(l.count, "sample"));
    std::iter::once(head).chain(notes.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}

fn variation(above: &DelayVariationNs) -> String {
    let figures = [("p50", above.p50), ("p99", above.p99), ("p99.9", above.p99_9), ("max", above.max)];
    format!("above min: {}", named(figures))
}

/// A table of the rows that have a latency of their own.
pub(super) fn streams(rows: &[StreamRow]) -> Vec<String> {
    let cells = |s: &StreamRow| {
        let l = s.latency_ns.as_ref()?;
        let [min, p50, p99, p99_9, max] = [l.min, l.p50, l.p99, l.p99_9, l.max].map(ns);
        Some([space(s, rows), grouped(l.count), min, p50, p99, p99_9, max])
    };
    let cells: Vec<_> = rows.iter().filter_map(cells).collect();
    if cells.is_empty() {
        return Vec::new();
    }
    table::lines(["space", "samples", "min latency", "p50", "p99", "p99.9", "max"], &cells)
}

/// Between the XDP program and the worker.
pub(super) fn wait(w: &WaitNs) -> String {
    let figures = named([("p50", w.p50), ("p99", w.p99), ("max", w.max)]);
    format!("{figures}, {} between the XDP program and the worker", plural(w.count, "sample"))
}

/// From when frames were due to when they were sent.
pub(super) fn delay(w: &WaitNs) -> String {
    let figures = named([("p50", w.p50), ("p99", w.p99), ("max", w.max)]);
    format!("{figures} later than due, {}", plural(w.count, "frame"))
}

/// Between frames of one queue.
pub(super) fn gaps(g: &GapsNs) -> String {
    let kind = match g.kind {
        GapsKind::Arrival => "between arrivals",
        GapsKind::Departure => "between departures",
    };
    let figures =
        [("min", g.min), ("p50", g.p50), ("p90", g.p90), ("p99", g.p99), ("p99.9", g.p99_9), ("max", g.max)];
    format!("{kind}, clock {}: mean {}, {}", g.clock, span(g.mean), named(figures))
}

fn named(figures: impl IntoIterator<Item = (&'static str, u64)>) -> String {
    figures.into_iter().map(|(name, value)| format!("{name} {}", ns(value))).collect::<Vec<_>>().join(", ")
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people; 2^53 ns is 104 days")]
fn ns(value: u64) -> String {
    span(value as f64)
}
