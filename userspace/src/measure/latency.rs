//! Latency as a histogram of bounded size and bounded error. Knows no clock: whoever records has subtracted.

use super::{PackedLatency, Summary};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

/// Longest latency that is told apart, in ns: a frame that took ten seconds is as good as lost.
pub const HIGHEST_NS: u64 = 10_000_000_000;
/// Every value is right to one in a thousand, far below what any clock here resolves.
const DIGITS: u8 = 3;
/// Right to one in a hundred.
const COARSE_DIGITS: u8 = 2;
/// Bytes of the table of [`Latency::new`].
pub const TABLE_BYTES: u64 = 204_800;
/// Bytes of the table of [`Latency::coarse`].
pub const COARSE_TABLE_BYTES: u64 = 28_672;

/// Latencies of any number of frames.
#[derive(Debug, Clone)]
pub struct Latency {
    histogram: Histogram<u64>,
    min: u64,
    max: u64,
    sum: u128,
    overflow: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl Latency {
    /// No samples yet. Allocates the whole table, so that recording does not.
    #[must_use]
    pub fn new() -> Self {
        Self::with_digits(HIGHEST_NS, DIGITS)
    }

    /// The same in an eighth of the memory, right to one in a hundred: for many at once.
    #[must_use]
    pub fn coarse() -> Self {
        Self::with_digits(HIGHEST_NS, COARSE_DIGITS)
    }

    /// As [`Latency::new`], but without a table: for what will record nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::with_digits(2, 0)
    }

    #[expect(clippy::expect_used, reason = "the bounds are constants within the crate's documented limits")]
    fn with_digits(highest: u64, digits: u8) -> Self {
        let histogram = Histogram::new_with_bounds(1, highest, digits).expect("constant bounds");
        Self { histogram, min: u64::MAX, max: 0, sum: 0, overflow: 0 }
    }

    /// The same samples in as little memory as they need.
    #[must_use]
    pub fn pack(self) -> PackedLatency {
        let Self { histogram, min, max, sum, overflow } = self;
        let cells = histogram.iter_recorded();
        let cells = cells.map(|cell| (cell.value_iterated_to(), cell.count_since_last_iteration()));
        let mut packed = PackedLatency::of(cells);
        (packed.min, packed.max, packed.sum, packed.overflow) = (min, max, sum, overflow);
        packed
    }

    /// Adds all samples of `packed`, which were in a table of the same digits.
    pub fn unpack(&mut self, packed: &PackedLatency) {
        packed.cells().for_each(|(value, count)| self.histogram.saturating_record_n(value, count));
        self.min = self.min.min(packed.min);
        self.max = self.max.max(packed.max);
        self.sum += packed.sum;
        self.overflow += packed.overflow;
    }

    /// Adds a sample of `ns`.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.overflow += u64::from(ns > HIGHEST_NS);
        let ns = ns.min(HIGHEST_NS);
        self.histogram.saturating_record(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.sum += u128::from(ns);
    }

    /// Adds `n` samples of `ns`.
    #[inline]
    pub fn record_n(&mut self, ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.overflow += if ns > HIGHEST_NS { n } else { 0 };
        let ns = ns.min(HIGHEST_NS);
        self.histogram.saturating_record_n(ns, n);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.sum += u128::from(ns) * u128::from(n);
    }

