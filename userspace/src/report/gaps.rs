//! How far apart frames left or arrived, as the figures of a histogram. Knows not how it was measured.

use crate::measure::Summary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Gaps from a frame to the next, each queue's own, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the percentiles name themselves")]
pub struct GapsNs {
    /// Between what: `arrival` or `departure`.
    pub kind: GapsKind,
    /// Whose clock took the times: `nic-rx`, where the NIC timed every frame, or `xdp-rx`, one time a frame as well, or
    /// `userspace`, one time a turn: frames that a worker took or sent in one turn are then no gap apart.
    pub clock: String,
    /// Gaps; where a sample of the frames was timed, those in front of one of it.
    pub count: u64,
    pub min: u64,
    pub mean: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
    /// Gaps above what the histogram can hold; they count as its highest value.
    pub overflow: u64,
    /// The histogram, HdrHistogram V2 compressed, base64.
    pub hist: Option<String>,
}

/// Between what a gap lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapsKind {
    /// Frames of the run that arrived on a queue, duplicates included.
    Arrival,
    /// Frames that a queue's sender handed over.
    Departure,
}

impl GapsNs {
    /// The figures of `summary`.
    #[must_use]
    pub fn new(kind: GapsKind, clock: &str, summary: Summary) -> Self {
        Self {
            kind,
            clock: clock.to_owned(),
            count: summary.count,
            min: summary.min,
            mean: summary.mean,
            p50: summary.p50,
            p90: summary.p90,
            p99: summary.p99,
            p99_9: summary.p99_9,
            max: summary.max,
            overflow: summary.overflow,
            hist: summary.hist,
        }
    }
}
