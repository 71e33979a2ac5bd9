//! The controller of a sink while it runs: hears control frames, takes readings, shows progress, knows when to stop.

use super::Sink;
use crate::commands::interrupt::Interrupt;
use crate::commands::live::{Goal, Live, Sums};
use crate::commands::tx::LastWord;
use crate::config::RxConfig;
use crate::engine::{Progress, Running};
use crate::finding::Finding;
use crate::report::IntervalRow;
use crate::sys::clock::monotonic;
use crate::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// How often the controller looks.
const LOOK: Duration = Duration::from_millis(10);
/// Silence after an END that means that nothing more is under way: a veth or NIC ring empties in microseconds.
const QUIET: Nanos = Nanos::from_millis(100);
/// How long an END is waited for that must be on its way: twice as long as the sender repeats it.
const END_PATIENCE: Nanos = Nanos::from_millis(200);
/// The same after Ctrl-C, which the sender in this process hears too: it drains for half a second, then tells its END.
/// Within the second that an interrupted run may take.
const INTERRUPT_PATIENCE: Nanos = Nanos::from_millis(800);

/// A sink that serves one run of a sender in the same process.
#[derive(Debug, Clone, Default)]
pub struct UntilEnd {
    /// Set when the sender failed and no END will come.
    pub abandoned: Arc<AtomicBool>,
    /// What the sender told as its END, which on the wire a full ring may lose.
    pub told: Arc<OnceLock<LastWord>>,
}

/// When to stop.
pub struct Ending {
    started: Nanos,
    duration: Option<Nanos>,
    count: Option<u64>,
    idle: Option<Nanos>,
    until_end: Option<UntilEnd>,
    interrupted: Option<Nanos>,
    last_change: (Nanos, u64),
}

/// How the watch ended.
pub struct Watched {
    /// Interval rows of the runs that another one followed.
    pub intervals: Vec<Vec<IntervalRow>>,
    /// Why it could not go on.
    pub failed: Option<Finding>,
}

/// The end of a run as far as it is known beforehand.
pub fn goal(config: &RxConfig) -> Goal {
    match (config.count, config.duration) {
        (Some(count), _) => Goal::Frames(count),
        (None, Some(duration)) => Goal::Time(duration),
        (None, None) => Goal::Open,
    }
}

impl Ending {
    /// The endings that the configuration asks for. A sink that waits for its sender's END has no time of its own.
    pub fn new(config: &RxConfig, until_end: Option<UntilEnd>, now: Nanos) -> Self {
        let duration = config.duration.filter(|_| until_end.is_none());
        let (count, idle) = (config.count, config.idle_timeout);
        Self { started: now, duration, count, idle, until_end, interrupted: None, last_change: (now, 0) }
    }

    /// Whether it is time, after so many `frames`; `over` says that the latched run's END is complete.
    fn is_now(&mut self, now: Nanos, frames: u64, over: bool) -> bool {
        if frames != self.last_change.1 {
            self.last_change = (now, frames);
        }
        let silence = now - self.last_change.0;
        // With the last frame asked for the sender may have sent its last: its END is worth a moment.
        let enough = |count| frames > count || (frames == count && (over || silence >= END_PATIENCE));
        self.duration.is_some_and(|duration| now - self.started >= duration)
            || self.count.is_some_and(enough)
            || self.idle.is_some_and(|idle| frames > 0 && silence >= idle)
            || self.until_end.as_ref().is_some_and(|end| end.has_come(silence, over))
    }

    /// Whether the user's wish to end is to be followed: at once, or when the sender of this process has had time to
    /// follow it first.
    fn yields(&mut self, now: Nanos, interrupted: bool) -> bool {
        if !interrupted || self.until_end.is_none() {
            return interrupted;
        }
        now - *self.interrupted.get_or_insert(now) >= INTERRUPT_PATIENCE
    }
}

impl UntilEnd {
    fn has_come(&self, silence: Nanos, over: bool) -> bool {
        self.abandoned.load(Relaxed)
            || (over && silence >= QUIET)
            || (self.told.get().is_some() && silence >= END_PATIENCE)
    }
}

/// Everything that is watched.
pub struct Watch<'w, 'a> {
    pub sink: &'w mut Sink<'a>,
    pub running: &'w Running,
    pub progress: &'w [Arc<Progress>],
    pub ending: Ending,
    pub interrupt: &'w Interrupt,
}

impl Watch<'_, '_> {
    /// Watches until it is time to stop.
    pub fn run(mut self, live: &mut Live) -> Watched {
        let mut epoch = 0;
        let mut before = Sums::default();
        let mut intervals = Vec::new();
        loop {
            let now = monotonic();
            let failed = self.sink.talk.turn(now).err();
            let sums = self.sink.sums(self.progress);
            if self.sink.latch.epoch() != epoch {
                let rows = live.restart(now, before);
                intervals.extend((epoch > 0).then_some(rows));
                epoch = self.sink.latch.epoch();
            }
            before = sums;
            self.sink.readings.look(now, &self.sink.attached.program, &self.sink.latch);
            // While nobody sends there is nothing to tell.
            if epoch > 0 {
                live.tick(now, sums);
            }
            let workers_gone = !self.progress.is_empty() && self.running.finished();
            let over = self.over();
            let time = self.ending.is_now(now, sums.frames, over)
                || self.ending.yields(now, self.interrupt.raised());
            if failed.is_some() || workers_gone || time {
                return Watched { intervals, failed };
            }
            thread::sleep(LOOK);
        }
    }

    /// Whether the latched run has told its end.
    fn over(&self) -> bool {
        let heard = self.sink.talk.heard(self.sink.latch.epoch());
        heard.is_some_and(|heard| heard.totals().is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(until_end: Option<UntilEnd>) -> Ending {
        let started = Nanos::SECOND;
        Ending {
            started,
            duration: None,
            count: None,
            idle: None,
            until_end,
            interrupted: None,
            last_change: (started, 0),
        }
    }

    #[test]
    fn silence_counts_from_the_first_frame_on() {
        let mut ending = Ending { idle: Some(Nanos::SECOND), ..ending(None) };
        assert!(!ending.is_now(Nanos(9_000_000_000), 0, false));
        assert!(!ending.is_now(Nanos(10_000_000_000), 1, false));
        assert!(!ending.is_now(Nanos(10_999_999_999), 1, false));
        assert!(ending.is_now(Nanos(11_000_000_000), 1, false));
    }

    #[test]
    fn the_last_frame_asked_for_leaves_time_for_the_end() {
        let counting = || Ending { count: Some(10), ..ending(None) };
        let (at, later) = (Nanos(2_000_000_000), Nanos(2_000_000_000) + END_PATIENCE);
        assert!(!counting().is_now(at, 9, true));
        assert!(counting().is_now(at, 10, true));
        assert!(counting().is_now(at, 11, false));
        let mut waiting = counting();
        assert!(!waiting.is_now(at, 10, false));
        assert!(waiting.is_now(later, 10, false));
    }

    #[test]
    fn a_sink_with_its_sender_waits_for_the_end_and_not_for_ever() {
        let (at, until_end) = (Nanos(2_000_000_000), UntilEnd::default());
        let mut ending = ending(Some(until_end.clone()));
        assert!(!ending.is_now(at, 5, true) && ending.is_now(at + QUIET, 5, true));
        until_end.told.set(LastWord { run: 7, parts: Vec::new() }).unwrap();
        assert!(!ending.is_now(at + QUIET, 5, false) && ending.is_now(at + END_PATIENCE, 5, false));
        assert!(!ending.yields(at, true) && ending.yields(at + INTERRUPT_PATIENCE, true));
    }
}
