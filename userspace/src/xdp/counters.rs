//! The counters of the receive program as named numbers. Knows the layout of a row, and no map.

use std::iter::Sum;
use std::ops::{Add, Sub};
use xdp_prog::{COUNTERS, Counter};

/// What became of the frames of one receive queue, or of several. Two sums hold:
/// `frames = ours + taken + passed + malformed + unsupported` and
/// `ours + taken = redirected + no_socket + counted + control + no_room`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueCounters {
    /// Recognised as ours: probes and control frames.
    pub ours: u64,
    /// Of ours and taken, sent to the queue's socket; whether the socket had room is for its own statistics to say.
    pub redirected: u64,
    /// Probes dropped because the queue has no socket.
    pub no_socket: u64,
    /// Of ours and taken, counted and dropped (count-only).
    pub counted: u64,
    /// Control frames of ours, passed to the stack: in count-only, or because the queue has no socket.
    pub control: u64,
    /// Not ours, passed to the stack.
    pub passed: u64,
    /// Passed to the stack: headers cut, or contradicting themselves.
    pub malformed: u64,
    /// Passed to the stack: our port or EtherType behind a stack that is not parsed, or a fragment (best effort).
    pub unsupported: u64,
    /// Bytes of ours, without FCS.
    pub bytes: u64,
    /// Not ours, but asked for: redirected or counted. One that finds no socket passes, and counts as that.
    pub taken: u64,
    /// Bytes of those, without FCS.
    pub taken_bytes: u64,
    /// Probes dropped because there was no room in front of the frame for its stamp.
    pub no_room: u64,
    /// By the device-bound program, of the frames that went to sockets: hashed by the device, by their headers.
    pub hashed: u64,
    /// By the same: without a time of receipt by the device.
    pub untimed: u64,
}

impl QueueCounters {
    /// Every frame that the program saw.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.ours + self.taken + self.passed + self.malformed + self.unsupported
    }

    /// Probes among those that were counted and dropped.
    #[must_use]
    pub const fn counted_probes(&self) -> u64 {
        // In count-only every frame that is taken is counted; elsewhere none is.
        self.counted.saturating_sub(self.taken)
    }

    /// The row as the program keeps it, in order of [`Counter`].
    fn to_row(self) -> [u64; COUNTERS] {
        Counter::ALL.map(|counter| match counter {
            Counter::Ours => self.ours,
            Counter::Redirected => self.redirected,
            Counter::NoSocket => self.no_socket,
            Counter::Counted => self.counted,
            Counter::Control => self.control,
            Counter::Passed => self.passed,
            Counter::Malformed => self.malformed,
            Counter::Unsupported => self.unsupported,
            Counter::Bytes => self.bytes,
            Counter::Taken => self.taken,
            Counter::TakenBytes => self.taken_bytes,
            Counter::NoRoom => self.no_room,
            Counter::Hashed => self.hashed,
            Counter::Untimed => self.untimed,
        })
    }

    fn combine(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        let (mut row, other) = (self.to_row(), other.to_row());
        row.iter_mut().zip(other).for_each(|(mine, its)| *mine = with(*mine, its));
        row.into()
    }
}

impl From<[u64; COUNTERS]> for QueueCounters {
    fn from(row: [u64; COUNTERS]) -> Self {
        let [ours, redirected, no_socket, counted, control, passed, malformed, unsupported, bytes, more @ ..] =
            row;
        let [taken, taken_bytes, no_room, hashed, untimed] = more;
        Self {
            ours,
            redirected,
            no_socket,
            counted,
            control,
            passed,
            malformed,
            unsupported,
            bytes,
            taken,
            taken_bytes,
            no_room,
            hashed,
            untimed,
        }
    }
}

impl Add for QueueCounters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.combine(other, u64::wrapping_add)
    }
}

/// The difference to an earlier reading. Counters only grow, so an earlier one is never the larger.
impl Sub for QueueCounters {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        self.combine(earlier, u64::wrapping_sub)
    }
}

impl Sum for QueueCounters {
    fn sum<I: Iterator<Item = Self>>(rows: I) -> Self {
        rows.fold(Self::default(), Self::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_read_from_its_own_index() {
        let row: [u64; COUNTERS] = std::array::from_fn(|index| 1 << index);
        assert_eq!(QueueCounters::from(row).to_row(), row);
        assert_eq!(QueueCounters::from(row).bytes, 1 << (Counter::Bytes as usize));
    }

    #[test]
    fn a_sum_less_its_other_part_is_the_first_part() {
        let first: QueueCounters = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].into();
        let second: QueueCounters = [90, 80, 70, 60, 50, 40, 30, 20, 10, 5, 2, 1, 3, 4].into();
        let both: QueueCounters = [first, second].into_iter().sum();
        assert_eq!(both - second, first);
        assert_eq!(both.frames(), 91 + 46 + 37 + 28 + 15);
    }
}
