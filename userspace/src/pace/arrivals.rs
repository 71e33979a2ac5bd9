//! Poisson arrivals: gaps that know nothing of each other, exponentially spread around their mean. Pure in seed and
//! number, and summed up in integers.

use crate::units::{FrameRate, Nanos, hash};

/// Binary places of a gap in ns: a mean gap of 10 ns is right to one in 10^10.
const PLACES: u32 = 32;
/// A walk that is further behind jumps: the numbers of what came meanwhile are then those of the mean.
const FAR_BEHIND: Nanos = Nanos::SECOND;
/// As many values as an f64 tells apart below one.
const STEPS: f64 = (1u64 << 53) as f64;

/// The arrivals of one sender, which only go forward.
#[derive(Debug, Clone)]
pub(super) struct Arrivals {
    seed: u64,
    /// The mean gap in ns.
    mean: f64,
    /// The arrival that is looked at, and its time in ns with [`PLACES`] places.
    n: u64,
    time: u128,
}

impl Arrivals {
    /// `rate` shared by `parts` senders, of which this is `own`: sums of such arrivals are such arrivals.
    pub fn new(rate: FrameRate, own: u64, parts: u64, seed: u64) -> Self {
        let mean = 1e9 * parts as f64 / rate.pps();
        let mut arrivals = Self { seed: hash(seed, own), mean, n: 0, time: 0 };
        arrivals.time = arrivals.gap();
        arrivals
    }

    /// The gap in front of arrival `n`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and cut on purpose"
    )]
    fn gap(&self) -> u128 {
        // 0 < uniform ≤ 1, so that the logarithm is finite.
        let uniform = ((hash(self.seed, self.n) >> 11) + 1) as f64 / STEPS;
        (-uniform.ln() * self.mean * (1u64 << PLACES) as f64) as u128
    }

    fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.time.div_ceil(1 << PLACES)).unwrap_or(u64::MAX))
    }

    fn advance(&mut self) {
        self.n += 1;
        self.time = self.time.saturating_add(self.gap());
    }

    /// Goes to a second before `time` at once where that is far ahead, as after a machine has slept; whether it has.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and cut on purpose"
    )]
    pub fn catch_up(&mut self, time: Nanos) -> bool {
        let behind = time - self.now();
        if behind <= FAR_BEHIND {
            return false;
        }
        let jump = behind - FAR_BEHIND;
        self.n += (jump.0 as f64 / self.mean) as u64;
        self.time += u128::from(jump.0) << PLACES;
        true
    }

    /// How many have arrived at `time`, and before it.
    pub fn opened(&mut self, time: Nanos) -> u64 {
        while self.now() <= time {
            self.advance();
        }
        self.n
    }

    /// When arrival `n` comes. One that has been jumped over is as old as the walk.
    pub fn time_of(&mut self, n: u64) -> Nanos {
        while self.n < n {
            self.advance();
        }
        self.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(own: u64, parts: u64, seed: u64) -> Vec<u64> {
        let mut arrivals = Arrivals::new(FrameRate::new(100_000, 1).unwrap(), own, parts, seed);
        let times: Vec<u64> = (0..100_000).map(|n| arrivals.time_of(n).0).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn gaps_are_exponential() {
        let mut gaps = gaps(0, 1, 7);
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<u64>() as f64 / n;
        let variance = gaps.iter().map(|gap| (*gap as f64 - mean).powi(2)).sum::<f64>() / n;
        // Of 10^5 gaps the mean is right to 0.3 % (one sigma), the deviation to 0.6 %.
        assert!((mean / 10_000.0 - 1.0).abs() < 0.015, "{mean}");
        assert!((variance.sqrt() / 10_000.0 - 1.0).abs() < 0.03, "{}", variance.sqrt());
        gaps.sort_unstable();
        let median = gaps[gaps.len() / 2] as f64;
        assert!((median / (10_000.0 * std::f64::consts::LN_2) - 1.0).abs() < 0.03, "{median}");
    }

    #[test]
    fn a_seed_names_the_arrivals_and_each_sender_has_its_own() {
        assert_eq!(gaps(0, 2, 7), gaps(0, 2, 7));
        assert_ne!(gaps(0, 2, 7), gaps(1, 2, 7));
        assert_ne!(gaps(0, 2, 7), gaps(0, 2, 8));
    }

    #[test]
    fn a_long_sleep_costs_no_walk_of_every_arrival() {
        let mut arrivals = Arrivals::new(FrameRate::new(10_000_000, 1).unwrap(), 0, 1, 3);
        let hour = Nanos(3_600 * 1_000_000_000);
        assert!(arrivals.catch_up(hour) && !arrivals.catch_up(hour));
        let n = arrivals.opened(hour) as f64;
        assert!((n / 36e9 - 1.0).abs() < 1e-5, "{n}");
        assert!(arrivals.time_of(7) > hour);
    }

    #[test]
    fn as_many_have_arrived_as_their_times_say() {
        let rate = FrameRate::new(1_000_000, 1).unwrap();
        let (mut counted, mut timed) = (Arrivals::new(rate, 0, 1, 3), Arrivals::new(rate, 0, 1, 3));
        for n in 0..1_000 {
            let time = timed.time_of(n);
            assert!(counted.opened(Nanos(time.0 - 1)) <= n);
            assert!(counted.opened(time) > n);
        }
    }
}
