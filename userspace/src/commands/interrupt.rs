//! Ctrl-C, SIGTERM and SIGHUP as a flag that a run looks at. Knows nothing of what ends.

use crate::sys::termination::raise_on_termination;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Exit code of a process that is interrupted for the second time: 128 + SIGINT, as shells have it.
const SECOND_TIME: i32 = 130;

/// Whether the user wants the run to end. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that SIGINT, SIGTERM and SIGHUP raise. A second one, later than any that were sent together, ends the
    /// process at once.
    ///
    /// # Errors
    /// When a handler cannot be installed.
    pub fn on_signals() -> io::Result<Self> {
        let interrupt = Self::default();
        raise_on_termination(&interrupt.0, SECOND_TIME)?;
        Ok(interrupt)
    }

    /// Whether it was raised.
    #[must_use]
    pub fn raised(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Raises it.
    pub fn raise(&self) {
        self.0.store(true, Relaxed);
    }
}
