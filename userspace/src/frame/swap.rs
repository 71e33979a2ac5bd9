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
    exchange(frame, ethernet::DESTINATION, 6);
    if to & GROUP != 0
        && let Some(source) = frame.get_mut(ethernet::SOURCE..ethernet::ETHER_TYPE)
    {
        source.copy_from_slice(own.as_bytes());
    }
    match behind_tags(frame) {
        Some((ether_type::IPV4, l3)) => swap_ipv4(frame, l3),
        Some((ether_type::IPV6, l3)) => swap_ipv6(frame, l3),
        _ => {}
    }
}

#[inline]
fn swap_ipv4(frame: &mut [u8], l3: usize) {
    let Some(header) = get::<{ ipv4::LEN }>(frame, l3) else { return };
    let (words, protocol) = (usize::from(header[ipv4::VERSION_IHL] & 0x0F), header[ipv4::PROTOCOL]);
    let whole = get_u16(header, ipv4::FRAGMENT).is_some_and(|f| f & ipv4::FRAGMENT_MASK == 0);
    exchange(frame, l3 + ipv4::SOURCE, ipv4::ADDRESSES / 2);
    if whole && [udp::PROTOCOL, TCP].contains(&protocol) {
        exchange(frame, l3 + words * 4 + udp::SOURCE_PORT, 2);
    }
}

#[inline]
fn swap_ipv6(frame: &mut [u8], l3: usize) {
    let Some(header) = get::<{ ipv6::LEN }>(frame, l3) else { return };
    let next = header[ipv6::NEXT_HEADER];
    exchange(frame, l3 + ipv6::SOURCE, ipv6::ADDRESSES / 2);
    if [udp::PROTOCOL, TCP].contains(&next) {
        exchange(frame, l3 + ipv6::LEN + udp::SOURCE_PORT, 2);
    }
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
            prop_assert!(matches!(inspected, Inspected::Probe { .. }), "{:?}", inspected);
            let back = etherparse::SlicedPacket::from_ethernet(&bytes).unwrap();
            if let Some(etherparse::TransportSlice::Udp(udp)) = back.transport {
                prop_assert_eq!(Some(udp.destination_port()), port);
            }
        }
    }
}
