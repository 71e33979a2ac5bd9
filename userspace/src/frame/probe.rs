//! The 18 bytes that make a frame one of ours: whose run, which sequence space, which number, when sent.
//! Knows no header around it.
//!
//! Network order, right behind the innermost header: `magic u16 | run u16 | stream u16 | seq u32 | clock u16
//! | sent u48`. It fits a 64-byte IPv4 frame exactly: 14 + 20 + 8 + 18 + 4.

use crate::units::Nanos;

/// Bytes of a probe.
pub const LEN: usize = 18;
/// First word of each probe: "XG".
pub const MAGIC: u16 = 0x5847;
/// Value of the stream field in control frames; no sequence space has it.
pub const CONTROL_SPACE: u16 = 0xFFFF;
/// Sequence spaces: fewer than the 15 bits allow, so that in no frame the stream looks like the magic. Where it does the
/// probe has come back.
pub const MAX_SPACES: u16 = MAGIC;

/// Offsets of the fields from the probe's first byte; all even, so that checksums add whole words.
pub mod field {
    /// u16: [`super::MAGIC`].
    pub const MAGIC: usize = 0;
    /// u16: tag of the run.
    pub const RUN: usize = 2;
    /// u16: [`super::StreamId`].
    pub const STREAM: usize = 4;
    /// u32: sequence number in its space, modulo 2^32.
    pub const SEQ: usize = 6;
    /// u16: name of the sender's clock.
    pub const CLOCK: usize = 10;
    /// u48: the sender's CLOCK_MONOTONIC in ns, modulo 2^48.
    pub const SENT: usize = 12;
}

/// Which way a probe goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Way {
    /// To where its sender sent it.
    #[default]
    Forth,
    /// Back from a reflector, which has exchanged magic and stream: see [`turn`].
    Back,
}

impl Way {
    /// Where the magic stands.
    #[inline]
    #[must_use]
    pub const fn magic(self) -> usize {
        match self {
            Self::Forth => field::MAGIC,
            Self::Back => field::STREAM,
        }
    }
}

/// Exchanges magic and stream, so that no reflector and no sink takes the probe for one that is on its way to them: what
/// has come back once never goes back again. A checksum over the probe stays as it is, since sums do not depend on the
/// order of their words. Nothing where `bytes` are too few.
#[inline]
pub fn turn(bytes: &mut [u8]) {
    if let Some(probe) = bytes.first_chunk_mut::<LEN>() {
        probe.swap(field::MAGIC, field::STREAM);
        probe.swap(field::MAGIC + 1, field::STREAM + 1);
    }
}

const SENT_BITS: u32 = 48;
const SENT_MASK: u64 = (1 << SENT_BITS) - 1;
/// Bit of the stream field that marks the measured phase; without it the frame belongs to the warm-up.
pub const MEASURED: u16 = 0x8000;

/// Sequence space and phase of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamId(u16);

impl StreamId {
    /// The stream of control frames.
    pub const CONTROL: Self = Self(CONTROL_SPACE);

    /// Space `space` (its low 15 bits count) in the measured phase or the warm-up.
    #[must_use]
    pub const fn new(space: u16, measured: bool) -> Self {
        Self((space & !MEASURED) | if measured { MEASURED } else { 0 })
    }

    /// From the wire.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// As on the wire.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The sequence space.
    #[must_use]
    pub const fn space(self) -> u16 {
        self.0 & !MEASURED
    }

    /// Whether the frame belongs to the measured phase.
    #[must_use]
    pub const fn measured(self) -> bool {
        self.0 & MEASURED != 0
    }

    /// Whether the frame is a control frame.
    #[must_use]
    pub const fn is_control(self) -> bool {
        self.0 == CONTROL_SPACE
    }
}

/// What a frame says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Tag of the run.
    pub run: u16,
    /// Sequence space and phase.
    pub stream: StreamId,
    /// Sequence number, modulo 2^32.
    pub seq: u32,
    /// Name of the clock that `sent` was read from.
    pub clock: u16,
    /// When it was sent: ns of that clock, modulo 2^48 (78 hours); see [`extend_sent`].
    pub sent: u64,
}

impl Probe {
    /// The probe at the start of `bytes`; None when they are too few or the magic differs.
    #[inline]
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [m0, m1, r0, r1, t0, t1, q0, q1, q2, q3, c0, c1, sent @ ..] = *bytes.first_chunk::<LEN>()?;
        let [s0, s1, s2, s3, s4, s5] = sent;
        (u16::from_be_bytes([m0, m1]) == MAGIC).then_some(Self {
            run: u16::from_be_bytes([r0, r1]),
            stream: StreamId(u16::from_be_bytes([t0, t1])),
            seq: u32::from_be_bytes([q0, q1, q2, q3]),
            clock: u16::from_be_bytes([c0, c1]),
            sent: u64::from_be_bytes([0, 0, s0, s1, s2, s3, s4, s5]),
        })
    }

    /// The same of one that goes that way.
    #[inline]
    #[must_use]
    pub fn read_going(bytes: &[u8], way: Way) -> Option<Self> {
        let mut probe = *bytes.first_chunk::<LEN>()?;
        if way == Way::Back {
            turn(&mut probe);
        }
        Self::read(&probe)
    }

    /// Writes the probe; of `sent` the low 48 bits.
    #[inline]
    pub fn write(&self, bytes: &mut [u8; LEN]) {
        let [m0, m1] = MAGIC.to_be_bytes();
        let [r0, r1] = self.run.to_be_bytes();
        let [t0, t1] = self.stream.0.to_be_bytes();
        let [q0, q1, q2, q3] = self.seq.to_be_bytes();
        let [c0, c1] = self.clock.to_be_bytes();
        let [_, _, s0, s1, s2, s3, s4, s5] = self.sent.to_be_bytes();
        *bytes = [m0, m1, r0, r1, t0, t1, q0, q1, q2, q3, c0, c1, s0, s1, s2, s3, s4, s5];
    }

    /// Whether it was sent after `sent`, of the same clock and within half the range of such times.
    #[must_use]
    pub const fn is_later_than(&self, sent: u64) -> bool {
        let ahead = self.sent.wrapping_sub(sent) & SENT_MASK;
        ahead != 0 && ahead < 1 << (SENT_BITS - 1)
    }

    /// What the fields that differ from frame to frame add to a checksum: sequence number, time and phase.
    #[inline]
    #[must_use]
    pub(super) fn variable_sum(&self) -> u64 {
        u64::from(self.seq) + (self.sent & SENT_MASK) + u64::from(self.stream.0 & MEASURED)
    }
}

