//! What a reflecting worker sent back of one run.

use crate::units::FCS_BYTES;

/// Probes of one run by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EchoTally {
    /// Given to the driver.
    pub submitted: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// Not sent back, since the transmit ring was full.
    pub ring_full: u64,
    /// Given back by the driver as done.
    pub completed: u64,
}

impl EchoTally {
    /// Books a probe of `wire_len` bytes (without FCS) that leaves again, or has no room to.
    #[inline]
    pub(super) fn leave(&mut self, wire_len: usize, room: bool) {
        if room {
            self.submitted += 1;
            self.bytes += wire_len as u64 + u64::from(FCS_BYTES);
        } else {
            self.ring_full += 1;
        }
    }

    /// Frames that have not come back.
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        self.submitted.saturating_sub(self.completed)
    }

    /// The sum of two.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            submitted: self.submitted + other.submitted,
            bytes: self.bytes + other.bytes,
            ring_full: self.ring_full + other.ring_full,
            completed: self.completed + other.completed,
        }
    }
}
