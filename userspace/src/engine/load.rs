//! What a worker's turns cost: how many found work, and how long those took.

use super::Turn;
use crate::units::Nanos;

/// Turns of one worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Turns taken.
    pub turns: u64,
    /// Turns that found nothing to do.
    pub empty: u64,
    /// Time spent in turns that found work.
    pub busy: Nanos,
}

impl Load {
    /// Books one turn that lasted from `from` to `to`.
    pub(super) fn book(&mut self, turn: &Turn, from: Nanos, to: Nanos) {
        self.turns += 1;
        if *turn == Turn::Worked {
            self.busy = self.busy + (to - from);
        } else {
            self.empty += 1;
        }
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            turns: self.turns + other.turns,
            empty: self.empty + other.empty,
            busy: self.busy + other.busy,
        }
    }
}
