//! What each header looks like: its fields in order, with the standard that says so. Knows what is in front of it
//! only by its [`Place`].

use super::builder::Builder;
use super::order::{ether_type_of, protocol_of};
use super::{Defaults, Notation, Pseudo, StackError, Sum};
use crate::frame::layer::{Arp, Echo, Ethernet, Gre, GtpU, Ipv4, Ipv6, Layer, Mpls, Tcp, Udp, Vlan, Vxlan};
use crate::frame::wire::{ipv4, ipv6};
use macaddr::MacAddr6;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// UDP ports of the tunnels (IANA).
const PORT_VXLAN: u16 = 4789;
const PORT_GTPU: u16 = 2152;
/// Where a tunnel's source ports begin (RFC 6335: the dynamic ones).
const PORT_TUNNEL_SOURCE: u16 = 49_152;
/// MACs inside a tunnel that nobody has named.
const INNER: (MacAddr6, MacAddr6) = (MacAddr6::new(2, 0, 0, 0, 1, 1), MacAddr6::new(2, 0, 0, 0, 1, 2));
/// Bytes of options that a header length of 4 bits, in words, leaves room for.
const MAX_OPTIONS: usize = 40;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_ICMPV6: u8 = 58;
const ICMP_ECHO: u8 = 8;
const ICMPV6_ECHO: u8 = 128;
/// GTP-U message type of a packet of the user's (TS 29.281, 6.1).
const GTPU_PDU: u64 = 255;
/// Bytes of GTP-U's mandatory header, which its length field leaves out.
const GTPU_MANDATORY: usize = 8;

/// What a header needs to know of those in front of it.
pub struct Place<'d> {
    defaults: &'d Defaults,
    /// Whether an Ethernet header has been written.
    inside: bool,
    /// Its source MAC.
    src_mac: MacAddr6,
    /// Addresses of the IP header right in front.
    addresses: Option<Range<usize>>,
}

impl<'d> Place<'d> {
    /// In front of everything.
    pub fn new(defaults: &'d Defaults) -> Self {
        Self { defaults, inside: false, src_mac: defaults.src_mac, addresses: None }
    }

    fn pseudo(&self, protocol: u8) -> Option<Pseudo> {
        self.addresses.clone().map(|addresses| Pseudo { addresses, protocol })
    }

    fn over_ipv6(&self) -> bool {
        self.addresses.as_ref().is_some_and(|addresses| addresses.len() == ipv6::ADDRESSES)
    }
}

/// Appends `layer`, which `rest` follows.
pub fn put(b: &mut Builder, place: &mut Place<'_>, layer: &Layer, rest: &[Layer]) -> Result<(), StackError> {
    let next = rest.first();
    match layer {
        Layer::Ethernet(header) => ethernet(b, place, header, rest),
        Layer::Vlan(tag) => vlan(b, tag, rest)?,
        Layer::Mpls(label) => mpls(b, *label, matches!(next, Some(Layer::Mpls(_))))?,
        Layer::Ipv4(header) => put_ipv4(b, place, header, next)?,
        Layer::Ipv6(header) => put_ipv6(b, place, header, next)?,
        Layer::Udp(header) => udp(b, place, header, next),
        Layer::Tcp(header) => tcp(b, place, header)?,
        Layer::Icmp(echo) => put_echo(b, echo, ICMP_ECHO, None),
        Layer::Icmpv6(echo) => put_echo(b, echo, ICMPV6_ECHO, place.pseudo(PROTOCOL_ICMPV6)),
        Layer::Arp(packet) => arp(b, place, packet),
        Layer::Gre(header) => gre(b, header, rest),
        Layer::Vxlan(header) => vxlan(b, *header)?,
        Layer::GtpU(header) => gtpu(b, *header),
        Layer::Raw(bytes) => b.bytes("bytes", Notation::Bytes, bytes),
    }
    Ok(())
}

fn fits(field: &'static str, value: u64, bits: u32, why: &'static str) -> Result<u64, StackError> {
    if value >> bits == 0 { Ok(value) } else { Err(StackError::Value { field, value, why }) }
}

