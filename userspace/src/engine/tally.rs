//! What one receive worker counted of one run, and how the tallies of several workers become one.

use super::Load;
use super::latch::Shape;
use crate::frame::{Probe, Reason};
use crate::measure::{Latency, SequenceBooks, SequenceCounts};
use crate::port::RxDrops;
use crate::units::{FCS_BYTES, Nanos};
use std::collections::BTreeMap;

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
    /// What the sequence spaces came to, by number; filled when the tally is closed.
    pub spaces: BTreeMap<u16, SequenceCounts>,
    /// Books of the sequence spaces while frames arrive, by number.
    open: Vec<Option<Box<SequenceBooks>>>,
    /// One-way latency of the frames whose clock is ours.
    pub latency: Latency,
    /// Probes stamped by another clock.
    pub foreign_clock: u64,
    /// What the port's carrier dropped within the run.
    pub drops: Option<RxDrops>,
    /// What the turns cost from the first frame of the run to the last: a sink that waits is not at work.
    pub load: Load,
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
            spaces: BTreeMap::new(),
            open: Vec::new(),
            latency: Latency::new(),
            foreign_clock: 0,
            drops: None,
            load: Load::default(),
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
        let books = match self.open.get_mut(usize::from(space)) {
            Some(Some(books)) => books,
            _ => return self.first_of_space(probe, shape),
        };
        books.see(probe.seq);
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
    fn first_of_space(&mut self, probe: &Probe, shape: Option<Shape>) {
        let Shape { flows, spaces } = shape.unwrap_or(Shape { flows: 1, spaces: 1 });
        let space = probe.stream.space();
        // A space that the sender did not announce is of a spoilt or foreign frame: flows would cost half a megabyte.
        let flows = if space < spaces { flows } else { 1 };
        let mut books = SequenceBooks::new(flows, spaces, space);
        books.see(probe.seq);
        let at = usize::from(space);
        if self.open.len() <= at {
            self.open.resize_with(at + 1, || None);
        }
        if let Some(place) = self.open.get_mut(at) {
            *place = Some(Box::new(books));
        }
    }

    /// Turns the books of the sequence spaces into their counts.
    pub(super) fn close(&mut self) {
        let open = (0u16..).zip(std::mem::take(&mut self.open));
        self.spaces = open.filter_map(|(space, books)| Some((space, books?.counts()))).collect();
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
        self.load = self.load.plus(other.load);
        self.arrivals = match (self.arrivals, other.arrivals) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.drops = match (self.drops, other.drops) {
            (Some(a), Some(b)) => Some(a.plus(b)),
            (a, b) => a.or(b),
        };
        for (space, counts) in other.spaces {
            self.spaces.entry(space).or_default().merge(&counts);
        }
    }
}
