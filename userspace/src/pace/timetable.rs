//! When each frame of a capture is due: at its recorded time or a multiple of it, or at a rate to which every frame
//! adds its own length. Integers only; it knows no file, no clock and no port.

use crate::units::{Decimal, FrameRate, Nanos, RateError, RateSpec, WIRE_OVERHEAD_BYTES};

const BITS_A_BYTE: u64 = 8;

/// By what frames are timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// As fast as it goes.
    Max,
    /// By their recorded times, so many times as fast; never zero.
    Recorded(Decimal),
    /// So many frames a second.
    Frames(FrameRate),
    /// So many bits a second; each frame takes its length with FCS and so many bytes more.
    Bits(FrameRate, u32),
}

impl Timing {
    /// The timing of a rate, over a link of `speed_bps`.
    ///
    /// # Errors
    /// [`RateError::NoSpeed`] for a percentage without a speed, [`RateError::Inexact`] for a fraction beyond 64 bits.
    pub fn at_rate(rate: &RateSpec, speed_bps: Option<u64>) -> Result<Self, RateError> {
        let Some(units) = rate.units_a_second(speed_bps)? else { return Ok(Self::Max) };
        Ok(match rate {
            RateSpec::Max => Self::Max,
            RateSpec::Pps(_) => Self::Frames(units),
            RateSpec::L2Bps(_) => Self::Bits(units, 0),
            RateSpec::L1Bps(_) | RateSpec::Percent(_) => Self::Bits(units, WIRE_OVERHEAD_BYTES),
        })
    }
}

/// The times of one replay, asked for frame by frame. They begin at 0 and never go back.
#[derive(Debug, Clone)]
pub struct Timetable {
    timing: Timing,
    /// Frames and bits so far.
    frames: u64,
    bits: u64,
    /// The recorded time of the frame that was asked for last, counted from the first of the first pass.
    clock: u64,
    /// That frame's time as it stands in the capture; None before the first of a pass.
    before: Option<Nanos>,
    /// The gap between the last two frames.
    gap: u64,
    back: u64,
    untimed: u64,
}

impl Timetable {
    /// A replay that has not begun.
    #[must_use]
    pub const fn new(timing: Timing) -> Self {
        Self { timing, frames: 0, bits: 0, clock: 0, before: None, gap: 0, back: 0, untimed: 0 }
    }

    /// When the next frame is due, counted from the first. It was recorded at `at` (None: the capture does not tell)
    /// and has `bytes` bytes with its FCS.
    pub fn due(&mut self, at: Option<Nanos>, bytes: u32) -> Nanos {
        self.follow(at);
        let due = match self.timing {
            Timing::Max => Nanos(0),
            Timing::Recorded(speed) => scaled(self.clock, speed),
            Timing::Frames(rate) => rate.time_of(self.frames),
            Timing::Bits(rate, _) => rate.time_of(self.bits),
        };
        let more = if let Timing::Bits(_, overhead) = self.timing { overhead } else { 0 };
        self.frames = self.frames.saturating_add(1);
        self.bits = self.bits.saturating_add((u64::from(bytes) + u64::from(more)) * BITS_A_BYTE);
        due
    }

    /// Moves the recorded clock to a frame's time. A step back, or a frame without a time, is no gap.
    fn follow(&mut self, at: Option<Nanos>) {
        match (self.before, at) {
            (Some(before), Some(at)) if at < before => {
                self.back += 1;
                self.gap = 0;
            }
            (Some(before), Some(at)) => self.gap = (at - before).0,
            // The first of a later pass comes as long after the last as that one came after its own predecessor.
            (None, Some(_)) => {}
            (_, None) => {
                self.untimed += 1;
                self.gap = 0;
            }
        }
        self.clock = self.clock.saturating_add(if self.frames == 0 { 0 } else { self.gap });
        self.before = at.or(self.before);
    }

    /// The capture begins anew.
    pub fn again(&mut self) {
        self.before = None;
    }

    /// When the last frame's slot is over: by a rate when the next would be due, else with the last frame.
    #[must_use]
    pub fn end(&self) -> Nanos {
        match self.timing {
            Timing::Max => Nanos(0),
            Timing::Recorded(speed) => scaled(self.clock, speed),
            Timing::Frames(rate) => rate.time_of(self.frames),
            Timing::Bits(rate, _) => rate.time_of(self.bits),
        }
    }

    /// Frames whose recorded time lies before that of the frame in front of them.
    #[must_use]
    pub const fn back(&self) -> u64 {
        self.back
    }

