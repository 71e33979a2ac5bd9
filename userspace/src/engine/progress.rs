//! A worker's figures while it runs, for interval lines: written by the worker, read by anyone. And the one thing that
//! a worker is told while it runs: whether the link is away.

use crate::units::Nanos;
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Figures of one worker so far. A cache line of their own keeps readers from slowing the worker.
#[derive(Debug, Default)]
pub struct Progress(CachePadded<Figures>);

#[derive(Debug, Default)]
struct Figures {
    frames: AtomicU64,
    bytes: AtomicU64,
    drops: AtomicU64,
    shortfall: AtomicU64,
    /// One more than frames that were due; 0 where none are due at any time.
    asked: AtomicU64,
    arrived: AtomicBool,
    looked: AtomicU64,
    link_away: AtomicBool,
}

impl Progress {
    /// Frames completed (tx) or received (rx: probes, and others where they were asked for), and their bytes with FCS.
    pub(super) fn set_frames(&self, frames: u64, bytes: u64) {
        self.0.frames.store(frames, Relaxed);
        self.0.bytes.store(bytes, Relaxed);
    }

    /// Frames that the port's carrier dropped.
    pub(super) fn set_drops(&self, drops: u64) {
        self.0.drops.store(drops, Relaxed);
    }

    /// Frames that were due and not sent.
    pub(super) fn set_shortfall(&self, shortfall: u64) {
        self.0.shortfall.store(shortfall, Relaxed);
    }

    /// Frames that were due.
    pub(super) fn set_asked(&self, asked: u64) {
        self.0.asked.store(asked.saturating_add(1), Relaxed);
    }

    /// Anything at all has come out of the port.
    pub(super) fn set_arrived(&self) {
        self.0.arrived.store(true, Relaxed);
    }

    /// The worker has looked at its port.
    pub(super) fn set_looked(&self, now: Nanos) {
        self.0.looked.store(now.0, Relaxed);
    }

    /// Tells the worker whether the link is away: completions that do not come are then no fault of the driver's.
    pub fn tell_link(&self, away: bool) {
        self.0.link_away.store(away, Relaxed);
    }

    /// Whether the link is away.
    pub(super) fn link_away(&self) -> bool {
        self.0.link_away.load(Relaxed)
    }

    /// Whether anything has come out of the port, control frames and rejected ones included.
    #[must_use]
    pub fn arrived(&self) -> bool {
        self.0.arrived.load(Relaxed)
    }

    /// When the worker last looked at its port; up to 10 ms old.
    #[must_use]
    pub fn looked(&self) -> Nanos {
        Nanos(self.0.looked.load(Relaxed))
    }

    /// Frames completed or received so far.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.0.frames.load(Relaxed)
    }

    /// Their bytes with FCS.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Relaxed)
    }

    /// Frames dropped in front of the port so far; up to 10 ms old.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.0.drops.load(Relaxed)
    }

    /// Shortfall so far.
    #[must_use]
    pub fn shortfall(&self) -> u64 {
        self.0.shortfall.load(Relaxed)
    }

    /// Frames that were due so far; None where there is no rate.
    #[must_use]
    pub fn asked(&self) -> Option<u64> {
        self.0.asked.load(Relaxed).checked_sub(1)
    }
}
