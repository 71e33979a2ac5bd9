//! Where the kernel itself would send a packet for an address: its next hop, and the MAC that it knows. Asks nobody on
//! the link. Source: Documentation/netlink/specs/rt-route.yaml and rt-neigh.yaml.

use super::refused::refused;
use super::{InterfaceFacts, route};
use crate::finding::Finding;
use macaddr::MacAddr6;
use netlink_bindings::rt_neigh::{Ndmsg, NudState, Request};
use netlink_socket2::NetlinkSocket;
use std::io;
use std::net::IpAddr;

/// States of an entry whose MAC is, or lately was, the neighbour's (include/uapi/linux/neighbour.h).
const USABLE: u16 = NudState::Reachable as u16
    | NudState::Stale as u16
    | NudState::Delay as u16
    | NudState::Probe as u16
    | NudState::Permanent as u16;

/// The gateway that the kernel sends to for `ip` out of this interface; None where `ip` is on the link, or where
/// the kernel has no route to it there.
///
/// # Errors
/// `system` when the kernel refuses the question.
pub fn gateway(facts: &InterfaceFacts, ip: IpAddr) -> Result<Option<IpAddr>, Finding> {
    route::gateway(facts.ifindex, ip).map_err(|e| refused(&facts.name, "say by which route it sends", &e))
}

/// The MAC that the kernel's neighbour table has for `ip` on this interface; None where it has none that it would
/// use.
///
/// # Errors
/// `system` when the kernel refuses the question.
pub fn known(facts: &InterfaceFacts, ip: IpAddr) -> Result<Option<MacAddr6>, Finding> {
    read(facts.ifindex, ip).map_err(|e| refused(&facts.name, "show its neighbour table", &e))
}

fn read(ifindex: u32, ip: IpAddr) -> io::Result<Option<MacAddr6>> {
    let Ok(index) = i32::try_from(ifindex) else { return Ok(None) };
    let family = if ip.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let header = Ndmsg { ndm_family: family as u8, ..Ndmsg::new() };
    // The whole table: a question for one entry is not taken before Linux 5.0, and has an error for "none".
    let request = Request::new().op_getneigh_dump(&header);
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    let mut found = None;
    while let Some((entry, attributes)) = reply.recv().transpose().map_err(io::Error::from)? {
        if entry.ndm_ifindex == index && attributes.get_dst().is_ok_and(|dst| dst == ip) {
            found = mac(entry.ndm_state, attributes.get_lladdr().unwrap_or_default());
        }
    }
    Ok(found)
}

/// The MAC of an entry that counts.
fn mac(state: u16, address: &[u8]) -> Option<MacAddr6> {
    let bytes = <[u8; 6]>::try_from(address).ok()?;
    (state & USABLE != 0).then(|| MacAddr6::from(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_states_with_a_known_mac_count() {
        let bytes = [2, 0, 0, 0, 0, 1];
        for (state, counts) in [
            (NudState::Incomplete, false),
            (NudState::Reachable, true),
            (NudState::Stale, true),
            (NudState::Delay, true),
            (NudState::Probe, true),
            (NudState::Failed, false),
            (NudState::Noarp, false),
            (NudState::Permanent, true),
        ] {
            assert_eq!(mac(state as u16, &bytes).is_some(), counts, "{state:?}");
        }
        assert_eq!(mac(NudState::Reachable as u16, &bytes[..4]), None);
    }
}
