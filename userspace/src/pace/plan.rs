//! A rate that changes with time: stairs, one after the other and from the first again. Where the rate changes, the part
//! of a slot that is over counts on, so that no frame is gained or lost at a step.

use crate::units::{FrameRate, Nanos, RateError};
use std::sync::Arc;

/// The shortest stair: what a sender can be expected to follow.
const SHORTEST_STAIR: Nanos = Nanos::from_millis(1);
/// Stairs of a ramp at the most.
const STAIRS: u64 = 1_000;
/// Stairs without a slot that are looked at for the next one; beyond, none comes in any time that matters.
const PATIENCE: u32 = 1_000_000;
/// Binary places of a part of a slot that is carried over a step.
const PLACES: u32 = 20;

/// One rate for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stair {
    /// None: nothing is sent.
    pub rate: Option<FrameRate>,
    /// How long; 1 ms or more.
    pub length: Nanos,
}

/// The stairs of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    stairs: Box<[Stair]>,
    peak: FrameRate,
}

impl Plan {
    /// A plan of these stairs; None where nothing is ever sent. Stairs of less than 1 ms
    /// last as long as that.
    #[must_use]
    pub fn new(stairs: Vec<Stair>) -> Option<Self> {
        let rates = stairs.iter().filter_map(|stair| stair.rate);
        let peak = rates.max_by(|a, b| a.pps().total_cmp(&b.pps()))?;
        let longer = |stair: Stair| Stair { length: stair.length.max(SHORTEST_STAIR), ..stair };
        Some(Self { stairs: stairs.into_iter().map(longer).collect(), peak })
    }

    /// The stairs of a ramp: equally long, each at the rate that the ramp has in its middle.
    ///
    /// # Errors
    /// [`RateError::Inexact`] for rates whose fractions do not fit.
    pub fn ramp(from: FrameRate, to: FrameRate, length: Nanos) -> Result<Vec<Stair>, RateError> {
        let stairs = (length.0 / SHORTEST_STAIR.0).clamp(1, STAIRS);
        let edge = |k: u64| u128::from(length.0) * u128::from(k) / u128::from(stairs);
        let stair = |k: u64| {
            let rate = FrameRate::between(from, to, 2 * k + 1, 2 * stairs).ok_or(RateError::Inexact)?;
            let length = u64::try_from(edge(k + 1) - edge(k)).unwrap_or(u64::MAX);
            Ok(Stair { rate: Some(rate), length: Nanos(length) })
        };
        (0..stairs).map(stair).collect()
    }

    /// The highest rate.
    #[must_use]
    pub const fn peak(&self) -> FrameRate {
        self.peak
    }

    /// How long until it begins anew.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.stairs.iter().fold(Nanos(0), |sum, stair| sum + stair.length)
    }

    /// Frames a second over the first `time` of it, for people.
    #[must_use]
    pub fn mean_pps(&self, time: Nanos) -> f64 {
        let (cycle, seconds) = (self.length(), time.as_secs_f64());
        let whole = time.0 / cycle.0.max(1);
        let frames = self.frames(cycle) * whole as f64 + self.frames(Nanos(time.0 % cycle.0.max(1)));
        if seconds > 0.0 { frames / seconds } else { 0.0 }
    }

    /// Frames of the first `time` of one cycle, for people.
    fn frames(&self, time: Nanos) -> f64 {
        let mut left = time;
        let of = |stair: &Stair| {
            let here = stair.length.min(left);
            left = left - here;
            stair.rate.map_or(0.0, |rate| rate.pps() * here.as_secs_f64())
        };
        self.stairs.iter().map(of).sum()
    }
}

/// A walk along a plan, which only goes forward.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    plan: Arc<Plan>,
    /// The next stair's number.
    next: usize,
    rate: Option<FrameRate>,
    start: Nanos,
    end: Nanos,
    /// The stair's first slot, how long after its start it is due, and how many it has.
    first: u64,
    lead: Nanos,
    slots: u64,
    /// How much later the next slot would be due at this rate.
    carry: (Nanos, FrameRate),
}

impl Walk {
    pub fn new(plan: Arc<Plan>) -> Self {
        let carry = (Nanos(0), plan.peak());
        let zero = Nanos(0);
        let mut walk =
            Self { plan, next: 0, rate: None, start: zero, end: zero, first: 0, lead: zero, slots: 0, carry };
        walk.advance();
        walk
    }

    /// How many slots are due at `time`, and have been before it.
    pub fn opened(&mut self, time: Nanos) -> u64 {
        while time >= self.end && self.end.0 < u64::MAX {
            self.advance();
        }
        match self.rate {
            Some(rate) if time - self.start >= self.lead => {
                let more = rate.frames_in(time - self.start - self.lead).saturating_add(1);
                self.first.saturating_add(more.min(self.slots))
            }
            _ => self.first,
        }
    }

    /// When slot `n` is due; never, where that is beyond all patience.
    pub fn time_of(&mut self, n: u64) -> Nanos {
        let mut patience = PATIENCE;
        while n >= self.first.saturating_add(self.slots) {
            if patience == 0 || self.end.0 == u64::MAX {
                return Nanos(u64::MAX);
            }
            patience = if self.slots == 0 { patience - 1 } else { PATIENCE };
            self.advance();
        }
        let within = self.rate.map_or(Nanos(0), |rate| rate.time_of(n.saturating_sub(self.first)));
        self.start + self.lead + within
    }

    /// When slot `n` is over at its own rate.
    pub fn end_of(&mut self, n: u64) -> Nanos {
        let time = self.time_of(n);
        let within = n.saturating_sub(self.first).saturating_add(1);
        self.rate.map_or(time, |rate| self.start + self.lead + rate.time_of(within))
    }

    /// Goes on to the next stair.
    fn advance(&mut self) {
        if let Some(rate) = self.rate {
            let next = self.lead + rate.time_of(self.slots);
            self.carry = (next - (self.end - self.start), rate);
        }
        self.first = self.first.saturating_add(self.slots);
        let Some(stair) = self.plan.stairs.get(self.next).copied() else { return };
        self.next = if self.next + 1 < self.plan.stairs.len() { self.next + 1 } else { 0 };
        (self.start, self.end, self.rate) = (self.end, self.end + stair.length, stair.rate);
        self.lead = stair.rate.map_or(Nanos(0), |rate| carried(self.carry, rate));
        self.slots = match stair.rate {
            Some(rate) if self.lead < stair.length => {
                rate.frames_in(stair.length - self.lead - Nanos(1)).saturating_add(1)
            }
            _ => 0,
        };
    }
}

/// A part of a slot at one rate in time at another, rounded up.
fn carried((time, from): (Nanos, FrameRate), to: FrameRate) -> Nanos {
    if from == to || time.0 == 0 {
        return time;
    }
    // A part is less than a slot, so time × frames is less than 10^9 × seconds.
    let part = (u128::from(time.0) * u128::from(from.frames()) / u128::from(from.seconds())) << PLACES;
    let scaled = part.saturating_mul(u128::from(to.seconds())).div_ceil(u128::from(to.frames()));
    Nanos(u64::try_from(scaled.div_ceil(1 << PLACES)).unwrap_or(u64::MAX))
}
