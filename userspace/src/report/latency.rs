//! How long frames took on their way, as the figures of a histogram. Knows not how it was measured.

use crate::measure::{DelayVariation, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Latency in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the percentiles name themselves")]
pub struct LatencyNs {
    /// `one_way` or `round_trip`.
    pub kind: LatencyKind,
    /// Whose clock took the arrival time: `userspace`, `xdp-rx`, `nic-rx`.
    pub clock: String,
    /// Samples: distinct frames that were timed.
    pub count: u64,
    /// Which share of the frames was to be timed: `1/1` is all, `1/100` one in a hundred, by a hash of their numbers.
    #[serde(default)]
    pub sampled: Option<String>,
    pub min: u64,
    pub mean: f64,
    pub stdev: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub p99_99: u64,
    #[serde(default)]
    pub p99_999: Option<u64>,
    pub max: u64,
    /// By how much it exceeds the smallest (RFC 5481, packet delay variation).
    #[serde(default)]
    pub pdv: Option<DelayVariationNs>,
    /// How much it changes from a frame to the next (RFC 3550, interarrival jitter), in a sequence space and in order of
    /// arrival; the mean over spaces and queues by their frames. Null where no space had two frames.
    #[serde(default)]
    pub jitter: Option<f64>,
    /// Samples above what the histogram can hold; they count as its highest value.
    pub overflow: u64,
    /// Samples that arrived before they were sent, by a clock that stepped back; they count as 0.
    #[serde(default)]
    pub negative: Option<u64>,
    /// Rows of `streams` with a latency of their own; null in a run of one row.
    #[serde(default)]
    pub streams_followed: Option<u64>,
    /// Why other rows have none.
    #[serde(default)]
    pub streams_absent: Option<String>,
    /// Why these are times of a queue that is full rather than of the path: frames were lost, fewer were sent than asked
    /// for, or as many as possible were. Null where none of that is known.
    #[serde(default)]
    pub queue_limited: Option<String>,
    /// The histogram, HdrHistogram V2 compressed or uncompressed, base64.
    pub hist: Option<String>,
}

/// Which way the time was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LatencyKind {
    /// Stamp of the sender to arrival, one clock.
    OneWay,
    /// There and back.
    RoundTrip,
}

/// Latency of one stream in nanoseconds; percentiles are right to one in a hundred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the percentiles name themselves")]
pub struct StreamLatencyNs {
    /// Samples.
    pub count: u64,
    pub min: u64,
    pub mean: f64,
    pub p50: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
}

/// By how much a latency exceeds the smallest of the run, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the percentiles name themselves")]
pub struct DelayVariationNs {
    pub p50: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
}

impl LatencyNs {
    /// The figures of `summary`, of every frame; what one histogram does not tell is null.
    #[must_use]
    pub fn new(kind: LatencyKind, clock: &str, summary: Summary) -> Self {
        Self {
            kind,
            clock: clock.to_owned(),
            count: summary.count,
            sampled: Some("1/1".to_owned()),
            min: summary.min,
            mean: summary.mean,
            stdev: summary.stdev,
            p50: summary.p50,
            p90: summary.p90,
            p99: summary.p99,
            p99_9: summary.p99_9,
            p99_99: summary.p99_99,
            p99_999: Some(summary.p99_999),
            max: summary.max,
            pdv: Some(summary.delay_variation().into()),
            jitter: None,
            overflow: summary.overflow,
            negative: None,
            streams_followed: None,
            streams_absent: None,
            queue_limited: None,
            hist: summary.hist,
        }
    }
}

impl From<Summary> for StreamLatencyNs {
    fn from(summary: Summary) -> Self {
        Self {
            count: summary.count,
            min: summary.min,
            mean: summary.mean,
            p50: summary.p50,
            p99: summary.p99,
            p99_9: summary.p99_9,
            max: summary.max,
        }
    }
}

impl From<DelayVariation> for DelayVariationNs {
    fn from(above: DelayVariation) -> Self {
        Self { p50: above.p50, p99: above.p99, p99_9: above.p99_9, max: above.max }
    }
}
