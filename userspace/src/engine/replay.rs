//! The sending worker of a replay: one transmit queue, its frames of a capture in their order, each when it is due. It knows
//! no file: frames come in slabs that another thread has filled.

use super::sender::{Holdups, divide};
use super::{Books, Load, PackedDepartures, Progress, Turn, TxBooks, Worker};
use crate::capture::{Next, Reel};
use crate::pace::Timing;
use crate::port::{PortError, Slot, Source, TxPort};
use crate::units::{FCS_BYTES, Nanos};
use std::sync::Arc;

/// How late a frame behind a whole batch of late ones may be without the schedule being moved: together as much as a
/// [`crate::pace::Pacer`] lets a stalled sender catch up.
const CREDIT: Nanos = Nanos::from_millis(1);

/// How a capture is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplaySpec {
    /// The worker's number, from 0.
    pub worker: u16,
    /// Frames a turn at the most.
    pub batch: u32,
    /// How long to send; None until the frames end.
    pub duration: Option<Nanos>,
    /// By what its frames are timed.
    pub timing: Timing,
    /// Slots of the port.
    pub slots: u32,
}

/// Sends the frames of a reel through one port.
pub struct ReplayWorker<P> {
    port: P,
    film: Film,
    number: u16,
    batch: usize,
    progress: Arc<Progress>,
    holdups: Holdups,
    submitted: u64,
    completed: u64,
    /// Bytes with FCS of the completed frames.
    bytes: u64,
    load: Load,
}

/// The frames, the schedule that they are held to, and what lies in which slot.
struct Film {
    reel: Reel,
    timing: Timing,
    duration: Option<Nanos>,
    started: Nanos,
    /// Since the start; a clock that steps back stands still.
    elapsed: Nanos,
    /// By how much the schedule has been moved.
    late: Nanos,
    /// The scheduled time of the frame that was sent last, and when it was sent.
    last_due: Nanos,
    last_sent: Nanos,
    /// Since when no frame has been there.
    waiting: Option<Nanos>,
    starved: Nanos,
    built: u64,
    /// Bytes in memory of what each slot holds.
    lens: Vec<u32>,
    /// And of the frame that was written last.
    last_len: u32,
    window: Option<Nanos>,
}

impl<P: TxPort> ReplayWorker<P> {
    /// A worker that sends what `reel` holds through `port`.
    pub fn new(port: P, reel: Reel, spec: ReplaySpec, progress: Arc<Progress>) -> Self {
        let film = Film {
            reel,
            timing: spec.timing,
            duration: spec.duration,
            started: Nanos(0),
            elapsed: Nanos(0),
            late: Nanos(0),
            last_due: Nanos(0),
            last_sent: Nanos(0),
            waiting: None,
            starved: Nanos(0),
            built: 0,
            lens: vec![0; spec.slots as usize],
            last_len: 0,
            window: None,
        };
        Self {
            port,
            film,
            number: spec.worker,
            batch: spec.batch as usize,
            progress,
            holdups: Holdups::default(),
            submitted: 0,
            completed: 0,
            bytes: 0,
            load: Load::default(),
        }
    }

    /// Takes completions back; returns how many.
    fn reclaim(&mut self) -> usize {
        let Self { port, film, bytes, .. } = self;
        let n = port.reclaim(|done| *bytes += film.bytes_in(done.slot));
        self.completed += n as u64;
        self.progress.set_frames(self.completed, self.bytes);
        n
    }

    /// Sends what is due; returns how many frames.
    fn send(&mut self, now: Nanos) -> Result<usize, PortError> {
        if !self.film.has_due() {
            return Ok(0);
        }
        let sent = self.port.send(self.batch, &mut self.film)?;
        self.holdups.submitted(sent, self.progress.link_away(), now)?;
        self.submitted += sent as u64;
        if sent == self.batch {
            self.film.give_up();
        }
        Ok(sent)
    }

    fn kick(&mut self, now: Nanos) -> Result<(), PortError> {
        self.holdups.kicked(self.port.kick(), now)
    }

    fn close(&self) -> TxBooks {
        let invalid = self.port.invalid().min(self.submitted);
        let (completed, in_flight) = divide(self.submitted, self.completed, invalid);
        TxBooks {
            worker: self.number,
            departures: PackedDepartures::default(),
            lanes: Vec::new(),
            built: self.film.built,
            submitted: self.submitted,
            completed,
            bytes: share(self.bytes, completed, self.completed),
            in_flight,
            invalid,
            shortfall: self.film.shortfall(),
            window: self.film.window.unwrap_or_default(),
            outages: self.holdups.outages,
            outage: self.holdups.outage,
            load: self.load,
            late: self.film.late,
            starved: self.film.starved,
        }
    }
}

