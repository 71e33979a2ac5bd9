//! Frames a second as an exact fraction, so that no rate drifts.

use super::{FrameSize, Nanos};

const NANOS_A_SECOND: u128 = 1_000_000_000;

/// Frames a second as a fraction of two integers: 1.5 Mpps is 1,500,000 / 1, 10 Gbit/s of 84-byte slots is
/// 10,000,000,000 / 672.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameRate {
    frames: u64,
    seconds: u64,
}

impl FrameRate {
    /// `frames` in `seconds`; None when either is zero.
    #[must_use]
    pub const fn new(frames: u64, seconds: u64) -> Option<Self> {
        if frames == 0 || seconds == 0 { None } else { Some(Self { frames, seconds }) }
    }

    /// The rate at which frames of `size` fill `bits_per_second` of layer 1.
    #[must_use]
    pub const fn from_l1_bps(bits_per_second: u64, size: FrameSize) -> Option<Self> {
        Self::new(bits_per_second, size.on_wire() as u64 * 8)
    }

    /// The rate at which frames of `size` fill `bits_per_second` of layer 2.
    #[must_use]
    pub const fn from_l2_bps(bits_per_second: u64, size: FrameSize) -> Option<Self> {
        Self::new(bits_per_second, size.with_fcs() as u64 * 8)
    }

    /// Whole frames that are over after `elapsed`.
    #[must_use]
    pub fn frames_in(self, elapsed: Nanos) -> u64 {
        let frames =
            u128::from(elapsed.0) * u128::from(self.frames) / (NANOS_A_SECOND * u128::from(self.seconds));
        u64::try_from(frames).unwrap_or(u64::MAX)
    }

    /// The first nanosecond at which `frames` whole frames are over: the inverse of [`FrameRate::frames_in`].
    #[must_use]
    pub fn time_of(self, frames: u64) -> Nanos {
        let scaled = u128::from(frames) * u128::from(self.seconds);
        // frames × seconds × 10^9 may pass 2^128 only for spans of 10^11 years; saturate there.
        let time = scaled.saturating_mul(NANOS_A_SECOND).div_ceil(u128::from(self.frames));
        Nanos(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// When `frames` whole frames are over: whole ns, and the rest in parts of [`FrameRate::frames`] to the ns.
    #[must_use]
    pub fn parts_of(self, frames: u64) -> (u128, u64) {
        let scaled = u128::from(frames) * u128::from(self.seconds);
        let (time, divisor) = (scaled.saturating_mul(NANOS_A_SECOND), u128::from(self.frames));
        // A remainder is less than its divisor.
        (time / divisor, (time % divisor) as u64)
    }

    /// The rate that lies `part` of `parts` on the way from `a` to `b`; None where its fraction does not fit, or there
    /// are no parts.
    #[must_use]
    pub fn between(a: Self, b: Self, part: u64, parts: u64) -> Option<Self> {
        let product = |x: u64, y: u64, z: u64| (u128::from(x) * u128::from(y)).checked_mul(z.into());
        let near = product(a.frames, b.seconds, parts.checked_sub(part)?)?;
        let frames = near.checked_add(product(b.frames, a.seconds, part)?)?;
        let seconds = product(a.seconds, b.seconds, parts)?;
        let divisor = gcd(frames, seconds).max(1);
        Self::new(u64::try_from(frames / divisor).ok()?, u64::try_from(seconds / divisor).ok()?)
    }

    /// The numerator of frames a second.
    #[must_use]
    pub const fn frames(self) -> u64 {
        self.frames
    }

    /// The denominator of frames a second.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.seconds
    }

    /// Frames a second, for people.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub fn pps(self) -> f64 {
        self.frames as f64 / self.seconds as f64
    }
}

/// The greatest common divisor.
pub(super) const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ten_gigabit_of_minimal_frames() {
        let rate = FrameRate::from_l1_bps(10_000_000_000, FrameSize::MIN).unwrap();
        assert_eq!(rate.frames_in(Nanos::SECOND), 14_880_952);
    }

    #[test]
    fn no_drift_over_a_million_seconds() {
        let rate = FrameRate::new(1_000_001, 3).unwrap();
        assert_eq!(rate.frames_in(Nanos(3_000_000 * 1_000_000_000)), 1_000_001_000_000);
    }

    #[test]
    fn the_middle_of_two_rates() {
        let rate = |frames, seconds| FrameRate::new(frames, seconds).unwrap();
        assert_eq!(FrameRate::between(rate(2, 1), rate(4, 1), 1, 2), Some(rate(3, 1)));
        assert_eq!(FrameRate::between(rate(1, 2), rate(1, 3), 1, 4), Some(rate(11, 24)));
        assert_eq!(FrameRate::between(rate(u64::MAX, 1), rate(1, u64::MAX), 1, 2), None);
    }

    proptest! {
        #[test]
        fn time_of_is_the_inverse(frames in 1u64..1 << 40, seconds in 1u64..100_000, k in 0u64..1 << 40) {
            let rate = FrameRate::new(frames, seconds).unwrap();
            let t = rate.time_of(k);
            prop_assume!(t.0 < u64::MAX);
            prop_assert!(rate.frames_in(t) >= k);
            if t.0 > 0 {
                prop_assert!(rate.frames_in(Nanos(t.0 - 1)) < k);
            }
        }
    }
}
