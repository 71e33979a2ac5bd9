//! Patience while an interface is still held: by a process that has just been killed and is not quite gone.

use crate::finding::{Code, Finding};
use std::thread;
use std::time::{Duration, Instant};

/// How long an attach is tried again. The kernel takes a killed process's program off when its memory is torn down,
/// which took up to a tenth of a second for packet memory of 32 MiB.
const PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(20);

/// Attaches, and tries again for a moment while another program holds the interface.
///
/// # Errors
/// What the last try said.
pub fn patiently(mut attach: impl FnMut() -> Result<(), Finding>) -> Result<(), Finding> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attach() {
            Err(finding) if finding.code == Code::XdpOccupied && Instant::now() < deadline => {
                thread::sleep(PAUSE)
            }
            result => return result,
        }
    }
}
