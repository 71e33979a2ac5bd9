//! Which run the receive workers count: the first that any of them sees, until it has been silent for a second.

use crate::units::Nanos;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// Silence after which another run may take the latched one's place.
pub const SILENCE: Nanos = Nanos::SECOND;

/// What the sender's START says about its sequence: needed to judge reordering inside a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Flows of the stream.
    pub flows: u32,
    /// Sequence spaces of the sender.
    pub spaces: u16,
}

/// What becomes of a frame of some run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// It belongs to the run of this epoch.
    Epoch(u32),
    /// It belongs to another run.
    Other,
}

/// The latch that the receive workers of one sink share.
#[derive(Debug)]
pub struct Latch {
    /// Epoch in the upper half, run tag in the lower; epoch 0 means that nothing is latched.
    state: AtomicU64,
    /// The only tag that is accepted, where one was asked for.
    only: Option<u16>,
    last_probe: AtomicU64,
    /// Flows in the lower half, spaces above; 0 while no START has come.
    shape: AtomicU64,
    expecting: AtomicBool,
}

impl Latch {
    /// A latch for the first run that comes, or for the one tagged `only`.
    #[must_use]
    pub fn new(only: Option<u16>) -> Self {
        Self {
            state: AtomicU64::new(0),
            only,
            last_probe: AtomicU64::new(0),
            shape: AtomicU64::new(0),
            expecting: AtomicBool::new(false),
        }
    }

    /// The number of the run that is counted now, from 1; 0 before the first.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        (self.state.load(Acquire) >> 32) as u32
    }

    /// The tag of the run that is counted now.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the tag is the lower half")]
    pub fn run(&self) -> Option<u16> {
        let state = self.state.load(Acquire);
        (state >> 32 != 0).then_some(state as u16)
    }

    /// When the latched run was last heard of; None before the first frame.
    #[must_use]
    pub fn last_probe(&self) -> Option<Nanos> {
        Some(self.last_probe.load(Relaxed)).filter(|ns| *ns > 0).map(Nanos)
    }

    /// What the sender said of its sequence.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "taken apart as it was put together")]
    pub fn shape(&self) -> Option<Shape> {
        let packed = self.shape.load(Acquire);
        (packed != 0).then_some(Shape { flows: packed as u32, spaces: (packed >> 32) as u16 })
    }

    /// Notes a START: frames will come, numbered in this shape.
    pub fn announce(&self, shape: Shape) {
        self.shape.store(u64::from(shape.flows) | u64::from(shape.spaces) << 32, Release);
        self.expecting.store(true, Release);
    }

    /// Notes an END: nothing more is expected.
    pub fn conclude(&self) {
        self.expecting.store(false, Release);
    }

    /// Whether a run is between its START and its END.
    pub(super) fn expecting(&self) -> bool {
        self.expecting.load(Relaxed)
    }

    /// Notes that the latched run was heard of.
    pub(super) fn touch(&self, now: Nanos) {
        self.last_probe.store(now.0, Relaxed);
    }

    /// Latches `run` where that is allowed: nothing is latched, or it has been silent. Whether `run` is the one that
    /// is counted now.
    pub fn admits(&self, run: u16, now: Nanos) -> bool {
        self.admit(run, now) != Admission::Other
    }

    /// Judges a frame that is not of the run that the worker counts: latches its run where that is allowed.
    pub(super) fn admit(&self, run: u16, now: Nanos) -> Admission {
        if self.only.is_some_and(|only| only != run) {
            return Admission::Other;
        }
        let mut state = self.state.load(Acquire);
        loop {
            let epoch = (state >> 32) as u32;
            let same = epoch != 0 && state & 0xFFFF == u64::from(run);
            if same {
                return Admission::Epoch(epoch);
            }
            if epoch != 0 && now - Nanos(self.last_probe.load(Relaxed)) < SILENCE {
                return Admission::Other;
            }
            let next = u64::from(epoch + 1) << 32 | u64::from(run);
            match self.state.compare_exchange(state, next, Release, Acquire) {
                Ok(_) => {
                    self.touch(now);
                    return Admission::Epoch(epoch + 1);
                }
                Err(seen) => state = seen,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_is_latched_and_others_wait_for_silence() {
        let latch = Latch::new(None);
        assert_eq!((latch.epoch(), latch.run()), (0, None));
        assert_eq!(latch.admit(7, Nanos(100)), Admission::Epoch(1));
        assert_eq!(latch.admit(7, Nanos(200)), Admission::Epoch(1));
        assert_eq!(latch.admit(8, Nanos(300)), Admission::Other);
        latch.touch(Nanos(400));
        assert_eq!(latch.admit(8, Nanos(399) + SILENCE), Admission::Other);
        assert_eq!(latch.admit(8, Nanos(400) + SILENCE), Admission::Epoch(2));
        assert_eq!((latch.epoch(), latch.run()), (2, Some(8)));
    }

    #[test]
    fn a_demanded_tag_is_the_only_one() {
        let latch = Latch::new(Some(9));
        assert_eq!(latch.admit(7, Nanos(1)), Admission::Other);
        assert_eq!(latch.admit(9, Nanos(2)), Admission::Epoch(1));
    }

    #[test]
    fn a_shape_is_what_was_announced() {
        let latch = Latch::new(None);
        assert_eq!(latch.shape(), None);
        let shape = Shape { flows: 65_536, spaces: 64 };
        latch.announce(shape);
        assert_eq!(latch.shape(), Some(shape));
        assert!(latch.expecting());
        latch.conclude();
        assert!(!latch.expecting());
    }
}
