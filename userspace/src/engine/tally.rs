//! What one receive worker counted of one run, and how the tallies of several workers become one.

use super::latch::{Latch, Shape};
use super::times::{Arrival, SpaceTimes, Times};
use super::{EchoTally, Load};
use crate::frame::probe::MAX_SPACES;
use crate::frame::{Probe, Reason};
use crate::measure::seq::MAX_FLOWS;
use crate::measure::{Sampling, Seen, SequenceBooks, SequenceCounts, Sizes};
use crate::port::RxDrops;
use crate::units::{FCS_BYTES, Nanos};
use std::collections::BTreeMap;

/// Sequence spaces that are followed of a run of which no START was heard: senders have one a queue, and
/// made-up frames must not fill memory. Eight KiB each.
const MAX_UNTOLD_SPACES: usize = 256;

/// Flows of one run that are followed one by one, over all its spaces: what a START says must not fill memory
/// either. Eight bytes each.
const MAX_FOLLOWED: u64 = 1 << 24;

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
    /// The same frames by length.
    pub sizes: Sizes,
    /// Arrival of the first and the last probe.
    pub arrivals: Option<(Nanos, Nanos)>,
    /// Frames that are not ours, which arrive only where the sink was told to take them; rejected, all the same.
    pub others: Others,
    /// What the sequence spaces came to, by number; filled when the tally is closed.
    pub spaces: BTreeMap<u16, SequenceCounts>,
    /// Books of the sequence spaces while frames arrive, by number.
    open: Vec<Option<Box<OpenSpace>>>,
    /// How many sequence spaces have books, and how many flows are followed in them.
    opened: usize,
    followed: u64,
    /// When its frames came, and how long they took.
    pub times: Times,
    /// What the port's carrier dropped within the run.
    pub drops: Option<RxDrops>,
    /// What was sent back of it.
    pub echo: EchoTally,
    /// What the turns cost from the first frame of the run to the last: a sink that waits is not at work.
    pub load: Load,
}

/// One sequence space, while frames arrive.
#[derive(Debug)]
struct OpenSpace {
    books: SequenceBooks,
    times: SpaceTimes,
}

/// Frames of others. How many there are stands in [`RxTally::rejected`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Others {
    /// Their bytes with FCS.
    pub bytes: u64,
    /// Arrival of the first and the last of them.
    pub arrivals: Option<(Nanos, Nanos)>,
}

