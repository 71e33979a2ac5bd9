//! A stack of headers as bytes: where each field lies, which fields follow the frame's length, which checksums
//! cover what, and by what a receiver can tell the frame. Knows no sequence number and no size.

mod builder;
mod compile;
mod headers;
mod order;

pub use compile::compile;

use macaddr::MacAddr6;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use thiserror::Error;

/// Headers of one stack at the most, in bytes: what its field offsets, and the XDP program's, are bounded by.
pub const MAX_HEADER_BYTES: usize = 512;
/// Layers of one stack at the most.
pub const MAX_LAYERS: usize = 24;
/// Checksums of one stack at the most: four tunnels deep.
pub const MAX_SUMS: usize = 8;
/// VLAN tags behind one Ethernet header.
pub const MAX_TAGS: usize = 2;

/// What the stack leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defaults {
    /// Source MAC of the outermost Ethernet header.
    pub src_mac: MacAddr6,
    /// Its destination MAC.
    pub dst_mac: MacAddr6,
    /// Source and destination of IPv4 headers.
    pub v4: (Ipv4Addr, Ipv4Addr),
    /// Source and destination of IPv6 headers.
    pub v6: (Ipv6Addr, Ipv6Addr),
    /// Source port of UDP and TCP.
    pub src_port: u16,
    /// Destination port of UDP and TCP.
    pub dst_port: u16,
}

impl Defaults {
    /// Made-up stations, and the networks set aside for benchmarks: RFC 2544, and RFC 5180 for IPv6.
    pub const BENCHMARK: Self = Self {
        src_mac: MacAddr6::new(2, 0, 0, 0, 0, 1),
        dst_mac: MacAddr6::new(2, 0, 0, 0, 0, 2),
        v4: (Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 19, 0, 1)),
        v6: (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0x2001, 2, 0, 0x8000, 0, 0, 0, 1)),
        src_port: 4242,
        // Discard (RFC 863).
        dst_port: 9,
    };
}

/// A stack as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// All headers; fields that follow the length, and checksums, are zero.
    pub header: Vec<u8>,
    /// Every field by name, in order of its layer.
    pub fields: Vec<Field>,
    /// Fields that follow the frame's length.
    pub lengths: Vec<Length>,
    /// Checksums, innermost first: each covers only fields that are known when its turn comes.
    pub sums: Vec<Sum>,
    /// First byte of the outermost IP header.
    pub l3: Option<usize>,
    /// What tells frames of this stack from others, in order of offset.
    pub checks: Vec<HalfCheck>,
}

/// One named field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// `ipv4.src`; of a second header of the kind `ipv4[2].src`.
    pub name: String,
    /// First bit, from the first bit of the frame; the most significant bit of a byte comes first.
    pub bit: usize,
    /// How many bits.
    pub bits: usize,
    /// How it is shown and written.
    pub notation: Notation,
}

/// How a field's value is shown and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// A decimal number.
    Decimal,
    /// A hexadecimal number.
    Hex,
    /// A MAC address, 48 bits.
    Mac,
    /// An IPv4 address, 32 bits.
    Ipv4,
    /// An IPv6 address, 128 bits.
    Ipv6,
    /// Bytes in hexadecimal.
    Bytes,
}

/// A u16 in network order whose value is the frame's length in memory less `minus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// Its first byte.
    pub at: usize,
    /// What of the frame it does not count.
    pub minus: usize,
}

/// A ones-complement checksum (RFC 1071).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum {
    /// First byte of the field.
    pub at: usize,
    /// First byte that it covers.
    pub from: usize,
    /// One past the last; None: to the end of the frame.
    pub to: Option<usize>,
    /// What it covers besides.
    pub pseudo: Option<Pseudo>,
    /// Whether a value of 0 is sent as 0xFFFF, since 0 says "none" (UDP).
    pub never_zero: bool,
}

/// A pseudo-header: addresses, protocol, and the length from [`Sum::from`] to the end of the frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pseudo {
    /// Source and destination address, one behind the other.
    pub addresses: Range<usize>,
    /// Protocol.
    pub protocol: u8,
}

/// Two bytes in network order that have a value in each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HalfCheck {
    /// First byte; even or odd.
    pub at: usize,
    /// The bits that count.
    pub mask: u16,
    /// Their value.
    pub value: u16,
}

/// Why a stack cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StackError {
    /// The list does not begin with Ethernet, or is empty.
    #[error("a frame begins with ethernet")]
    NoEthernet,
    /// A header that cannot stand where it stands.
    #[error("{layer} cannot follow {behind}")]
    Order {
        /// The header.
        layer: &'static str,
        /// What is in front of it.
        behind: &'static str,
    },
    /// A third VLAN tag.
    #[error("a frame takes {MAX_TAGS} VLAN tags at the most")]
    Tags,
    /// A field whose value it cannot hold.
    #[error("{field} {value}: {why}")]
    Value {
        /// The field's name.
        field: &'static str,
        /// The value.
        value: u64,
        /// The range, in words.
        why: &'static str,
    },
    /// More of something than there can be.
    #[error("{what}: {count}; at most {most}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many there can be.
        most: usize,
    },
}

impl Layout {
    /// First byte of the probe: right behind the headers.
    #[must_use]
    pub fn probe(&self) -> usize {
        self.header.len()
    }

    /// The field of that name; `ipv4.src` is the outermost one, and so is `ipv4[1].src`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        let name = name.replacen("[1]", "", 1);
        self.fields.iter().find(|field| field.name == name)
    }
}
