//! Where the headers of a frame lie, and whether it is one of ours: the same rule as in the XDP program.
//! Knows no checksum and no sequence.

use super::probe::{self, Way};
use super::stack;
use super::wire::{ether_type, ethernet, get, get_u16, ipv4, ipv6, udp};
use std::ops::Range;

/// What carries the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Net {
    /// Nothing: the probe follows the EtherType.
    Ethernet,
    /// UDP over IPv4.
    V4,
    /// UDP over IPv6.
    V6,
}

/// Offsets of the headers from the first byte of the frame; all even.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headers {
    /// What carries the probe.
    pub net: Net,
    /// First byte behind EtherType: of the IP header, or of the probe.
    pub l3: usize,
    /// First byte of the probe.
    pub probe: usize,
}

impl Headers {
    /// First byte of the UDP header; None without one.
    #[inline]
    #[must_use]
    pub fn udp(&self) -> Option<usize> {
        match self.net {
            Net::Ethernet => None,
            Net::V4 | Net::V6 => self.probe.checked_sub(udp::LEN),
        }
    }

    /// The IP header with its options; empty without one.
    #[inline]
    #[must_use]
    pub fn ip(&self) -> Range<usize> {
        self.l3..self.udp().unwrap_or(self.l3)
    }

    /// Source and destination address, as they stand one behind the other; empty without IP.
    #[inline]
    #[must_use]
    pub fn addresses(&self) -> Range<usize> {
        let (start, len) = match self.net {
            Net::Ethernet => (0, 0),
            Net::V4 => (ipv4::SOURCE, ipv4::ADDRESSES),
            Net::V6 => (ipv6::SOURCE, ipv6::ADDRESSES),
        };
        self.l3 + start..self.l3 + start + len
    }
}

/// The headers of a frame of ours; None for any other.
///
/// Ours is, behind at most two VLAN tags (0x8100 or 0x88A8 in any order): UDP to `udp_port` over IPv4, which
/// may have options and must not be a fragment, or over IPv6 without extension headers, with the magic right
/// behind the UDP header; or EtherType 0x88B5 with the magic right behind it. `udp_port` None means that no
/// UDP is ours. What has come [back](Way::Back) comes from that port, and has its magic elsewhere.
#[inline]
#[must_use]
pub fn locate(bytes: &[u8], udp_port: Option<u16>, way: Way) -> Option<Headers> {
    let (kind, l3) = behind_tags(bytes)?;
    let headers = match kind {
        ether_type::IPV4 => behind_ipv4(bytes, l3, (udp_port?, way))?,
        ether_type::IPV6 => behind_ipv6(bytes, l3, (udp_port?, way))?,
        ether_type::PROBE => Headers { net: Net::Ethernet, l3, probe: l3 },
        _ => return None,
    };
    (get_u16(bytes, headers.probe + way.magic())? == probe::MAGIC).then_some(headers)
}

/// What nearly every frame on its way to a sink is: untagged IPv4 without options. The same rule as [`locate`], with every offset
/// a constant, and so are those of the answer: the caller's arithmetic on them costs nothing.
#[inline]
#[must_use]
pub fn is_plain_v4(bytes: &[u8], udp_port: u16) -> bool {
    const UDP: usize = PLAIN_V4.probe - udp::LEN;
    let Some(frame) = bytes.first_chunk::<{ PLAIN_V4.probe + 2 }>() else { return false };
    let is = |at, value| get_u16(frame, at) == Some(value);
    let whole = get_u16(frame, PLAIN_V4.l3 + ipv4::FRAGMENT).is_some_and(|f| f & ipv4::FRAGMENT_MASK == 0);
    is(ethernet::ETHER_TYPE, ether_type::IPV4)
        && frame[PLAIN_V4.l3 + ipv4::VERSION_IHL] == 0x45
        && frame[PLAIN_V4.l3 + ipv4::PROTOCOL] == udp::PROTOCOL
        && whole
        && is(UDP + udp::DESTINATION_PORT, udp_port)
        && is(PLAIN_V4.probe + probe::field::MAGIC, probe::MAGIC)
}

