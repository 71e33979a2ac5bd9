//! One attach: patience while an interface is still held by a process that has just been killed and is not
//! quite gone, and what becomes of someone else's program where the user wants it replaced.

use super::{Interrupt, tell};
use crate::finding::{Code, Finding};
use crate::host::InterfaceFacts;
use crate::xdp::{holder, occupant, take_off};
use std::thread;
use std::time::{Duration, Instant};

/// How long an attach is tried again. The kernel takes a killed process's program off when its memory is torn
/// down, which took up to a tenth of a second for packet memory of 32 MiB; more, where the machine is busy.
const PATIENCE: Duration = Duration::from_millis(500);
/// The same while the program is one of xsk-gen, which is the one that a killed run leaves for a moment.
const PATIENCE_WITH_OURS: Duration = Duration::from_millis(1500);
const PAUSE: Duration = Duration::from_millis(20);
/// Programs that are taken off in a row: one that comes back each time belongs to something that watches over
/// it.
const MOST_REPLACED: usize = 3;

/// Where a program is to be attached.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    ifindex: u32,
    iface: &'a str,
    replace: bool,
    interrupt: &'a Interrupt,
}

impl<'a> Place<'a> {
    /// The interface; with `replace`, another program is taken off it. `interrupt` ends the patience.
    pub fn new(facts: &'a InterfaceFacts, replace: bool, interrupt: &'a Interrupt) -> Self {
        Self { ifindex: facts.ifindex, iface: &facts.name, replace, interrupt }
    }

    /// Whether it has been waited for long enough.
    fn is_late(self, waited: Duration) -> bool {
        let over = waited >= PATIENCE && (waited >= PATIENCE_WITH_OURS || !self.is_held_by_ours());
        over || self.interrupt.raised()
    }

    /// Whether the program that holds the interface may be a killed run's.
    fn is_held_by_ours(self) -> bool {
        holder(self.ifindex).is_ok_and(|now| now.is_none_or(|holder| holder.is_ours()))
    }

    /// Takes the program off that holds the interface, if that is wanted. What was taken off is told at once,
    /// whatever becomes of the run, and noted in `replaced` for the Report.
    fn clear(self, replaced: &mut Vec<Finding>) -> Result<(), Finding> {
        if !self.replace || replaced.len() >= MOST_REPLACED {
            return Ok(());
        }
        if let Some(taken) = take_off(self.ifindex, self.iface)? {
            tell(std::slice::from_ref(&taken));
            replaced.push(taken);
        }
        Ok(())
    }
}

/// Attaches, and tries again for a moment while another program holds the interface.
///
/// # Errors
/// What the last try said; of an interface that is held, by whom and how.
pub fn patiently(
    place: Place<'_>,
    replaced: &mut Vec<Finding>,
    mut attach: impl FnMut() -> Result<(), Finding>,
) -> Result<(), Finding> {
    let begun = Instant::now();
    loop {
        let before = replaced.len();
        let refused = match attach() {
            Err(finding) if finding.code == Code::XdpOccupied => {
                place.clear(replaced).err().unwrap_or(finding)
            }
            result => return result,
        };
        if refused.code != Code::XdpOccupied {
            return Err(refused);
        }
        if place.is_late(begun.elapsed()) {
            return Err(occupant(place.ifindex, place.iface).unwrap_or(refused));
        }
        if replaced.len() == before {
            thread::sleep(PAUSE);
        }
    }
}
