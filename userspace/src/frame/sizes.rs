//! Which length each frame of a stream has: pure in its number. Knows no header.

use crate::units::FrameSize;

/// Lengths of the frames of one stream, each with FCS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// All the same.
    Fixed(FrameSize),
    /// A pattern that repeats: frame n has the length at n mod its length. Never empty.
    Pattern(Vec<FrameSize>),
    /// `from`, `from + step`, … up to `to` at the most, again and again.
    Sweep {
        /// The first and shortest.
        from: FrameSize,
        /// None is longer.
        to: FrameSize,
        /// At least 1.
        step: u32,
    },
    /// Uniform between both, each included: a counter hash of seed and number.
    Uniform {
        /// The shortest.
        from: FrameSize,
        /// The longest.
        to: FrameSize,
        /// Names the series.
        seed: u64,
    },
}
