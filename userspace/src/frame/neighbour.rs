//! Who has an address: the frames of ARP (RFC 826) and of neighbour discovery (RFC 4861), built and read. Knows no
//! socket, no stream and no table of neighbours.

use super::wire::{ether_type, ethernet};
use crate::units::FCS_BYTES;
use etherparse::icmpv6::{NdpOptionSlice, NeighborAdvertisementHeader};
use etherparse::{
    ArpEthIpv4Packet, ArpOperation, ArpPacketSlice, EtherType, Ethernet2Header, Icmpv6Header, Icmpv6Slice,
    Icmpv6Type, IpNumber, Ipv6Header, Ipv6Slice, LinkExtSlice, LinkSlice, NetSlice, SingleVlanHeader,
    SlicedPacket, TransportSlice,
};
use macaddr::MacAddr6;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The hop limit of every message of neighbour discovery: none has passed a router (RFC 4861, section 7.1).
const HOP_LIMIT: u8 = 255;
/// Options that carry a MAC: type and length in units of 8 bytes (RFC 4861, section 4.6.1).
const SOURCE_MAC_OPTION: [u8; 2] = [1, 1];
const TARGET_MAC_OPTION: [u8; 2] = [2, 1];
/// All nodes of a link (RFC 4291, section 2.7.1).
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
/// The shortest Ethernet frame without its FCS: not every driver pads.
const SHORTEST: usize = 64 - FCS_BYTES as usize;

/// One VLAN tag (IEEE 802.1Q).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    /// Its EtherType: 0x8100, or 0x88A8 for the outer of two.
    pub protocol: u16,
    /// Priority, drop eligibility and the 12 bits of the VLAN id.
    pub control: u16,
}

impl Tag {
    /// Its VLAN id.
    #[must_use]
    pub const fn id(self) -> u16 {
        self.control & 0x0FFF
    }
}

/// Whoever has an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Station {
    /// Its MAC.
    pub mac: MacAddr6,
    /// Its IP.
    pub ip: IpAddr,
}

/// What a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Somebody asks who has `target`.
    Question {
        /// The address asked for.
        target: IpAddr,
        /// The MAC that wants to know.
        mac: MacAddr6,
        /// Its IP; None where it has none yet, and asks whether it may take `target` (RFC 5227, RFC 4862).
        ip: Option<IpAddr>,
    },
    /// A station says where it is, asked or not.
    Answer(Station),
}

/// A frame of ARP or of neighbour discovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Its VLAN tags, outermost first.
    pub tags: Vec<Tag>,
    /// What it says.
    pub said: Said,
}

impl Heard {
    /// Whether it was said in the network of these tags. VLAN id 0 names no network, only a priority.
    #[must_use]
    pub fn is_in(&self, vlans: &[u16]) -> bool {
        let here = self.tags.iter().map(|tag| tag.id()).filter(|id| *id != 0);
        here.eq(vlans.iter().copied().filter(|id| *id != 0))
    }
}

/// The tags of frames with these VLAN ids, outermost first.
#[must_use]
pub fn tags(vlans: &[u16]) -> Vec<Tag> {
    let last = vlans.len().saturating_sub(1);
    let tag = |(at, id): (usize, &u16)| {
        let protocol = if at == last { ether_type::C_TAG } else { ether_type::S_TAG };
        Tag { protocol, control: *id }
    };
    vlans.iter().enumerate().map(tag).collect()
}

/// The multicast MAC that a question for an IPv6 address is sent to, and that its owner listens to (RFC 2464,
/// section 7, for the solicited-node address of RFC 4291).
#[must_use]
pub const fn solicited_mac(target: Ipv6Addr) -> MacAddr6 {
    let [.., a, b, c] = target.octets();
    MacAddr6::new(0x33, 0x33, 0xFF, a, b, c)
}

/// The question of `asker` who has `target`; None where the two are of different families.
#[must_use]
pub fn question(asker: Station, target: IpAddr, tags: &[Tag]) -> Option<Vec<u8>> {
    match (asker.ip, target) {
        (IpAddr::V4(ip), IpAddr::V4(target)) => {
            let packet = arp(ArpOperation::REQUEST, (asker.mac, ip), (MacAddr6::nil(), target));
            Some(arp_frame(MacAddr6::broadcast(), &packet, tags))
        }
        (IpAddr::V6(ip), IpAddr::V6(target)) => {
            let [.., a, b, c] = target.octets().map(u16::from);
            let everyone = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | a, b << 8 | c);
            let kind = Icmpv6Type::NeighborSolicitation;
            let to = (solicited_mac(target), everyone);
            discovery_frame(kind, (asker.mac, ip), to, &message(target, SOURCE_MAC_OPTION, asker.mac), tags)
        }
        _ => None,
    }
}

