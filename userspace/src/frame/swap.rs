//! Turning a frame round in place: what it came from is where it goes. Sums over addresses and ports do not depend on
//! their order, so that every checksum stays as it is.

use super::headers::behind_tags;
use super::wire::{ether_type, ethernet, get, get_u16, ipv4, ipv6, udp};
use macaddr::MacAddr6;

/// The number of TCP in the IP header (RFC 9293); its ports lie where UDP's do.
const TCP: u8 = 6;

/// Exchanges MACs, and behind VLAN tags the addresses of IPv4 and IPv6 and the ports of UDP and TCP. Of tunnels these are
/// the outer ones; behind anything else the MACs alone are exchanged. No frame may come from a group, so that one
/// which went to one leaves from `own`.
#[inline]
pub fn swap(frame: &mut [u8], own: MacAddr6) {
    const GROUP: u8 = 1;
    let Some((to, _)) = frame.split_first().map(|(first, rest)| (*first, rest)) else { return };
    let exchanged = exchanges(frame);
    exchanged.into_iter().for_each(|(at, len)| exchange(frame, at, len));
    if to & GROUP != 0
        && let Some(source) = frame.get_mut(ethernet::SOURCE..ethernet::ETHER_TYPE)
    {
        source.copy_from_slice(own.as_bytes());
    }
}

/// Where a half-word at `at` is in a frame with such headers once they are exchanged; None where its bytes part.
#[must_use]
pub fn moved(header: &[u8], at: usize) -> Option<usize> {
    for (from, len) in exchanges(header) {
        let (middle, end) = (from + len, from + 2 * len);
        match at {
            _ if at + 1 < from || at >= end => {}
            _ if from <= at && at + 1 < middle => return Some(at + len),
            _ if middle <= at && at + 1 < end => return Some(at - len),
            _ => return None,
        }
    }
    Some(at)
}

/// Bytes that change places with those behind them: the first one, and how many. Of nothing there are 0.
type Exchange = (usize, usize);

/// MACs, addresses and ports.
#[inline]
fn exchanges(frame: &[u8]) -> [Exchange; 3] {
    let [addresses, ports] = match behind_tags(frame) {
        Some((ether_type::IPV4, l3)) => of_ipv4(frame, l3),
        Some((ether_type::IPV6, l3)) => of_ipv6(frame, l3),
        _ => [(0, 0); 2],
    };
    [(ethernet::DESTINATION, 6), addresses, ports]
}

#[inline]
fn of_ipv4(frame: &[u8], l3: usize) -> [Exchange; 2] {
    let Some(header) = get::<{ ipv4::LEN }>(frame, l3) else { return [(0, 0); 2] };
    let (words, protocol) = (usize::from(header[ipv4::VERSION_IHL] & 0x0F), header[ipv4::PROTOCOL]);
    let whole = get_u16(header, ipv4::FRAGMENT).is_some_and(|f| f & ipv4::FRAGMENT_MASK == 0);
    // A header that says to be shorter than it is has no ports behind it.
    let ports = whole && words * 4 >= ipv4::LEN && has_ports(protocol);
    let ports = if ports { (l3 + words * 4 + udp::SOURCE_PORT, 2) } else { (0, 0) };
    [(l3 + ipv4::SOURCE, ipv4::ADDRESSES / 2), ports]
}

#[inline]
fn of_ipv6(frame: &[u8], l3: usize) -> [Exchange; 2] {
    let Some(header) = get::<{ ipv6::LEN }>(frame, l3) else { return [(0, 0); 2] };
    let ports =
        if has_ports(header[ipv6::NEXT_HEADER]) { (l3 + ipv6::LEN + udp::SOURCE_PORT, 2) } else { (0, 0) };
    [(l3 + ipv6::SOURCE, ipv6::ADDRESSES / 2), ports]
}

#[inline]
fn has_ports(protocol: u8) -> bool {
    [udp::PROTOCOL, TCP].contains(&protocol)
}

/// Exchanges the `len` bytes at `at` with those behind them; nothing where the frame is cut.
#[inline]
fn exchange(frame: &mut [u8], at: usize, len: usize) {
    if let Some(both) = frame.get_mut(at..at + 2 * len) {
        let (first, second) = both.split_at_mut(len);
        first.swap_with_slice(second);
    }
}

