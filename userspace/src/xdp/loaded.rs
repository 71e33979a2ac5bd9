//! One of our programs in the kernel, and the link that holds it on an interface. Knows no counter and no socket.

use super::refusal::Refusal;
use super::trouble::{self, Seen, Target};
use super::{AttachMode, holder, quiet};
use crate::finding::Finding;
use crate::sys::mtu::mtu;
use aya::programs::links::FdLink;
use aya::programs::xdp::XdpLink;
use aya::programs::{Xdp, XdpMode};
use aya::util::KernelVersion;
use aya::{Ebpf, EbpfLoader};
use libbpf_rs::XdpFlags;
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;
use xdp_prog::{CONFIG_GLOBAL, COUNTERS_MAP, Config, SHAPES_GLOBAL, SOCKETS_MAP, Shape, shapes_to_bytes};

/// How often an attach is tried that something stood in the way of which is gone when one looks who it is.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// A loaded program. Dropping it takes it off the interface, and so does the end of the process, however it comes:
/// the link is a file descriptor (kernel: BPF_LINK_CREATE, BPF_LINK_TYPE_XDP).
#[derive(Debug)]
pub(super) struct Loaded {
    // Before the object: the program leaves the interface first, its maps go after it.
    link: Option<FdLink>,
    pub(super) ebpf: Ebpf,
    name: &'static str,
}

impl Loaded {
    /// Loads the program of that name, with maps for `queues` receive queues.
    pub(super) fn load(
        name: &'static str,
        config: Config,
        shapes: &[Shape],
        queues: u32,
    ) -> Result<Self, Finding> {
        quiet();
        let failed = |refusal: &Refusal| trouble::load(name, refusal, KernelVersion::current().ok());
        // The kernel takes no map without entries.
        let entries = queues.max(1);
        let ebpf = EbpfLoader::new()
            .override_global(CONFIG_GLOBAL, &config.to_bytes(), true)
            .override_global(SHAPES_GLOBAL, shapes_to_bytes(shapes).as_slice(), true)
            .map_max_entries(SOCKETS_MAP, entries)
            .map_max_entries(COUNTERS_MAP, entries)
            .load(xdp_prog::object())
            .map_err(|error| failed(&Refusal::new(&error)))?;
        let mut loaded = Self { link: None, ebpf, name };
        loaded.xdp()?.load().map_err(|error| failed(&Refusal::of_program(&error)))?;
        Ok(loaded)
    }

    fn xdp(&mut self) -> Result<&mut Xdp, Finding> {
        let program = self.ebpf.program_mut(self.name).and_then(|program| program.try_into().ok());
        program.ok_or_else(|| trouble::not_in_object(self.name))
    }

    /// Attaches it, through a link or not at all.
    pub(super) fn attach(&mut self, target: Target<'_>) -> Result<(), Finding> {
        let link = persistently(target, || self.create_link(target))?
            .map_err(|(refusal, seen)| trouble::attach(target, &refusal, &seen))?;
        // Where the kernel answers a link with "invalid", aya attaches by netlink instead, which would outlive us.
        match FdLink::try_from(link) {
            Ok(link) => self.link = Some(link),
            Err(_) => {
                self.take_off(target)?;
                return Err(trouble::no_link(target));
            }
        }
        Ok(())
    }

    fn create_link(&mut self, target: Target<'_>) -> Result<Result<XdpLink, Refusal>, Finding> {
        let mode = match target.mode {
            AttachMode::Native => XdpMode::Driver,
            AttachMode::Generic => XdpMode::Skb,
        };
        let xdp = self.xdp()?;
        let attached = xdp.attach_to_if_index(target.ifindex, mode).and_then(|id| xdp.take_link(id));
        Ok(attached.map_err(|error| Refusal::of_program(&error)))
    }

    /// Takes the program off the interface; does nothing when it is on none.
    pub(super) fn detach(&mut self) {
        self.link = None;
    }

    /// Undoes an attachment that is not a link.
    fn take_off(&mut self, target: Target<'_>) -> Result<(), Finding> {
        let flags = match target.mode {
            AttachMode::Native => XdpFlags::DRV_MODE,
            AttachMode::Generic => XdpFlags::SKB_MODE,
        };
        let failed = |refusal: Refusal| {
            let what =
                format!("the XDP program could not be taken off: `ip link set dev {} xdp off`", target.iface);
            trouble::map(target.iface, &what, &refusal)
        };
        let index = i32::try_from(target.ifindex).map_err(|error| failed(Refusal::new(&error)))?;
        let fd = self.xdp()?.fd().map_err(|error| failed(Refusal::of_program(&error)))?;
        let detached = libbpf_rs::Xdp::new(fd.as_fd()).detach(index, flags);
        detached.map_err(|error| failed(Refusal::new(&error)))
    }
}

/// Attaches by `create`, and tries again while what stood in its way is gone when one looks who it is.
pub(super) fn persistently<T>(
    target: Target<'_>,
    mut create: impl FnMut() -> Result<Result<T, Refusal>, Finding>,
) -> Result<Result<T, (Refusal, Seen)>, Finding> {
    let mut tries = 1;
    loop {
        let refusal = match create()? {
            Ok(created) => return Ok(Ok(created)),
            Err(refusal) => refusal,
        };
        let seen = look(target);
        let went = seen.holder.is_none() && refusal.is_held();
        if !went || tries == TRIES {
            return Ok(Err((refusal, seen)));
        }
        tries += 1;
        thread::sleep(PAUSE);
    }
}

/// What may explain a refusal.
fn look(target: Target<'_>) -> Seen {
    Seen { holder: holder(target.ifindex).ok().flatten(), mtu: mtu(target.iface).ok() }
}
