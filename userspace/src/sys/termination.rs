//! Signals that ask the process to end, as a flag. Knows nothing of what is to end.
#![allow(unsafe_code, reason = "a handler of our own, and the disposition that was inherited")]

use super::clock::monotonic;
use crate::units::Nanos;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Signals so close to the first are the same wish: timeout(1) sends its signal to the process and then to the
/// group, and both the kernel and the shell send SIGHUP when a terminal closes.
const ONE_WISH: Nanos = Nanos::from_millis(200);

/// Raises `asked` on SIGINT, SIGTERM or SIGHUP; another one later than 200 ms after the first ends the process at
/// once with `exit_code`. A SIGHUP that was ignored from the start, as nohup(1) has it, stays ignored. No signal is
/// lost between two dispositions: those that come meanwhile wait. Call it before there are other threads.
///
/// # Errors
/// When a handler cannot be installed.
pub fn raise_on_termination(asked: &Arc<AtomicBool>, exit_code: i32) -> io::Result<()> {
    // The registry replaces the kernel's disposition a moment before its handler knows what to call.
    let waiting = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
    let before = waiting.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let installed = install(asked, exit_code);
    before.thread_set_mask()?;
    installed
}

fn install(asked: &Arc<AtomicBool>, exit_code: i32) -> io::Result<()> {
    let first = Arc::new(AtomicU64::new(0));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(signal)? {
            continue;
        }
        let (asked, first) = (Arc::clone(asked), Arc::clone(&first));
        let handler = move || match first.compare_exchange(0, monotonic().0, Relaxed, Relaxed) {
            Ok(_) => asked.store(true, Relaxed),
            Err(since) if monotonic() - Nanos(since) >= ONE_WISH => low_level::exit(exit_code),
            Err(_) => {}
        };
        // SAFETY: the handler does only what signal-safety(7) allows: atomics, clock_gettime and _exit. It neither
        // allocates, locks nor panics.
        unsafe { low_level::register(signal, handler) }?;
    }
    Ok(())
}

/// Whether the process was started with the signal ignored.
fn is_ignored(signal: i32) -> io::Result<bool> {
    let mut current = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action sigaction only writes the current one to the place that it is given.
    if unsafe { libc::sigaction(signal, ptr::null(), current.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: sigaction has filled it.
    Ok(unsafe { current.assume_init() }.sa_sigaction == libc::SIG_IGN)
}
