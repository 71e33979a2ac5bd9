//! Interarrival jitter (RFC 3550, section 6.4.1): how much the transit time changes from a frame to the next. Knows no
//! clock; one that is ahead of the sender's by a constant changes nothing.

/// The jitter of the frames of one sequence space, in their order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Jitter {
    /// Transit time of the last frame, in ns.
    last: Option<i64>,
    /// The estimate in sixteenths of a ns, so that no remainder is lost.
    sixteenths: u64,
    /// Differences that it is made of.
    differences: u64,
}

/// The jitter of several spaces: the mean, each with the weight of its frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeanJitter {
    /// Sixteenths of a ns, times differences.
    weighted: u128,
    differences: u64,
}

impl Jitter {
    /// Takes the next frame's transit time: J += (|D| − J) / 16, as appendix A.8 has it.
    #[inline]
    pub fn record(&mut self, transit_ns: i64) {
        if let Some(last) = self.last.replace(transit_ns) {
            let decay = self.sixteenths.saturating_add(8) >> 4;
            self.sixteenths = (self.sixteenths - decay).saturating_add(transit_ns.abs_diff(last));
            self.differences += 1;
        }
    }
}

impl MeanJitter {
    /// Adds a space.
    pub fn add(&mut self, jitter: &Jitter) {
        self.weighted += u128::from(jitter.sixteenths) * u128::from(jitter.differences);
        self.differences += jitter.differences;
    }

    /// Adds what others have.
    pub fn merge(&mut self, other: &Self) {
        self.weighted = self.weighted.saturating_add(other.weighted);
        self.differences += other.differences;
    }

    /// In ns; None where no space had two frames.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    pub fn ns(&self) -> Option<f64> {
        (self.differences > 0).then(|| self.weighted as f64 / 16.0 / self.differences as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(transits: &[i64]) -> Jitter {
        let mut jitter = Jitter::default();
        transits.iter().for_each(|ns| jitter.record(*ns));
        jitter
    }

    fn mean(parts: &[Jitter]) -> Option<f64> {
        let mut mean = MeanJitter::default();
        parts.iter().for_each(|part| mean.add(part));
        mean.ns()
    }

    #[test]
    fn one_frame_has_no_jitter_and_a_constant_transit_none_at_all() {
        assert_eq!((mean(&[]), mean(&[of(&[5])])), (None, None));
        assert_eq!(mean(&[of(&[5; 100])]), Some(0.0));
    }

    #[test]
    fn a_transit_that_swings_by_160_ns_tends_to_160() {
        let swing: Vec<i64> = (0..400).map(|n| 1_000 + 160 * (n % 2)).collect();
        let jitter = mean(&[of(&swing)]).unwrap();
        assert!((159.0..=161.0).contains(&jitter), "{jitter}");
        assert_eq!(mean(&[of(&[1_000, 1_160])]), Some(10.0), "the first difference counts a sixteenth");
    }

    #[test]
    fn a_space_weighs_as_much_as_it_has_frames() {
        let swings = |by: i64, frames| of(&(0..frames).map(|n| by * (n % 2)).collect::<Vec<_>>());
        let jitter = mean(&[swings(0, 301), swings(1_000, 101)]).unwrap();
        assert!((248.0..=252.0).contains(&jitter), "{jitter}");
    }

    #[test]
    fn the_widest_swing_does_not_overflow() {
        let jitter = of(&(0..200).map(|n| if n % 2 == 0 { i64::MIN } else { i64::MAX }).collect::<Vec<_>>());
        assert!(mean(&[jitter, jitter]).unwrap() > 1e17);
    }

    proptest! {
        #[test]
        fn it_is_the_formula_to_half_a_nanosecond(transits in prop::collection::vec(-1_000_000i64..1_000_000, 2..200)) {
            let exact = transits.windows(2).fold(0.0, |j, pair| j + ((pair[1] - pair[0]).abs() as f64 - j) / 16.0);
            let got = mean(&[of(&transits)]).unwrap();
            prop_assert!((got - exact).abs() <= 0.5, "{} for {}", got, exact);
        }

        #[test]
        fn a_clock_that_is_ahead_changes_nothing(
            transits in prop::collection::vec(0i64..1_000_000, 2..50), ahead in -1i64 << 60..1i64 << 60,
        ) {
            let shifted: Vec<i64> = transits.iter().map(|ns| ns + ahead).collect();
            prop_assert_eq!(mean(&[of(&shifted)]), mean(&[of(&transits)]));
        }
    }
}
