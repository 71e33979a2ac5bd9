//! Frames for the verdict tests, made and read by etherparse: a second opinion on every header. Knows no program.

#![allow(dead_code, reason = "each test uses its own part")]

use etherparse::{
    EtherType, Ethernet2Header, IpFragOffset, IpNumber, Ipv4Header, Ipv6FragmentHeader, Ipv6Header,
    Ipv6RawExtHeader, LinkExtSlice, NetSlice, SingleVlanHeader, SlicedPacket, TransportSlice, UdpHeader,
};

/// The UDP destination port of ours in these tests.
pub const PORT: u16 = 4660;
/// 802.1Q and 802.1ad.
pub const C_TAG: u16 = 0x8100;
pub const S_TAG: u16 = 0x88A8;

/// A probe of that stream, byte by byte.
pub fn probe(stream: u16) -> Vec<u8> {
    let [high, low] = stream.to_be_bytes();
    vec![0x58, 0x47, 0xAB, 0xCD, high, low, 0, 0, 0, 7, 0x12, 0x34, 1, 2, 3, 4, 5, 6]
}

fn join(header: &[u8], payload: &[u8]) -> Vec<u8> {
    [header, payload].concat()
}

pub fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    join(&UdpHeader::without_ipv4_checksum(9, port, payload.len()).unwrap().to_bytes(), payload)
}

/// An IPv4 packet; `change` has the last word on its header.
pub fn ipv4(protocol: IpNumber, payload: &[u8], change: impl FnOnce(&mut Ipv4Header)) -> Vec<u8> {
    let length = u16::try_from(payload.len()).unwrap();
    let mut header = Ipv4Header::new(length, 64, protocol, [198, 18, 0, 1], [198, 19, 0, 1]).unwrap();
    change(&mut header);
    header.header_checksum = header.calc_header_checksum();
    join(&header.to_bytes(), payload)
}

pub fn ipv6(next_header: IpNumber, payload: &[u8]) -> Vec<u8> {
    let payload_length = u16::try_from(payload.len()).unwrap();
    let header = Ipv6Header { payload_length, next_header, hop_limit: 64, ..Ipv6Header::default() };
    join(&header.to_bytes(), payload)
}

/// An IPv6 extension header of 8 × (1 + `more`) bytes in front of `payload`.
pub fn extension(next_header: IpNumber, more: usize, payload: &[u8]) -> Vec<u8> {
    let header = Ipv6RawExtHeader::new_raw(next_header, &vec![0; 6 + 8 * more]).unwrap();
    join(&header.to_bytes(), payload)
}

pub fn fragment(next_header: IpNumber, offset: u16, more: bool, payload: &[u8]) -> Vec<u8> {
    let offset = IpFragOffset::try_new(offset).unwrap();
    join(&Ipv6FragmentHeader::new(next_header, offset, more, 1).to_bytes(), payload)
}

/// An Ethernet frame with these tags, outermost first.
pub fn ethernet(tags: &[u16], ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let types: Vec<EtherType> = tags.iter().copied().chain([ether_type]).map(EtherType).collect();
    let (first, inner) = types.split_first().unwrap();
    let header = Ethernet2Header { destination: [2; 6], source: [4; 6], ether_type: *first };
    let tag =
        |ether_type: &EtherType| SingleVlanHeader { ether_type: *ether_type, ..SingleVlanHeader::default() };
    let mut frame = header.to_bytes().to_vec();
    inner.iter().for_each(|ether_type| frame.extend(tag(ether_type).to_bytes()));
    join(&frame, payload)
}

/// Ethernet, IPv4, UDP to the port of ours, and `payload`.
pub fn plain(payload: &[u8]) -> Vec<u8> {
    ethernet(&[], 0x0800, &ipv4(IpNumber::UDP, &udp(PORT, payload), |_| ()))
}

/// Ethernet, IPv6, UDP to the port of ours, and `payload`.
pub fn plain6(payload: &[u8]) -> Vec<u8> {
    ethernet(&[], 0x86DD, &ipv6(IpNumber::UDP, &udp(PORT, payload)))
}

/// Every stack that ours may come in.
pub fn stacks_of_ours(stream: u16) -> Vec<Vec<u8>> {
    let datagram = udp(PORT, &probe(stream));
    let ip = ipv4(IpNumber::UDP, &datagram, |_| ());
    let options = ipv4(IpNumber::UDP, &datagram, |header| {
        header.options = [1; 40].into();
        header.total_len += 40;
    });
    let mut frames = vec![ethernet(&[], 0x0800, &options)];
    for tags in [&[][..], &[C_TAG], &[S_TAG], &[S_TAG, C_TAG], &[C_TAG, C_TAG]] {
        frames.push(ethernet(tags, 0x0800, &ip));
        frames.push(ethernet(tags, 0x86DD, &ipv6(IpNumber::UDP, &datagram)));
        frames.push(ethernet(tags, 0x88B5, &probe(stream)));
    }
    frames
}

/// Whether etherparse finds a probe where one of ours stands.
pub fn is_ours(frame: &[u8]) -> bool {
    // It looks into TCP, ICMP and ARP as well, and may refuse what is in there; that is not ours either way.
    let Ok(packet) = SlicedPacket::from_ethernet(frame) else { return false };
    let tag_types = packet.link_exts.iter().map(|tag| match tag {
        LinkExtSlice::Vlan(vlan) => u16::from(vlan.ether_type()),
        LinkExtSlice::Macsec(_) => 0,
    });
    // The types behind all tags but the last, and the frame's own, are those of tags: it knows 0x9100 too.
    let outer = u16::from_be_bytes([frame[12], frame[13]]);
    let tags: Vec<u16> = [outer].into_iter().chain(tag_types).take(packet.link_exts.len()).collect();
    if tags.len() > 2 || tags.iter().any(|tag| ![C_TAG, S_TAG].contains(tag)) {
        return false;
    }
    match packet.ether_payload() {
        Some(payload) if payload.ether_type == EtherType(0x88B5) => holds_probe(payload.payload),
        _ => packet.net.is_some_and(|net| plain_ip(&net)) && is_our_datagram(packet.transport.as_ref()),
    }
}

/// No extension header, no fragment, and a length that is said, not guessed.
fn plain_ip(net: &NetSlice<'_>) -> bool {
    match net {
        NetSlice::Ipv4(ip) => ip.extensions().is_empty() && !ip.is_payload_fragmented(),
        NetSlice::Ipv6(ip) => ip.extensions().is_empty() && ip.header().payload_length() > 0,
        NetSlice::Arp(_) => false,
    }
}

fn is_our_datagram(transport: Option<&TransportSlice<'_>>) -> bool {
    match transport {
        Some(TransportSlice::Udp(udp)) => {
            udp.length() > 0 && udp.destination_port() == PORT && holds_probe(udp.payload())
        }
        _ => false,
    }
}

fn holds_probe(payload: &[u8]) -> bool {
    payload.len() >= 18 && payload.starts_with(&[0x58, 0x47])
}
