//! Ctrl-C and SIGTERM as a flag that a run looks at.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Exit code of a process that is interrupted for the second time: 128 + SIGINT, as shells have it.
const SECOND_TIME: i32 = 130;

/// Whether the user wants the run to end. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that SIGINT, SIGTERM and SIGHUP raise. A second signal ends the process at once.
    ///
    /// # Errors
    /// When a handler cannot be installed.
    pub fn on_signals() -> io::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register_conditional_shutdown(signal, SECOND_TIME, Arc::clone(&interrupt.0))?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))?;
        }
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
