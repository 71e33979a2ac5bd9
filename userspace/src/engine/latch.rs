//! Which run the receive workers count: the first that any of them sees, until it has ended or been silent for a
//! second.

use crate::units::Nanos;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Silence after which another run may take the latched one's place.
pub const SILENCE: Nanos = Nanos::SECOND;
/// The same once the latched run has told its END: what was under way then has arrived.
pub const SILENCE_AFTER_END: Nanos = Nanos::from_millis(50);

/// The same where a START says that another run begins: a sender that was answered tells its END once, and
/// the next may be waiting.
pub const SILENCE_BEFORE_START: Nanos = Nanos::from_millis(10);

/// What the sender's START says about its sequence: needed to judge reordering inside a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Flows over all workers, stream by stream; never empty.
    pub flows: Arc<[u32]>,
    /// Sequence spaces of the sender: of each worker one a stream.
    pub spaces: u16,
}

impl Shape {
    /// One stream of one flow from one worker: what nothing is known of.
    #[must_use]
    pub fn unknown() -> Self {
        Self { flows: Arc::new([1]), spaces: 1 }
    }

    /// Of a space: the flows of its stream, its worker, and how many workers there are.
    #[must_use]
    pub fn place(&self, space: u16) -> (u32, u16, u16) {
        let streams = u16::try_from(self.flows.len()).unwrap_or(u16::MAX).max(1);
        let flows = self.flows.get(usize::from(space % streams)).copied().unwrap_or(1);
        (flows, space / streams, (self.spaces / streams).max(1))
    }
}

/// The latch that the receive workers of one sink share.
#[derive(Debug)]
pub struct Latch {
    /// Epoch in the upper half, run tag in the lower; epoch 0 means that nothing is latched.
    state: AtomicU64,
    /// The only tag that is accepted, where one was asked for.
    only: Option<u16>,
    last_probe: AtomicU64,
    /// What was said last, and of which epoch. A worker asks once a sequence space.
    shape: Mutex<Option<(u32, Shape)>>,
    expecting: AtomicBool,
    /// The last epoch whose END was heard; none has the highest number.
    concluded: AtomicU32,
    /// The last epoch whose START was heard; 0 before the first.
    announced: AtomicU32,
}

