//! When a sender's frames left by its own clock: how far apart, and how much later than each was due. Reads no clock.

use crate::measure::latency::TABLE_BYTES;
use crate::measure::{Latency, PackedLatency};
use crate::units::{Nanos, hash};

/// Names the series by which a frame of each turn is chosen.
const SERIES: u64 = 0x00D3_1A75;

/// Times of one sender.
#[derive(Debug)]
pub(super) struct Departures {
    gaps: Latency,
    delay: Latency,
    /// When frames left last.
    last: Option<Nanos>,
    turns: u64,
}

/// Times of a sender that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackedDepartures {
    /// From each frame to the next; frames of one turn are no gap apart.
    pub gaps: PackedLatency,
    /// From when a frame was due to when it left; of each turn one frame stands for all.
    pub delay: PackedLatency,
}

impl Departures {
    /// None yet.
    pub fn new() -> Self {
        Self { gaps: Latency::new(), delay: Latency::new(), last: None, turns: 0 }
    }

    /// Books the `sent` frames of a turn at `now`, with the times at which they were due, where they were at any.
    #[inline]
    pub fn take(&mut self, now: Nanos, sent: usize, mut due: impl Iterator<Item = Nanos>) {
        let Some(more) = sent.checked_sub(1) else { return };
        if let Some(last) = self.last.replace(now) {
            self.gaps.record((now - last).0);
        }
        self.gaps.record_n(0, more as u64);
        // Any one of them is as likely: the first of a turn has waited longest.
        self.turns += 1;
        let chosen = if more == 0 { 0 } else { (hash(SERIES, self.turns) % sent as u64) as usize };
        if let Some(due) = due.nth(chosen) {
            self.delay.record_n((now - due).0, sent as u64);
        }
    }

    /// The same in little memory.
    pub fn pack(&self) -> PackedDepartures {
        PackedDepartures { gaps: self.gaps.clone().pack(), delay: self.delay.clone().pack() }
    }
}

impl PackedDepartures {
    /// Bytes of the tables of a sender that runs.
    pub const TABLE_BYTES: u64 = 2 * TABLE_BYTES;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Summary;

    fn summary(packed: &PackedLatency) -> Option<Summary> {
        let mut table = Latency::new();
        table.unpack(packed);
        table.summary()
    }

    #[test]
    fn gaps_are_between_turns_and_frames_of_a_turn_are_none_apart() {
        let mut departures = Departures::new();
        for (now, sent) in [(1_000, 3), (2_000, 0), (5_000, 1), (6_000, 2)] {
            departures.take(Nanos(now), sent, std::iter::empty());
        }
        let packed = departures.pack();
        let gaps = summary(&packed.gaps).unwrap();
        assert_eq!((gaps.count, gaps.min, gaps.max, gaps.mean), (5, 0, 4_000, 1_000.0));
        assert_eq!(summary(&packed.delay), None);
    }

    #[test]
    fn delays_are_those_of_all_frames_and_not_of_the_first_ones() {
        let mut departures = Departures::new();
        for turn in 0..10_000 {
            let now = Nanos(1_000_000 * (turn + 1));
            departures.take(now, 10, (0..10).rev().map(|k| now - Nanos(1_000 * k)));
        }
        let delay = summary(&departures.pack().delay).unwrap();
        assert_eq!((delay.count, delay.min, delay.max), (100_000, 0, 9_000));
        assert!((delay.mean / 4_500.0 - 1.0).abs() < 0.05, "{}", delay.mean);
    }

    #[test]
    fn booking_allocates_nothing() {
        let mut departures = Departures::new();
        let info = allocation_counter::measure(|| {
            for turn in 1..1_000 {
                departures.take(Nanos(turn * 7_000), 3, [Nanos(turn), Nanos(turn), Nanos(turn)].into_iter());
            }
        });
        assert_eq!(info.count_total, 0);
    }
}
