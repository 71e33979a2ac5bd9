//! One sequence space of numbered frames: which bytes frame k has, and how few of them to write. Knows no
//! buffer management, no pace and no clock.
//!
//! Frame k is a pure function of (specification, k, time, phase): what a buffer held before, or which frames
//! were written before, changes nothing. So frames may be lost, resent or built out of order, or by a program
//! inside the kernel, and are the same.

mod prepare;
mod spec;
mod table;

pub use spec::{Place, StreamSpec};

use super::covers::{Covers, Sums};
use super::flow::index_of;
use super::formula::Per;
use super::layout::MAX_SUMS;
use super::patch::Patches;
use super::probe::{self, Probe, StreamId};
use super::remainder::Remainder;
use super::sizes::Lengths;
use super::wire::put;
use super::{FrameError, checksum};
use crate::units::Nanos;

/// What a buffer holds before a frame is written into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Anything: every byte is written.
    Nothing,
    /// Zeros from the longest headers of the set on (see [`Stream::pad`]), and any headers in front: those are
    /// written.
    Other,
    /// Any frame of this very stream, as long as the shorter of this frame and [`Stream::prefix_len`]: what may
    /// differ is written, that is modified fields, lengths, probe and checksums.
    Same,
}

/// A stream ready to send.
#[derive(Debug, Clone)]
pub struct Stream {
    /// Headers and an empty probe; zero in every field that is written per frame.
    prefix: Vec<u8>,
    lengths: Lengths,
    patches: Patches,
    /// Fields that follow the frame's length; none where that is always the same.
    follows: Vec<Follows>,
    checks: Vec<Check>,
    /// How many checksums there are, those that are always the same included.
    sums: usize,
    probe: Option<Numbered>,
    place: Place,
    flows: Remainder,
    /// Whether a patch asks for the flow.
    by_flow: bool,
}

/// A u16 that is the frame's length less a constant; or only counts as such in a pseudo-header.
#[derive(Debug, Clone, Copy)]
struct Follows {
    at: Option<usize>,
    minus: usize,
    covers: Covers,
}

/// A checksum that is written per frame.
#[derive(Debug, Clone, Copy)]
struct Check {
    at: usize,
    /// Sum of what is the same in each frame; what differs counts as zero in it.
    constant: u64,
    never_zero: bool,
    /// Its own number, and the checksums that cover it, if any does.
    own: usize,
    covers: Option<Covers>,
}

/// The probe of each frame, but for number, time and phase.
#[derive(Debug, Clone, Copy)]
struct Numbered {
    probe: Probe,
    at: usize,
    covers: Covers,
    word_shift: u32,
}

impl Stream {
    /// Prepares a stream.
    ///
    /// # Errors
    /// Headers, sizes, fields or flows that do not go together, or a place that is none.
    pub fn new(spec: &StreamSpec) -> Result<Self, FrameError> {
        prepare::stream(spec)
    }

    /// Bytes of frame `seq`, without FCS.
    #[inline]
    #[must_use]
    pub fn len_of(&self, seq: u64) -> usize {
        self.lengths.at(seq)
    }

    /// Whether frames carry a probe.
    #[must_use]
    pub fn numbered(&self) -> bool {
        self.probe.is_some()
    }

    /// Bytes from the first on that are not always zero.
    #[must_use]
    pub fn prefix_len(&self) -> usize {
        self.prefix.len()
    }

    /// Lets [`Held::Other`] write so many bytes at least: the longest prefix of the streams that share buffers.
    pub fn pad(&mut self, prefix_len: usize) {
        if prefix_len > self.prefix.len() {
            self.prefix.resize(prefix_len, 0);
        }
    }

    /// Makes `buf`, which is as long as [`Stream::len_of`] says, frame `seq` of this stream: sent at `sent`, in the
    /// measured phase or the warm-up. Of `seq` the low 32 bits travel.
    #[inline]
    pub fn write(&self, held: Held, seq: u64, sent: Nanos, measured: bool, buf: &mut [u8]) {
        if held != Held::Same {
            self.begin(held, buf);
        }
        // Few sums stay in registers.
        match self.sums {
            0..=2 => self.rewrite::<2>(seq, sent, measured, buf),
            3..=4 => self.rewrite::<4>(seq, sent, measured, buf),
            _ => self.rewrite::<MAX_SUMS>(seq, sent, measured, buf),
        }
    }

    /// Writes what differs from frame to frame, and the checksums over it; of those there are `N` at the most.
    #[inline(always)]
    fn rewrite<const N: usize>(&self, seq: u64, sent: Nanos, measured: bool, buf: &mut [u8]) {
        let index = index_of(self.place.worker, seq, self.place.workers);
        let flow = if self.by_flow { self.flows.take(index) } else { 0 };
        let mut sums = Sums::<N>::new();
        self.patches.write(index, flow, buf, &mut sums);
        if let Some(numbered) = &self.probe {
            let share = numbered.write(seq, sent, measured, buf);
            sums.add(&numbered.covers, share);
        }
        for follows in &self.follows {
            let value = (buf.len() - follows.minus.min(buf.len())) as u16;
            if let Some(at) = follows.at {
                put(buf, at, value.to_be_bytes());
            }
            sums.add(&follows.covers, value.into());
        }
        let mut sums = sums.all();
        for check in &self.checks {
            let sum = check.constant + sums.get(check.own);
            let field = if check.never_zero { checksum::udp_field(sum) } else { checksum::field(sum) };
            put(buf, check.at, field.to_be_bytes());
            if let Some(covers) = &check.covers {
                sums.add(covers, field.into());
            }
        }
    }

    /// Puts the prefix into a buffer that does not hold it.
    fn begin(&self, held: Held, buf: &mut [u8]) {
        let (head, rest) = buf.split_at_mut(self.prefix.len().min(buf.len()));
        if let Some(prefix) = self.prefix.get(..head.len()) {
            head.copy_from_slice(prefix);
        }
        if held == Held::Nothing {
            rest.fill(0);
        }
    }
}

impl Numbered {
    /// Writes the probe of frame `seq`; gives what differs as a share of a checksum.
    #[inline]
    fn write(&self, seq: u64, sent: Nanos, measured: bool, frame: &mut [u8]) -> u64 {
        let stream = StreamId::new(self.probe.stream.space(), measured);
        let probe = Probe { stream, seq: seq as u32, sent: sent.0, ..self.probe };
        put_probe(&probe, self.at, frame);
        probe.variable_sum() << self.word_shift
    }
}

#[inline]
fn put_probe(probe: &Probe, at: usize, frame: &mut [u8]) {
    let mut bytes = [0; probe::LEN];
    probe.write(&mut bytes);
    put(frame, at, bytes);
}

/// Whether any of the patches asks for the flow.
fn asks_for_flow(modifiers: &[super::formula::Modifier]) -> bool {
    modifiers.iter().any(|modifier| modifier.per == Per::Flow)
}

#[cfg(test)]
mod general;
#[cfg(test)]
mod tests;
