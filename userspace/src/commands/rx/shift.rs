//! The workers of a sink under way: started over its sockets, and ended with their books. Knows no run and no
//! Report.

use crate::commands::{placement, privileges};
use crate::engine::{self, Outcome, Progress, Running, Worker};
use crate::sys::tsc;
use crate::units::Nanos;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How long frames that are still in the rings are taken in at the end.
const DRAIN: Nanos = Nanos::from_millis(200);

/// Workers and what they show of themselves.
pub struct Shift {
    running: Running,
    stop: Arc<AtomicBool>,
    /// The figures of each.
    pub progress: Vec<Arc<Progress>>,
}

impl Shift {
    /// Starts workers, each with its core.
    ///
    /// # Errors
    /// When a thread cannot be made.
    pub fn start(workers: Vec<(u32, Box<dyn Worker>)>, progress: Vec<Arc<Progress>>) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let running = engine::start(
            placement::crews(workers),
            tsc::Source::here().reader(),
            Arc::clone(&stop),
            DRAIN,
            privileges::none,
        )?;
        Ok(Self { running, stop, progress })
    }

    /// Whether there were workers and all of them have ended by themselves.
    pub fn gone(&self) -> bool {
        !self.progress.is_empty() && self.running.finished()
    }

    /// Stops them, takes in what has arrived and closes their sockets; None stands for one that panicked.
    pub fn end(self) -> Option<Vec<Outcome>> {
        self.stop.store(true, Relaxed);
        self.running.join()
    }
}