impl RxTally {
    /// An empty tally of a worker that times every frame.
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
            sizes: Sizes::new(),
            arrivals: None,
            others: Others::default(),
            spaces: BTreeMap::new(),
            open: Vec::new(),
            opened: 0,
            followed: 0,
            times: Times::new(Some(Sampling::ALL)),
            drops: None,
            echo: EchoTally::default(),
            load: Load::default(),
        }
    }

    /// The same of a worker that times these frames, or none.
    #[must_use]
    pub(super) fn timed(self, sampling: Option<Sampling>) -> Self {
        Self { times: Times::new(sampling), ..self }
    }

    /// The sums of runs that are not told one by one any more.
    #[must_use]
    pub(super) fn forgotten(queue: Option<u32>) -> Self {
        Self { sizes: Sizes::default(), ..Self::new(Self::FORGOTTEN, None, queue).timed(None) }
    }

    /// The number of no run: the tally is that of all runs that are forgotten.
    pub const FORGOTTEN: u32 = u32::MAX;

    /// Books one probe of `wire_len` bytes (without FCS): what its space's books have seen; None where the run has no such
    /// space.
    #[inline]
    pub(super) fn probe(
        &mut self,
        probe: &Probe,
        wire_len: usize,
        at: Arrival,
        latch: &Latch,
    ) -> Option<Seen> {
        let space = usize::from(probe.stream.space());
        if !matches!(self.open.get(space), Some(Some(_))) && !self.open_space(probe.stream.space(), latch) {
            self.reject(Reason::NoSuchSpace);
            return None;
        }
        let Some(Some(space)) = self.open.get_mut(space) else { return None };
        let seen = space.books.see(probe.seq);
        self.times.take(&mut space.times, probe, seen, at);
        self.probes += 1;
        let with_fcs = wire_len + FCS_BYTES as usize;
        self.bytes += with_fcs as u64;
        self.sizes.record(with_fcs);
        self.arrivals = Some((self.arrivals.map_or(at.now, |(first, _)| first), at.now));
        Some(seen)
    }

    /// Books a frame of `wire_len` bytes (without FCS) that is not ours and arrived at `now`.
    #[inline]
    pub(super) fn other(&mut self, wire_len: usize, now: Nanos) {
        self.reject(Reason::NotOurs);
        self.others.bytes += wire_len as u64 + u64::from(FCS_BYTES);
        self.others.arrivals = Some((self.others.arrivals.map_or(now, |(first, _)| first), now));
    }

    /// How many frames were not ours.
    #[must_use]
    pub fn other_frames(&self) -> u64 {
        self.rejected.get(Reason::NotOurs.index()).copied().unwrap_or(0)
    }

    /// Books a rejected frame.
    #[inline]
    pub(super) fn reject(&mut self, reason: Reason) {
        if let Some(count) = self.rejected.get_mut(reason.index()) {
            *count += 1;
        }
    }

    /// Before the first frame of a space: the only time that receiving takes memory. False where the run cannot have
    /// that space, since its sender has announced fewer, or they have become too many: the frame is a spoilt
    /// or a foreign one.
    #[cold]
    fn open_space(&mut self, space: u16, latch: &Latch) -> bool {
        let shape = latch.shape(self.epoch);
        let known = shape.as_ref().map_or(self.opened < MAX_UNTOLD_SPACES, |shape| space < shape.spaces);
        if !known || space >= MAX_SPACES {
            return false;
        }
        let times = self.times.open(space, shape.as_ref().map(|shape| shape.spaces));
        let (flows, worker, workers) = shape.unwrap_or_else(Shape::unknown).place(space);
        // Beyond that order is judged over the space as a whole.
        let followed = self.followed.saturating_add(u64::from(flows));
        let flows = if followed <= MAX_FOLLOWED { flows } else { MAX_FLOWS + 1 };
        if followed <= MAX_FOLLOWED {
            self.followed = followed;
        }
        let books = SequenceBooks::new(flows, workers, worker);
        let at = usize::from(space);
        if self.open.len() <= at {
            self.open.resize_with(at + 1, || None);
        }
        if let Some(place) = self.open.get_mut(at) {
            *place = Some(Box::new(OpenSpace { books, times }));
            self.opened += 1;
        }
        true
    }

    /// Turns the books of the sequence spaces into their counts, and what is large into what is small.
    pub(super) fn close(&mut self) {
        let open = (0u16..).zip(std::mem::take(&mut self.open));
        let open = open.filter_map(|(number, space)| Some((number, space?)));
        let counts = &mut self.spaces;
        self.times.close(open.map(|(number, space)| {
            counts.insert(number, space.books.counts());
            (number, space.times)
        }));
        self.sizes.close();
    }

    /// Adds the sums of a run that is forgotten: what is of that run alone goes.
    pub(super) fn merge_sums(&mut self, other: &Self) {
        self.control += other.control;
        self.control_unread += other.control_unread;
        self.rejected.iter_mut().zip(other.rejected).for_each(|(sum, n)| *sum += n);
        self.probes += other.probes;
        self.bytes += other.bytes;
        self.others = self.others.plus(other.others);
        self.drops = sum_of(self.drops, other.drops);
        self.echo = self.echo.plus(other.echo);
    }

    /// Adds what was counted of a run that has no Report of its own: frames of another run, to this one.
    pub fn merge_foreign(&mut self, other: &Self) {
        self.control += other.control;
        self.control_unread += other.control_unread;
        self.rejected.iter_mut().zip(other.rejected).for_each(|(sum, n)| *sum += n);
        if let Some(count) = self.rejected.get_mut(Reason::OtherRun.index()) {
            *count += other.probes;
        }
        self.others = self.others.plus(other.others);
        self.drops = sum_of(self.drops, other.drops);
    }

    /// Frames of this run with their bytes; with `others`, those that are not ours as well.
    #[inline]
    #[must_use]
    pub fn volume(&self, others: bool) -> (u64, u64) {
        let (frames, bytes) = if others { (self.other_frames(), self.others.bytes) } else { (0, 0) };
        (self.probes + frames, self.bytes + bytes)
    }

    /// First and last arrival of what [`RxTally::volume`] counts.
    #[must_use]
    pub fn span(&self, others: bool) -> Option<(Nanos, Nanos)> {
        span_of(self.arrivals, self.others.arrivals.filter(|_| others))
    }

    /// Frames that reached the worker.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.control + self.probes + self.rejected.iter().sum::<u64>()
    }

    /// Adds what another worker counted of the same run.
    pub fn merge(&mut self, other: Self) {
        self.merge_sums(&other);
        self.run = self.run.or(other.run);
        self.times.merge(&other.times);
        self.sizes.merge(&other.sizes);
        self.load = self.load.plus(other.load);
        self.arrivals = span_of(self.arrivals, other.arrivals);
        for (space, counts) in other.spaces {
            self.spaces.entry(space).or_default().merge(&counts);
        }
    }
}

