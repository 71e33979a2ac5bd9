//! Which checksums a field is under, ready for the sender's loop: no branch, and sums that stay in registers. Knows no
//! field.

use super::layout::MAX_SUMS;

/// A set of checksums: all ones at the number of each that is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Covers([u64; MAX_SUMS]);

/// Running sums of the first `N` checksums.
#[derive(Debug, Clone, Copy)]
pub struct Sums<const N: usize>([u64; N]);

impl Covers {
    /// Of the set whose bit i says whether checksum i is in it.
    #[must_use]
    pub fn of(set: u8) -> Self {
        Self(std::array::from_fn(|i| if set >> i & 1 == 1 { u64::MAX } else { 0 }))
    }

    /// The set, a bit each.
    #[must_use]
    pub fn set(&self) -> u8 {
        (0..).zip(&self.0).filter(|(_, mask)| **mask != 0).fold(0, |set, (i, _)| set | 1 << i)
    }
}

impl<const N: usize> Sums<N> {
    /// Nothing added yet.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self([0; N])
    }

    /// Adds `share` to each sum in `covers`, whose numbers are below `N`.
    #[inline(always)]
    pub fn add(&mut self, covers: &Covers, share: u64) {
        // Both have a length that the compiler knows: this becomes vector code.
        self.0.iter_mut().zip(&covers.0).for_each(|(sum, mask)| *sum += share & mask);
    }

    /// All of them, those from `N` on zero.
    #[inline]
    #[must_use]
    pub fn all(self) -> Sums<MAX_SUMS> {
        let mut all = [0; MAX_SUMS];
        all.iter_mut().zip(self.0).for_each(|(all, sum)| *all = sum);
        Sums(all)
    }
}

impl Sums<MAX_SUMS> {
    /// The sum of that number.
    #[inline]
    #[must_use]
    pub fn get(&self, number: usize) -> u64 {
        // The remainder keeps the index inside the table, and the compiler knows.
        self.0[number % MAX_SUMS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_goes_to_the_sums_that_are_in_the_set() {
        let covers = Covers::of(0b101);
        assert_eq!(covers.set(), 0b101);
        let mut sums = Sums::<4>::new();
        sums.add(&covers, 7);
        sums.add(&Covers::of(0b1001), 1);
        assert_eq!([0, 1, 2, 3, 4].map(|number| sums.all().get(number)), [8, 0, 7, 1, 0]);
    }
}
