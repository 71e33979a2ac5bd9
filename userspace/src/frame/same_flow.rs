//! What frames of one flow have in common, whoever made them: a number by which they are spread over queues, as a NIC
//! spreads by its hash. Knows no queue.

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A hash of the outermost IP addresses with the protocol, and of the ports of TCP and UDP; of frames without IP, of
/// MACs and EtherType. Fragments have no ports to tell, as on a NIC.
#[must_use]
pub fn hash_of(frame: &[u8]) -> u64 {
    let mut hash = DefaultHasher::new();
    let packet = LaxSlicedPacket::from_ethernet(frame).ok();
    match packet.as_ref().and_then(|packet| packet.net.as_ref()) {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            (header.source(), header.destination(), header.protocol().0).hash(&mut hash);
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            (header.source(), header.destination(), ip.payload().ip_number.0).hash(&mut hash);
        }
        _ => frame.get(..14).unwrap_or(frame).hash(&mut hash),
    }
    match packet.as_ref().and_then(|packet| packet.transport.as_ref()) {
        Some(TransportSlice::Udp(udp)) => (udp.source_port(), udp.destination_port()).hash(&mut hash),
        Some(TransportSlice::Tcp(tcp)) => (tcp.source_port(), tcp.destination_port()).hash(&mut hash),
        _ => {}
    }
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    fn udp(v6: bool, port: u16, payload: &[u8], ttl: u8) -> Vec<u8> {
        let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let ip = if v6 {
            ethernet.single_vlan(7.try_into().unwrap()).ipv6([1; 16], [2; 16], ttl)
        } else {
            ethernet.single_vlan(7.try_into().unwrap()).ipv4([10, 0, 0, 1], [10, 0, 0, 2], ttl)
        };
        let mut frame = Vec::new();
        ip.udp(port, 9).write(&mut frame, payload).unwrap();
        frame
    }

    #[test]
    fn frames_of_one_flow_agree_whatever_they_carry() {
        for v6 in [false, true] {
            let of = |port, payload: &[u8], ttl| hash_of(&udp(v6, port, payload, ttl));
            assert_eq!(of(5, &[1; 20], 64), of(5, &[2; 900], 63));
            let flows: std::collections::BTreeSet<u64> = (0..64).map(|port| of(port, &[], 64)).collect();
            assert_eq!(flows.len(), 64);
        }
        assert_ne!(hash_of(&udp(false, 5, &[], 64)), hash_of(&udp(true, 5, &[], 64)));
    }

    #[test]
    fn what_is_no_ip_is_told_apart_by_its_ethernet_header() {
        let arp =
            |last: u8, rest: u8| [&[0xFF; 6][..], &[2, 0, 0, 0, 0, last], &[8, 6], &[rest; 28]].concat();
        assert_eq!(hash_of(&arp(1, 0)), hash_of(&arp(1, 9)));
        assert_ne!(hash_of(&arp(1, 0)), hash_of(&arp(2, 0)));
        for len in 0..14 {
            assert_eq!(hash_of(&arp(1, 0)[..len]), hash_of(&arp(1, 9)[..len]));
        }
    }
}