fn ethernet(b: &mut Builder, place: &mut Place<'_>, header: &Ethernet, rest: &[Layer]) {
    let (src, dst) = if place.inside { INNER } else { (place.defaults.src_mac, place.defaults.dst_mac) };
    place.inside = true;
    place.src_mac = header.src.unwrap_or(src);
    b.bytes("dst", Notation::Mac, header.dst.unwrap_or(dst).as_bytes());
    b.bytes("src", Notation::Mac, place.src_mac.as_bytes());
    b.hex("ether_type", 16, header.ether_type.unwrap_or_else(|| ether_type_of(rest)).into());
    b.check(b.at() - 2, u16::MAX);
}

/// IEEE Std 802.1Q, 9.6.
fn vlan(b: &mut Builder, tag: &Vlan, rest: &[Layer]) -> Result<(), StackError> {
    if tag.id > 4094 {
        return Err(StackError::Value {
            field: "vlan.id",
            value: tag.id.into(),
            why: "it is not in 0 to 4094 (IEEE 802.1Q; 4095 is reserved)",
        });
    }
    b.dec("pcp", 3, fits("vlan.pcp", tag.pcp.into(), 3, "it is not in 0 to 7")?);
    b.dec("dei", 1, tag.dei.into());
    b.dec("id", 12, tag.id.into());
    b.hex("ether_type", 16, ether_type_of(rest).into());
    b.check(b.at() - 2, u16::MAX);
    Ok(())
}

/// RFC 3032, 2.1.
fn mpls(b: &mut Builder, label: Mpls, more: bool) -> Result<(), StackError> {
    let why = "it is not in 0 to 1048575: labels have 20 bits";
    b.dec("label", 20, fits("mpls.label", label.label.into(), 20, why)?);
    b.dec("tc", 3, fits("mpls.tc", label.tc.into(), 3, "it is not in 0 to 7")?);
    b.dec("bottom", 1, u64::from(!more));
    b.dec("ttl", 8, label.ttl.into());
    b.check(b.at() - 2, 0x0100);
    Ok(())
}

fn put_ipv4(
    b: &mut Builder,
    place: &mut Place<'_>,
    header: &Ipv4,
    next: Option<&Layer>,
) -> Result<(), StackError> {
    let (start, options) = (b.at(), padded("bytes of IPv4 options", &header.options)?);
    b.ip_begins();
    b.dec("version", 4, 4);
    b.dec("ihl", 4, (ipv4::LEN + options.len()) as u64 / 4);
    dscp(b, ["ipv4.dscp", "ipv4.ecn"], header.dscp, header.ecn)?;
    b.length("total_length", start);
    b.hex("id", 16, header.id.into());
    b.dec("reserved", 1, 0);
    b.dec("df", 1, header.df.into());
    b.dec("mf", 1, header.mf.into());
    let why = "it is not in 0 to 8191: it counts units of 8 bytes in 13 bits";
    b.dec("fragment_offset", 13, fits("ipv4.fragment_offset", header.fragment_offset.into(), 13, why)?);
    b.dec("ttl", 8, header.ttl.into());
    b.dec("protocol", 8, header.protocol.unwrap_or_else(|| protocol_of(next)).into());
    let end = start + ipv4::LEN + options.len();
    let sum = Sum { at: b.at(), from: start, to: Some(end), pseudo: None, never_zero: false };
    b.checksum("checksum", Some(sum));
    place.addresses = Some(b.at()..b.at() + ipv4::ADDRESSES);
    let (src, dst): (Ipv4Addr, Ipv4Addr) = place.defaults.v4;
    b.bytes("src", Notation::Ipv4, &header.src.unwrap_or(src).octets());
    b.bytes("dst", Notation::Ipv4, &header.dst.unwrap_or(dst).octets());
    b.bytes("options", Notation::Bytes, &options);
    b.check(start, 0xFF00);
    b.check(start + ipv4::FRAGMENT, ipv4::FRAGMENT_MASK);
    b.check(start + ipv4::PROTOCOL - 1, 0x00FF);
    Ok(())
}

