//! The controller of a sink while it runs: hears control frames, takes readings, shows progress, knows when to stop.

use super::Sink;
use super::redirect::{Redirect, Verdict};
use super::shift::Shift;
use crate::commands::interrupt::Interrupt;
use crate::commands::live::{Goal, Live, Sums};
use crate::commands::notice::notice;
use crate::commands::privileges::Needs;
use crate::commands::tx::LastWord;
use crate::config::RxConfig;
use crate::engine::MAX_RUNS;
use crate::finding::{Code, Finding, Severity};
use crate::report::IntervalRow;
use crate::sys::clock::monotonic;
use crate::units::Nanos;
use crate::xdp::AttachMode;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// How often the controller looks.
const LOOK: Duration = Duration::from_millis(10);
/// A pause between two looks that is none of ours.
const STALL: Nanos = Nanos::from_millis(200);
/// Silence after an END that means that nothing more is under way: a veth or NIC ring empties in microseconds.
const QUIET: Nanos = Nanos::from_millis(100);
/// How long an END is waited for that must be on its way: twice as long as the sender repeats it.
const END_PATIENCE: Nanos = Nanos::from_millis(200);
/// The same after Ctrl-C, which the sender in this process hears too: it drains for 0.3 s, then tells its END.
/// Within the second that an interrupted run may take.
const INTERRUPT_PATIENCE: Nanos = Nanos::from_millis(600);

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
    last_look: Nanos,
}

