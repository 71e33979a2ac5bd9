//! The sending worker: one transmit queue, one sequence space.

use super::sender::{Holdups, divide};
use super::{Books, Load, Progress, Turn, Worker};
use crate::frame::Stream;
use crate::pace::Pacer;
use crate::port::{PortError, Slot, Source, TxPort};
use crate::units::{FCS_BYTES, Nanos};
use std::sync::Arc;

/// Sends one stream through one port.
pub struct TxWorker<P> {
    port: P,
    feed: Feed,
    pacer: Pacer,
    progress: Arc<Progress>,
    space: u16,
    frame_bytes: u64,
    submitted: u64,
    completed: u64,
    holdups: Holdups,
    window: Nanos,
    load: Load,
}

/// What a sender did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TxBooks {
    /// The sequence space.
    pub space: u16,
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
    /// Of a replay: by how much its schedule had to be moved.
    pub late: Nanos,
    /// Of a replay: how long frames were due that had not been read from the capture's file yet.
    pub starved: Nanos,
}

/// The stream as a source: numbers the frames and remembers which chunks hold its template.
struct Feed {
    stream: Stream,
    len: usize,
    written: Vec<bool>,
    seq: u64,
    now: Nanos,
}

impl<P: TxPort> TxWorker<P> {
    /// A worker that sends `stream`, sequence space `space`, through `port`, whose slots are numbered below `slots`, as `pacer` says.
    pub fn new(
        port: P,
        stream: Stream,
        space: u16,
        pacer: Pacer,
        slots: u32,
        progress: Arc<Progress>,
    ) -> Self {
        let len = stream.len();
        let feed = Feed { len, stream, written: vec![false; slots as usize], seq: 0, now: Nanos(0) };
        Self {
            port,
            pacer,
            progress,
            space,
            frame_bytes: len as u64 + u64::from(FCS_BYTES),
            feed,
            submitted: 0,
            completed: 0,
            holdups: Holdups::default(),
            window: Nanos(0),
            load: Load::default(),
        }
    }

    /// Takes completions back; returns how many.
    fn reclaim(&mut self) -> usize {
        let n = self.port.reclaim(|_| {});
        self.completed += n as u64;
        self.progress.set_frames(self.completed, self.completed * self.frame_bytes);
        n
    }

    /// Sends what is due; returns how many frames.
    fn send(&mut self, now: Nanos) -> Result<usize, PortError> {
        let due = self.pacer.due(now);
        if due == 0 {
            return Ok(0);
        }
        self.feed.now = now;
        let sent = self.port.send(due as usize, &mut self.feed)?;
        self.holdups.submitted(sent, self.progress.link_away(), now)?;
        self.submitted += sent as u64;
        self.pacer.sent(u32::try_from(sent).unwrap_or(u32::MAX));
        self.progress.set_shortfall(self.pacer.shortfall());
        Ok(sent)
    }

    /// Kicks the driver; a link that is down is booked and waited out.
    fn kick(&mut self, now: Nanos) -> Result<(), PortError> {
        self.holdups.kicked(self.port.kick(), now)
    }

    fn close(&self) -> TxBooks {
        let invalid = self.port.invalid().min(self.submitted);
        let (completed, in_flight) = divide(self.submitted, self.completed, invalid);
        TxBooks {
            space: self.space,
            built: self.feed.seq,
            submitted: self.submitted,
            completed,
            bytes: completed * self.frame_bytes,
            in_flight,
            invalid,
            shortfall: self.pacer.shortfall(),
            window: self.window,
            outages: self.holdups.outages,
            outage: self.holdups.outage,
            load: self.load,
            ..TxBooks::default()
        }
    }
}

impl<P: TxPort + Send> Worker for TxWorker<P> {
    fn begin(&mut self, now: Nanos) {
        self.pacer.start(now);
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

impl Source for Feed {
    #[inline]
    fn next_len(&mut self) -> Option<usize> {
        Some(self.len)
    }

    #[inline]
    fn write(&mut self, slot: Slot, buf: &mut [u8]) {
        let fresh = match self.written.get_mut(slot.0 as usize) {
            Some(written) => !std::mem::replace(written, true),
            None => true,
        };
        self.stream.write(fresh, self.seq, self.now, true, buf);
        self.seq += 1;
    }
}