#[cfg(test)]
mod tests {
    use super::super::probe::{self, Way};
    use super::super::reference::{any_spec, frame, v4_spec};
    use super::super::{Inspected, Inspector};
    use super::*;
    use proptest::prelude::*;

    const OWN: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 9);

    #[test]
    fn a_plain_frame_goes_back_where_it_came_from() {
        let bytes = frame(&v4_spec(), 1, 2, true);
        let mut back = bytes.clone();
        swap(&mut back, OWN);
        assert_eq!((&back[..6], &back[6..12]), (&bytes[6..12], &bytes[..6]));
        assert_eq!((&back[26..30], &back[30..34]), (&bytes[30..34], &bytes[26..30]));
        assert_eq!((&back[34..36], &back[36..38]), (&bytes[36..38], &bytes[34..36]));
        assert_eq!(back[38..], bytes[38..]);
    }

    #[test]
    fn no_frame_leaves_from_a_group() {
        let mut bytes = frame(&v4_spec(), 1, 2, true);
        let from = bytes[6..12].to_vec();
        bytes[..6].fill(0xFF);
        swap(&mut bytes, OWN);
        assert_eq!((&bytes[..6], &bytes[6..12]), (&from[..], OWN.as_bytes()));
    }

    #[test]
    fn ports_and_addresses_move_and_what_stands_between_stays() {
        let header = frame(&v4_spec(), 1, 2, true);
        let to = |at| moved(&header, at);
        // MACs, EtherType, protocol, addresses, ports, UDP length.
        assert_eq!((to(0), to(10), to(12), to(22)), (Some(6), Some(4), Some(12), Some(22)));
        assert_eq!(
            (to(26), to(32), to(34), to(36), to(38)),
            (Some(30), Some(28), Some(36), Some(34), Some(38))
        );
        assert_eq!((to(5), to(11), to(29), to(35)), (None, None, None, None), "halves part");
        assert_eq!(moved(&[], 14), Some(14));
    }

    proptest! {
        #[test]
        fn twice_is_as_it_was(bytes in prop::collection::vec(any::<u8>(), 0..120), v4: bool) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() {
                *first &= 0xFE;
            }
            if let Some(source) = bytes.get_mut(6) {
                *source &= 0xFE;
            }
            if let Some(kind) = bytes.get_mut(12..14) {
                kind.copy_from_slice(if v4 { &[0x08, 0x00] } else { &[0x86, 0xDD] });
            }
            // A header length that reaches into the addresses is none.
            if let Some(version) = bytes.get_mut(14) {
                *version = if v4 { 0x45 } else { 0x60 };
            }
            let mut twice = bytes.clone();
            swap(&mut twice, OWN);
            swap(&mut twice, OWN);
            prop_assert_eq!(twice, bytes);
        }

        /// By our own reader, which verifies, and by one that is not ours.
        #[test]
        fn checksums_hold_afterwards(spec in any_spec(), seq: u64) {
            let mut bytes = frame(&spec, seq, 2, true);
            let port = etherparse::SlicedPacket::from_ethernet(&bytes).ok().and_then(|packet| {
                match packet.transport {
                    Some(etherparse::TransportSlice::Udp(udp)) => Some(udp.source_port()),
                    _ => None,
                }
            });
            swap(&mut bytes, OWN);
            let inspected = Inspector::plain(port, true).inspect(&bytes);
            let Inspected::Probe { probe, at } = inspected else { panic!("{inspected:?}") };
            probe::turn(&mut bytes[at..]);
            let udp_port = spec.stack.dst_port();
            let returned = Inspector { way: Way::Back, ..Inspector::plain(udp_port, true) }.inspect(&bytes);
            prop_assert_eq!(returned, Inspected::Probe { probe, at });
            let taken = Inspector::plain(port, true).inspect(&bytes);
            prop_assert!(matches!(taken, Inspected::Rejected(_)), "it would go back again");
            let back = etherparse::SlicedPacket::from_ethernet(&bytes).unwrap();
            if let Some(etherparse::TransportSlice::Udp(udp)) = back.transport {
                prop_assert_eq!(Some(udp.destination_port()), port);
            }
        }
    }
}
