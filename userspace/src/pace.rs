//! How many frames are due at a time, and when each was. Integers only, the remainder carried by counting from the
//! start; time is an argument. Knows no frame, no port and no clock.
//!
//! At a steady rate slot k of a run is due k / rate after the start; bursts, plans and Poisson arrivals have other times,
//! and the same books. Several senders share the slots in turn: the first of three has slots 0, 3, 6 and so on, so that
//! together they keep the rate, however low it is. Each slot becomes exactly one of: a frame sent, a frame of shortfall,
//! or pending; pending slots are bounded, so that a stall is not followed by a burst that no one asked for.

mod arrivals;
mod course;
mod plan;
mod share;
mod ticks;
mod timetable;

pub use course::Course;
pub use plan::{Plan, Stair};
pub use timetable::{Timetable, Timing};

use crate::units::Nanos;
use course::Slots;
use share::Share;

/// What a stalled sender may catch up at once: as much as the loop's own jitter costs (a turn, a missed timer
/// tick), not more, or the asked rate would be exceeded visibly.
const CREDIT: Nanos = Nanos::from_millis(1);

/// When a run ends; without either, when it is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Frames to send, over all senders.
    pub count: Option<u64>,
    /// How long to send.
    pub duration: Option<Nanos>,
}

/// The schedule of one sender.
#[derive(Debug, Clone)]
pub struct Pacer {
    /// None: as fast as it goes.
    slots: Option<Slots>,
    /// With this sender's own share of the count.
    limits: Limits,
    batch: u64,
    /// Pending slots that are kept; more are shortfall.
    credit: u64,
    started: Option<Nanos>,
    /// The latest time that was seen: a clock that steps back stands still.
    now: Nanos,
    sent: u64,
    shortfall: u64,
    /// Frames that have been due so far.
    asked: u64,
    /// When the last slot of a count that has been sent is over.
    counted_out: Option<Nanos>,
    /// Length of the sending window, once it is over.
    window: Option<Nanos>,
}

impl Pacer {
    /// The schedule of sender `own`, from 0, of `parts` that share a course and its limits; it hands out at most `batch`
    /// frames (at least 1) at a time.
    #[must_use]
    pub fn new(course: &Course, limits: Limits, batch: u32, (own, parts): (u16, u16)) -> Self {
        let batch = u64::from(batch.max(1));
        let (own, parts) = (u64::from(own), u64::from(parts.max(1)));
        let burst = u64::from(course.burst());
        let credit = course.peak().map_or(0, |rate| rate.frames_in(CREDIT) / parts).max(batch).max(burst);
        let share = Share::new(own, parts, burst);
        let slots = Slots::new(course, share, (own, parts), limits.duration, batch);
        let limits = Limits { count: limits.count.map(|count| share.of(count)), ..limits };
        Self {
            slots,
            limits,
            batch,
            credit,
            started: None,
            now: Nanos(0),
            sent: 0,
            shortfall: 0,
            asked: 0,
            counted_out: None,
            window: None,
        }
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
        let allowed = self.pending().unwrap_or(u64::MAX);
        // A batch is a u32.
        let due = self.batch.min(self.missing()).min(allowed) as u32;
        let used = self.used();
        self.asked = used.saturating_add(allowed.min(self.missing()));
        if let Some(slots) = &mut self.slots {
            slots.look_up(used, due);
        }
        due
    }

    /// When each frame that [`Pacer::due`] has allowed was due; nothing at as fast as it goes.
    pub fn times(&self) -> impl Iterator<Item = Nanos> + '_ {
        let started = self.started.unwrap_or_default();
        self.slots.iter().flat_map(Slots::times).map(move |time| started + time)
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

    /// Frames that had been due when [`Pacer::due`] was last asked, or the run ended: sent, given up or pending. None
    /// without a rate.
    #[must_use]
    pub fn asked(&self) -> Option<u64> {
        self.slots.as_ref().map(|_| self.asked)
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
    pub fn next_due(&mut self) -> Option<Nanos> {
        let (Some(started), None) = (self.started, self.window) else { return None };
        let used = self.used();
        let slot = if self.missing() == 0 { self.end_of_slots() } else { self.slots.as_mut()?.time_of(used) };
        Some(started + self.limits.duration.map_or(slot, |duration| slot.min(duration)))
    }

    /// The sending window: from the start to now, or to the end of the run. With a rate it ends with the last
    /// slot, so that five frames at one a second take five seconds.
    #[must_use]
    pub fn window(&mut self, now: Nanos) -> Nanos {
        self.window.or_else(|| self.end_by(now)).unwrap_or_else(|| self.elapsed(now))
    }

    /// Our slots that are sent or given up.
    fn used(&self) -> u64 {
        self.sent.saturating_add(self.shortfall)
    }

    /// When the last of those slots is over; asked for once all frames are sent.
    fn end_of_slots(&mut self) -> Nanos {
        if let Some(end) = self.counted_out {
            return end;
        }
        let last = self.used().checked_sub(1);
        let end = self.slots.as_mut().zip(last).map_or(Nanos(0), |(slots, last)| slots.end_of(last));
        self.counted_out = Some(end);
        end
    }

    fn elapsed(&self, now: Nanos) -> Nanos {
        self.started.map_or(Nanos(0), |started| self.now.max(now) - started)
    }

    /// Frames that the count still asks for.
    fn missing(&self) -> u64 {
        self.limits.count.map_or(u64::MAX, |count| count.saturating_sub(self.sent))
    }

    /// Slots whose time has come and that are neither sent nor given up; None without a rate.
    fn pending(&mut self) -> Option<u64> {
        let (elapsed, used) = (self.elapsed(self.now), self.used());
        Some(self.slots.as_mut()?.opened(elapsed).saturating_sub(used))
    }

    fn observe(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        if self.started.is_none() || self.window.is_some() {
            return;
        }
        if self.missing() > 0
            && let Some(pending) = self.pending()
        {
            self.shortfall += pending.saturating_sub(self.credit);
        }
        if let Some(window) = self.end_by(now) {
            self.close(window);
        }
    }

    /// Length of the window, if the run's limits are met.
    fn end_by(&mut self, now: Nanos) -> Option<Nanos> {
        let elapsed = self.elapsed(now);
        self.started?;
        let by_count = match self.missing() {
            0 if self.slots.is_some() => Some(self.end_of_slots()),
            0 => Some(elapsed),
            _ => None,
        };
        [by_count, self.limits.duration].into_iter().flatten().filter(|end| elapsed >= *end).min()
    }

    fn close(&mut self, window: Nanos) {
        let pending = self.pending().unwrap_or(0);
        self.shortfall += pending.min(self.missing());
        self.asked = self.used();
        self.window = Some(window);
    }
}

#[cfg(test)]
mod course_tests;
#[cfg(test)]
mod tests;
