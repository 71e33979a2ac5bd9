//! How a receiver knows the frames of a stream without parsing them: half-words that have a value in each of them,
//! and where the probe lies. The same list goes into the XDP program. Knows no sender.

use super::layout::{HalfCheck, Layout, Sum};

/// Half-word checks of one shape at the most; of more the first ones count, and the probe's magic decides.
pub const MAX_CHECKS: usize = 20;
/// Shapes of one sink at the most: every stream of a file, each with its outermost tag and without.
pub const MAX_SHAPES: usize = 128;

/// Frames of one stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// What must hold besides the probe's magic.
    pub checks: Vec<HalfCheck>,
    /// First byte of the probe.
    pub probe: usize,
    /// Checksums that can be verified.
    pub sums: Vec<Sum>,
    /// The innermost length field: where the frame's own bytes end and padding begins; None: nothing says so.
    pub end: Option<super::layout::Length>,
}

impl Shape {
    /// The shape of a stack, without the checks on fields that `varies`.
    #[must_use]
    pub fn of(layout: &Layout, varies: impl Fn(usize) -> bool) -> Self {
        let mut checks = layout.checks.clone();
        for check in &mut checks {
            for bit in 0..16 {
                if varies(check.at * 8 + bit) {
                    check.mask &= !(0x8000 >> bit);
                }
            }
            check.value &= check.mask;
        }
        checks.retain(|check| check.mask != 0);
        checks.truncate(MAX_CHECKS);
        Self {
            checks,
            probe: layout.probe(),
            sums: layout.sums.clone(),
            end: layout.lengths.first().copied(),
        }
    }
}
