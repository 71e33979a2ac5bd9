//! A worker's hand on a recording: copies frames into slabs and never waits. What finds no slab is counted and left out.

use super::slab::Slab;
use crate::units::Nanos;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

/// What the workers and the writer of one recording share.
#[derive(Debug)]
pub(super) struct Shared {
    free: Mutex<Vec<Slab>>,
    /// Frames that found no slab.
    pub missed: AtomicU64,
    /// Set when no more is written: enough was, or it failed.
    pub over: AtomicBool,
}

impl Shared {
    pub fn new(slabs: usize) -> Self {
        let free = (0..slabs).map(|_| Slab::new()).collect();
        Self { free: Mutex::new(free), missed: AtomicU64::new(0), over: AtomicBool::new(false) }
    }

    /// Takes an empty slab. The lock is held for the length of a pop, once in thousands of frames.
    fn take(&self) -> Option<Slab> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Gives one back.
    pub fn give(&self, mut slab: Slab) {
        slab.clear();
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(slab);
    }
}

/// One worker's tap.
#[derive(Debug)]
pub struct Tap {
    slab: Option<Slab>,
    full: SyncSender<Slab>,
    shared: Arc<Shared>,
    snap: usize,
    all: bool,
}

impl Tap {
    pub(super) const fn new(full: SyncSender<Slab>, shared: Arc<Shared>, snap: usize, all: bool) -> Self {
        Self { slab: None, full, shared, snap, all }
    }

    /// Whether it wants every frame, and not only those that count.
    #[must_use]
    pub const fn wants_all(&self) -> bool {
        self.all
    }

    /// Keeps a frame of `wire_len` bytes that arrived at `now`.
    #[inline]
    pub fn keep(&mut self, bytes: &[u8], wire_len: usize, now: Nanos) {
        if self.shared.over.load(Relaxed) {
            return;
        }
        let kept = bytes.get(..self.snap).unwrap_or(bytes);
        let wire_len = u32::try_from(wire_len).unwrap_or(u32::MAX);
        if self.push(kept, wire_len, now) {
            return;
        }
        self.flush();
        self.slab = self.shared.take();
        if !self.push(kept, wire_len, now) {
            self.shared.missed.fetch_add(1, Relaxed);
        }
    }

    fn push(&mut self, kept: &[u8], wire_len: u32, now: Nanos) -> bool {
        self.slab.as_mut().is_some_and(|slab| slab.push(kept, 0, wire_len, now))
    }

    /// Hands over what there is, however little.
    pub fn flush(&mut self) {
        let Some(slab) = self.slab.take() else { return };
        if slab.is_empty() {
            self.slab = Some(slab);
        } else if let Err(refused) = self.full.try_send(slab) {
            // There are no more slabs than places, so the writer is gone.
            let (std::sync::mpsc::TrySendError::Full(slab)
            | std::sync::mpsc::TrySendError::Disconnected(slab)) = refused;
            self.shared.missed.fetch_add(slab.len() as u64, Relaxed);
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.flush();
        if let Some(slab) = self.slab.take() {
            self.shared.give(slab);
        }
    }
}
