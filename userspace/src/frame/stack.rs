//! Which headers a stream's frames have, as a person chooses them. Knows no byte order and no checksum.

use super::headers::{Headers, Net};
use super::layer::{Ethernet, Ipv4, Ipv6, Layer, Udp, Vlan};
use super::probe;
use super::wire::{ethernet, ipv4, ipv6, udp};
use super::{FrameError, wire};
use crate::units::{FCS_BYTES, FrameSize};
use macaddr::MacAddr6;
use std::net::{Ipv4Addr, Ipv6Addr};

/// VLAN tags that a frame may have: an 802.1ad service tag and an 802.1Q customer tag.
pub const MAX_VLANS: usize = 2;
const MAX_VLAN_ID: u16 = 4094;

/// The headers of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// Source MAC.
    pub src_mac: MacAddr6,
    /// Destination MAC.
    pub dst_mac: MacAddr6,
    /// VLAN ids, outermost first; at most [`MAX_VLANS`]. Of two, the outer tag is 0x88A8 and the inner
    /// 0x8100.
    pub vlans: Vec<u16>,
    /// What follows the Ethernet header.
    pub l3: L3,
}

/// What follows the Ethernet header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum L3 {
    /// The probe itself, as EtherType 0x88B5.
    Ethernet,
    /// UDP over IPv4.
    V4 {
        /// Source address of the first flow.
        src: Ipv4Addr,
        /// Destination address.
        dst: Ipv4Addr,
        /// UDP source port of the first flow.
        src_port: u16,
        /// UDP destination port.
        dst_port: u16,
    },
    /// UDP over IPv6.
    V6 {
        /// Source address of the first flow.
        src: Ipv6Addr,
        /// Destination address.
        dst: Ipv6Addr,
        /// UDP source port of the first flow.
        src_port: u16,
        /// UDP destination port.
        dst_port: u16,
    },
}

impl Stack {
    /// The smallest frame, FCS included, that holds the headers and a probe: 64 bytes or more.
    #[must_use]
    pub fn min_size(&self) -> FrameSize {
        let bytes = self.headers().probe + probe::LEN + FCS_BYTES as usize;
        u32::try_from(bytes).ok().and_then(FrameSize::new).unwrap_or(FrameSize::MIN)
    }

    /// IP length in bytes of a frame of `size`, which layer 3 rates count; None without IP.
    #[must_use]
    pub fn l3_len(&self, size: FrameSize) -> Option<u32> {
        let before = u32::try_from(self.headers().l3).ok()? + FCS_BYTES;
        match self.l3 {
            L3::Ethernet => None,
            L3::V4 { .. } | L3::V6 { .. } => size.with_fcs().checked_sub(before),
        }
    }

    /// UDP destination port, by which the sink knows the frames; None without UDP.
    #[must_use]
    pub fn dst_port(&self) -> Option<u16> {
        match self.l3 {
            L3::Ethernet => None,
            L3::V4 { dst_port, .. } | L3::V6 { dst_port, .. } => Some(dst_port),
        }
    }

    /// The headers, every address stated.
    #[must_use]
    pub fn layers(&self) -> Vec<Layer> {
        let ethernet = Ethernet { dst: Some(self.dst_mac), src: Some(self.src_mac), ether_type: None };
        let tags = self.vlans.iter().map(|id| Layer::Vlan(Vlan { id: *id, ..Vlan::default() }));
        let udp = |src_port, dst_port| {
            Layer::Udp(Udp { src_port: Some(src_port), dst_port: Some(dst_port), checksum: None })
        };
        let inner = match self.l3 {
            L3::Ethernet => Vec::new(),
            L3::V4 { src, dst, src_port, dst_port } => {
                let ip = Ipv4 { src: Some(src), dst: Some(dst), ..Ipv4::default() };
                vec![Layer::Ipv4(ip), udp(src_port, dst_port)]
            }
            L3::V6 { src, dst, src_port, dst_port } => {
                let ip = Ipv6 { src: Some(src), dst: Some(dst), ..Ipv6::default() };
                vec![Layer::Ipv6(ip), udp(src_port, dst_port)]
            }
        };
        std::iter::once(Layer::Ethernet(ethernet)).chain(tags).chain(inner).collect()
    }

