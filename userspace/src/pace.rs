//! How many frames are due at a time. Integers only, the remainder carried by counting from the start; time
//! is an argument. Knows no frame, no port and no clock.
//!
//! Slot k of a run is due k / rate after the start. Several senders share the slots in turn: the first of three has
//! slots 0, 3, 6 and so on, so that together they keep the rate, however low it is. Each slot becomes exactly one of: a frame sent, a frame of
//! shortfall, or pending; pending slots are bounded, so that a stall is not followed by a burst that no one
//! asked for.

mod timetable;

pub use timetable::{Timetable, Timing};

use crate::units::{FrameRate, Nanos};

/// What a stalled sender may catch up at once: as much as the loop's own jitter costs (a turn, a missed timer
/// tick), not more, or the asked rate would be exceeded visibly.
const CREDIT: Nanos = Nanos::from_millis(1);

/// When a run ends; without either, when it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Frames to send.
    pub count: Option<u64>,
    /// How long to send.
    pub duration: Option<Nanos>,
}

/// Which slots of the run are this sender's: those whose number is `own` modulo `parts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    own: u64,
    parts: u64,
}

impl Share {
    /// How many of the run's first `slots` slots are ours.
    const fn of(self, slots: u64) -> u64 {
        slots.saturating_sub(self.own).div_ceil(self.parts)
    }

    /// The run's number of our slot `n`.
    const fn slot(self, n: u64) -> u64 {
        n.saturating_mul(self.parts).saturating_add(self.own)
    }
}

/// The schedule of one sender.
#[derive(Debug, Clone)]
pub struct Pacer {
    rate: Option<FrameRate>,
    share: Share,
    limits: Limits,
    batch: u64,
    /// Pending slots that are kept; more are shortfall.
    burst: u64,
    started: Option<Nanos>,
    /// The latest time that was seen: a clock that steps back stands still.
    now: Nanos,
    sent: u64,
    shortfall: u64,
    /// Length of the sending window, once it is over.
    window: Option<Nanos>,
}

impl Pacer {
    /// A schedule at `rate` (None: as fast as possible) that hands out at most `batch` frames (at least 1) at
    /// a time.
    #[must_use]
    pub fn new(rate: Option<FrameRate>, limits: Limits, batch: u32) -> Self {
        let batch = u64::from(batch.max(1));
        let burst = rate.map_or(0, |rate| rate.frames_in(CREDIT)).max(batch);
        let (started, window) = (None, None);
        let share = Share { own: 0, parts: 1 };
        Self { rate, share, limits, batch, burst, started, now: Nanos(0), sent: 0, shortfall: 0, window }
    }

    /// The same schedule for sender `own`, from 0, of `parts` that share the rate; limits stay this sender's.
    #[must_use]
    pub fn shared(mut self, own: u16, parts: u16) -> Self {
        let parts = u64::from(parts.max(1));
        self.share = Share { own: u64::from(own), parts };
        self.burst = self.rate.map_or(0, |rate| rate.frames_in(CREDIT) / parts).max(self.batch);
        self
    }

    /// Frame 0 is due now.
    pub fn start(&mut self, now: Nanos) {
        self.started = Some(now);
        self.now = now;
    }

    /// How many frames may be sent now: at most a batch, and none before the start or after the end. Say with
    /// [`Pacer::sent`] how many were, before asking again.
    #[must_use]
    pub fn due(&mut self, now: Nanos) -> u32 {
        self.observe(now);
        if self.started.is_none() || self.window.is_some() {
            return 0;
        }
        let allowed = self.rate.map_or(u64::MAX, |rate| self.pending(rate));
        // A batch is a u32.
        self.batch.min(self.missing()).min(allowed) as u32
    }

    /// That many frames have been sent.
    pub fn sent(&mut self, frames: u32) {
        self.sent = self.sent.saturating_add(u64::from(frames));
    }

    /// Frames that were due and will not be sent any more. Zero without a rate.
    #[must_use]
    pub fn shortfall(&self) -> u64 {
        self.shortfall
    }

    /// Whether the run is over: by time; by count once the last frame's slot is over; by count at once when
    /// there is no rate; or since it was stopped. What was due and not sent by then is shortfall.
    #[must_use]
    pub fn finished(&mut self, now: Nanos) -> bool {
        self.observe(now);
        self.window.is_some()
    }

    /// Ends the run now, before its limits.
    pub fn stop(&mut self, now: Nanos) {
        self.observe(now);
        if self.started.is_some() && self.window.is_none() {
            self.close(self.elapsed(now));
        }
    }

    /// When the next frame is due, and when none is left, when the run is over. It lies in the past while
    /// frames are pending. None without a rate, before the start and after the end.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        let (Some(rate), Some(started), None) = (self.rate, self.started, self.window) else { return None };
        let slot = if self.missing() == 0 {
            self.end_of_slots(rate)
        } else {
            rate.time_of(self.share.slot(self.used()))
        };
        Some(started + self.limits.duration.map_or(slot, |duration| slot.min(duration)))
    }

    /// The sending window: from the start to now, or to the end of the run. With a rate it ends with the last
    /// slot, so that five frames at one a second take five seconds.
    #[must_use]
    pub fn window(&self, now: Nanos) -> Nanos {
        self.window.or_else(|| self.end_by(now)).unwrap_or_else(|| self.elapsed(now))
    }

    /// Our slots that are sent or given up.
    fn used(&self) -> u64 {
        self.sent.saturating_add(self.shortfall)
    }

    /// When the last of those slots is over.
    fn end_of_slots(&self, rate: FrameRate) -> Nanos {
        self.used()
            .checked_sub(1)
            .map_or(Nanos(0), |last| rate.time_of(self.share.slot(last).saturating_add(1)))
    }

    fn elapsed(&self, now: Nanos) -> Nanos {
        self.started.map_or(Nanos(0), |started| self.now.max(now) - started)
    }

    /// Frames that the count still asks for.
    fn missing(&self) -> u64 {
        self.limits.count.map_or(u64::MAX, |count| count.saturating_sub(self.sent))
    }

    /// Slots whose time has come and that are neither sent nor given up.
    fn pending(&self, rate: FrameRate) -> u64 {
        let elapsed = self.elapsed(self.now);
        // The last slot begins before the end; one that would begin with it belongs to the next run.
        let last = match self.limits.duration {
            Some(Nanos(0)) => return 0,
            Some(end) => elapsed.min(end - Nanos(1)),
            None => elapsed,
        };
        let opened = self.share.of(rate.frames_in(last).saturating_add(1));
        opened.saturating_sub(self.used())
    }

    fn observe(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        if self.started.is_none() || self.window.is_some() {
            return;
        }
        if let Some(rate) = self.rate
            && self.missing() > 0
        {
            self.shortfall += self.pending(rate).saturating_sub(self.burst);
        }
        if let Some(window) = self.end_by(now) {
            self.close(window);
        }
    }

    /// Length of the window, if the run's limits are met.
    fn end_by(&self, now: Nanos) -> Option<Nanos> {
        let elapsed = self.elapsed(now);
        let by_count = (self.started.is_some() && self.missing() == 0)
            .then(|| self.rate.map_or(elapsed, |rate| self.end_of_slots(rate)));
        let by_time = self.limits.duration.filter(|_| self.started.is_some());
        [by_count, by_time].into_iter().flatten().filter(|end| elapsed >= *end).min()
    }

    fn close(&mut self, window: Nanos) {
        let pending = self.rate.map_or(0, |rate| self.pending(rate));
        self.shortfall += pending.min(self.missing());
        self.window = Some(window);
    }
}

#[cfg(test)]
mod tests;
