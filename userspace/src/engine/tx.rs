//! The sending worker: one transmit queue, a sequence space for each of its streams.

use super::departures::{Departures, PackedDepartures};
use super::feed::{Feed, LaneBooks};
use super::sender::{Holdups, divide};
use super::{Books, Load, Progress, Turn, Worker};
use crate::pace::Pacer;
use crate::port::{PortError, Slot, Source, TxPort};
use crate::units::Nanos;
use std::sync::Arc;

/// Sends streams through one port.
pub struct TxWorker<P> {
    port: P,
    feed: Feed,
    pacer: Pacer,
    progress: Arc<Progress>,
    number: u16,
    submitted: u64,
    completed: u64,
    completed_bytes: u64,
    holdups: Holdups,
    window: Nanos,
    load: Load,
    departures: Departures,
}

/// A feed whose frames bear the times at which they were due, so that what a late sender made them wait is not lost
/// from their latency; as fast as it goes, the time of the turn.
struct Timed<'f, I> {
    feed: &'f mut Feed,
    due: I,
    now: Nanos,
}

impl<I: Iterator<Item = Nanos>> Source for Timed<'_, I> {
    #[inline]
    fn next_len(&mut self) -> Option<usize> {
        self.feed.next_len()
    }

    #[inline]
    fn write(&mut self, slot: Slot, buf: &mut [u8]) {
        self.feed.set_now(self.due.next().map_or(self.now, |due| due.min(self.now)));
        self.feed.write(slot, buf);
    }

    fn travels_as(&mut self, slot: Slot) {
        self.feed.travels_as(slot);
    }
}

/// What a sender did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TxBooks {
    /// The worker's number, from 0.
    pub worker: u16,
    /// Frames written.
    pub built: u64,
    /// Frames given to the transmit ring.
    pub submitted: u64,
    /// Frames that the driver gave back, without those that it refused.
    pub completed: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// Frames neither completed nor refused at the deadline.
    pub in_flight: u64,
    /// Descriptors that the kernel refused.
    pub invalid: u64,
    /// Frames that were due and not sent.
    pub shortfall: u64,
    /// The sending window.
    pub window: Nanos,
    /// How often the link was lost, and for how long in all.
    pub outages: u32,
    /// Time without link.
    pub outage: Nanos,
    /// What the turns cost.
    pub load: Load,
    /// When its frames left; nothing of a replay.
    pub departures: PackedDepartures,
    /// By stream; empty of a replay.
    pub lanes: Vec<LaneBooks>,
    /// Of a replay: by how much its schedule had to be moved.
    pub late: Nanos,
    /// Of a replay: how long frames were due that had not been read from the capture's file yet.
    pub starved: Nanos,
}

impl<P: TxPort> TxWorker<P> {
    /// Worker number `number`, which sends what `feed` gives through `port` as `pacer` says.
    pub fn new(port: P, feed: Feed, number: u16, pacer: Pacer, progress: Arc<Progress>) -> Self {
        Self {
            port,
            pacer,
            progress,
            number,
            feed,
            submitted: 0,
            completed: 0,
            completed_bytes: 0,
            holdups: Holdups::default(),
            window: Nanos(0),
            load: Load::default(),
            departures: Departures::new(),
        }
    }

    /// Takes completions back; returns how many.
    fn reclaim(&mut self) -> usize {
        let Self { port, feed, completed_bytes, .. } = self;
        let n = port.reclaim(|done| *completed_bytes += feed.done(done));
        self.completed += n as u64;
        self.progress.set_frames(self.completed, self.completed_bytes);
        n
    }

    /// Sends what is due; returns how many frames.
    fn send(&mut self, now: Nanos) -> Result<usize, PortError> {
        let due = self.pacer.due(now);
        if due == 0 {
            return Ok(0);
        }
        let Self { port, feed, pacer, .. } = self;
        let sent = port.send(due as usize, &mut Timed { feed, due: pacer.times(), now })?;
        self.holdups.submitted(sent, self.progress.link_away(), now)?;
        self.submitted += sent as u64;
        self.departures.take(now, sent, self.pacer.times());
        self.pacer.sent(u32::try_from(sent).unwrap_or(u32::MAX));
        self.tell_asked();
        self.progress.set_shortfall(self.pacer.shortfall());
        Ok(sent)
    }

    fn tell_asked(&self) {
        if let Some(asked) = self.pacer.asked() {
            self.progress.set_asked(asked);
        }
    }

    /// Kicks the driver; a link that is down is booked and waited out.
    fn kick(&mut self, now: Nanos) -> Result<(), PortError> {
        self.holdups.kicked(self.port.kick(), now)
    }

    pub(super) fn close(&self) -> TxBooks {
        let invalid = self.port.invalid().min(self.submitted);
        let (completed, in_flight) = divide(self.submitted, self.completed, invalid);
        let mut lanes: Vec<LaneBooks> = self.feed.books().collect();
        let refused = take_back(&mut lanes, self.completed.saturating_sub(completed));
        TxBooks {
            worker: self.number,
            built: lanes.iter().map(|lane| lane.built).sum(),
            submitted: self.submitted,
            completed,
            bytes: self.completed_bytes.saturating_sub(refused),
            in_flight,
            invalid,
            shortfall: self.pacer.shortfall(),
            window: self.window,
            outages: self.holdups.outages,
            outage: self.holdups.outage,
            load: self.load,
            departures: self.departures.pack(),
            lanes,
            ..TxBooks::default()
        }
    }
}

impl<P: TxPort + Send> Worker for TxWorker<P> {
    fn begin(&mut self, now: Nanos) {
        self.pacer.start(now);
        self.tell_asked();
    }

    fn turn(&mut self, now: Nanos) -> Turn {
        let reclaimed = self.reclaim();
        if self.pacer.finished(now) {
            return Turn::Finished;
        }
        match self.send(now).and_then(|sent| self.kick(now).map(|()| sent)) {
            Ok(sent) if sent + reclaimed > 0 => Turn::Worked,
            Ok(_) => Turn::Empty,
            Err(error) => Turn::Failed(error),
        }
    }

    fn book(&mut self, turn: &Turn, from: Nanos, to: Nanos) {
        self.load.book(turn, from, to);
    }

    fn end(&mut self, now: Nanos) {
        self.pacer.stop(now);
        self.holdups.over(now);
        self.window = self.pacer.window(now);
        self.tell_asked();
        self.progress.set_shortfall(self.pacer.shortfall());
    }

    fn drain(&mut self, now: Nanos) -> bool {
        let gone = self.kick(now).is_err();
        self.reclaim();
        gone || self.port.in_flight() == 0
    }

    fn into_books(self: Box<Self>) -> Books {
        Books::Tx(self.close())
    }
}

/// Takes frames that came back without having left out of the books, from the stream that has most: which ones they
/// were, no kernel tells. Gives their bytes.
fn take_back(lanes: &mut [LaneBooks], frames: u64) -> u64 {
    let Some(most) = lanes.iter_mut().max_by_key(|lane| lane.completed) else { return 0 };
    let bytes = most.completed_bytes.checked_div(most.completed).unwrap_or(0).saturating_mul(frames);
    most.completed = most.completed.saturating_sub(frames);
    most.completed_bytes = most.completed_bytes.saturating_sub(bytes);
    bytes
}