/// The answer of `owner` to whoever asked for its address: to nobody in particular where the asker has none
/// itself. None where the two are of different families.
#[must_use]
pub fn answer(owner: Station, asker: (MacAddr6, Option<IpAddr>), tags: &[Tag]) -> Option<Vec<u8>> {
    match (owner.ip, asker) {
        (IpAddr::V4(ip), (mac, None)) => {
            let packet = arp(ArpOperation::REPLY, (owner.mac, ip), (mac, Ipv4Addr::UNSPECIFIED));
            Some(arp_frame(mac, &packet, tags))
        }
        (IpAddr::V4(ip), (mac, Some(IpAddr::V4(to)))) => {
            Some(arp_frame(mac, &arp(ArpOperation::REPLY, (owner.mac, ip), (mac, to)), tags))
        }
        (IpAddr::V6(ip), (mac, Some(IpAddr::V6(to)))) => {
            advertisement((owner.mac, ip), (mac, to), true, tags)
        }
        (IpAddr::V6(ip), (_, None)) => advertisement((owner.mac, ip), all_nodes(), false, tags),
        _ => None,
    }
}

/// What a station says of itself without being asked: an ARP announcement (RFC 5227), or an unsolicited
/// advertisement to all nodes (RFC 4861, section 7.2.6).
#[must_use]
pub fn announcement(owner: Station, tags: &[Tag]) -> Option<Vec<u8>> {
    match owner.ip {
        IpAddr::V4(ip) => {
            let packet = arp(ArpOperation::REQUEST, (owner.mac, ip), (MacAddr6::nil(), ip));
            Some(arp_frame(MacAddr6::broadcast(), &packet, tags))
        }
        IpAddr::V6(ip) => advertisement((owner.mac, ip), all_nodes(), false, tags),
    }
}

fn all_nodes() -> (MacAddr6, Ipv6Addr) {
    (MacAddr6::new(0x33, 0x33, 0, 0, 0, 1), ALL_NODES)
}

