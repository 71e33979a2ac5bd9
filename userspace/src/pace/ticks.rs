//! When slots of a steady rate are due, one after the other: the quotient and the remainder of a step are added, so
//! that no slot costs a division and none drifts.

use crate::units::{FrameRate, Nanos};

/// The times of every `stride`-th of the moments that lie `group` frames apart.
#[derive(Debug, Clone)]
pub(super) struct Ticks {
    rate: FrameRate,
    group: u64,
    stride: u64,
    /// A stride in whole ns, and the rest of it in parts of [`FrameRate::frames`].
    step: (u128, u64),
    /// The moment that was asked for last, and its time likewise.
    at: u64,
    time: (u128, u64),
}

impl Ticks {
    pub fn new(rate: FrameRate, group: u64, stride: u64) -> Self {
        let step = rate.parts_of(group.saturating_mul(stride));
        Self { rate, group, stride, step, at: 0, time: (0, 0) }
    }

    /// The first ns at which moment `n` has come. Cheap for that asked last and for the one a stride after it.
    #[inline]
    pub fn time_of(&mut self, n: u64) -> Nanos {
        if n != self.at {
            self.time = if n.checked_sub(self.stride) == Some(self.at) {
                self.one_more()
            } else {
                self.rate.parts_of(n.saturating_mul(self.group))
            };
            self.at = n;
        }
        let (whole, rest) = self.time;
        Nanos(u64::try_from(whole + u128::from(rest > 0)).unwrap_or(u64::MAX))
    }

    #[inline]
    fn one_more(&self) -> (u128, u64) {
        let (whole, rest) = (self.time.0.saturating_add(self.step.0), self.time.1);
        match rest.checked_add(self.step.1) {
            Some(rest) if rest < self.rate.frames() => (whole, rest),
            // Both are below the divisor, so their sum is below twice that.
            _ => (whole + 1, rest.wrapping_add(self.step.1).wrapping_sub(self.rate.frames())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn adding_is_as_exact_as_dividing(
            frames in prop_oneof![1u64..1000, any::<u64>()], seconds in prop_oneof![1u64..1000, any::<u64>()],
            group in 1u64..300, stride in 1u64..70, first in 0u64..1 << 40, skip in 0u64..9,
        ) {
            let rate = FrameRate::new(frames.max(1), seconds.max(1)).unwrap();
            let mut ticks = Ticks::new(rate, group, stride);
            for k in (0..50).map(|k| first + k * stride).chain([first + 50 * stride + skip]) {
                prop_assert_eq!(ticks.time_of(k), rate.time_of(k * group));
                prop_assert_eq!(ticks.time_of(k), rate.time_of(k * group));
            }
        }
    }
}