    /// Where the headers lie.
    #[must_use]
    pub fn headers(&self) -> Headers {
        let l3 = ethernet::LEN + self.vlans.len() * ethernet::TAG_LEN;
        let (net, behind) = match self.l3 {
            L3::Ethernet => (Net::Ethernet, 0),
            L3::V4 { .. } => (Net::V4, ipv4::LEN + udp::LEN),
            L3::V6 { .. } => (Net::V6, ipv6::LEN + udp::LEN),
        };
        Headers { net, l3, probe: l3 + behind }
    }

    /// Whether frames of `size` can be built.
    ///
    /// # Errors
    /// Too many tags, an id that is no VLAN, or a size that does not hold headers and probe.
    pub fn check(&self, size: FrameSize) -> Result<(), FrameError> {
        if self.vlans.len() > MAX_VLANS {
            return Err(FrameError::TooManyVlans { count: self.vlans.len() });
        }
        if let Some(id) = self.vlans.iter().copied().find(|id| *id > MAX_VLAN_ID) {
            return Err(FrameError::VlanId { id });
        }
        let min = self.min_size();
        if size < min { Err(FrameError::TooSmall { min: min.with_fcs() }) } else { Ok(()) }
    }

    /// TPID and id of each tag, outermost first.
    pub(super) fn tags(&self) -> impl Iterator<Item = (u16, u16)> {
        let last = self.vlans.len().saturating_sub(1);
        self.vlans.iter().enumerate().map(move |(at, id)| {
            let tpid = if at == last { wire::ether_type::C_TAG } else { wire::ether_type::S_TAG };
            (tpid, *id)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(vlans: &[u16], l3: L3) -> Stack {
        Stack { src_mac: MacAddr6::nil(), dst_mac: MacAddr6::broadcast(), vlans: vlans.to_vec(), l3 }
    }

    fn v4() -> L3 {
        L3::V4 { src: [198, 18, 0, 1].into(), dst: [198, 19, 0, 1].into(), src_port: 1024, dst_port: 9 }
    }

    fn v6() -> L3 {
        L3::V6 { src: Ipv6Addr::LOCALHOST, dst: Ipv6Addr::LOCALHOST, src_port: 1024, dst_port: 9 }
    }

    #[test]
    fn smallest_sizes_by_hand() {
        let min = |vlans: &[u16], l3| stack(vlans, l3).min_size().with_fcs();
        assert_eq!([min(&[], v4()), min(&[1], v4()), min(&[1, 2], v4())], [64, 68, 72]);
        assert_eq!([min(&[], v6()), min(&[1], v6()), min(&[1, 2], v6())], [84, 88, 92]);
        assert_eq!([min(&[], L3::Ethernet), min(&[1, 2], L3::Ethernet)], [64, 64]);
    }

    #[test]
    fn ip_length_leaves_out_ethernet_tags_and_fcs() {
        let size = FrameSize::new(1518).unwrap();
        assert_eq!(stack(&[], v4()).l3_len(size), Some(1500));
        assert_eq!(stack(&[1], v6()).l3_len(size), Some(1496));
        assert_eq!(stack(&[], L3::Ethernet).l3_len(size), None);
    }

    #[test]
    fn what_cannot_be_built_is_refused_with_the_minimum() {
        let size = FrameSize::new(71).unwrap();
        assert_eq!(stack(&[1, 2], v4()).check(size), Err(FrameError::TooSmall { min: 72 }));
        assert_eq!(stack(&[1, 2, 3], v4()).check(size), Err(FrameError::TooManyVlans { count: 3 }));
        assert_eq!(stack(&[4095], v4()).check(size), Err(FrameError::VlanId { id: 4095 }));
        assert_eq!(stack(&[4094], v4()).check(size), Ok(()));
    }

    #[test]
    fn a_single_tag_is_a_customer_tag() {
        assert_eq!(stack(&[7], v4()).tags().collect::<Vec<_>>(), [(0x8100, 7)]);
        assert_eq!(stack(&[7, 8], v4()).tags().collect::<Vec<_>>(), [(0x88A8, 7), (0x8100, 8)]);
    }
}
