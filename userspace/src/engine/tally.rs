//! What one receive worker counted of one run, and how the tallies of several workers become one.

use super::latch::Shape;
use crate::frame::{Probe, Reason};
use crate::measure::{Latency, SequenceBooks};
use crate::port::RxDrops;
use crate::units::{FCS_BYTES, Nanos};

/// One run as one receive worker, or all of them together, saw it.
#[derive(Debug)]
pub struct RxTally {
    /// Number of the run within this sink, from 1; 0 for what came before the first.
    pub epoch: u32,
    /// The run's tag.
    pub run: Option<u16>,
    /// The queue; None once tallies of several are merged.
    pub queue: Option<u32>,
    /// Control frames.
    pub control: u64,
    /// Control frames that found no place on their way to the controller.
    pub control_unread: u64,
    /// Rejected frames by reason.
    pub rejected: [u64; Reason::COUNT],
    /// Frames of this run.
    pub probes: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// Arrival of the first and the last probe.
    pub arrivals: Option<(Nanos, Nanos)>,
    /// Books of the sequence spaces, by number.
    pub spaces: Vec<Option<Box<SequenceBooks>>>,
    /// One-way latency of the frames whose clock is ours.
    pub latency: Latency,
    /// Probes stamped by another clock.
    pub foreign_clock: u64,
    /// What the port's carrier dropped within the run.
    pub drops: Option<RxDrops>,
}

impl RxTally {
    /// An empty tally.
    #[must_use]
    pub fn new(epoch: u32, run: Option<u16>, queue: Option<u32>) -> Self {
        Self {
            epoch,
            run,
            queue,
            control: 0,
            control_unread: 0,
            rejected: [0; Reason::COUNT],
            probes: 0,
            bytes: 0,
            arrivals: None,
            spaces: Vec::new(),
            latency: Latency::new(),
            foreign_clock: 0,
            drops: None,
        }
    }

    /// Books one probe of `wire_len` bytes (without FCS) that arrived at `now`; `delay_ns` is its one-way latency
    /// where its clock is ours.
    #[inline]
    pub(super) fn probe(&mut self, probe: &Probe, wire_len: usize, now: Nanos, shape: Option<Shape>) {
        self.probes += 1;
        self.bytes += wire_len as u64 + u64::from(FCS_BYTES);
        self.arrivals = Some((self.arrivals.map_or(now, |(first, _)| first), now));
        let space = probe.stream.space();
        match self.spaces.get_mut(usize::from(space)) {
            Some(Some(books)) => {
                books.see(probe.seq);
            }
            _ => self.open_space(space, shape).see(probe.seq),
        };
    }

    /// Books a rejected frame.
    #[inline]
    pub(super) fn reject(&mut self, reason: Reason) {
        if let Some(count) = self.rejected.get_mut(reason.index()) {
            *count += 1;
        }
    }

    /// The first frame of a space: the only time that receiving takes memory.
    #[cold]
    fn open_space(&mut self, space: u16, shape: Option<Shape>) -> &mut SequenceBooks {
        let Shape { flows, spaces } = shape.unwrap_or(Shape { flows: 1, spaces: 1 });
        let at = usize::from(space);
        if self.spaces.len() <= at {
            self.spaces.resize_with(at + 1, || None);
        }
        self.spaces[at].get_or_insert_with(|| Box::new(SequenceBooks::new(flows, spaces, space)))
    }

    /// Frames that reached the worker.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.control + self.probes + self.rejected.iter().sum::<u64>()
    }

    /// Adds what another worker counted of the same run.
    pub fn merge(&mut self, other: Self) {
        self.run = self.run.or(other.run);
        self.control += other.control;
        self.control_unread += other.control_unread;
        self.rejected.iter_mut().zip(other.rejected).for_each(|(sum, n)| *sum += n);
        self.probes += other.probes;
        self.bytes += other.bytes;
        self.foreign_clock += other.foreign_clock;
        self.latency.merge(&other.latency);
        self.arrivals = match (self.arrivals, other.arrivals) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.drops = match (self.drops, other.drops) {
            (Some(a), Some(b)) => Some(a.plus(b)),
            (a, b) => a.or(b),
        };
        self.merge_spaces(other.spaces);
    }

    fn merge_spaces(&mut self, spaces: Vec<Option<Box<SequenceBooks>>>) {
        if self.spaces.len() < spaces.len() {
            self.spaces.resize_with(spaces.len(), || None);
        }
        for (ours, theirs) in self.spaces.iter_mut().zip(spaces) {
            match (ours.as_mut(), theirs) {
                (Some(ours), Some(theirs)) => ours.merge(&theirs),
                (None, theirs) => *ours = theirs,
                (Some(_), None) => {}
            }
        }
    }
}