/// Of `whole` what `part` of `parts` is: where refused frames came back as well, nobody knows which they were.
fn share(whole: u64, part: u64, parts: u64) -> u64 {
    if part == parts {
        return whole;
    }
    let of = u128::from(whole) * u128::from(part) / u128::from(parts.max(1));
    u64::try_from(of).unwrap_or(u64::MAX)
}

impl Film {
    fn look_at(&mut self, now: Nanos) {
        self.elapsed = self.elapsed.max(now - self.started);
    }

    /// Whether a frame that was scheduled for `at` is due, and the run is not over.
    fn is_due(&self, at: Nanos) -> bool {
        let at = at + self.late;
        at <= self.elapsed && self.duration.is_none_or(|end| at < end)
    }

    /// Whether the next frame is due.
    fn has_due(&mut self) -> bool {
        let Next::Frame(_, at) = self.reel.peek() else {
            self.waiting.get_or_insert(self.elapsed);
            return false;
        };
        if let Some(since) = self.waiting.take() {
            let late = if self.is_paced() { self.elapsed - (at + self.late) } else { self.elapsed };
            self.starved = self.starved + (self.elapsed - since).min(late);
        }
        self.is_due(at)
    }

    /// Moves the schedule to where the next frame is later by [`CREDIT`] only: what could not be sent in time is not
    /// followed by a burst that is in no capture.
    fn give_up(&mut self) {
        if let Next::Frame(_, at) = self.reel.peek()
            && self.is_paced()
        {
            let lag = self.elapsed.min(self.duration.unwrap_or(self.elapsed)) - (at + self.late);
            self.late = self.late + (lag - CREDIT);
        }
    }

    fn bytes_in(&self, slot: Slot) -> u64 {
        self.lens.get(slot.0 as usize).map_or(0, |len| u64::from(*len + FCS_BYTES))
    }

    /// Whether frames have times at which they are due; without, a slow path makes none late.
    fn is_paced(&self) -> bool {
        self.timing != Timing::Max
    }

    /// Frames that the schedule would have had in the time by which it was moved, at the mean rate of those that were
    /// sent. A capture was recorded in bursts that no mean rate describes; more than all of its frames are not late.
    fn shortfall(&self) -> u64 {
        let frames = u128::from(self.built) * u128::from(self.late.0) / u128::from(self.last_due.0.max(1));
        let frames = u64::try_from(frames).unwrap_or(u64::MAX);
        if let Timing::Recorded(_) = self.timing { frames.min(self.built) } else { frames }
    }

    /// Whether the run is over: by time, or since the last frame's slot is.
    fn finished(&mut self) -> bool {
        if self.window.is_none() {
            self.window = self.by_time().or_else(|| self.by_end());
        }
        self.window.is_some()
    }

    fn by_time(&self) -> Option<Nanos> {
        self.duration.filter(|end| self.elapsed >= *end)
    }

    fn by_end(&mut self) -> Option<Nanos> {
        let Next::Over(end) = self.reel.peek() else { return None };
        let end = if self.is_paced() { (end + self.late).max(self.last_sent) } else { self.last_sent };
        (self.elapsed >= end).then_some(end)
    }
}

impl Source for Film {
    #[inline]
    fn next_len(&mut self) -> Option<usize> {
        match self.reel.peek() {
            Next::Frame(len, at) if self.is_due(at) => {
                self.last_due = at;
                Some(len)
            }
            _ => None,
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a frame is far shorter than 4 GiB")]
    fn write(&mut self, slot: Slot, buf: &mut [u8]) {
        self.reel.take(buf);
        self.last_len = buf.len() as u32;
        self.travels_as(slot);
        self.last_sent = self.elapsed;
        self.built += 1;
    }

    #[inline]
    fn travels_as(&mut self, slot: Slot) {
        if let Some(len) = self.lens.get_mut(slot.0 as usize) {
            *len = self.last_len;
        }
    }
}

impl<P: TxPort + Send> Worker for ReplayWorker<P> {
    fn begin(&mut self, now: Nanos) {
        self.film.started = now;
    }

    fn turn(&mut self, now: Nanos) -> Turn {
        let reclaimed = self.reclaim();
        self.film.look_at(now);
        if self.film.finished() {
            return Turn::Finished;
        }
        let late = self.film.late;
        let turn = match self.send(now).and_then(|sent| self.kick(now).map(|()| sent)) {
            Ok(sent) if sent + reclaimed > 0 => Turn::Worked,
            Ok(_) => Turn::Empty,
            Err(error) => Turn::Failed(error),
        };
        if self.film.late != late {
            self.progress.set_shortfall(self.film.shortfall());
        }
        turn
    }

    fn book(&mut self, turn: &Turn, from: Nanos, to: Nanos) {
        self.load.book(turn, from, to);
    }

    fn end(&mut self, now: Nanos) {
        self.film.look_at(now);
        self.film.give_up();
        self.film.window.get_or_insert(self.film.elapsed);
        self.holdups.over(now);
        self.progress.set_shortfall(self.film.shortfall());
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

#[cfg(test)]
mod tests;