impl Latch {
    /// A latch for the first run that comes, or for the one tagged `only`.
    #[must_use]
    pub fn new(only: Option<u16>) -> Self {
        Self {
            state: AtomicU64::new(0),
            only,
            last_probe: AtomicU64::new(0),
            shape: Mutex::new(None),
            expecting: AtomicBool::new(false),
            concluded: AtomicU32::new(u32::MAX),
            announced: AtomicU32::new(0),
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

    /// What the sender of run number `epoch` said of its sequence, as long as no later one has spoken.
    #[must_use]
    pub fn shape(&self, epoch: u32) -> Option<Shape> {
        let said = self.shape.lock().unwrap_or_else(PoisonError::into_inner);
        said.as_ref().filter(|(of, _)| *of == epoch).map(|(_, shape)| shape.clone())
    }

    /// Notes the START of run number `epoch`: frames will come, numbered in this shape.
    pub fn announce(&self, epoch: u32, shape: Shape) {
        *self.shape.lock().unwrap_or_else(PoisonError::into_inner) = Some((epoch, shape));
        self.announced.fetch_max(epoch, Release);
        self.expecting.store(true, Release);
    }

    /// Whether a run is counted of which no START was heard: it may be one that was under way before this
    /// sink, or a stray frame.
    #[must_use]
    pub fn tentative(&self) -> bool {
        let epoch = self.epoch();
        epoch != 0 && self.announced.load(Acquire) != epoch
    }

    /// Whether what is latched makes room for a START: it was latched without one, or has told its END and
    /// nothing of it is under way any more.
    #[must_use]
    pub fn gives_way(&self, now: Nanos) -> bool {
        let silence = now - Nanos(self.last_probe.load(Relaxed));
        self.tentative() || (self.concluded() && silence >= SILENCE_BEFORE_START)
    }

    /// Follows a START: the number of `run`, which takes the place of what gives way. None when another run
    /// has been announced and has not ended, or another tag is demanded.
    pub fn claim(&self, run: u16, now: Nanos) -> Option<u32> {
        if let Some(epoch) = self.admit(run, now) {
            return Some(epoch);
        }
        if self.only.is_some_and(|only| only != run) || !self.gives_way(now) {
            return None;
        }
        let epoch = self.renew(run, now);
        // Before the next START can claim the place.
        self.announced.fetch_max(epoch, Release);
        (self.run() == Some(run)).then_some(epoch)
    }

    /// Notes the END of run number `epoch`: nothing more is expected of it.
    pub fn conclude(&self, epoch: u32) {
        if epoch == self.epoch() {
            self.concluded.store(epoch, Release);
            self.expecting.store(false, Release);
        }
    }

    /// Whether a run is between its START and its END.
    pub(super) fn expecting(&self) -> bool {
        self.expecting.load(Relaxed)
    }

    /// Whether the run that is counted now has told its END.
    #[must_use]
    pub fn concluded(&self) -> bool {
        self.concluded.load(Relaxed) == self.epoch()
    }

    /// Notes that the latched run was heard of.
    pub fn touch(&self, now: Nanos) {
        self.last_probe.store(now.0, Relaxed);
    }

    /// The number of `run`, which is latched where that is allowed: nothing is, or what is has ended or been silent.
    /// None when it is another run's turn.
    pub fn admit(&self, run: u16, now: Nanos) -> Option<u32> {
        if self.only.is_some_and(|only| only != run) {
            return None;
        }
        let mut state = self.state.load(Acquire);
        loop {
            let epoch = (state >> 32) as u32;
            let same = epoch != 0 && state & 0xFFFF == u64::from(run);
            if same {
                return Some(epoch);
            }
            if epoch != 0 && now - Nanos(self.last_probe.load(Relaxed)) < self.patience(epoch) {
                return None;
            }
            match self.latch(state, run, now) {
                Ok(next) => return Some(next),
                Err(seen) => state = seen,
            }
        }
    }

    /// Counts anew under the tag that is latched: its sender was started again. The number of the new run.
    pub fn renew(&self, run: u16, now: Nanos) -> u32 {
        let state = self.state.load(Acquire);
        // Who was faster has done the same.
        self.latch(state, run, now).unwrap_or_else(|seen| (seen >> 32) as u32)
    }

    fn patience(&self, epoch: u32) -> Nanos {
        if self.concluded.load(Relaxed) == epoch { SILENCE_AFTER_END } else { SILENCE }
    }

    /// Replaces `state` by the next run; the state that was there instead when another thread was faster.
    fn latch(&self, state: u64, run: u16, now: Nanos) -> Result<u32, u64> {
        let epoch = (state >> 32) as u32 + 1;
        // Before the state: a third run must not find the new one with the silence of the old.
        self.touch(now);
        let next = u64::from(epoch) << 32 | u64::from(run);
        self.state.compare_exchange(state, next, Release, Acquire).map(|_| epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_is_latched_and_others_wait_for_silence() {
        let latch = Latch::new(None);
        assert_eq!((latch.epoch(), latch.run()), (0, None));
        assert_eq!(latch.admit(7, Nanos(100)), Some(1));
        assert_eq!(latch.admit(7, Nanos(200)), Some(1));
        assert_eq!(latch.admit(8, Nanos(300)), None);
        latch.touch(Nanos(400));
        assert_eq!(latch.admit(8, Nanos(399) + SILENCE), None);
        assert_eq!(latch.admit(8, Nanos(400) + SILENCE), Some(2));
        assert_eq!((latch.epoch(), latch.run()), (2, Some(8)));
    }

    #[test]
    fn what_no_start_has_announced_gives_way_to_one_that_is() {
        let latch = Latch::new(None);
        assert!(!latch.tentative());
        assert_eq!(latch.admit(666, Nanos(1)), Some(1));
        assert!(latch.tentative());
        assert_eq!(latch.admit(7, Nanos(2)), None);
        assert_eq!((latch.claim(7, Nanos(3)), latch.run()), (Some(2), Some(7)));
        assert!(!latch.tentative());
        assert_eq!(latch.claim(8, Nanos(4)), None, "an announced run keeps its place");
        assert_eq!(latch.claim(7, Nanos(5)), Some(2));
        latch.touch(Nanos(6));
        latch.conclude(2);
        assert_eq!(latch.claim(8, Nanos(5) + SILENCE_BEFORE_START), None, "its last frames may be under way");
        assert_eq!(latch.admit(8, Nanos(6) + SILENCE_BEFORE_START), None, "a frame alone waits for longer");
        assert_eq!(latch.claim(8, Nanos(6) + SILENCE_BEFORE_START), Some(3));
        let only = Latch::new(Some(666));
        assert_eq!((only.admit(666, Nanos(1)), only.claim(7, Nanos(2))), (Some(1), None));
    }

    #[test]
    fn a_demanded_tag_is_the_only_one() {
        let latch = Latch::new(Some(9));
        assert_eq!(latch.admit(7, Nanos(1)), None);
        assert_eq!(latch.admit(9, Nanos(2)), Some(1));
    }

    #[test]
    fn a_shape_is_what_was_announced_of_the_run_that_is_counted() {
        let latch = Latch::new(None);
        assert_eq!(latch.shape(0), None);
        let shape = Shape { flows: Arc::new([65_536, 3]), spaces: 64 };
        assert_eq!((shape.place(0), shape.place(63)), ((65_536, 0, 32), (3, 31, 32)));
        assert_eq!(latch.admit(7, Nanos(1)), Some(1));
        latch.announce(1, shape.clone());
        assert_eq!((latch.shape(1), latch.shape(2)), (Some(shape), None));
        assert!(latch.expecting());
        latch.conclude(1);
        assert!(!latch.expecting());
        assert_eq!(latch.admit(8, Nanos(1) + SILENCE), Some(2));
        assert_eq!(latch.shape(2), None);
    }

    #[test]
    fn a_run_that_has_ended_soon_makes_room() {
        let latch = Latch::new(None);
        assert_eq!(latch.admit(7, Nanos(1)), Some(1));
        latch.conclude(1);
        assert_eq!(latch.admit(8, SILENCE_AFTER_END), None);
        assert_eq!(latch.admit(8, Nanos(1) + SILENCE_AFTER_END), Some(2));
        // A late END of the first says nothing of the second.
        latch.conclude(1);
        assert_eq!(latch.admit(9, Nanos(1) + SILENCE_AFTER_END + SILENCE_AFTER_END), None);
    }

    #[test]
    fn a_sender_that_was_started_again_is_another_run_under_the_same_tag() {
        let latch = Latch::new(Some(7));
        assert_eq!(latch.admit(7, Nanos(1)), Some(1));
        assert_eq!(latch.renew(7, Nanos(2)), 2);
        assert_eq!((latch.admit(7, Nanos(3)), latch.run()), (Some(2), Some(7)));
    }
}
