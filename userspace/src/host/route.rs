//! Which interfaces a default route leaves by, and which gateway a route leads to. Knows no neighbour. Source: Documentation/netlink/specs/rt-route.yaml.

use netlink_bindings::rt_route::{IterableRouteAttrs, Request, Rtmsg};
use netlink_socket2::NetlinkSocket;
use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;

/// RTN_UNICAST of linux/rtnetlink.h: a route that leads somewhere, unlike IPv6's unreachable default.
const UNICAST: u8 = 1;
/// What the kernel says where it has no route, or one that forbids: unreachable, prohibit and blackhole.
const NO_ROUTE: [i32; 5] = [libc::ENETUNREACH, libc::EHOSTUNREACH, libc::EACCES, libc::EINVAL, libc::ESRCH];

/// Indices of the interfaces that a default route of either family leaves by, in any table: with policy routing the
/// one that matters need not be in the main table.
pub(super) fn default_route_interfaces() -> io::Result<BTreeSet<u32>> {
    let mut found = BTreeSet::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let header = Rtmsg { rtm_family: family as u8, ..Rtmsg::new() };
        let request = Request::new().op_getroute_dump(&header);
        let mut socket = NetlinkSocket::new();
        let mut reply = socket.request(&request)?;
        while let Some((route, attributes)) = reply.recv().transpose().map_err(io::Error::from)? {
            if route.rtm_dst_len == 0 && route.rtm_type == UNICAST {
                found.extend(leaves_by(&attributes));
            }
        }
    }
    Ok(found)
}

/// The gateway of the kernel's route to `ip` out of the interface; None without one, and without such a route.
pub(super) fn gateway(ifindex: u32, ip: IpAddr) -> io::Result<Option<IpAddr>> {
    let (family, bits) = if ip.is_ipv4() { (libc::AF_INET, 32) } else { (libc::AF_INET6, 128) };
    let header = Rtmsg { rtm_family: family as u8, rtm_dst_len: bits, ..Rtmsg::new() };
    let mut request = Request::new().op_getroute_do(&header);
    request.encode().push_dst(ip).push_oif(ifindex);
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    match reply.recv_one() {
        Ok((route, attributes)) => {
            // A route of this host's own (loopback) leads to no gateway, whatever it is called.
            let leads_out = route.rtm_type == UNICAST && leaves_by(&attributes).contains(&ifindex);
            Ok(attributes.get_gateway().ok().filter(|_| leads_out))
        }
        Err(error) => {
            let error = io::Error::from(error);
            if error.raw_os_error().is_some_and(|errno| NO_ROUTE.contains(&errno)) {
                Ok(None)
            } else {
                Err(error)
            }
        }
    }
}

fn leaves_by(route: &IterableRouteAttrs<'_>) -> Vec<u32> {
    let mut found: Vec<u32> = route.get_oif().into_iter().collect();
    found.extend(next_hops(route.get_multipath().unwrap_or_default()));
    found
}

/// Interfaces of a multipath route: a row of `struct rtnexthop { u16 len; u8 flags; u8 hops; i32 ifindex; }`, each
/// followed by attributes up to `len`, rounded up to four bytes.
fn next_hops(mut rows: &[u8]) -> Vec<u32> {
    let mut found = Vec::new();
    while let Some((row, _)) = rows.split_first_chunk::<8>() {
        let [a, b, _, _, index @ ..] = *row;
        let length = usize::from(u16::from_ne_bytes([a, b])).next_multiple_of(4);
        found.extend(u32::try_from(i32::from_ne_bytes(index)).ok());
        // A length below the header's would never end.
        rows = rows.get(length.max(row.len())..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(ifindex: i32, attributes: &[u8]) -> Vec<u8> {
        let length = u16::try_from(8 + attributes.len()).unwrap();
        let mut row = [&length.to_ne_bytes()[..], &[0, 0], &ifindex.to_ne_bytes(), attributes].concat();
        row.resize(row.len().next_multiple_of(4), 0);
        row
    }

    #[test]
    fn every_hop_of_a_multipath_route_counts() {
        let rows = [row(3, &[1; 8]), row(7, &[]), row(9, &[1; 5])].concat();
        assert_eq!(next_hops(&rows), [3, 7, 9]);
        assert_eq!(next_hops(&[]), [0; 0]);
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end(rows in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(next_hops(&rows).len() <= rows.len() / 8);
        }
    }
}
