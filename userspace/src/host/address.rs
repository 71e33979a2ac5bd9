//! IP addresses of interfaces. Knows no route. Source: Documentation/netlink/specs/rt-addr.yaml.

use netlink_bindings::rt_addr::{Ifaddrmsg, Request};
use netlink_socket2::NetlinkSocket;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// RT_SCOPE_UNIVERSE of linux/rtnetlink.h: valid beyond the link and the host.
const GLOBAL: u8 = 0;

/// One address and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The interface.
    pub ifindex: u32,
    /// The interface's own address (not the peer's of a point-to-point link).
    pub ip: IpAddr,
    /// Whether it is valid beyond the link.
    pub global: bool,
}

/// Every address of the calling thread's network namespace.
///
/// # Errors
/// What the kernel said.
pub fn all() -> io::Result<Vec<Address>> {
    let request = Request::new().op_getaddr_dump(&Ifaddrmsg::new());
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    let mut found = Vec::new();
    while let Some((header, attributes)) = reply.recv().transpose().map_err(io::Error::from)? {
        // IPv6 has no IFA_LOCAL unless the link is point-to-point.
        let Ok(ip) = attributes.get_local().or_else(|_| attributes.get_address()) else { continue };
        found.push(Address { ifindex: header.ifa_index, ip, global: header.ifa_scope == GLOBAL });
    }
    Ok(found)
}

/// The first global IPv4 address of the interface.
#[must_use]
pub fn first_ipv4(addresses: &[Address], ifindex: u32) -> Option<Ipv4Addr> {
    globals(addresses, ifindex).find_map(|ip| match ip {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(_) => None,
    })
}

/// The first global IPv6 address of the interface.
#[must_use]
pub fn first_ipv6(addresses: &[Address], ifindex: u32) -> Option<Ipv6Addr> {
    globals(addresses, ifindex).find_map(|ip| match ip {
        IpAddr::V6(ip) => Some(ip),
        IpAddr::V4(_) => None,
    })
}

fn globals(addresses: &[Address], ifindex: u32) -> impl Iterator<Item = IpAddr> {
    addresses.iter().filter(move |a| a.ifindex == ifindex && a.global).map(|a| a.ip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_global_one_of_its_family_and_interface() {
        let address = |ifindex, ip: &str, global| Address { ifindex, ip: ip.parse().unwrap(), global };
        let all = [
            address(1, "127.0.0.1", false),
            address(2, "fe80::1", false),
            address(2, "2001:db8::2", true),
            address(2, "192.0.2.2", true),
            address(2, "192.0.2.3", true),
            address(3, "192.0.2.9", true),
        ];
        assert_eq!(first_ipv4(&all, 2), Some(Ipv4Addr::new(192, 0, 2, 2)));
        assert_eq!(first_ipv6(&all, 2), Some("2001:db8::2".parse().unwrap()));
        assert_eq!((first_ipv4(&all, 1), first_ipv6(&all, 3)), (None, None));
    }
}
