//! Which frames are timed where not all are: chosen by a hash of their number, so that the choice keeps step with no
//! batch, no burst and no pattern of streams. Computes no hash.

use std::fmt;
use std::num::NonZeroU32;

/// One frame in so many, on average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    one_in: NonZeroU32,
    /// Hashes up to here are taken.
    highest: u64,
}

impl Sampling {
    /// Every frame.
    pub const ALL: Self = Self::one_in(NonZeroU32::MIN);

    /// One frame in `one_in`.
    #[must_use]
    pub const fn one_in(one_in: NonZeroU32) -> Self {
        Self { one_in, highest: u64::MAX / one_in.get() as u64 }
    }

    /// Whether a frame is timed; its hash is only asked for where not all are.
    #[inline]
    pub fn takes(self, hash: impl FnOnce() -> u64) -> bool {
        self.highest == u64::MAX || hash() <= self.highest
    }
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1/{}", self.one_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_taken_without_a_hash_and_of_hashes_their_share() {
        assert!(Sampling::ALL.takes(|| panic!("no hash is needed")));
        for one_in in [2, 3, 1_000, u32::MAX] {
            let sampling = Sampling::one_in(NonZeroU32::new(one_in).unwrap());
            let share = u64::MAX / u64::from(one_in);
            assert!(sampling.takes(|| 0) && sampling.takes(|| share) && !sampling.takes(|| share + 1));
            assert_eq!(sampling.to_string(), format!("1/{one_in}"));
        }
    }
}
