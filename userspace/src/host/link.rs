//! RTM_GETLINK: what the kernel itself says of each interface. Knows no driver and no sysfs.
//! Source: Documentation/netlink/specs/rt-link.yaml.

use macaddr::MacAddr6;
use netlink_bindings::rt_link::{
    IfinfoFlags, Ifinfomsg, IterableLinkAttrs, LinkinfoDataMsg, Request, RtnlLinkStats64,
};
use netlink_socket2::NetlinkSocket;
use std::ffi::CStr;
use std::io;

/// ARPHRD_ETHER of linux/if_arp.h: the only hardware type whose frames we build.
const ARPHRD_ETHER: u16 = 1;
/// Longest name that fits IFLA_IFNAME; longer ones are alternative names.
const LONGEST_NAME: usize = 15;

/// How to name an interface.
#[derive(Debug, Clone, Copy)]
pub(super) enum By<'a> {
    Name(&'a str),
    Index(u32),
}

/// One interface as rtnetlink gives it.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub name: String,
    pub ifindex: u32,
    pub altnames: Vec<String>,
    pub mac: Option<MacAddr6>,
    pub mtu: u32,
    pub min_mtu: Option<u32>,
    pub max_mtu: Option<u32>,
    pub up: bool,
    pub carrier: bool,
    pub carrier_losses: Option<u32>,
    pub loopback: bool,
    pub kind: Option<String>,
    pub vlan: Option<u16>,
    pub lower: Option<u32>,
    pub lower_netns: Option<i32>,
    pub master: Option<u32>,
    pub parent: Option<String>,
    pub rx_queues: u32,
    pub tx_queues: u32,
    pub xdp_program: Option<u32>,
    pub stats: Option<RtnlLinkStats64>,
}

/// The interface that is called so; alternative names count. None when there is none.
pub(super) fn get(by: By<'_>) -> io::Result<Option<Link>> {
    let header = match by {
        By::Index(index) => {
            let Ok(index) = i32::try_from(index) else { return Ok(None) };
            Ifinfomsg { ifi_index: index, ..Ifinfomsg::new() }
        }
        By::Name(_) => Ifinfomsg::new(),
    };
    let mut request = Request::new().op_getlink_do(&header);
    match by {
        By::Name(name) if name.is_empty() || name.contains('\0') => return Ok(None),
        By::Name(name) if name.len() <= LONGEST_NAME => {
            request.encode().push_ifname_bytes(name.as_bytes());
        }
        By::Name(name) => {
            request.encode().push_alt_ifname_bytes(name.as_bytes());
        }
        By::Index(_) => {}
    }
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    let outcome = match reply.recv_one() {
        Ok((header, attributes)) => Ok(Some(Link::from_message(&header, &attributes))),
        Err(error) => Err(io::Error::from(error)),
    };
    outcome.or_else(|error| match error.raw_os_error() {
        // ERANGE: longer than any name can be.
        Some(libc::ENODEV | libc::ERANGE) => Ok(None),
        _ => Err(error),
    })
}

/// Every interface of the namespace, by index.
pub(super) fn all() -> io::Result<Vec<Link>> {
    let request = Request::new().op_getlink_dump(&Ifinfomsg::new());
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    let mut links = Vec::new();
    while let Some((header, attributes)) = reply.recv().transpose()? {
        links.push(Link::from_message(&header, &attributes));
    }
    links.sort_by_key(|link| link.ifindex);
    Ok(links)
}