fn advertisement(
    owner: (MacAddr6, Ipv6Addr),
    to: (MacAddr6, Ipv6Addr),
    solicited: bool,
    tags: &[Tag],
) -> Option<Vec<u8>> {
    let flags = NeighborAdvertisementHeader { router: false, solicited, r#override: true };
    let message = message(owner.1, TARGET_MAC_OPTION, owner.0);
    discovery_frame(Icmpv6Type::NeighborAdvertisement(flags), owner, to, &message, tags)
}

/// What follows the ICMPv6 header: the address that it is about, and one option with a MAC.
fn message(target: Ipv6Addr, option: [u8; 2], mac: MacAddr6) -> Vec<u8> {
    [&target.octets()[..], &option, mac.as_bytes()].concat()
}

fn arp(
    operation: ArpOperation,
    (sender, sender_ip): (MacAddr6, Ipv4Addr),
    (target, target_ip): (MacAddr6, Ipv4Addr),
) -> ArpEthIpv4Packet {
    ArpEthIpv4Packet {
        operation,
        sender_mac: sender.into_array(),
        sender_ipv4: sender_ip.octets(),
        target_mac: target.into_array(),
        target_ipv4: target_ip.octets(),
    }
}

fn arp_frame(to: MacAddr6, packet: &ArpEthIpv4Packet, tags: &[Tag]) -> Vec<u8> {
    frame(to, packet.sender_mac, EtherType::ARP, tags, &packet.to_bytes())
}

fn discovery_frame(
    kind: Icmpv6Type,
    (from, source): (MacAddr6, Ipv6Addr),
    (to, destination): (MacAddr6, Ipv6Addr),
    message: &[u8],
    tags: &[Tag],
) -> Option<Vec<u8>> {
    let (source, destination) = (source.octets(), destination.octets());
    let icmp = Icmpv6Header::with_checksum(kind, source, destination, message).ok()?.to_bytes();
    let ip = Ipv6Header {
        payload_length: u16::try_from(icmp.len() + message.len()).ok()?,
        next_header: IpNumber::IPV6_ICMP,
        hop_limit: HOP_LIMIT,
        source,
        destination,
        ..Ipv6Header::default()
    };
    let packet = [&ip.to_bytes()[..], &icmp, message].concat();
    Some(frame(to, from.into_array(), EtherType::IPV6, tags, &packet))
}

/// The frame around a packet, without FCS and never shorter than Ethernet allows.
fn frame(to: MacAddr6, source: [u8; 6], inner: EtherType, tags: &[Tag], packet: &[u8]) -> Vec<u8> {
    let protocols = tags.iter().map(|tag| EtherType(tag.protocol)).chain([inner]);
    let ethernet = Ethernet2Header {
        source,
        destination: to.into_array(),
        ether_type: tags.first().map_or(inner, |tag| EtherType(tag.protocol)),
    };
    let mut frame = Vec::with_capacity(ethernet::LEN + tags.len() * ethernet::TAG_LEN + packet.len());
    frame.extend(ethernet.to_bytes());
    for (tag, behind) in tags.iter().zip(protocols.skip(1)) {
        frame.extend(tag.control.to_be_bytes());
        frame.extend(behind.0.to_be_bytes());
    }
    frame.extend(packet);
    frame.resize(frame.len().max(SHORTEST), 0);
    frame
}

/// Reads a frame; None for any that is not a sound message of ARP or of neighbour discovery.
#[must_use]
pub fn read(frame: &[u8]) -> Option<Heard> {
    let packet = SlicedPacket::from_ethernet(frame).ok()?;
    let Some(LinkSlice::Ethernet2(ethernet)) = &packet.link else { return None };
    let tags = tags_in(ethernet.ether_type(), &packet.link_exts)?;
    let said = match (packet.net?, packet.transport) {
        (NetSlice::Arp(arp), _) => arp_says(&arp),
        (NetSlice::Ipv6(ip), Some(TransportSlice::Icmpv6(icmp))) => {
            discovery_says(&ip, &icmp, MacAddr6::from(ethernet.source()))
        }
        _ => None,
    }?;
    Some(Heard { tags, said })
}

fn tags_in(mut protocol: EtherType, headers: &[LinkExtSlice<'_>]) -> Option<Vec<Tag>> {
    let mut tags = Vec::new();
    for header in headers {
        let LinkExtSlice::Vlan(vlan) = header else { return None };
        let SingleVlanHeader { ether_type, .. } = vlan.to_header();
        let control = u16::from_be_bytes(*vlan.slice().first_chunk()?);
        tags.push(Tag { protocol: protocol.0, control });
        protocol = ether_type;
    }
    Some(tags)
}

/// A MAC that one station can have.
fn of_one_station(mac: MacAddr6) -> bool {
    !mac.is_multicast() && !mac.is_nil()
}

fn arp_says(packet: &ArpPacketSlice<'_>) -> Option<Said> {
    let packet = packet.to_packet().try_eth_ipv4().ok()?;
    let (mac, ip) = (MacAddr6::from(packet.sender_mac), packet.sender_ipv4_addr());
    let target = packet.target_ipv4_addr();
    if !of_one_station(mac) {
        return None;
    }
    match packet.operation {
        // An announcement has the form of a question for one's own address.
        ArpOperation::REPLY => Some(Said::Answer(Station { mac, ip: ip.into() })),
        ArpOperation::REQUEST if ip == target => Some(Said::Answer(Station { mac, ip: ip.into() })),
        ArpOperation::REQUEST => {
            let ip = (!ip.is_unspecified()).then_some(IpAddr::V4(ip));
            Some(Said::Question { target: target.into(), mac, ip })
        }
        _ => None,
    }
}

/// With the checks of RFC 4861, section 7.1. `from` is the frame's source, where no option names another MAC.
fn discovery_says(ip: &Ipv6Slice<'_>, icmp: &Icmpv6Slice<'_>, from: MacAddr6) -> Option<Said> {
    let header = ip.header();
    if header.hop_limit() != HOP_LIMIT || !icmp.is_checksum_valid(header.source(), header.destination()) {
        return None;
    }
    let payload = icmp.payload();
    let target = Ipv6Addr::from(*payload.first_chunk::<16>()?);
    let mac = mac_option(icmp).unwrap_or(from);
    if target.is_multicast() || !of_one_station(mac) {
        return None;
    }
    match icmp.icmp_type() {
        Icmpv6Type::NeighborSolicitation => {
            let source = header.source_addr();
            let ip = (!source.is_unspecified()).then_some(IpAddr::V6(source));
            Some(Said::Question { target: target.into(), mac, ip })
        }
        Icmpv6Type::NeighborAdvertisement(_) => Some(Said::Answer(Station { mac, ip: target.into() })),
        _ => None,
    }
}

/// The MAC in the options: the source's in a question, the target's in an answer.
fn mac_option(icmp: &Icmpv6Slice<'_>) -> Option<MacAddr6> {
    use etherparse::icmpv6::Icmpv6PayloadSlice::{NeighborAdvertisement, NeighborSolicitation};
    let options = match icmp.payload_slice().ok()? {
        NeighborSolicitation(question) => question.options_iterator(),
        NeighborAdvertisement(answer) => answer.options_iterator(),
        _ => return None,
    };
    options.map_while(Result::ok).find_map(|option| {
        let address = match option {
            NdpOptionSlice::SourceLinkLayerAddress(option) => option.link_layer_address(),
            NdpOptionSlice::TargetLinkLayerAddress(option) => option.link_layer_address(),
            _ => return None,
        };
        <[u8; 6]>::try_from(address).ok().map(MacAddr6::from)
    })
}

#[cfg(test)]
#[path = "neighbour_tests.rs"]
mod tests;
