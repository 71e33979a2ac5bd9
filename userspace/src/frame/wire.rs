//! Where the fields of Ethernet, IP and UDP lie, and how one is read and written: shared by builder and
//! reader, so that they cannot differ. Knows no stream and no probe.

/// Ethernet II (IEEE 802.3), offsets from the first byte of the frame.
pub mod ethernet {
    /// Destination MAC, 6 bytes.
    pub const DESTINATION: usize = 0;
    /// Source MAC, 6 bytes.
    pub const SOURCE: usize = 6;
    /// EtherType, u16, of an untagged frame.
    pub const ETHER_TYPE: usize = 12;
    /// Header length without tags.
    pub const LEN: usize = 14;
    /// Length of one VLAN tag (IEEE 802.1Q): TPID and TCI.
    pub const TAG_LEN: usize = 4;
}

/// EtherTypes (IEEE registration authority).
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// IPv6.
    pub const IPV6: u16 = 0x86DD;
    /// Customer VLAN tag (IEEE 802.1Q).
    pub const C_TAG: u16 = 0x8100;
    /// Service VLAN tag (IEEE 802.1ad): the outer of two.
    pub const S_TAG: u16 = 0x88A8;
    /// Local experimental EtherType 1 (IEEE 802): frames that carry a probe right behind the Ethernet header.
    pub const PROBE: u16 = 0x88B5;
}

/// IPv4 (RFC 791), offsets from the first byte of its header.
pub mod ipv4 {
    /// Version in the high, header length in 4-byte words in the low nibble.
    pub const VERSION_IHL: usize = 0;
    /// Total length, u16: header and payload.
    pub const TOTAL_LEN: usize = 2;
    /// Flags (3 bits) and fragment offset (13 bits), u16.
    pub const FRAGMENT: usize = 6;
    /// More-fragments flag and offset: zero in a datagram that is whole.
    pub const FRAGMENT_MASK: u16 = 0x3FFF;
    /// Payload protocol, u8.
    pub const PROTOCOL: usize = 9;
    /// Header checksum, u16.
    pub const CHECKSUM: usize = 10;
    /// Source address, followed by the destination address; 4 bytes each.
    pub const SOURCE: usize = 12;
    /// Bytes of both addresses.
    pub const ADDRESSES: usize = 8;
    /// Header length without options.
    pub const LEN: usize = 20;
}

/// IPv6 (RFC 8200), offsets from the first byte of its header.
pub mod ipv6 {
    /// Length of what follows the header, u16.
    pub const PAYLOAD_LEN: usize = 4;
    /// Payload protocol, u8.
    pub const NEXT_HEADER: usize = 6;
    /// Source address, followed by the destination address; 16 bytes each.
    pub const SOURCE: usize = 8;
    /// Bytes of both addresses.
    pub const ADDRESSES: usize = 32;
    /// Header length.
    pub const LEN: usize = 40;
}

/// UDP (RFC 768), offsets from the first byte of its header.
pub mod udp {
    /// Source port, u16.
    pub const SOURCE_PORT: usize = 0;
    /// Destination port, u16.
    pub const DESTINATION_PORT: usize = 2;
    /// Length of header and payload, u16.
    pub const LENGTH: usize = 4;
    /// Checksum, u16.
    pub const CHECKSUM: usize = 6;
    /// Header length.
    pub const LEN: usize = 8;
    /// Its number in the IP header.
    pub const PROTOCOL: u8 = 17;
}

/// The `N` bytes at `at`, or None past the end.
#[inline]
#[must_use]
pub fn get<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>()
}

/// The u16 in network order at `at`, or None past the end.
#[inline]
#[must_use]
pub fn get_u16(bytes: &[u8], at: usize) -> Option<u16> {
    get(bytes, at).map(|field| u16::from_be_bytes(*field))
}

/// Writes `value` at `at`; does nothing past the end, which no layout of ours reaches.
#[inline]
pub fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    if let Some(field) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
        *field = value;
    }
}
