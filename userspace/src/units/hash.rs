//! The one source of all that is random: pure in a seed and a number, so that a run can be repeated.

/// Counter hash: the finaliser of SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
/// generators") over `seed + (n + 1) × γ`, so that it is the n-th output of that generator.
#[inline]
#[must_use]
pub const fn hash(seed: u64, n: u64) -> u64 {
    let z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
