//! Which length each frame of a stream has: pure in its number. Knows no header.

use super::formula::hash;
use super::remainder::Remainder;
use crate::units::{FrameSize, MeanSize};

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

impl Sizes {
    /// The shortest and the longest frame.
    #[must_use]
    pub fn bounds(&self) -> (FrameSize, FrameSize) {
        match self {
            Self::Fixed(size) => (*size, *size),
            Self::Pattern(sizes) => {
                let (shortest, longest) = (sizes.iter().min(), sizes.iter().max());
                (shortest.copied().unwrap_or(FrameSize::MIN), longest.copied().unwrap_or(FrameSize::MIN))
            }
            Self::Sweep { from, to, step } => {
                let last = from.with_fcs() + sweep_steps(*from, *to, *step) * step;
                (*from, FrameSize::new(last).unwrap_or(*to))
            }
            Self::Uniform { from, to, .. } => (*from, *to),
        }
    }

    /// The one length, where all are the same.
    #[must_use]
    pub fn fixed(&self) -> Option<FrameSize> {
        let (shortest, longest) = self.bounds();
        (shortest == longest).then_some(shortest)
    }

    /// The mean over a whole period.
    #[must_use]
    pub fn mean(&self) -> MeanSize {
        match self {
            Self::Fixed(size) => MeanSize { frames: 1, bytes: size.with_fcs().into() },
            Self::Pattern(sizes) => MeanSize {
                frames: sizes.len().max(1) as u64,
                bytes: sizes.iter().map(|size| u64::from(size.with_fcs())).sum(),
            },
            Self::Sweep { .. } | Self::Uniform { .. } => {
                let (shortest, longest) = self.bounds();
                MeanSize { frames: 2, bytes: u64::from(shortest.with_fcs()) + u64::from(longest.with_fcs()) }
            }
        }
    }
}

/// Steps from the first length of a sweep to its last.
fn sweep_steps(from: FrameSize, to: FrameSize, step: u32) -> u32 {
    to.with_fcs().saturating_sub(from.with_fcs()) / step.max(1)
}

/// [`Sizes`] without divisions, in bytes of memory.
#[derive(Debug, Clone)]
pub enum Lengths {
    /// All the same.
    Fixed(usize),
    /// From a table.
    Pattern(Box<[u32]>, Remainder),
    /// `from + (n mod count) × step`.
    Sweep(u64, u64, Remainder),
    /// `from + hash(seed, n) mod span`.
    Uniform(u64, u64, Remainder),
}

impl Lengths {
    /// Prepares `sizes`.
    #[must_use]
    pub fn of(sizes: &Sizes) -> Self {
        if let Some(size) = sizes.fixed() {
            return Self::Fixed(size.in_memory());
        }
        match sizes {
            Sizes::Fixed(size) => Self::Fixed(size.in_memory()),
            Sizes::Pattern(sizes) => {
                let table: Box<[u32]> = sizes.iter().map(|size| size.in_memory() as u32).collect();
                let count = Remainder::of(table.len().max(1) as u64);
                Self::Pattern(table, count)
            }
            Sizes::Sweep { from, to, step } => {
                let count = u64::from(sweep_steps(*from, *to, *step)) + 1;
                Self::Sweep(from.in_memory() as u64, (*step).into(), Remainder::of(count))
            }
            Sizes::Uniform { from, to, seed } => {
                let span = u64::from(to.with_fcs().saturating_sub(from.with_fcs())) + 1;
                Self::Uniform(from.in_memory() as u64, *seed, Remainder::of(span))
            }
        }
    }

    /// Bytes of frame `n`, without FCS.
    #[inline]
    #[must_use]
    pub fn at(&self, n: u64) -> usize {
        match self {
            Self::Fixed(len) => *len,
            Self::Pattern(table, count) => table.get(count.take(n) as usize).map_or(0, |len| *len as usize),
            Self::Sweep(from, step, count) => (from + count.take(n) * step) as usize,
            Self::Uniform(from, seed, span) => (from + span.take(hash(*seed, n))) as usize,
        }
    }
}
