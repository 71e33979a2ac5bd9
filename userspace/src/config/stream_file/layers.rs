//! Headers of a stream file. What a header's fields are is `frame::layer`'s; here is how they are written.

use super::node::{Node, Table, choices};
use crate::config::ConfigError;
use crate::config::tcp_flags::{TCP_FLAG_FORMS, tcp_flags};
use crate::frame::layer::{Arp, Echo, Ethernet, Gre, GtpU, Ipv4, Ipv6, Layer, Mpls, Tcp, Udp, Vlan, Vxlan};
use crate::frame::layout::{MAX_HEADER_BYTES, MAX_LAYERS};
use macaddr::MacAddr6;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Names of all headers, as stream files have them.
pub const NAMES: [&str; 14] = [
    "ethernet", "vlan", "mpls", "ipv4", "ipv6", "udp", "tcp", "icmp", "icmpv6", "arp", "gre", "vxlan",
    "gtpu", "raw",
];

const FORM: &str =
    "one header each, outermost first: layers = [{ ethernet = {} }, { ipv4 = {} }, { udp = {} }]";

/// A list of headers, each with its place.
pub fn layers<'d>(node: &Node<'d>) -> Result<Vec<(Layer, Node<'d>)>, ConfigError> {
    let items = node.array(FORM)?;
    if items.len() > MAX_LAYERS {
        return Err(node.refuse(format!("{} headers; at most {MAX_LAYERS}", items.len()), "fewer headers"));
    }
    items.iter().map(layer).collect()
}

fn layer<'d>(node: &Node<'d>) -> Result<(Layer, Node<'d>), ConfigError> {
    let table = node.table(&NAMES, FORM)?;
    let [name] = table.keys().collect::<Vec<_>>()[..] else {
        return Err(node.refuse("it is not one header", FORM));
    };
    let fields = table.need(name, FORM)?;
    let layer = match name {
        "ethernet" => Layer::Ethernet(ethernet(&fields)?),
        "vlan" => Layer::Vlan(vlan(&fields)?),
        "mpls" => Layer::Mpls(mpls(&fields)?),
        "ipv4" => Layer::Ipv4(ipv4(&fields)?),
        "ipv6" => Layer::Ipv6(ipv6(&fields)?),
        "udp" => Layer::Udp(udp(&fields)?),
        "tcp" => Layer::Tcp(tcp(&fields)?),
        "icmp" => Layer::Icmp(echo(&fields)?),
        "icmpv6" => Layer::Icmpv6(echo(&fields)?),
        "arp" => Layer::Arp(arp(&fields)?),
        "gre" => Layer::Gre(gre(&fields)?),
        "vxlan" => Layer::Vxlan(vxlan(&fields)?),
        "gtpu" => Layer::GtpU(gtpu(&fields)?),
        "raw" => Layer::Raw(hex(&fields, MAX_HEADER_BYTES)?),
        other => {
            return Err(node.refuse(format!("there is no header {other}"), choices(other, NAMES.into_iter())));
        }
    };
    Ok((layer, fields))
}

fn fields<'d>(node: &Node<'d>, keys: &[&str]) -> Result<Table<'d>, ConfigError> {
    let some = keys.first().copied().unwrap_or_default();
    node.table(keys, &format!("{{}} for its defaults, or fields such as {{ {some} = … }}"))
}

fn ethernet(node: &Node<'_>) -> Result<Ethernet, ConfigError> {
    let t = fields(node, &["dst", "src", "ether_type"])?;
    Ok(Ethernet {
        dst: t.given("dst", mac)?,
        src: t.given("src", mac)?,
        ether_type: t.bits("ether_type", 16)?,
    })
}

fn vlan(node: &Node<'_>) -> Result<Vlan, ConfigError> {
    let t = fields(node, &["id", "pcp", "dei", "tpid"])?;
    let why = "VLAN ids have 12 bits, and 4095 is reserved (IEEE 802.1Q)";
    Ok(Vlan {
        id: t.number("id", 4094, why, 0)?,
        pcp: t.bits("pcp", 3)?.unwrap_or(0),
        dei: t.truth("dei", false)?,
        tpid: t.bits("tpid", 16)?,
    })
}

