//! Which header may follow which, and the number by which the one in front announces it. Knows no bytes.

use super::{MAX_LAYERS, MAX_TAGS, StackError};
use crate::frame::layer::Layer;
use crate::frame::wire::ether_type;

/// Local experimental EtherType 2 (IEEE 802): bytes of the user's own.
const ETHER_TYPE_RAW: u16 = 0x88B6;
const ETHER_TYPE_ARP: u16 = 0x0806;
const ETHER_TYPE_MPLS: u16 = 0x8847;
/// Transparent Ethernet bridging, in GRE (RFC 1701).
const ETHER_TYPE_BRIDGED: u16 = 0x6558;
/// "Use for experimentation and testing" (RFC 3692).
const PROTOCOL_EXPERIMENT: u8 = 253;
const PROTOCOL_MPLS: u8 = 137;

/// Refuses a list of headers that cannot stand one behind the other.
pub fn check(layers: &[Layer]) -> Result<(), StackError> {
    if !matches!(layers.first(), Some(Layer::Ethernet(_))) {
        return Err(StackError::NoEthernet);
    }
    if layers.len() > MAX_LAYERS {
        return Err(StackError::TooMany { what: "headers", count: layers.len(), most: MAX_LAYERS });
    }
    let mut tags = 0;
    for (at, layer) in layers.iter().enumerate() {
        tags = if matches!(layer, Layer::Vlan(_)) { tags + 1 } else { 0 };
        if tags > MAX_TAGS {
            return Err(StackError::Tags);
        }
        let next = layers.get(at + 1);
        if !may_follow(layer, next) {
            let layer_name = next.map_or("the end of the stack", Layer::name);
            return Err(StackError::Order { layer: layer_name, behind: layer.name() });
        }
    }
    Ok(())
}

fn may_follow(layer: &Layer, next: Option<&Layer>) -> bool {
    use Layer::{Arp, Ethernet, Gre, GtpU, Icmp, Icmpv6, Ipv4, Ipv6, Mpls, Raw, Tcp, Udp, Vlan, Vxlan};
    match (layer, next) {
        (Vxlan(_), next) => matches!(next, Some(Ethernet(_))),
        (_, None) => true,
        (Ethernet(_) | Vlan(_), Some(next)) => {
            matches!(next, Vlan(_) | Mpls(_) | Ipv4(_) | Ipv6(_) | Arp(_) | Raw(_))
        }
        (Mpls(_), Some(next)) => matches!(next, Mpls(_) | Ipv4(_) | Ipv6(_) | Ethernet(_) | Raw(_)),
        (Ipv4(_), Some(next)) => {
            matches!(next, Udp(_) | Tcp(_) | Icmp(_) | Gre(_) | Ipv4(_) | Ipv6(_) | Mpls(_) | Raw(_))
        }
        (Ipv6(_), Some(next)) => {
            matches!(next, Udp(_) | Tcp(_) | Icmpv6(_) | Gre(_) | Ipv4(_) | Ipv6(_) | Mpls(_) | Raw(_))
        }
        (Udp(_), Some(next)) => matches!(next, Vxlan(_) | GtpU(_) | Raw(_)),
        (Gre(_), Some(next)) => matches!(next, Ipv4(_) | Ipv6(_) | Ethernet(_) | Mpls(_) | Arp(_) | Raw(_)),
        (GtpU(_), Some(next)) => matches!(next, Ipv4(_) | Ipv6(_) | Raw(_)),
        (Tcp(_) | Icmp(_) | Icmpv6(_) | Arp(_), Some(next)) => matches!(next, Raw(_)),
        (Raw(_), Some(_)) => false,
    }
}

/// The EtherType that announces `layers[0]`; behind the last header stands the probe.
pub fn ether_type_of(layers: &[Layer]) -> u16 {
    match layers.first() {
        None => ether_type::PROBE,
        Some(Layer::Vlan(tag)) => tag.tpid.unwrap_or(match layers.get(1) {
            Some(Layer::Vlan(_)) => ether_type::S_TAG,
            _ => ether_type::C_TAG,
        }),
        Some(Layer::Mpls(_)) => ETHER_TYPE_MPLS,
        Some(Layer::Ipv4(_)) => ether_type::IPV4,
        Some(Layer::Ipv6(_)) => ether_type::IPV6,
        Some(Layer::Arp(_)) => ETHER_TYPE_ARP,
        Some(Layer::Ethernet(_)) => ETHER_TYPE_BRIDGED,
        Some(_) => ETHER_TYPE_RAW,
    }
}

/// The IP protocol that announces `next`.
pub const fn protocol_of(next: Option<&Layer>) -> u8 {
    match next {
        Some(Layer::Udp(_)) => 17,
        Some(Layer::Tcp(_)) => 6,
        Some(Layer::Icmp(_)) => 1,
        Some(Layer::Icmpv6(_)) => 58,
        Some(Layer::Gre(_)) => 47,
        Some(Layer::Ipv4(_)) => 4,
        Some(Layer::Ipv6(_)) => 41,
        Some(Layer::Mpls(_)) => PROTOCOL_MPLS,
        _ => PROTOCOL_EXPERIMENT,
    }
}
