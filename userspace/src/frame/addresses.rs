//! The addresses of a stack as text, as they stand in control frames and Reports. Knows no byte order.

use super::stack::{L3, Stack};
use macaddr::MacAddr6;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The headers of a stream's first flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    /// Source MAC.
    pub src_mac: String,
    /// Destination MAC.
    pub dst_mac: String,
    /// Source IP; None for plain Ethernet.
    pub src_ip: Option<IpAddr>,
    /// Destination IP; None for plain Ethernet.
    pub dst_ip: Option<IpAddr>,
    /// UDP source port; None for plain Ethernet.
    pub src_port: Option<u16>,
    /// UDP destination port; None for plain Ethernet.
    pub dst_port: Option<u16>,
    /// VLAN ids, outermost first.
    pub vlans: Vec<u16>,
}

impl Addresses {
    /// The addresses of `stack`.
    #[must_use]
    pub fn of(stack: &Stack) -> Self {
        let (src_ip, dst_ip, src_port, dst_port) = match stack.l3 {
            L3::Ethernet => (None, None, None, None),
            L3::V4 { src, dst, src_port, dst_port } => {
                (Some(src.into()), Some(dst.into()), Some(src_port), Some(dst_port))
            }
            L3::V6 { src, dst, src_port, dst_port } => {
                (Some(src.into()), Some(dst.into()), Some(src_port), Some(dst_port))
            }
        };
        Self {
            src_mac: stack.src_mac.to_string(),
            dst_mac: stack.dst_mac.to_string(),
            src_ip,
            dst_ip,
            src_port,
            dst_port,
            vlans: stack.vlans.clone(),
        }
    }

    /// The stack of an answer from `mac`: source and destination change places, but for the UDP ports, since it is
    /// by the destination port that either side knows our frames. None when the addresses do not go together.
    #[must_use]
    pub fn answer(&self, mac: MacAddr6) -> Option<Stack> {
        let l3 = match (self.src_ip, self.dst_ip, self.src_port, self.dst_port) {
            (Some(IpAddr::V4(dst)), Some(IpAddr::V4(src)), Some(src_port), Some(dst_port)) => {
                L3::V4 { src, dst, src_port, dst_port }
            }
            (Some(IpAddr::V6(dst)), Some(IpAddr::V6(src)), Some(src_port), Some(dst_port)) => {
                L3::V6 { src, dst, src_port, dst_port }
            }
            (None, None, None, None) => L3::Ethernet,
            _ => return None,
        };
        Some(Stack { src_mac: mac, dst_mac: self.src_mac.parse().ok()?, vlans: self.vlans.clone(), l3 })
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::any_stack;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_answer_to_an_answer_is_the_question(stack in any_stack()) {
            let there = Addresses::of(&stack);
            let back = there.answer(stack.dst_mac).unwrap();
            prop_assert_eq!(back.dst_mac, stack.src_mac);
            prop_assert_eq!(Addresses::of(&back).answer(stack.src_mac).unwrap(), stack);
        }
    }

    #[test]
    fn mixed_addresses_have_no_answer() {
        let mac = MacAddr6::new(2, 0, 0, 0, 0, 1);
        let stack = Stack { src_mac: mac, dst_mac: mac, vlans: vec![], l3: L3::Ethernet };
        let mixed = Addresses { src_ip: Some("192.0.2.1".parse().unwrap()), ..Addresses::of(&stack) };
        assert_eq!(mixed.answer(mac), None);
    }
}