impl Link {
    fn from_message(header: &Ifinfomsg, attributes: &IterableLinkAttrs<'_>) -> Self {
        let flag = |flag: IfinfoFlags| header.ifi_flags & flag as u32 != 0;
        // Both limits are 0 for a device that sets none.
        let limit = |mtu: u32| (mtu != 0).then_some(mtu);
        Self {
            name: attributes.get_ifname().map(text).unwrap_or_default(),
            ifindex: u32::try_from(header.ifi_index).unwrap_or(0),
            altnames: alternative_names(attributes),
            mac: mac(header.ifi_type, attributes.get_address().unwrap_or_default()),
            mtu: attributes.get_mtu().unwrap_or(0),
            min_mtu: attributes.get_min_mtu().ok().and_then(limit),
            max_mtu: attributes.get_max_mtu().ok().and_then(limit),
            up: flag(IfinfoFlags::Up),
            // Not IFLA_CARRIER, which a device that was never opened may claim too.
            carrier: flag(IfinfoFlags::LowerUp),
            carrier_losses: attributes.get_carrier_down_count().ok(),
            loopback: flag(IfinfoFlags::Loopback),
            kind: attributes.get_linkinfo().ok().and_then(|info| info.get_kind().ok().map(text)),
            vlan: attributes.get_linkinfo().ok().and_then(|info| vlan_id(info.get_data().ok()?)),
            lower: attributes.get_link().ok().filter(|index| *index != 0),
            lower_netns: attributes.get_link_netnsid().ok(),
            master: attributes.get_master().ok().filter(|index| *index != 0),
            parent: attributes.get_parent_dev_name().ok().map(text),
            rx_queues: attributes.get_num_rx_queues().unwrap_or(1),
            tx_queues: attributes.get_num_tx_queues().unwrap_or(1),
            xdp_program: xdp_program(attributes),
            stats: attributes.get_stats64().ok(),
        }
    }
}

fn text(text: &CStr) -> String {
    text.to_string_lossy().into_owned()
}

/// The id of a VLAN interface; None for any other kind.
fn vlan_id(data: LinkinfoDataMsg<'_>) -> Option<u16> {
    match data {
        LinkinfoDataMsg::Vlan(vlan) => vlan.get_id().ok(),
        _ => None,
    }
}

fn alternative_names(attributes: &IterableLinkAttrs<'_>) -> Vec<String> {
    attributes.get_prop_list().map(|list| list.get_alt_ifname().map(text).collect()).unwrap_or_default()
}

/// The MAC; None for what is not Ethernet.
fn mac(hardware_type: u16, address: &[u8]) -> Option<MacAddr6> {
    let bytes = <[u8; 6]>::try_from(address).ok()?;
    (hardware_type == ARPHRD_ETHER).then(|| MacAddr6::from(bytes))
}

/// Any attached program: with several modes in use the kernel leaves the plain id out.
fn xdp_program(attributes: &IterableLinkAttrs<'_>) -> Option<u32> {
    let xdp = attributes.get_xdp().ok()?;
    let ids = [xdp.get_prog_id(), xdp.get_drv_prog_id(), xdp.get_skb_prog_id(), xdp.get_hw_prog_id()];
    ids.into_iter().flatten().find(|id| *id != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ethernet_has_a_mac() {
        assert_eq!(mac(1, &[2, 0, 0, 0, 0, 1]), Some(MacAddr6::new(2, 0, 0, 0, 0, 1)));
        assert_eq!(mac(772, &[0; 6]), None);
        assert_eq!(mac(1, &[1, 2, 3, 4]), None);
    }

    #[test]
    fn loopback_is_known_without_any_privilege() {
        let by_name = get(By::Name("lo")).unwrap().unwrap();
        let by_index = get(By::Index(by_name.ifindex)).unwrap().unwrap();
        assert!(by_name.loopback && by_index.name == "lo");
        assert!(all().unwrap().iter().any(|link| link.ifindex == by_name.ifindex));
    }

    #[test]
    fn names_that_cannot_exist_are_absent() {
        for name in ["", "no-such-if", "a\0b", &"x".repeat(40), &"x".repeat(300)] {
            assert!(get(By::Name(name)).unwrap().is_none(), "{name:?}");
        }
        assert!(get(By::Index(u32::MAX)).unwrap().is_none());
    }
}