    /// Frames without a recorded time.
    #[must_use]
    pub const fn untimed(&self) -> u64 {
        self.untimed
    }
}

/// A recorded span at so many times its speed; the longest there is where it does not fit.
fn scaled(ns: u64, speed: Decimal) -> Nanos {
    let span = u128::from(ns) * u128::from(speed.denominator()) / u128::from(speed.numerator().max(1));
    Nanos(u64::try_from(span).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded(speed: &str) -> Timetable {
        Timetable::new(Timing::Recorded(speed.parse().unwrap()))
    }

    fn rate(text: &str, speed_bps: Option<u64>) -> Timetable {
        Timetable::new(Timing::at_rate(&text.parse().unwrap(), speed_bps).unwrap())
    }

    fn pass(table: &mut Timetable, times: &[u64]) -> Vec<u64> {
        times.iter().map(|at| table.due(Some(Nanos(*at)), 64).0).collect()
    }

    #[test]
    fn every_pass_keeps_the_recorded_gaps() {
        let mut table = recorded("1");
        assert_eq!(pass(&mut table, &[1_000, 1_300, 1_400]), [0, 300, 400]);
        table.again();
        // The last gap of the first pass, and then the same as before.
        assert_eq!(pass(&mut table, &[1_000, 1_300, 1_400]), [500, 800, 900]);
        table.again();
        assert_eq!(pass(&mut table, &[1_000, 1_300, 1_400]), [1_000, 1_300, 1_400]);
        assert_eq!((table.end(), table.back()), (Nanos(1_400), 0));
    }

    #[test]
    fn a_multiple_divides_the_gaps_and_does_not_drift() {
        assert_eq!(pass(&mut recorded("2"), &[0, 300, 1_000]), [0, 150, 500]);
        assert_eq!(pass(&mut recorded("0.5"), &[5, 305]), [0, 600]);
        let mut third = recorded("3");
        let times: Vec<u64> = (0..=3_000).collect();
        assert_eq!(pass(&mut third, &times).last(), Some(&1_000));
    }

    #[test]
    fn a_step_back_is_no_gap_and_is_counted() {
        let mut table = recorded("1");
        assert_eq!(pass(&mut table, &[1_000, 1_100, 50, 80]), [0, 100, 100, 130]);
        assert_eq!(table.due(None, 64), Nanos(130));
        assert_eq!(table.due(Some(Nanos(90)), 64), Nanos(140));
        assert_eq!((table.back(), table.untimed()), (1, 1));
    }

    #[test]
    fn a_rate_in_bits_counts_each_frame_with_its_own_length() {
        // At 1 Gbit/s of layer 2 a byte takes 8 ns; layer 1 adds 20 bytes a frame.
        let sizes = [64, 1_518, 64, 9_018];
        let due = |mut table: Timetable| {
            let times: Vec<u64> = sizes.iter().map(|size| table.due(None, *size).0).collect();
            (times, table.end().0)
        };
        assert_eq!(due(rate("1Gbps-l2", None)), (vec![0, 512, 12_656, 13_168], 85_312));
        assert_eq!(due(rate("1Gbps", None)), (vec![0, 672, 12_976, 13_648], 85_952));
        assert_eq!(due(rate("50%", Some(2_000_000_000))), due(rate("1Gbps", None)));
        assert_eq!(due(rate("1Mpps", None)), (vec![0, 1_000, 2_000, 3_000], 4_000));
        assert_eq!(due(rate("max", None)), (vec![0; 4], 0));
        let percent = Timing::at_rate(&"50%".parse().unwrap(), None);
        assert_eq!(percent, Err(RateError::NoSpeed));
    }

    #[test]
    fn what_is_beyond_64_bits_is_the_last_moment_there_is() {
        let mut slow = recorded("0.000000001");
        assert_eq!(pass(&mut slow, &[0, u64::MAX]), [0, u64::MAX]);
        slow.again();
        assert_eq!(pass(&mut slow, &[0, u64::MAX]), [u64::MAX; 2]);
        let mut fast = recorded("18446744073709551615");
        assert_eq!(pass(&mut fast, &[0, u64::MAX]), [0, 1]);
    }

    proptest! {
        #[test]
        fn times_never_go_back(
            times in prop::collection::vec(prop::option::of(any::<u64>()), 1..40), speed in 1u64..,
        ) {
            let mut table = Timetable::new(Timing::Recorded(speed.into()));
            let mut last = Nanos(0);
            for at in times {
                let due = table.due(at.map(Nanos), 64);
                prop_assert!(due >= last);
                last = due;
            }
        }
    }
}
