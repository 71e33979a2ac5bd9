//! How a field changes from frame to frame: bounded plain numbers, computable in BPF as well (add, multiply,
//! shift, xor and unsigned remainder of u64, all wrapping). Knows no header.

pub use crate::units::hash;

/// What a formula is a function of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Per {
    /// The frame's index in its stream.
    #[default]
    Frame,
    /// The frame's flow, below the stream's number of flows: all frames of a flow have the same value.
    Flow,
}

/// The value of a field as a function of a u64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// Always the same.
    Constant(u64),
    /// `base + (n mod count) × step`, wrapping: an increment, or with a step near 2^64 a decrement. A count of 0
    /// is as many as a u64 has.
    Step {
        /// Value at 0.
        base: u64,
        /// What one step adds.
        step: u64,
        /// Values until it begins again.
        count: u64,
    },
    /// `list[n mod length]`; never empty.
    List(Vec<u64>),
    /// `low + hash(seed, n) mod span`; a span of 0 is all of a u64.
    Random {
        /// Names the series.
        seed: u64,
        /// The lowest value.
        low: u64,
        /// How many values there are from it on.
        span: u64,
    },
}

/// A field and its formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modifier {
    /// Name of the field, as [`super::layout::Field::name`] has it.
    pub field: String,
    /// Its value.
    pub formula: Formula,
    /// Of what.
    pub per: Per,
}

impl Formula {
    /// The value at `n`, before it is cut to its field: the plain definition, which the sender's tables and the BPF
    /// program equal.
    #[must_use]
    pub fn value(&self, n: u64) -> u64 {
        match self {
            Self::Constant(value) => *value,
            Self::Step { base, step, count } => {
                let phase = n.checked_rem(*count).unwrap_or(n);
                base.wrapping_add(phase.wrapping_mul(*step))
            }
            Self::List(values) => {
                let at = n.checked_rem(values.len() as u64).unwrap_or(0);
                usize::try_from(at).ok().and_then(|at| values.get(at)).copied().unwrap_or(0)
            }
            Self::Random { seed, low, span } => {
                let hash = hash(*seed, n);
                low.wrapping_add(hash.checked_rem(*span).unwrap_or(hash))
            }
        }
    }
}
