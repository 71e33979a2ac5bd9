//! The controller of a sink while it runs: hears control frames, takes readings, shows progress, knows when to stop.

use super::Sink;
use crate::commands::interrupt::Interrupt;
use crate::commands::live::{Goal, Live, Sums};
use crate::config::RxConfig;
use crate::engine::{Progress, Running};
use crate::finding::Finding;
use crate::report::IntervalRow;
use crate::sys::clock::monotonic;
use crate::units::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// How often the controller looks.
const LOOK: Duration = Duration::from_millis(10);
/// Silence after an END that means that nothing more is under way: a veth or NIC ring empties in microseconds.
const QUIET: Nanos = Nanos::from_millis(100);

/// A sink that serves one run of a sender in the same process.
#[derive(Debug, Clone, Default)]
pub struct UntilEnd {
    /// Set when the sender failed and no END will come.
    pub abandoned: Arc<AtomicBool>,
}

/// When to stop.
pub struct Ending {
    started: Nanos,
    duration: Option<Nanos>,
    count: Option<u64>,
    idle: Option<Nanos>,
    until_end: Option<UntilEnd>,
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
        Self { started: now, duration, count, idle, until_end, last_change: (now, 0) }
    }

    /// Whether it is time; `over` says that the latched run's END is complete.
    fn is_now(&mut self, now: Nanos, frames: u64, over: bool) -> bool {
        if frames != self.last_change.1 {
            self.last_change = (now, frames);
        }
        let silence = now - self.last_change.0;
        self.duration.is_some_and(|duration| now - self.started >= duration)
            || self.count.is_some_and(|count| frames >= count)
            || self.idle.is_some_and(|idle| silence >= idle)
            || self
                .until_end
                .as_ref()
                .is_some_and(|end| end.abandoned.load(Relaxed) || (over && silence >= QUIET))
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
            let time = self.ending.is_now(now, sums.frames, over);
            if failed.is_some() || workers_gone || self.interrupt.raised() || time {
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
