//! The constant bytes of a stream, built once: headers, an empty probe, padding, checksums. Knows no sequence
//! number and no time.

use super::headers::{Headers, Net};
use super::wire::{ether_type, ipv4, put, udp};
use super::{FrameError, L3, Stack, checksum};
use crate::units::FrameSize;

/// RFC 1700's default, and what every stack sends.
const HOPS: u8 = 64;
/// Don't fragment (RFC 791): a fragment would not be recognised.
const DONT_FRAGMENT: u16 = 0x4000;
const VERSION_4_IHL_5: u8 = 0x45;
const VERSION_6: u8 = 0x60;

/// A frame without its FCS, complete but for what the sender writes into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    bytes: Vec<u8>,
    headers: Headers,
}

impl Template {
    /// A frame of `size` with the headers of `stack`, zero from the probe on, checksums in place.
    ///
    /// Over IP the whole rest of the frame is UDP payload, so that every byte is under the checksum and
    /// nothing is Ethernet padding: IP and UDP length reach to the last byte before the FCS.
    ///
    /// # Errors
    /// As [`Stack::check`].
    pub fn new(stack: &Stack, size: FrameSize) -> Result<Self, FrameError> {
        stack.check(size)?;
        let headers = stack.headers();
        let mut bytes = Vec::with_capacity(size.in_memory());
        push_ethernet(&mut bytes, stack);
        push_l3(&mut bytes, &stack.l3, size.in_memory() - headers.l3);
        bytes.resize(size.in_memory(), 0);
        let mut template = Self { bytes, headers };
        template.seal();
        Ok(template)
    }

    /// The frame.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where its headers lie.
    #[must_use]
    pub fn headers(&self) -> Headers {
        self.headers
    }

    /// The frame, given away.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The frame, to be changed; its checksums no longer hold until [`Template::seal`].
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Computes the checksums of IP and UDP afresh.
    pub(super) fn seal(&mut self) {
        if self.headers.net == Net::V4 {
            let at = self.headers.l3 + ipv4::CHECKSUM;
            let sum = self.ip_sum_without_field();
            put(&mut self.bytes, at, checksum::field(sum).to_be_bytes());
        }
        if let Some(header) = self.headers.udp() {
            let sum = self.udp_sum_without_field();
            put(&mut self.bytes, header + udp::CHECKSUM, checksum::udp_field(sum).to_be_bytes());
        }
    }

    /// Sum of the IPv4 header, its checksum taken as zero.
    pub(super) fn ip_sum_without_field(&mut self) -> u64 {
        put(&mut self.bytes, self.headers.l3 + ipv4::CHECKSUM, [0; 2]);
        self.bytes.get(self.headers.ip()).map_or(0, checksum::sum)
    }

    /// Sum of the UDP datagram and its pseudo-header, its checksum taken as zero; zero without UDP.
    pub(super) fn udp_sum_without_field(&mut self) -> u64 {
        let Some(header) = self.headers.udp() else { return 0 };
        put(&mut self.bytes, header + udp::CHECKSUM, [0; 2]);
        match (self.bytes.get(self.headers.addresses()), self.bytes.get(header..)) {
            (Some(addresses), Some(datagram)) => checksum::datagram_sum(addresses, datagram),
            _ => 0,
        }
    }
}

fn push_ethernet(bytes: &mut Vec<u8>, stack: &Stack) {
    bytes.extend_from_slice(stack.dst_mac.as_bytes());
    bytes.extend_from_slice(stack.src_mac.as_bytes());
    for (tpid, id) in stack.tags() {
        bytes.extend_from_slice(&tpid.to_be_bytes());
        bytes.extend_from_slice(&id.to_be_bytes()); // priority 0, not drop eligible
    }
    let kind = match stack.l3 {
        L3::Ethernet => ether_type::PROBE,
        L3::V4 { .. } => ether_type::IPV4,
        L3::V6 { .. } => ether_type::IPV6,
    };
    bytes.extend_from_slice(&kind.to_be_bytes());
}

/// IP and UDP headers whose lengths reach `len` bytes from the first byte of the IP header.
fn push_l3(bytes: &mut Vec<u8>, l3: &L3, len: usize) {
    match l3 {
        L3::Ethernet => {}
        L3::V4 { src, dst, src_port, dst_port } => {
            bytes.extend_from_slice(&[VERSION_4_IHL_5, 0]); // traffic class: default
            bytes.extend_from_slice(&length(len));
            bytes.extend_from_slice(&[0, 0]); // identification: not needed in atomic datagrams (RFC 6864)
            bytes.extend_from_slice(&DONT_FRAGMENT.to_be_bytes());
            bytes.extend_from_slice(&[HOPS, udp::PROTOCOL, 0, 0]); // checksum: by seal
            bytes.extend_from_slice(&src.octets());
            bytes.extend_from_slice(&dst.octets());
            push_udp(bytes, *src_port, *dst_port, len - ipv4::LEN);
        }
        L3::V6 { src, dst, src_port, dst_port } => {
            let payload = len - super::wire::ipv6::LEN;
            bytes.extend_from_slice(&[VERSION_6, 0, 0, 0]); // traffic class and flow label: default
            bytes.extend_from_slice(&length(payload));
            bytes.extend_from_slice(&[udp::PROTOCOL, HOPS]);
            bytes.extend_from_slice(&src.octets());
            bytes.extend_from_slice(&dst.octets());
            push_udp(bytes, *src_port, *dst_port, payload);
        }
    }
}

fn push_udp(bytes: &mut Vec<u8>, src_port: u16, dst_port: u16, len: usize) {
    bytes.extend_from_slice(&src_port.to_be_bytes());
    bytes.extend_from_slice(&dst_port.to_be_bytes());
    bytes.extend_from_slice(&length(len));
    bytes.extend_from_slice(&[0, 0]); // checksum: by seal
}

/// A length field. [`FrameSize::MAX`] is far below 2^16, so the bound is never met.
fn length(len: usize) -> [u8; 2] {
    u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes()
}
