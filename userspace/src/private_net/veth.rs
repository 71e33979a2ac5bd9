//! A veth pair with an end in each of two namespaces. Knows nothing of what is sent over it.
//! Source: Documentation/netlink/specs/rt-link.yaml; for the nested peer, include/uapi/linux/veth.h.

use super::Namespace;
use crate::finding::{Code, Finding, Severity};
use crate::host::InterfaceFacts;
use crate::host::process::{Capability, capability_missing};
use crate::sys::words::words;
use netlink_bindings::rt_link::{IfinfoFlags, Ifinfomsg, PushLinkAttrs, Request};
use netlink_bindings::traits::Pusher;
use netlink_bindings::utils::{finalize_nested_header, push_nested_header};
use netlink_socket2::NetlinkSocket;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// IFLA_INFO_DATA of linux/if_link.h.
const INFO_DATA: u16 = 2;
/// VETH_INFO_PEER of linux/veth.h.
const VETH_INFO_PEER: u16 = 1;
/// IN6_ADDR_GEN_MODE_NONE of linux/if_link.h: no link-local address, so no neighbour discovery of the kernel's own.
const NO_LINK_LOCAL: u8 = 1;
/// Both ends are up at once; a busy machine may need a moment more.
const CARRIER_WITHIN: Duration = Duration::from_secs(2);

/// What both ends of a pair have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Receive queues, and as many transmit queues.
    pub queues: NonZeroU32,
    /// The MTU in bytes; veth takes up to 65,535.
    pub mtu: u32,
}

/// A veth pair: `names[0]` in `a`, `names[1]` in `b`, each of that `shape`, up, with carrier,
/// and without addresses, so that the kernel sends nothing of its own. It goes with either namespace.
///
/// # Errors
/// `capability-missing` without CAP_NET_ADMIN, `kernel-too-old` without veth, `no-carrier` when the link does not come
/// up, `system` for anything else.
pub fn veth_pair(
    a: &Namespace,
    b: &Namespace,
    shape: Shape,
    names: [&str; 2],
) -> Result<[InterfaceFacts; 2], Finding> {
    let [first, second] = names;
    a.run(|| create(names, shape, b.as_fd()).map_err(|error| explain(first, &error)))??;
    for (namespace, name) in [(a, first), (b, second)] {
        namespace.run(|| bring_up(name).map_err(|error| explain(name, &error)))??;
    }
    Ok([a.run(|| with_carrier(first))??, b.run(|| with_carrier(second))??])
}

/// One request makes both ends: the peer is created where it belongs, so its name cannot collide here.
fn create([name, peer]: [&str; 2], shape: Shape, other: BorrowedFd<'_>) -> io::Result<()> {
    let mut request = Request::new().set_create().set_excl().op_newlink_do(&Ifinfomsg::new());
    let mut info = end(request.encode(), name, shape).nested_linkinfo().push_kind(c"veth");
    let buf = info.as_vec_mut();
    let data = push_nested_header(buf, INFO_DATA);
    let nested = push_nested_header(buf, VETH_INFO_PEER);
    buf.extend(Ifinfomsg::new().as_slice());
    end(PushLinkAttrs::new(&mut *buf), peer, shape).push_net_ns_fd(descriptor(other)?);
    finalize_nested_header(buf, nested);
    finalize_nested_header(buf, data);
    info.end_nested();
    NetlinkSocket::new().request(&request)?.recv_ack().map_err(io::Error::from)
}

fn end<P: Pusher>(attributes: PushLinkAttrs<P>, name: &str, shape: Shape) -> PushLinkAttrs<P> {
    attributes
        .push_ifname_bytes(name.as_bytes())
        .push_mtu(shape.mtu)
        .push_num_tx_queues(shape.queues.get())
        .push_num_rx_queues(shape.queues.get())
}

fn descriptor(fd: BorrowedFd<'_>) -> io::Result<u32> {
    u32::try_from(fd.as_raw_fd()).map_err(io::Error::other)
}

fn bring_up(name: &str) -> io::Result<()> {
    let mut quiet = Request::new().op_setlink_do(&Ifinfomsg::new());
    let inet6 = quiet.encode().push_ifname_bytes(name.as_bytes()).nested_af_spec().nested_inet6();
    inet6.push_addr_gen_mode(NO_LINK_LOCAL).end_nested().end_nested();
    let mut socket = NetlinkSocket::new();
    // Refused by a kernel without IPv6, which is as quiet.
    let _ = socket.request(&quiet)?.recv_ack();
    let up = IfinfoFlags::Up as u32;
    let header = Ifinfomsg { ifi_flags: up, ifi_change: up, ..Ifinfomsg::new() };
    let mut request = Request::new().op_setlink_do(&header);
    request.encode().push_ifname_bytes(name.as_bytes());
    socket.request(&request)?.recv_ack().map_err(io::Error::from)
}

fn with_carrier(name: &str) -> Result<InterfaceFacts, Finding> {
    let deadline = Instant::now() + CARRIER_WITHIN;
    loop {
        let facts = InterfaceFacts::read(name)?;
        if facts.carrier {
            return Ok(facts);
        }
        if Instant::now() >= deadline {
            return Err(Finding::new(
                Code::NoCarrier,
                Severity::Fail,
                name,
                "the private link does not come up",
            )
            .why("both ends of a veth pair are up, yet the kernel reports no carrier")
            .remedy("run it again; a machine under heavy load may need longer"));
        }
        sleep(Duration::from_millis(1));
    }
}

fn explain(name: &str, error: &io::Error) -> Finding {
    match error.raw_os_error() {
        Some(libc::EPERM) => capability_missing(Capability::CAP_NET_ADMIN, "it makes a private link")
            .remedy("run it with sudo; in a container, one that was started with --privileged"),
        Some(libc::EOPNOTSUPP) => {
            Finding::new(Code::KernelTooOld, Severity::Fail, name, "the kernel has no veth")
                .why("a private link is a veth pair, and neither the kernel nor a module of it has that")
                .remedy("modprobe veth, or use a real interface: tx --iface IF")
        }
        _ => {
            let what = format!("the private link cannot be had: {}", words(error));
            Finding::new(Code::System, Severity::Fail, name, what)
                .remedy("ask for fewer queues, or use a real interface")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_own_code() {
        let of = |errno| explain("xg0", &io::Error::from_raw_os_error(errno)).code;
        assert_eq!(of(libc::EPERM), Code::CapabilityMissing);
        assert_eq!(of(libc::EOPNOTSUPP), Code::KernelTooOld);
        assert_eq!(of(libc::EEXIST), Code::System);
    }
}
