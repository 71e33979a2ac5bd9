//! What the sending end's driver does with descriptors: completes them, keeps them to itself for a while, or refuses
//! them as one kernel or another does. Knows no frame.

use crate::port::Slot;

/// What becomes of a descriptor that the kernel refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refused {
    /// It comes back as completed, as on newer kernels.
    #[default]
    Completed,
    /// It never comes back, as on older ones.
    Kept,
}

/// The driver's state.
#[derive(Debug, Default)]
pub(super) struct Driver {
    /// Whether completions are held back.
    holds: bool,
    /// How many of the next descriptors are refused.
    refuse: u64,
    refused: Refused,
    /// Descriptors refused so far.
    pub(super) invalid: u64,
    /// What is done and not taken back.
    done: Vec<Slot>,
    /// Descriptors that will never come back.
    kept: usize,
}

impl Driver {
    pub(super) fn with_room(chunks: u32) -> Self {
        Self { done: Vec::with_capacity(chunks as usize), ..Self::default() }
    }

    pub(super) fn hold(&mut self, holds: bool) {
        self.holds = holds;
    }

    pub(super) fn refuse(&mut self, descriptors: u64, refused: Refused) {
        (self.refuse, self.refused) = (descriptors, refused);
    }

    /// Takes a descriptor; whether its frame goes on the wire.
    pub(super) fn take(&mut self, slot: Slot) -> bool {
        let refused = self.refuse > 0;
        if refused {
            self.refuse -= 1;
            self.invalid += 1;
        }
        if refused && self.refused == Refused::Kept {
            self.kept += 1;
        } else {
            self.done.push(slot);
        }
        !refused
    }

    /// Gives back what is done, unless it holds completions back.
    pub(super) fn complete(&mut self, mut back: impl FnMut(Slot)) -> usize {
        if self.holds {
            return 0;
        }
        let n = self.done.len();
        self.done.drain(..).for_each(&mut back);
        n
    }

    /// Descriptors that have not come back.
    pub(super) fn in_flight(&self) -> usize {
        self.done.len() + self.kept
    }
}