/// The headers of such a frame.
pub const PLAIN_V4: Headers =
    Headers { net: Net::V4, l3: ethernet::LEN, probe: ethernet::LEN + ipv4::LEN + udp::LEN };

/// The id in the outermost VLAN tag; None without a tag.
#[must_use]
pub fn outermost_vlan(bytes: &[u8]) -> Option<u16> {
    // IEEE 802.1Q: the low twelve bits of the control information.
    const ID: u16 = 0x0FFF;
    let tag = get::<{ ethernet::TAG_LEN + 2 }>(bytes, ethernet::ETHER_TYPE)?;
    let is_tag = [ether_type::C_TAG, ether_type::S_TAG].contains(&get_u16(tag, 0)?);
    get_u16(tag, 2).filter(|_| is_tag).map(|control| control & ID)
}

/// The innermost EtherType, and the first byte behind it.
#[inline]
pub(super) fn behind_tags(bytes: &[u8]) -> Option<(u16, usize)> {
    let mut at = ethernet::ETHER_TYPE;
    let mut kind = get_u16(bytes, at)?;
    for _ in 0..stack::MAX_VLANS {
        if kind != ether_type::C_TAG && kind != ether_type::S_TAG {
            break;
        }
        at += ethernet::TAG_LEN;
        kind = get_u16(bytes, at)?;
    }
    Some((kind, at + 2))
}

#[inline]
fn behind_ipv4(bytes: &[u8], l3: usize, port: (u16, Way)) -> Option<Headers> {
    let header = get::<{ ipv4::LEN }>(bytes, l3)?;
    let version_ihl = header[ipv4::VERSION_IHL];
    let words = usize::from(version_ihl & 0x0F);
    let whole = get_u16(header, ipv4::FRAGMENT)? & ipv4::FRAGMENT_MASK == 0;
    if version_ihl >> 4 != 4 || words < 5 || !whole || header[ipv4::PROTOCOL] != udp::PROTOCOL {
        return None;
    }
    by_port(bytes, l3 + words * 4, port).map(|probe| Headers { net: Net::V4, l3, probe })
}

#[inline]
fn behind_ipv6(bytes: &[u8], l3: usize, port: (u16, Way)) -> Option<Headers> {
    let header = get::<{ ipv6::LEN }>(bytes, l3)?;
    if header[0] >> 4 != 6 || header[ipv6::NEXT_HEADER] != udp::PROTOCOL {
        return None;
    }
    by_port(bytes, l3 + ipv6::LEN, port).map(|probe| Headers { net: Net::V6, l3, probe })
}

/// First byte behind the UDP header at `at`, if it goes to `port`, or comes back from it.
#[inline]
fn by_port(bytes: &[u8], at: usize, (port, way): (u16, Way)) -> Option<usize> {
    let field = match way {
        Way::Forth => udp::DESTINATION_PORT,
        Way::Back => udp::SOURCE_PORT,
    };
    (get_u16(bytes, at + field)? == port).then_some(at + udp::LEN)
}

#[cfg(test)]
mod tests {
    use super::super::reference::{any_spec, frame, v4_spec};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Over frames of every kind with one byte of the headers replaced, whole or cut.
        #[test]
        fn plain_frames_are_those_that_the_general_rule_finds_at_the_plain_offsets(
            spec in prop_oneof![any_spec(), Just(v4_spec())], at in 0usize..46,
            byte in prop_oneof![Just(0x45), any::<u8>()], len: prop::sample::Index,
        ) {
            let mut bytes = frame(&spec, 1, 2, true);
            let port = spec.stack.dst_port().unwrap_or(9);
            for mutated in [false, true] {
                if mutated {
                    bytes[at] = byte;
                }
                let cut = &bytes[..len.index(bytes.len())];
                for bytes in [&bytes, cut] {
                    prop_assert_eq!(is_plain_v4(bytes, port), locate(bytes, Some(port), Way::Forth) == Some(PLAIN_V4));
                }
            }
        }

        #[test]
        fn the_reader_finds_the_headers_where_the_builder_put_them(spec in any_spec()) {
            let bytes = frame(&spec, 1, 2, true);
            prop_assert_eq!(locate(&bytes, spec.stack.dst_port(), Way::Forth), Some(spec.stack.headers()));
        }
    }
}