fn put_ipv6(
    b: &mut Builder,
    place: &mut Place<'_>,
    header: &Ipv6,
    next: Option<&Layer>,
) -> Result<(), StackError> {
    let start = b.at();
    b.ip_begins();
    b.dec("version", 4, 6);
    dscp(b, ["ipv6.dscp", "ipv6.ecn"], header.dscp, header.ecn)?;
    let why = "it is not in 0 to 1048575: flow labels have 20 bits";
    b.hex("flow_label", 20, fits("ipv6.flow_label", header.flow_label.into(), 20, why)?);
    b.length("payload_length", start + ipv6::LEN);
    b.dec("next_header", 8, header.next_header.unwrap_or_else(|| protocol_of(next)).into());
    b.dec("hop_limit", 8, header.hop_limit.into());
    place.addresses = Some(b.at()..b.at() + ipv6::ADDRESSES);
    let (src, dst): (Ipv6Addr, Ipv6Addr) = place.defaults.v6;
    b.bytes("src", Notation::Ipv6, &header.src.unwrap_or(src).octets());
    b.bytes("dst", Notation::Ipv6, &header.dst.unwrap_or(dst).octets());
    b.check(start, 0xF000);
    b.check(start + ipv6::NEXT_HEADER, 0xFF00);
    Ok(())
}