/// How the watch ended.
pub struct Watched {
    /// Interval rows of the runs that another one followed.
    pub intervals: VecDeque<Vec<IntervalRow>>,
    /// Why it could not go on.
    pub failed: Vec<Finding>,
    /// The workers, where they have not ended.
    pub shift: Option<Shift>,
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
        Self {
            started: now,
            duration,
            count,
            idle,
            until_end,
            interrupted: None,
            last_change: (now, 0),
            last_look: now,
        }
    }

    /// Whether it is time, after so many `frames`; `over` says that the latched run's END is complete.
    fn is_now(&mut self, now: Nanos, frames: u64, over: bool) -> bool {
        if frames != self.last_change.1 {
            self.last_change = (now, frames);
        }
        // What came while this process was stopped has not been counted yet: that time is no silence.
        let stopped = now - std::mem::replace(&mut self.last_look, now);
        if stopped > STALL {
            self.last_change.0 = self.last_change.0 + stopped;
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
    sink: &'w mut Sink<'a>,
    ending: Ending,
    interrupt: &'w Interrupt,
    redirect: Redirect,
    link_away: bool,
    epoch: u32,
    /// Whether frames of others have come before any run: their rows are those of the first run, if there is one.
    begun: bool,
    before: Sums,
    intervals: VecDeque<Vec<IntervalRow>>,
}

impl<'w, 'a> Watch<'w, 'a> {
    /// Watches a sink whose workers are about to start.
    pub fn new(sink: &'w mut Sink<'a>, ending: Ending, interrupt: &'w Interrupt) -> Self {
        let (before, intervals) = (Sums::default(), VecDeque::new());
        Self {
            sink,
            ending,
            interrupt,
            redirect: Redirect::Open(None),
            link_away: false,
            epoch: 0,
            begun: false,
            before,
            intervals,
        }
    }

    /// Watches until it is time to stop.
    pub fn run(mut self, mut shift: Shift, live: &mut Live) -> Watched {
        // In the stack redirect always works, and a program that only counts does not redirect.
        if self.sink.attached.mode == AttachMode::Generic || self.sink.config.count_only {
            self.settle();
        }
        loop {
            let now = monotonic();
            let failed = self.sink.talk.turn(now).err().or_else(|| self.removed());
            if let Some(answering) = &mut self.sink.answering {
                answering.turn();
            }
            let sums = self.sink.sums();
            self.turn_over(now, live);
            self.before = sums;
            self.sink.readings.look(now, &self.sink.attached.program, &self.sink.latch);
            self.tell_of_link();
            // While nothing comes there is nothing to tell.
            self.begin(now, sums, live);
            if self.epoch > 0 || self.begun {
                live.tick(now, sums);
            }
            let over = self.over();
            let time = self.ending.is_now(now, sums.frames, over)
                || self.ending.yields(now, self.interrupt.raised());
            if failed.is_some() || shift.gone() || time {
                return self.ended(Some(shift), failed.into_iter().collect());
            }
            match self.redirect.look(now, self.sink.readings.redirected(), &shift.progress) {
                Verdict::Nothing => {}
                Verdict::Proven => self.settle(),
                Verdict::Silent => match self.sink.fall_back(shift, self.interrupt) {
                    Ok(next) => {
                        shift = next;
                        self.settle();
                        notice(
                            self.sink.config.output.quiet,
                            self.sink.config.role.command(),
                            self.sink.ready(),
                        );
                    }
                    Err(failed) => return self.ended(None, failed),
                },
            }
            thread::sleep(LOOK);
        }
    }

    /// Called once a session: when the first frame has come, or at once or after a fall-back where none is to
    /// be waited for. From here on nothing is attached and no socket is opened any more.
    fn settle(&mut self) {
        self.redirect = Redirect::Settled;
        self.sink.give_up(Needs::of(&self.sink.config.output));
    }

    /// Says when the link goes and when it comes back: a sink that waits in vain should not seem to wait for
    /// a sender.
    fn tell_of_link(&mut self) {
        let away = self.sink.readings.link_away();
        if std::mem::replace(&mut self.link_away, away) != away {
            let state = if away { "the link is away; waiting for it" } else { "the link is back" };
            notice(self.sink.config.output.quiet, self.sink.config.role.command(), state);
        }
    }

    fn ended(self, shift: Option<Shift>, failed: Vec<Finding>) -> Watched {
        Watched { intervals: self.intervals, failed, shift }
    }

    /// Begins rows with the first frames, where those of others come before any run.
    fn begin(&mut self, now: Nanos, sums: Sums, live: &mut Live) {
        if self.sink.takes_others() && self.epoch == 0 && !self.begun && sums.frames > 0 {
            self.begun = true;
            live.restart(now, Sums::default());
        }
    }

    /// Begins the rows of another run, when one has begun.
    fn turn_over(&mut self, now: Nanos, live: &mut Live) {
        let epoch = self.sink.latch.epoch();
        if epoch == self.epoch {
            return;
        }
        if self.epoch > 0 || !self.begun {
            let rows = live.restart(now, self.before);
            if self.epoch > 0 {
                self.intervals.push_back(rows);
            }
        }
        // As many as there are windows, the open one aside.
        while self.intervals.len() > MAX_RUNS - 1 {
            self.intervals.pop_front();
        }
        self.epoch = epoch;
    }

    /// Why there is nothing more to wait for, where the interface is no longer there.
    fn removed(&self) -> Option<Finding> {
        self.sink.readings.interface_gone().then(|| {
            Finding::new(
                Code::InterfaceGone,
                Severity::Fail,
                self.sink.facts.name.clone(),
                "the interface was removed within the run",
            )
            .why("it was deleted, with its peer or its namespace, or moved to another namespace; the figures are those up to that moment")
            .remedy("bring it back and run again")
        })
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
            last_look: started,
        }
    }

    #[test]
    fn silence_counts_from_the_first_frame_on() {
        let mut ending = Ending { idle: Some(Nanos::SECOND), ..ending(None) };
        let mut at = |ms: u64, frames| ending.is_now(Nanos::from_millis(ms), frames, false);
        assert!((1_000..10_000).step_by(10).all(|ms| !at(ms, 0)));
        assert!((10_000..11_000).step_by(10).all(|ms| !at(ms, 1)));
        assert!(at(11_000, 1));
    }

    #[test]
    fn the_time_in_which_the_sink_was_stopped_is_no_silence() {
        let mut ending = Ending { idle: Some(Nanos::SECOND), ..ending(None) };
        assert!(!ending.is_now(Nanos::from_millis(1_010), 1, false));
        assert!(!ending.is_now(Nanos::from_millis(5_000), 1, false));
        assert!(!ending.is_now(Nanos::from_millis(5_010), 9, false));
    }

    #[test]
    fn the_last_frame_asked_for_leaves_time_for_the_end() {
        let counting = || Ending { count: Some(10), ..ending(None) };
        let (at, later) = (Nanos::SECOND, Nanos::SECOND + END_PATIENCE);
        assert!(!counting().is_now(at, 9, true));
        assert!(counting().is_now(at, 10, true));
        assert!(counting().is_now(at, 11, false));
        let mut waiting = counting();
        assert!(!waiting.is_now(at, 10, false));
        assert!(waiting.is_now(later, 10, false));
    }

    #[test]
    fn a_sink_with_its_sender_waits_for_the_end_and_not_for_ever() {
        let (at, until_end) = (Nanos::SECOND, UntilEnd::default());
        let mut ending = ending(Some(until_end.clone()));
        assert!(!ending.is_now(at, 5, true) && ending.is_now(at + QUIET, 5, true));
        until_end.told.set(LastWord { run: 7, parts: Vec::new() }).unwrap();
        assert!(!ending.is_now(at + QUIET, 5, false) && ending.is_now(at + END_PATIENCE, 5, false));
        assert!(!ending.yields(at, true) && ending.yields(at + INTERRUPT_PATIENCE, true));
    }
}
