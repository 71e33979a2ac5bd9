//! What many times come to: the figures of a histogram. Knows not what was timed.

/// In ns. Smallest, largest and mean are exact; the rest is as right as the histogram's cells are narrow.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the percentiles name themselves")]
pub struct Summary {
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
    pub p99_999: u64,
    pub max: u64,
    /// Samples above [`super::latency::HIGHEST_NS`], which count as that.
    pub overflow: u64,
    /// The histogram as HdrHistogram's tools read it: V2, deflate, base64. None if it could not be encoded.
    pub hist: Option<String>,
}

/// Packet delay variation (RFC 5481, section 4.2): by how much a time exceeds the smallest, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the percentiles name themselves")]
pub struct DelayVariation {
    pub p50: u64,
    pub p99: u64,
    pub p99_9: u64,
    pub max: u64,
}

impl Summary {
    /// The same times as they exceed the smallest of them.
    #[must_use]
    pub fn delay_variation(&self) -> DelayVariation {
        let [p50, p99, p99_9, max] =
            [self.p50, self.p99, self.p99_9, self.max].map(|ns| ns - self.min.min(ns));
        DelayVariation { p50, p99, p99_9, max }
    }
}