fn dscp(b: &mut Builder, names: [&'static str; 2], dscp: u8, ecn: u8) -> Result<(), StackError> {
    b.dec("dscp", 6, fits(names[0], dscp.into(), 6, "it is not in 0 to 63")?);
    b.dec("ecn", 2, fits(names[1], ecn.into(), 2, "it is not in 0 to 3")?);
    Ok(())
}

/// Options, filled up with zeros (end of list) to whole words.
fn padded(what: &'static str, options: &[u8]) -> Result<Vec<u8>, StackError> {
    if options.len() > MAX_OPTIONS {
        return Err(StackError::TooMany { what, count: options.len(), most: MAX_OPTIONS });
    }
    let mut padded = options.to_vec();
    padded.resize(options.len().next_multiple_of(4), 0);
    Ok(padded)
}

fn udp(b: &mut Builder, place: &Place<'_>, header: &Udp, next: Option<&Layer>) {
    let (start, defaults) = (b.at(), place.defaults);
    let (src, dst) = match next {
        Some(Layer::Vxlan(_)) => (PORT_TUNNEL_SOURCE, PORT_VXLAN),
        Some(Layer::GtpU(_)) => (PORT_GTPU, PORT_GTPU),
        _ => (defaults.src_port, defaults.dst_port),
    };
    b.dec("src_port", 16, header.src_port.unwrap_or(src).into());
    b.dec("dst_port", 16, header.dst_port.unwrap_or(dst).into());
    b.length("length", start);
    // RFC 7348, section 5, sends none over IPv4; over IPv6 zero is for those who ask (RFC 6935).
    let computed = header.checksum.unwrap_or(place.over_ipv6() || !matches!(next, Some(Layer::Vxlan(_))));
    let pseudo = place.pseudo(PROTOCOL_UDP);
    let sum = Sum { at: b.at(), from: start, to: None, pseudo, never_zero: true };
    b.checksum("checksum", computed.then_some(sum));
    b.check(start + 2, u16::MAX);
}

fn tcp(b: &mut Builder, place: &Place<'_>, header: &Tcp) -> Result<(), StackError> {
    let (start, defaults) = (b.at(), place.defaults);
    let options = padded("bytes of TCP options", &header.options)?;
    b.dec("src_port", 16, header.src_port.unwrap_or(defaults.src_port).into());
    b.dec("dst_port", 16, header.dst_port.unwrap_or(defaults.dst_port).into());
    b.dec("seq", 32, header.seq.into());
    b.dec("ack", 32, header.ack.into());
    b.dec("data_offset", 4, (20 + options.len()) as u64 / 4);
    b.dec("reserved", 3, 0);
    b.hex("flags", 9, fits("tcp.flags", header.flags.into(), 9, "it is not in 0 to 511")?);
    b.dec("window", 16, header.window.into());
    let pseudo = place.pseudo(PROTOCOL_TCP);
    let sum = Sum { at: b.at(), from: start, to: None, pseudo, never_zero: false };
    b.checksum("checksum", Some(sum));
    b.dec("urgent", 16, header.urgent.into());
    b.bytes("options", Notation::Bytes, &options);
    b.check(start + 2, u16::MAX);
    b.check(start + 12, 0xF000);
    Ok(())
}

fn put_echo(b: &mut Builder, echo: &Echo, request: u8, pseudo: Option<Pseudo>) {
    let start = b.at();
    b.dec("type", 8, echo.kind.unwrap_or(request).into());
    b.dec("code", 8, echo.code.into());
    b.checksum("checksum", Some(Sum { at: b.at(), from: start, to: None, pseudo, never_zero: false }));
    b.dec("id", 16, echo.id.into());
    b.dec("seq", 16, echo.seq.into());
    b.check(start, 0xFF00);
}

fn arp(b: &mut Builder, place: &Place<'_>, packet: &Arp) {
    let start = b.at();
    let (src, dst) = place.defaults.v4;
    b.dec("hardware_type", 16, 1);
    b.hex("protocol_type", 16, crate::frame::wire::ether_type::IPV4.into());
    b.dec("hardware_length", 8, 6);
    b.dec("protocol_length", 8, 4);
    b.dec("operation", 16, packet.operation.into());
    b.bytes("sender_mac", Notation::Mac, packet.sender_mac.unwrap_or(place.src_mac).as_bytes());
    b.bytes("sender_ip", Notation::Ipv4, &packet.sender_ip.unwrap_or(src).octets());
    b.bytes("target_mac", Notation::Mac, packet.target_mac.as_bytes());
    b.bytes("target_ip", Notation::Ipv4, &packet.target_ip.unwrap_or(dst).octets());
    [0, 2, 4].into_iter().for_each(|at| b.check(start + at, u16::MAX));
}

/// RFC 2784, section 2, and RFC 2890, section 2.
fn gre(b: &mut Builder, header: &Gre, rest: &[Layer]) {
    let start = b.at();
    b.dec("checksum_present", 1, header.checksum.into());
    b.dec("reserved", 1, 0);
    b.dec("key_present", 1, header.key.is_some().into());
    b.dec("seq_present", 1, header.seq.is_some().into());
    b.dec("reserved0", 9, 0);
    b.dec("version", 3, 0);
    b.hex("protocol", 16, header.protocol.unwrap_or_else(|| ether_type_of(rest)).into());
    if header.checksum {
        b.checksum(
            "checksum",
            Some(Sum { at: b.at(), from: start, to: None, pseudo: None, never_zero: false }),
        );
        b.dec("reserved1", 16, 0);
    }
    if let Some(key) = header.key {
        b.dec("key", 32, key.into());
    }
    if let Some(seq) = header.seq {
        b.dec("seq", 32, seq.into());
    }
    b.check(start, u16::MAX);
    b.check(start + 2, u16::MAX);
}

/// RFC 7348, section 5.
fn vxlan(b: &mut Builder, header: Vxlan) -> Result<(), StackError> {
    let start = b.at();
    b.hex("flags", 8, 0x08);
    b.dec("reserved", 24, 0);
    let why = "it is not in 0 to 16777215: network identifiers have 24 bits";
    b.dec("vni", 24, fits("vxlan.vni", header.vni.into(), 24, why)?);
    b.dec("reserved2", 8, 0);
    b.check(start, 0xFF00);
    Ok(())
}

/// 3GPP TS 29.281, 5.1: version 1, GTP and not GTP'.
fn gtpu(b: &mut Builder, header: GtpU) {
    let start = b.at();
    b.dec("version", 3, 1);
    b.dec("protocol_type", 1, 1);
    b.dec("reserved", 1, 0);
    b.dec("extension", 1, 0);
    b.dec("seq_present", 1, header.seq.is_some().into());
    b.dec("npdu_present", 1, 0);
    b.dec("message_type", 8, GTPU_PDU);
    b.length("length", start + GTPU_MANDATORY);
    b.hex("teid", 32, header.teid.into());
    if let Some(seq) = header.seq {
        b.dec("seq", 16, seq.into());
        b.dec("npdu", 8, 0);
        b.dec("next_extension", 8, 0);
    }
    b.check(start, u16::MAX);
}