fn mpls(node: &Node<'_>) -> Result<Mpls, ConfigError> {
    let (t, default) = (fields(node, &["label", "tc", "ttl"])?, Mpls::default());
    Ok(Mpls {
        label: t.bits("label", 20)?.unwrap_or(default.label),
        tc: t.bits("tc", 3)?.unwrap_or(default.tc),
        ttl: t.bits("ttl", 8)?.unwrap_or(default.ttl),
    })
}

fn ipv4(node: &Node<'_>) -> Result<Ipv4, ConfigError> {
    let keys =
        ["src", "dst", "dscp", "ecn", "id", "df", "mf", "fragment_offset", "ttl", "protocol", "options"];
    let (t, default) = (fields(node, &keys)?, Ipv4::default());
    let fragment_offset = t.bits("fragment_offset", 13)?.unwrap_or(0);
    let mf = t.truth("mf", false)?;
    Ok(Ipv4 {
        src: t.given("src", ip4)?,
        dst: t.given("dst", ip4)?,
        dscp: t.bits("dscp", 6)?.unwrap_or(0),
        ecn: t.bits("ecn", 2)?.unwrap_or(0),
        id: t.bits("id", 16)?.unwrap_or(0),
        // A fragment that must not be fragmented would be two wishes at once; who states both has both.
        df: t.truth("df", default.df && !mf && fragment_offset == 0)?,
        mf,
        fragment_offset,
        ttl: t.bits("ttl", 8)?.unwrap_or(default.ttl),
        protocol: t.bits("protocol", 8)?,
        options: t.given("options", |node| hex(node, MAX_OPTIONS))?.unwrap_or_default(),
    })
}

fn ipv6(node: &Node<'_>) -> Result<Ipv6, ConfigError> {
    let keys = ["src", "dst", "dscp", "ecn", "flow_label", "hop_limit", "next_header"];
    let (t, default) = (fields(node, &keys)?, Ipv6::default());
    Ok(Ipv6 {
        src: t.given("src", ip6)?,
        dst: t.given("dst", ip6)?,
        dscp: t.bits("dscp", 6)?.unwrap_or(0),
        ecn: t.bits("ecn", 2)?.unwrap_or(0),
        flow_label: t.bits("flow_label", 20)?.unwrap_or(0),
        hop_limit: t.bits("hop_limit", 8)?.unwrap_or(default.hop_limit),
        next_header: t.bits("next_header", 8)?,
    })
}

fn udp(node: &Node<'_>) -> Result<Udp, ConfigError> {
    let t = fields(node, &["src_port", "dst_port", "checksum"])?;
    Ok(Udp {
        src_port: t.bits("src_port", 16)?,
        dst_port: t.bits("dst_port", 16)?,
        checksum: t.given("checksum", Node::truth)?,
    })
}

fn tcp(node: &Node<'_>) -> Result<Tcp, ConfigError> {
    let keys = ["src_port", "dst_port", "seq", "ack", "flags", "window", "urgent", "options"];
    let (t, default) = (fields(node, &keys)?, Tcp::default());
    Ok(Tcp {
        src_port: t.bits("src_port", 16)?,
        dst_port: t.bits("dst_port", 16)?,
        seq: t.bits("seq", 32)?.unwrap_or(0),
        ack: t.bits("ack", 32)?.unwrap_or(0),
        flags: t.given("flags", flags)?.unwrap_or(0),
        window: t.bits("window", 16)?.unwrap_or(default.window),
        urgent: t.bits("urgent", 16)?.unwrap_or(0),
        options: t.given("options", |node| hex(node, MAX_OPTIONS))?.unwrap_or_default(),
    })
}

fn echo(node: &Node<'_>) -> Result<Echo, ConfigError> {
    let t = fields(node, &["type", "code", "id", "seq"])?;
    Ok(Echo {
        kind: t.bits("type", 8)?,
        code: t.bits("code", 8)?.unwrap_or(0),
        id: t.bits("id", 16)?.unwrap_or(0),
        seq: t.bits("seq", 16)?.unwrap_or(0),
    })
}