impl Others {
    fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes + other.bytes, arrivals: span_of(self.arrivals, other.arrivals) }
    }
}

/// From the earlier first to the later last.
fn span_of(a: Option<(Nanos, Nanos)>, b: Option<(Nanos, Nanos)>) -> Option<(Nanos, Nanos)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

fn sum_of(a: Option<RxDrops>, b: Option<RxDrops>) -> Option<RxDrops> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::StreamId;

    /// A probe of each space that there can be.
    fn every_space(latch: &Latch) -> RxTally {
        let mut tally = RxTally::new(1, Some(7), Some(0));
        for space in 0..MAX_SPACES {
            let probe = Probe { run: 7, stream: StreamId::new(space, true), seq: 0, clock: 0, sent: 0 };
            tally.probe(&probe, 60, Arrival { stamp: None, nic: None, now: Nanos(1), clock_id: 0 }, latch);
        }
        tally.close();
        tally
    }

    #[test]
    fn a_run_has_the_spaces_that_its_sender_announced_or_not_many() {
        let latch = Latch::new(None);
        assert_eq!(latch.admit(7, Nanos(1)), Some(1));
        for (shape, spaces) in [(None, MAX_UNTOLD_SPACES), (Some(Shape { flows: [8].into(), spaces: 4 }), 4)]
        {
            shape.into_iter().for_each(|shape| latch.announce(1, shape));
            let tally = every_space(&latch);
            let refused = tally.rejected[Reason::NoSuchSpace.index()];
            assert_eq!((tally.spaces.len(), tally.probes), (spaces, spaces as u64));
            assert_eq!(tally.received(), u64::from(MAX_SPACES));
            assert_eq!(refused + tally.probes, tally.received());
        }
    }

    #[test]
    fn of_a_run_that_is_forgotten_the_sums_are_kept() {
        let latch = Latch::new(None);
        let tally = every_space(&latch);
        let mut forgotten = RxTally::forgotten(Some(0));
        forgotten.merge_sums(&tally);
        forgotten.merge_sums(&tally);
        assert_eq!(forgotten.received(), 2 * tally.received());
        assert!(forgotten.spaces.is_empty() && forgotten.epoch == RxTally::FORGOTTEN);
    }

    #[test]
    fn a_run_without_a_report_is_another_run_to_the_next() {
        let foreign = every_space(&Latch::new(None));
        let mut tally = RxTally::new(2, Some(8), None);
        tally.merge_foreign(&foreign);
        assert_eq!((tally.probes, tally.received()), (0, foreign.received()));
        assert_eq!(tally.rejected[Reason::OtherRun.index()], foreign.probes);
    }
}
