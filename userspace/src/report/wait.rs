//! How long something waited, as the figures of its histogram. Knows not what waited.

use crate::measure::Summary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Waits in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the percentiles name themselves")]
pub struct WaitNs {
    /// Samples.
    pub count: u64,
    pub min: u64,
    pub mean: f64,
    pub stdev: f64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub p99_99: u64,
    pub max: u64,
    /// Samples above what the histogram can hold; they count as its highest value.
    pub overflow: u64,
    /// The histogram, HdrHistogram V2 compressed, base64.
    pub hist: Option<String>,
}

impl From<Summary> for WaitNs {
    fn from(summary: Summary) -> Self {
        Self {
            count: summary.count,
            min: summary.min,
            mean: summary.mean,
            stdev: summary.stdev,
            p50: summary.p50,
            p90: summary.p90,
            p99: summary.p99,
            p99_9: summary.p99_9,
            p99_99: summary.p99_99,
            max: summary.max,
            overflow: summary.overflow,
            hist: summary.hist,
        }
    }
}
