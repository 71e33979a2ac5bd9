//! An interface for the tests of the rooms that judge facts.

use super::InterfaceFacts;
use macaddr::MacAddr6;

/// A healthy Ethernet interface with one queue and no address.
pub fn facts(name: &str, ifindex: u32) -> InterfaceFacts {
    InterfaceFacts {
        name: name.to_owned(),
        ifindex,
        altnames: Vec::new(),
        mac: Some(MacAddr6::new(2, 0, 0, 0, 0, 1)),
        mtu: 1500,
        min_mtu: None,
        max_mtu: None,
        up: true,
        carrier: true,
        loopback: false,
        link_kind: None,
        veth_peer: None,
        lower: None,
        master: None,
        parent: None,
        driver: None,
        rx_queues: 1,
        tx_queues: 1,
        speed_bps: None,
        numa_node: None,
        xdp_features: None,
        zero_copy_chunks: None,
        rx_metadata: None,
        xdp_program: None,
        ipv4: None,
        ipv6: None,
    }
}
