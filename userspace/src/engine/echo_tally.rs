//! What a reflecting or forwarding worker sent of one run.

use crate::measure::Seen;
use crate::units::FCS_BYTES;

/// Probes of one run by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EchoTally {
    /// Given to the driver.
    pub submitted: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// Not sent, since the transmit ring was full.
    pub ring_full: u64,
    /// Not sent on, since they had come before, or may have.
    pub withheld: u64,
    /// Control frames that were to be sent on; they are among those submitted, or found the ring full.
    pub control: u64,
    /// Given back by the driver as done.
    pub completed: u64,
}

impl EchoTally {
    /// Whether a probe that its books have `seen` leaves. With `once` it does so when it comes for the first time: what goes
    /// round comes again.
    #[inline]
    pub(super) fn lets_go(&mut self, seen: Option<Seen>, once: bool) -> bool {
        let again = once && matches!(seen, Some(Seen::Duplicate | Seen::Late));
        self.withheld += u64::from(again);
        seen.is_some() && !again
    }

    /// Books a frame of `wire_len` bytes (without FCS) that leaves again, or has no room to.
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
            withheld: self.withheld + other.withheld,
            control: self.control + other.control,
            completed: self.completed + other.completed,
        }
    }
}