fn arp(node: &Node<'_>) -> Result<Arp, ConfigError> {
    let keys = ["operation", "sender_mac", "sender_ip", "target_mac", "target_ip"];
    let (t, default) = (fields(node, &keys)?, Arp::default());
    Ok(Arp {
        operation: t.bits("operation", 16)?.unwrap_or(default.operation),
        sender_mac: t.given("sender_mac", mac)?,
        sender_ip: t.given("sender_ip", ip4)?,
        target_mac: t.given("target_mac", mac)?.unwrap_or(default.target_mac),
        target_ip: t.given("target_ip", ip4)?,
    })
}

fn gre(node: &Node<'_>) -> Result<Gre, ConfigError> {
    let t = fields(node, &["checksum", "key", "seq", "protocol"])?;
    Ok(Gre {
        checksum: t.truth("checksum", false)?,
        key: t.bits("key", 32)?,
        seq: t.bits("seq", 32)?,
        protocol: t.bits("protocol", 16)?,
    })
}

fn vxlan(node: &Node<'_>) -> Result<Vxlan, ConfigError> {
    Ok(Vxlan { vni: fields(node, &["vni"])?.bits("vni", 24)?.unwrap_or(0) })
}

fn gtpu(node: &Node<'_>) -> Result<GtpU, ConfigError> {
    let t = fields(node, &["teid", "seq"])?;
    Ok(GtpU { teid: t.bits("teid", 32)?.unwrap_or(0), seq: t.bits("seq", 16)? })
}

/// What a header length of 4 bits, in words of 4 bytes, leaves room for behind 20 bytes (RFC 791, RFC 9293).
const MAX_OPTIONS: usize = 40;

/// A MAC address.
pub fn mac(node: &Node<'_>) -> Result<MacAddr6, ConfigError> {
    let read = |text: &str| text.parse().map_err(|_| "it is not a MAC address".to_owned());
    node.read("six bytes such as \"02:00:00:00:00:02\"", read)
}

/// An IPv4 address.
pub fn ip4(node: &Node<'_>) -> Result<Ipv4Addr, ConfigError> {
    node.read("an IPv4 address such as \"198.19.0.1\"", |text| match text.parse() {
        Ok(IpAddr::V4(ip)) => Ok(ip),
        Ok(IpAddr::V6(_)) => Err("it is an IPv6 address, and the field holds an IPv4 one".to_owned()),
        Err(_) => Err("it is not an IPv4 address".to_owned()),
    })
}

/// An IPv6 address.
pub fn ip6(node: &Node<'_>) -> Result<Ipv6Addr, ConfigError> {
    node.read("an IPv6 address such as \"2001:2:0:8000::1\"", |text| match text.parse() {
        Ok(IpAddr::V6(ip)) => Ok(ip),
        Ok(IpAddr::V4(_)) => Err("it is an IPv4 address, and the field holds an IPv6 one".to_owned()),
        Err(_) => Err("it is not an IPv6 address".to_owned()),
    })
}

/// TCP's control bits, by name or as a number.
pub fn flags(node: &Node<'_>) -> Result<u16, ConfigError> {
    if node.as_text().is_none() {
        return node.number(0x1FF, "it has 9 bits").map(|bits| u16::try_from(bits).unwrap_or(0));
    }
    node.read(TCP_FLAG_FORMS, |text| {
        tcp_flags(text).map_err(|word| format!("there is no control bit '{word}'"))
    })
}

/// Bytes in hexadecimal, `most` at the most.
pub fn hex(node: &Node<'_>, most: usize) -> Result<Vec<u8>, ConfigError> {
    let bytes = node.read("pairs of hexadecimal digits such as \"00ff\"", |text| {
        bytes_of(text).ok_or_else(|| "it is not made of pairs of hexadecimal digits".to_owned())
    })?;
    if bytes.len() > most {
        return Err(node.refuse(format!("{} bytes; at most {most}", bytes.len()), "fewer bytes"));
    }
    Ok(bytes)
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let pairs = digits?;
    let byte = |pair: &[u8]| if let [high, low] = pair { Some(high << 4 | low) } else { None };
    pairs.chunks(2).map(byte).collect()
}
