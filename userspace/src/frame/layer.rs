//! The headers that a frame can have, each as a person chooses its fields; a stack is a list of them, outermost
//! first. Knows no byte order and no checksum: `layout` makes bytes of it.
//!
//! What every header says about its neighbours (EtherType, protocol, next header, lengths, checksums) follows
//! from the list, unless a field states another value on purpose.

use macaddr::MacAddr6;
use std::net::{Ipv4Addr, Ipv6Addr};

/// One header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    /// Ethernet II: first, or inside VXLAN and GRE.
    Ethernet(Ethernet),
    /// A VLAN tag, right behind Ethernet or another tag.
    Vlan(Vlan),
    /// One label of an MPLS stack (RFC 3032).
    Mpls(Mpls),
    /// IPv4 (RFC 791).
    Ipv4(Ipv4),
    /// IPv6 (RFC 8200), without extension headers.
    Ipv6(Ipv6),
    /// UDP (RFC 768).
    Udp(Udp),
    /// TCP (RFC 9293): the header alone, no connection.
    Tcp(Tcp),
    /// ICMP echo (RFC 792).
    Icmp(Echo),
    /// ICMPv6 echo (RFC 4443).
    Icmpv6(Echo),
    /// ARP for IPv4 over Ethernet (RFC 826).
    Arp(Arp),
    /// GRE (RFC 2784, RFC 2890).
    Gre(Gre),
    /// VXLAN (RFC 7348), behind UDP and in front of Ethernet.
    Vxlan(Vxlan),
    /// GTP-U version 1 (3GPP TS 29.281), behind UDP and in front of IP: a G-PDU.
    GtpU(GtpU),
    /// Bytes as they are; last, or behind Ethernet and its tags with an EtherType stated there.
    Raw(Vec<u8>),
}

/// Ethernet II.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ethernet {
    /// Destination; None: the run's own (outermost), or a made-up one (inside a tunnel).
    pub dst: Option<MacAddr6>,
    /// Source, likewise.
    pub src: Option<MacAddr6>,
    /// EtherType; None: what follows says it. Behind the last header of ours it is 0x88B5.
    pub ether_type: Option<u16>,
}

/// A VLAN tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Vlan {
    /// 0 to 4094.
    pub id: u16,
    /// Priority, 0 to 7.
    pub pcp: u8,
    /// Drop eligible.
    pub dei: bool,
    /// TPID; None: 0x88A8 in front of another tag, else 0x8100.
    pub tpid: Option<u16>,
}

/// One MPLS label. The bottom-of-stack bit follows from the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mpls {
    /// 0 to 2^20 − 1.
    pub label: u32,
    /// Traffic class, 0 to 7.
    pub tc: u8,
    /// Time to live.
    pub ttl: u8,
}

/// IPv4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ipv4 {
    /// Source; None: the run's own.
    pub src: Option<Ipv4Addr>,
    /// Destination; None: the run's own.
    pub dst: Option<Ipv4Addr>,
    /// 0 to 63.
    pub dscp: u8,
    /// 0 to 3.
    pub ecn: u8,
    /// Identification.
    pub id: u16,
    /// Don't fragment.
    pub df: bool,
    /// More fragments.
    pub mf: bool,
    /// Fragment offset in units of 8 bytes, 0 to 8191.
    pub fragment_offset: u16,
    /// Time to live.
    pub ttl: u8,
    /// Protocol; None: what follows says it (253, for experiments, where nothing does).
    pub protocol: Option<u8>,
    /// Options, padded with zeros to a multiple of 4; at most 40 bytes.
    pub options: Vec<u8>,
}

/// IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv6 {
    /// Source; None: the run's own.
    pub src: Option<Ipv6Addr>,
    /// Destination; None: the run's own.
    pub dst: Option<Ipv6Addr>,
    /// 0 to 63.
    pub dscp: u8,
    /// 0 to 3.
    pub ecn: u8,
    /// 0 to 2^20 − 1.
    pub flow_label: u32,
    /// Hop limit.
    pub hop_limit: u8,
    /// Next header; None: what follows says it (253 where nothing does).
    pub next_header: Option<u8>,
}

/// UDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Udp {
    /// Source port; None: the run's own, or 49152 in front of a tunnel header.
    pub src_port: Option<u16>,
    /// Destination port; None: the run's own, or the tunnel's (4789, 2152).
    pub dst_port: Option<u16>,
    /// Whether the checksum is computed; None: yes, but for VXLAN over IPv4 (RFC 7348, section 5).
    pub checksum: Option<bool>,
}

/// TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tcp {
    /// Source port; None: the run's own.
    pub src_port: Option<u16>,
    /// Destination port; None: the run's own.
    pub dst_port: Option<u16>,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// The 8 control bits and, above them, NS: FIN is bit 0, SYN 1, RST 2, PSH 3, ACK 4, URG 5, ECE 6, CWR 7, NS 8.
    pub flags: u16,
    /// Window.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options, padded with zeros to a multiple of 4; at most 40 bytes.
    pub options: Vec<u8>,
}

/// ICMP or ICMPv6 echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Echo {
    /// Type; None: echo request (8, or 128).
    pub kind: Option<u8>,
    /// Code.
    pub code: u8,
    /// Identifier.
    pub id: u16,
    /// Sequence number.
    pub seq: u16,
}

/// ARP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arp {
    /// 1 request, 2 reply.
    pub operation: u16,
    /// Sender's MAC; None: that of the Ethernet header.
    pub sender_mac: Option<MacAddr6>,
    /// Sender's IP; None: the run's own.
    pub sender_ip: Option<Ipv4Addr>,
    /// Target's MAC.
    pub target_mac: MacAddr6,
    /// Target's IP; None: the run's destination.
    pub target_ip: Option<Ipv4Addr>,
}

/// GRE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gre {
    /// Whether it has a checksum.
    pub checksum: bool,
    /// Key, if it has one.
    pub key: Option<u32>,
    /// Sequence number, if it has one.
    pub seq: Option<u32>,
    /// Protocol type; None: what follows says it.
    pub protocol: Option<u16>,
}

/// VXLAN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Vxlan {
    /// Network identifier, 0 to 2^24 − 1.
    pub vni: u32,
}

/// GTP-U.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GtpU {
    /// Tunnel endpoint identifier.
    pub teid: u32,
    /// Sequence number; with one the header has 12 bytes instead of 8.
    pub seq: Option<u16>,
}

/// RFC 1700's default, and what every stack sends.
const HOPS: u8 = 64;

impl Default for Mpls {
    fn default() -> Self {
        Self { label: 0, tc: 0, ttl: HOPS }
    }
}

impl Default for Ipv4 {
    fn default() -> Self {
        Self {
            src: None,
            dst: None,
            dscp: 0,
            ecn: 0,
            id: 0,
            // A fragment would not be recognised.
            df: true,
            mf: false,
            fragment_offset: 0,
            ttl: HOPS,
            protocol: None,
            options: Vec::new(),
        }
    }
}

impl Default for Ipv6 {
    fn default() -> Self {
        Self { src: None, dst: None, dscp: 0, ecn: 0, flow_label: 0, hop_limit: HOPS, next_header: None }
    }
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            src_port: None,
            dst_port: None,
            seq: 0,
            ack: 0,
            flags: 0,
            window: u16::MAX,
            urgent: 0,
            options: Vec::new(),
        }
    }
}

impl Default for Arp {
    fn default() -> Self {
        Self { operation: 1, sender_mac: None, sender_ip: None, target_mac: MacAddr6::nil(), target_ip: None }
    }
}

impl Layer {
    /// Its name, as it stands in stream files and in front of its fields.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ethernet(_) => "ethernet",
            Self::Vlan(_) => "vlan",
            Self::Mpls(_) => "mpls",
            Self::Ipv4(_) => "ipv4",
            Self::Ipv6(_) => "ipv6",
            Self::Udp(_) => "udp",
            Self::Tcp(_) => "tcp",
            Self::Icmp(_) => "icmp",
            Self::Icmpv6(_) => "icmpv6",
            Self::Arp(_) => "arp",
            Self::Gre(_) => "gre",
            Self::Vxlan(_) => "vxlan",
            Self::GtpU(_) => "gtpu",
            Self::Raw(_) => "raw",
        }
    }
}
