//! Who holds an interface: the XDP program attached to it now. Asks the kernel, changes nothing.

use super::quiet;
use super::refusal::Refusal;
use super::trouble;
use crate::finding::Finding;
use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{Xdp, XdpFlags};
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::os::fd::AsFd;

/// Where a program that is attached runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeldMode {
    /// In the driver.
    Native,
    /// In the stack.
    Generic,
    /// In the NIC.
    Offloaded,
}

/// The XDP program that an interface runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The kernel's number for it, as `bpftool prog` shows it.
    pub id: u32,
    /// Its name, at most 15 characters; None where the process may not see it (that takes CAP_SYS_ADMIN).
    pub name: Option<String>,
    /// Where it runs.
    pub mode: HeldMode,
}

impl Holder {
    /// Whether it is a program of xsk-gen, of this process or another.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        [xdp_prog::RX_PROGRAM, xdp_prog::PASS_PROGRAM].iter().any(|ours| self.name.as_deref() == Some(ours))
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("name not visible");
        write!(f, "XDP program {} ({name})", self.id)
    }
}

impl fmt::Display for HeldMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "in native mode",
            Self::Generic => "in generic mode",
            Self::Offloaded => "offloaded to the NIC",
        })
    }
}

/// The XDP program attached to the interface of that index in the calling thread's network namespace, or None.
///
/// # Errors
/// `InterfaceUnknown`, or `System` when the kernel does not answer.
pub fn holder(ifindex: u32) -> Result<Option<Holder>, Finding> {
    quiet();
    let failed = |error: &(dyn Error + 'static)| trouble::query(ifindex, &Refusal::new(error));
    // A query needs no program, but the type wants a descriptor; any will do.
    let any = File::open("/dev/null").map_err(|error| failed(&error))?;
    let index = i32::try_from(ifindex).map_err(|error| failed(&error))?;
    let said = Xdp::new(any.as_fd()).query(index, XdpFlags::NONE).map_err(|error| failed(&error))?;
    let held = [
        (said.drv_prog_id, HeldMode::Native),
        (said.skb_prog_id, HeldMode::Generic),
        (said.hw_prog_id, HeldMode::Offloaded),
    ];
    let first = held.into_iter().find(|(id, _)| *id != 0);
    Ok(first.map(|(id, mode)| Holder { id, name: name_of(id), mode }))
}

fn name_of(id: u32) -> Option<String> {
    let info = ProgInfoIter::default().find(|program| program.id == id)?;
    info.name.into_string().ok().filter(|name| !name.is_empty())
}
