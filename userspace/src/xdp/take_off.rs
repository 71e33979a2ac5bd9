//! Takes someone else's program off an interface, where the user asked for it, and never that of a running
//! xsk-gen. Attaches nothing.

use super::hold::{Hold, hold};
use super::holder::{HeldMode, Holder, holder};
use super::refusal::Refusal;
use super::{occupied, quiet};
use crate::finding::Finding;
use crate::sys::bpf_link;
use libbpf_rs::{Program, Xdp, XdpFlags};
use nix::errno::Errno;
use std::os::fd::AsFd;

/// Why one of several links is left alone.
const WHICH: &str =
    "the kernel tells the interface's index for each link, and not the network namespace that it counts in";

/// Who holds the interface of that index, in full: program, mode, link and processes. None when nobody does.
#[must_use]
pub fn occupant(ifindex: u32, iface: &str) -> Option<Finding> {
    let holder = holder(ifindex).ok().flatten()?;
    let hold = hold(ifindex, &holder);
    Some(occupied::occupied(iface, Some(&holder), Some(&hold)))
}

/// Takes the program off that the interface of that index runs, and says so; None when there was none, or
/// another by the time that it was taken: look again.
///
/// # Errors
/// `XdpOccupied` for the program of a running xsk-gen, or one that the kernel does not give up;
/// `CapabilityMissing` without CAP_SYS_ADMIN.
pub fn take_off(ifindex: u32, iface: &str) -> Result<Option<Finding>, Finding> {
    quiet();
    let Some(holder) = holder(ifindex)? else { return Ok(None) };
    let hold = hold(ifindex, &holder);
    if occupied::is_live(&holder, Some(&hold)) {
        return Err(occupied::occupied(iface, Some(&holder), Some(&hold)));
    }
    let taken = match &hold {
        Hold::Link { id, .. } => bpf_link::detach(*id).map_err(|error| Refusal::new(&error)),
        Hold::Interface => detach(ifindex, &holder),
        Hold::Several => return Err(occupied::not_taken_off(iface, &holder, &hold, WHICH)),
        Hold::Unknown(_) if is_another_by_now(ifindex, holder.id) => return Ok(None),
        Hold::Unknown(why) => return Err(occupied::not_allowed(iface, &holder, why)),
    };
    match taken {
        Ok(()) => Ok(Some(occupied::replaced(iface, &holder, &hold, is_loaded(holder.id)))),
        Err(_) if is_another_by_now(ifindex, holder.id) => Ok(None),
        Err(Refusal { errno: Some(Errno::EPERM | Errno::EACCES), .. }) => {
            Err(occupied::not_allowed(iface, &holder, "the kernel refused it"))
        }
        Err(refusal) => Err(occupied::not_taken_off(iface, &holder, &hold, &refusal.reason())),
    }
}

/// Takes off exactly this program, and no other that may have come meanwhile (XDP_FLAGS_REPLACE, which libbpf
/// sets where a program is given).
fn detach(ifindex: u32, holder: &Holder) -> Result<(), Refusal> {
    let flags = match holder.mode {
        HeldMode::Native => XdpFlags::DRV_MODE,
        HeldMode::Generic => XdpFlags::SKB_MODE,
        HeldMode::Offloaded => XdpFlags::HW_MODE,
    };
    let index = i32::try_from(ifindex).map_err(|error| Refusal::new(&error))?;
    let program = Program::fd_from_id(holder.id).map_err(|error| Refusal::new(&error))?;
    Xdp::new(program.as_fd()).detach(index, flags).map_err(|error| Refusal::new(&error))
}

fn is_another_by_now(ifindex: u32, id: u32) -> bool {
    holder(ifindex).is_ok_and(|now| now.is_none_or(|now| now.id != id))
}

fn is_loaded(id: u32) -> bool {
    Program::fd_from_id(id).is_ok()
}
