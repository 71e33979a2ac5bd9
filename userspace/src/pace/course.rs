//! What was asked for, and one sender's slots of it: how many are due at a time, and when each is.

use super::arrivals::Arrivals;
use super::plan::{Plan, Walk};
use super::share::Share;
use super::ticks::Ticks;
use crate::units::{FrameRate, Nanos};
use std::collections::VecDeque;
use std::sync::Arc;

/// Times that are looked up at once at the most: a batch is no longer than the longest ring.
const MOST_TIMES: usize = 65_536;

/// When frames are to be sent, over all senders of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    /// As fast as it goes.
    Max,
    /// At a rate, so many back to back (1 or more): a burst is due as a whole when its first frame would be.
    Steady(FrameRate, u32),
    /// At a rate in the mean, at times that know nothing of each other; the seed names them.
    Poisson(FrameRate, u64),
    /// At rates that change.
    Plan(Arc<Plan>),
}

impl Course {
    /// A steady rate, frame by frame; None is as fast as it goes.
    #[must_use]
    pub fn steady(rate: Option<FrameRate>) -> Self {
        rate.map_or(Self::Max, |rate| Self::Steady(rate, 1))
    }

    /// The highest rate; None for as fast as it goes.
    #[must_use]
    pub fn peak(&self) -> Option<FrameRate> {
        match self {
            Self::Max => None,
            Self::Steady(rate, _) | Self::Poisson(rate, _) => Some(*rate),
            Self::Plan(plan) => Some(plan.peak()),
        }
    }

    /// Frames a second, for people: of a plan the mean over `time`, without one over the plan; None for as fast as it goes.
    #[must_use]
    pub fn mean_pps(&self, time: Option<Nanos>) -> Option<f64> {
        match self {
            Self::Max => None,
            Self::Steady(rate, _) | Self::Poisson(rate, _) => Some(rate.pps()),
            Self::Plan(plan) => Some(plan.mean_pps(time.unwrap_or_else(|| plan.length()))),
        }
    }

    /// Frames that are due at once: more than one of a burst.
    #[must_use]
    pub const fn burst(&self) -> u32 {
        match self {
            Self::Steady(_, burst) if *burst > 0 => *burst,
            _ => 1,
        }
    }
}

/// Slots of one sender, looked at in their order.
#[derive(Debug, Clone)]
enum Cursor {
    Steady(FrameRate, Ticks),
    Poisson(Arrivals),
    Plan(Walk),
}

/// One sender's slots: those that are due are counted ahead of those whose times are asked for.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    share: Share,
    group: u64,
    /// When the run ends; a slot that would begin then belongs to the next run.
    end: Option<Nanos>,
    /// Slots of all senders that begin before then, of a steady rate.
    most: u64,
    counted: Cursor,
    timed: Cursor,
    /// Times of the next slots, and the number of the first of them.
    times: VecDeque<Nanos>,
    first: u64,
}

impl Slots {
    /// The slots of sender `own` of `parts`; None for as fast as it goes. At most `batch` times are looked up at once.
    pub fn new(
        course: &Course,
        share: Share,
        (own, parts): (u64, u64),
        end: Option<Nanos>,
        batch: u64,
    ) -> Option<Self> {
        let cursor = match course {
            Course::Max => return None,
            Course::Steady(rate, burst) => {
                Cursor::Steady(*rate, Ticks::new(*rate, u64::from((*burst).max(1)), parts))
            }
            Course::Poisson(rate, seed) => Cursor::Poisson(Arrivals::new(*rate, own, parts, *seed)),
            Course::Plan(plan) => Cursor::Plan(Walk::new(Arc::clone(plan))),
        };
        let most = match (course, end) {
            (Course::Steady(rate, _), Some(end)) if end.0 > 0 => {
                rate.frames_in(end - Nanos(1)).saturating_add(1)
            }
            _ => u64::MAX,
        };
        let times = VecDeque::with_capacity(usize::try_from(batch).unwrap_or(MOST_TIMES).min(MOST_TIMES));
        let group = u64::from(course.burst());
        Some(Self { share, group, end, most, counted: cursor.clone(), timed: cursor, times, first: 0 })
    }

    /// How many of our slots are due after `elapsed`, which does not go back.
    pub fn opened(&mut self, elapsed: Nanos) -> u64 {
        let last = match self.end {
            Some(Nanos(0)) => return 0,
            Some(end) => elapsed.min(end - Nanos(1)),
            None => elapsed,
        };
        match &mut self.counted {
            Cursor::Steady(rate, _) => {
                let groups = (rate.frames_in(last) / self.group).saturating_add(1);
                self.share.of(groups.saturating_mul(self.group).min(self.most))
            }
            Cursor::Poisson(arrivals) => {
                if arrivals.catch_up(last) {
                    self.timed = Cursor::Poisson(arrivals.clone());
                }
                arrivals.opened(last)
            }
            Cursor::Plan(walk) => self.share.of(walk.opened(last)),
        }
    }

    /// When our slot `n` is due. No slot in front of it is asked for again.
    pub fn time_of(&mut self, n: u64) -> Nanos {
        if let Some(time) = n.checked_sub(self.first).and_then(|at| self.times.get(usize::try_from(at).ok()?))
        {
            return *time;
        }
        if self.group > 1 && self.share.slot(n) >= self.most {
            // The rest of a burst that the end of the run has cut off.
            return self.end.unwrap_or(Nanos(u64::MAX));
        }
        match &mut self.timed {
            Cursor::Steady(_, ticks) => ticks.time_of(self.share.group_of(n)),
            Cursor::Poisson(arrivals) => arrivals.time_of(n),
            Cursor::Plan(walk) => walk.time_of(self.share.slot(n)),
        }
    }

    /// When our slot `n` is over: when the run's next one would begin at the same rate. Asked for last of all.
    pub fn end_of(&mut self, n: u64) -> Nanos {
        match &mut self.timed {
            Cursor::Steady(rate, _) => rate.time_of(self.share.slot(n).saturating_add(1)),
            Cursor::Poisson(arrivals) => arrivals.time_of(n.saturating_add(1)),
            Cursor::Plan(walk) => walk.end_of(self.share.slot(n)),
        }
    }

    /// Looks up the times of `count` slots from slot `from` on, for [`Slots::times`].
    pub fn look_up(&mut self, from: u64, count: u32) {
        while self.first < from && self.times.pop_front().is_some() {
            self.first += 1;
        }
        if self.times.is_empty() {
            self.first = from;
        }
        let room = self.times.capacity().min(count as usize);
        while self.times.len() < room {
            let time = self.time_of(self.first + self.times.len() as u64);
            self.times.push_back(time);
        }
    }

    /// The times that were looked up.
    pub fn times(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.times.iter().copied()
    }
}