    /// Adds all samples of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.histogram += &other.histogram;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.overflow += other.overflow;
    }

    /// What the samples come to; None without any.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    pub fn summary(&self) -> Option<Summary> {
        let count = self.histogram.len();
        if count == 0 {
            return None;
        }
        // The histogram answers with the upper edge of a cell, which may lie above the largest sample.
        let quantile = |q| self.histogram.value_at_quantile(q).clamp(self.min, self.max);
        Some(Summary {
            count,
            min: self.min,
            mean: self.sum as f64 / count as f64,
            stdev: self.histogram.stdev(),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            p99_99: quantile(0.9999),
            p99_999: quantile(0.99999),
            max: self.max,
            overflow: self.overflow,
            hist: self.encode(),
        })
    }

    fn encode(&self) -> Option<String> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes).ok()?;
        Some(STANDARD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    fn of(samples: &[u64]) -> Latency {
        let mut latency = Latency::new();
        samples.iter().for_each(|ns| latency.record(*ns));
        latency
    }

    fn any_samples() -> impl Strategy<Value = Vec<u64>> {
        let one = prop_oneof![0u64..10, 0u64..1_000_000, 0u64..2 * HIGHEST_NS, any::<u64>()];
        prop::collection::vec(one, 1..300)
    }

    /// The sample that the quantile means: the smallest that so many are not above.
    fn exact_quantile(sorted: &[u64], q: f64) -> u64 {
        let rank = (q * sorted.len() as f64).ceil() as usize;
        sorted[rank.max(1) - 1]
    }

    #[test]
    fn nothing_recorded_is_no_summary_and_zero_is_a_latency() {
        assert_eq!(Latency::new().summary(), None);
        let zero = of(&[0]).summary().unwrap();
        assert_eq!((zero.count, zero.min, zero.p50, zero.max, zero.mean), (1, 0, 0, 0, 0.0));
    }

    #[test]
    fn too_long_counts_as_the_highest_and_as_overflow() {
        let summary = of(&[5, HIGHEST_NS, HIGHEST_NS + 1, u64::MAX]).summary().unwrap();
        assert_eq!((summary.count, summary.max, summary.overflow), (4, HIGHEST_NS, 2));
        assert_eq!((summary.min, summary.p90), (5, HIGHEST_NS));
    }

    #[test]
    fn many_at_once_are_as_one_by_one() {
        let mut latency = of(&[3]);
        [(7, 0), (5, 2), (HIGHEST_NS + 1, 3)].into_iter().for_each(|(ns, n)| latency.record_n(ns, n));
        let most = HIGHEST_NS + 1;
        assert_eq!(latency.summary(), of(&[3, 5, 5, most, most, most]).summary());
    }

    #[test]
    fn tables_take_what_they_are_said_to() {
        let bytes = |latency: &Latency| latency.histogram.distinct_values() as u64 * 8;
        assert_eq!(bytes(&Latency::new()), TABLE_BYTES);
        assert_eq!(bytes(&Latency::coarse()), COARSE_TABLE_BYTES);
    }

    #[test]
    fn recording_allocates_nothing() {
        for mut latency in [Latency::new(), Latency::coarse()] {
            let info = allocation_counter::measure(|| {
                for power in 0..64 {
                    latency.record(1 << power);
                }
            });
            assert_eq!(info.count_total, 0);
        }
    }

    proptest! {
        #[test]
        fn percentiles_are_right_to_one_in_a_thousand(samples in any_samples()) {
            let summary = of(&samples).summary().unwrap();
            let mut sorted: Vec<u64> = samples.iter().map(|ns| (*ns).min(HIGHEST_NS)).collect();
            sorted.sort_unstable();
            let got = [summary.p50, summary.p90, summary.p99, summary.p99_9, summary.p99_99, summary.p99_999];
            for (got, q) in got.into_iter().zip([0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999]) {
                let exact = exact_quantile(&sorted, q);
                prop_assert!(got >= exact && got - exact <= exact / 1000, "{} for {}", got, exact);
            }
            prop_assert_eq!((summary.min, summary.max), (sorted[0], sorted[sorted.len() - 1]));
            let above = summary.delay_variation();
            let of_all = [above.p50, above.p99, above.p99_9, above.max].map(|ns| ns + summary.min);
            prop_assert_eq!(of_all, [summary.p50, summary.p99, summary.p99_9, summary.max]);
            let mean = sorted.iter().map(|ns| u128::from(*ns)).sum::<u128>() as f64 / sorted.len() as f64;
            prop_assert_eq!(summary.mean, mean);
        }

        #[test]
        fn coarse_percentiles_are_right_to_one_in_a_hundred(samples in any_samples()) {
            let mut coarse = Latency::coarse();
            samples.iter().for_each(|ns| coarse.record(*ns));
            let (fine, coarse) = (of(&samples).summary().unwrap(), coarse.summary().unwrap());
            prop_assert_eq!((fine.count, fine.min, fine.max), (coarse.count, coarse.min, coarse.max));
            prop_assert_eq!(fine.mean, coarse.mean);
            for (fine, coarse) in [(fine.p50, coarse.p50), (fine.p99, coarse.p99)] {
                prop_assert!(fine.abs_diff(coarse) <= fine / 100, "{} for {}", coarse, fine);
            }
        }

        #[test]
        fn merged_parts_are_the_whole(samples in any_samples(), queues in 1usize..9, packed: bool) {
            let mut merged = Latency::new();
            for queue in 0..queues {
                let part: Vec<u64> = samples.iter().skip(queue).step_by(queues).copied().collect();
                if packed { merged.unpack(&of(&part).pack()) } else { merged.merge(&of(&part)) }
            }
            prop_assert_eq!(merged.summary(), of(&samples).summary());
        }

        #[test]
        fn packing_loses_nothing(samples in any_samples(), more in any_samples()) {
            let mut unpacked = of(&more);
            unpacked.unpack(&of(&samples).pack());
            let mut merged = of(&more);
            merged.merge(&of(&samples));
            prop_assert_eq!(unpacked.summary(), merged.summary());
        }

        #[test]
        fn the_encoded_histograms_of_two_runs_add_up_to_that_of_both(one in any_samples(), other in any_samples()) {
            let decode = |samples: &[u64]| -> Histogram<u64> {
                let bytes = STANDARD.decode(of(samples).summary().unwrap().hist.unwrap()).unwrap();
                Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
            };
            prop_assert_eq!(decode(&one), of(&one).histogram);
            prop_assert_eq!(decode(&one) + decode(&other), of(&[one, other].concat()).histogram);
        }
    }
}