/// The whole time of which a probe carries the low 48 bits: the one nearest to `now`, ahead of it by at most
/// half the range (39 hours). A time before zero is zero.
#[inline]
#[must_use]
pub const fn extend_sent(sent48: u64, now: Nanos) -> Nanos {
    const HALF: u64 = 1 << (SENT_BITS - 1);
    // How far ahead of `now − half` it lies; in 1 ..= range, so that exactly half ahead still counts as
    // ahead.
    let ahead = sent48.wrapping_sub(now.0).wrapping_add(HALF).wrapping_sub(1) & SENT_MASK;
    Nanos((now.0.saturating_add(ahead + 1)).saturating_sub(HALF))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_layout_is_the_documented_one() {
        let probe = Probe {
            run: 0x0102,
            stream: StreamId::new(3, true),
            seq: 0x0405_0607,
            clock: 0x0809,
            sent: 0xFFFF_0A0B_0C0D_0E0F,
        };
        let mut bytes = [0; LEN];
        probe.write(&mut bytes);
        assert_eq!(bytes, [0x58, 0x47, 1, 2, 0x80, 3, 4, 5, 6, 7, 8, 9, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F]);
        assert_eq!(Probe::read(&bytes), Some(Probe { sent: 0x0A0B_0C0D_0E0F, ..probe }));
        let firsts = [field::MAGIC, field::RUN, field::STREAM, field::SEQ, field::CLOCK, field::SENT];
        assert_eq!(firsts.map(|at| bytes[at]), [0x58, 1, 0x80, 4, 8, 0x0A]);
    }

    #[test]
    fn short_or_foreign_bytes_are_no_probe() {
        let mut bytes = [0; LEN];
        Probe { run: 1, stream: StreamId::CONTROL, seq: 2, clock: 3, sent: 4 }.write(&mut bytes);
        for len in 0..LEN {
            assert_eq!(Probe::read(&bytes[..len]), None);
        }
        bytes[field::MAGIC] ^= 1;
        assert_eq!(Probe::read(&bytes), None);
    }

    #[test]
    fn no_space_of_a_stream_is_control() {
        assert!(StreamId::CONTROL.is_control());
        for space in 0..MAX_SPACES {
            let (warm, measured) = (StreamId::new(space, false), StreamId::new(space, true));
            assert!(!warm.is_control() && !measured.is_control());
            assert_eq!((warm.space(), warm.measured()), (space, false));
            assert_eq!((measured.space(), measured.measured()), (space, true));
        }
    }

    #[test]
    fn later_is_later_beyond_the_end_of_the_range_too() {
        let later = |sent, than| {
            Probe { run: 1, stream: StreamId::CONTROL, seq: 2, clock: 3, sent }.is_later_than(than)
        };
        assert!(later(6, 5) && !later(5, 5) && !later(5, 6));
        assert!(later(3, SENT_MASK - 3) && !later(SENT_MASK - 3, 3));
    }

    #[test]
    fn half_the_range_ahead_is_ahead_and_one_more_is_behind() {
        let now = Nanos(1 << 60);
        let half = 1u64 << 47;
        let cut = |t: u64| t & SENT_MASK;
        assert_eq!(extend_sent(cut(now.0 + half), now), Nanos(now.0 + half));
        assert_eq!(extend_sent(cut(now.0 + half + 1), now), Nanos(now.0 + half + 1 - (1 << 48)));
        assert_eq!(extend_sent(SENT_MASK, Nanos(0)), Nanos(0), "a nanosecond before the clock began");
    }

    proptest! {
        #[test]
        fn any_probe_survives_the_wire(run: u16, bits: u16, seq: u32, clock: u16, sent in 0u64..1 << 48) {
            let probe = Probe { run, stream: StreamId::from_bits(bits), seq, clock, sent };
            let mut bytes = [0; LEN];
            probe.write(&mut bytes);
            prop_assert_eq!(Probe::read(&bytes), Some(probe));
        }

        #[test]
        fn a_probe_is_read_the_way_that_it_goes_and_no_other(run: u16, space in 0..MAX_SPACES, measured: bool, seq: u32) {
            let probe = Probe { run, stream: StreamId::new(space, measured), seq, clock: 1, sent: 2 };
            let mut bytes = [0; LEN];
            probe.write(&mut bytes);
            prop_assert_eq!(Probe::read_going(&bytes, Way::Forth), Some(probe));
            prop_assert_eq!(Probe::read_going(&bytes, Way::Back), None);
            turn(&mut bytes);
            prop_assert_eq!(Probe::read_going(&bytes, Way::Back), Some(probe));
            prop_assert_eq!(Probe::read_going(&bytes, Way::Forth), None);
        }

        #[test]
        fn a_recent_time_is_restored(sent in 0u64..1 << 62, age in 0u64..1 << 47) {
            prop_assert_eq!(extend_sent(sent & SENT_MASK, Nanos(sent + age)), Nanos(sent));
        }
    }
}
