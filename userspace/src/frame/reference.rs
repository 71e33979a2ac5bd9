//! What the tests of this room compare with: frames built from scratch by the plainest code, a second parser,
//! and random specifications. Knows nothing of templates, modifiers and incremental sums.

use super::layout::Defaults;
use super::probe::MAX_SPACES;
use super::sizes::Sizes;
use super::{L3, Place, Stack, StreamSpec};
use crate::units::FrameSize;
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use macaddr::MacAddr6;
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Ones-complement sum, 16 bits at a time (RFC 1071).
pub fn sum(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0u16, |acc, pair| {
        let word = u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]);
        let (sum, carry) = acc.overflowing_add(word);
        sum + u16::from(carry)
    })
}

/// 198.18.0.1:1024 to 198.19.0.1:9 (RFC 2544).
pub fn v4_stack() -> Stack {
    let l3 = L3::V4 {
        src: Ipv4Addr::new(198, 18, 0, 1),
        dst: Ipv4Addr::new(198, 19, 0, 1),
        src_port: 1024,
        dst_port: 9,
    };
    Stack {
        src_mac: MacAddr6::new(2, 0, 0, 0, 0, 1),
        dst_mac: MacAddr6::new(2, 0, 0, 0, 0, 2),
        vlans: vec![],
        l3,
    }
}

/// 2001:2::1 port 1024 to 2001:2::2 port 9 (RFC 5180).
pub fn v6_stack() -> Stack {
    let address = |last| Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, last);
    let l3 = L3::V6 { src: address(1), dst: address(2), src_port: 1024, dst_port: 9 };
    Stack { l3, ..v4_stack() }
}

/// A stream of a plain stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainSpec {
    pub stack: Stack,
    pub size: FrameSize,
    pub flows: u32,
    pub space: u16,
    pub spaces: u16,
    pub run: u16,
    pub clock: u16,
    pub verify: bool,
}

impl PlainSpec {
    /// As its sender takes it.
    pub fn spec(&self) -> StreamSpec {
        StreamSpec {
            layers: self.stack.layers(),
            defaults: Defaults::BENCHMARK,
            modifiers: Vec::new(),
            sizes: Sizes::Fixed(self.size),
            flows: self.flows,
            place: Place { worker: self.space, workers: self.spaces, stream: 0, streams: 1 },
            run: self.run,
            clock: self.clock,
            verify: self.verify,
        }
    }
}

/// One flow in one space over IPv4, 128 bytes.
pub fn v4_spec() -> PlainSpec {
    let size = FrameSize::new(128).unwrap();
    PlainSpec { stack: v4_stack(), size, flows: 1, space: 0, spaces: 1, run: 7, clock: 11, verify: true }
}

fn any_l3() -> impl Strategy<Value = L3> {
    prop_oneof![
        Just(L3::Ethernet),
        any::<(u32, u32, u16, u16)>().prop_map(|(src, dst, src_port, dst_port)| L3::V4 {
            src: src.into(),
            dst: dst.into(),
            src_port,
            dst_port
        }),
        any::<(u128, u128, u16, u16)>().prop_map(|(src, dst, src_port, dst_port)| L3::V6 {
            src: src.into(),
            dst: dst.into(),
            src_port,
            dst_port
        }),
    ]
}

/// Any headers that frames can have.
pub fn any_stack() -> impl Strategy<Value = Stack> {
    (any::<[u8; 6]>(), any::<[u8; 6]>(), prop::collection::vec(0u16..4095, 0..=2), any_l3())
        .prop_map(|(src, dst, vlans, l3)| Stack { src_mac: src.into(), dst_mac: dst.into(), vlans, l3 })
}

/// Any stream that can be had; sizes up to a little above the smallest jumbo frame, odd ones included.
pub fn any_spec() -> impl Strategy<Value = PlainSpec> {
    let flows = prop_oneof![Just(1), 1u32..100, 1u32..];
    let sizes = prop_oneof![Just(0), 0u32..64, 0u32..1600];
    (any_stack(), sizes, flows, 1..=MAX_SPACES, any::<u16>(), any::<[u16; 2]>(), any::<bool>()).prop_map(
        |(stack, extra, flows, spaces, space, [run, clock], verify)| {
            let size = FrameSize::new(stack.min_size().with_fcs() + extra).unwrap();
            let flows = if stack.l3 == L3::Ethernet { 1 } else { flows };
            PlainSpec { stack, size, flows, space: space % spaces, spaces, run, clock, verify }
        },
    )
}

/// Frame `seq` built from its first to its last byte.
pub fn frame(spec: &PlainSpec, seq: u64, sent: u64, measured: bool) -> Vec<u8> {
    let index = seq.wrapping_mul(u64::from(spec.spaces)).wrapping_add(u64::from(spec.space));
    let flow = (index % u64::from(spec.flows)) as u32;
    let mut probe = vec![0x58, 0x47];
    probe.extend(spec.run.to_be_bytes());
    probe.extend((spec.space | if measured { 0x8000 } else { 0 }).to_be_bytes());
    probe.extend((seq as u32).to_be_bytes());
    probe.extend(spec.clock.to_be_bytes());
    probe.extend(&sent.to_be_bytes()[2..]);

    let mut frame = spec.stack.dst_mac.into_array().to_vec();
    frame.extend(spec.stack.src_mac.into_array());
    match spec.stack.vlans[..] {
        [inner] => tag(&mut frame, 0x8100, inner),
        [outer, inner] => {
            tag(&mut frame, 0x88A8, outer);
            tag(&mut frame, 0x8100, inner);
        }
        _ => {}
    }
    let room = spec.size.with_fcs() as usize - 4 - frame.len() - 2;
    match spec.stack.l3 {
        L3::Ethernet => {
            frame.extend([0x88, 0xB5]);
            probe.resize(room, 0);
            frame.extend(probe);
        }
        L3::V4 { src, dst, src_port, dst_port } => {
            frame.extend([0x08, 0x00]);
            let src = u32::from(src).wrapping_add(flow).to_be_bytes();
            let addresses = [src, dst.octets()].concat();
            let mut header = vec![0x45, 0, (room >> 8) as u8, room as u8, 0, 0, 0x40, 0, 64, 17, 0, 0];
            header.extend(&addresses);
            let check = !sum(&header);
            header[10..12].copy_from_slice(&check.to_be_bytes());
            frame.extend(header);
            let udp = datagram(&addresses, [port_of(src_port, flow, spec.flows), dst_port], probe, room - 20);
            frame.extend(if spec.verify { udp } else { without_checksum(udp) });
        }
        L3::V6 { src, dst, src_port, dst_port } => {
            frame.extend([0x86, 0xDD]);
            let (high, low) = (u128::from(src) >> 64 << 64, u128::from(src) as u64);
            let src = (high | u128::from(low.wrapping_add(flow.into()))).to_be_bytes();
            let addresses = [src, dst.octets()].concat();
            let payload = room - 40;
            frame.extend([0x60, 0, 0, 0, (payload >> 8) as u8, payload as u8, 17, 64]);
            frame.extend(&addresses);
            frame.extend(datagram(
                &addresses,
                [port_of(src_port, flow, spec.flows), dst_port],
                probe,
                payload,
            ));
        }
    }
    frame
}

/// Every third port, as long as there are enough.
fn port_of(first: u16, flow: u32, flows: u32) -> u16 {
    let last = u64::from(first) + 3 * (u64::from(flows) - 1);
    first.wrapping_add((if last < 65_536 { flow * 3 } else { flow }) as u16)
}

fn tag(frame: &mut Vec<u8>, tpid: u16, id: u16) {
    frame.extend(tpid.to_be_bytes());
    frame.extend(id.to_be_bytes());
}

fn datagram(addresses: &[u8], ports: [u16; 2], mut payload: Vec<u8>, len: usize) -> Vec<u8> {
    payload.resize(len - 8, 0);
    let len = (len as u16).to_be_bytes();
    let mut udp = [ports[0].to_be_bytes(), ports[1].to_be_bytes(), len, [0, 0]].concat();
    udp.extend(payload);
    let check = match !sum(&[addresses, &[0, 17], &len, &udp].concat()) {
        0 => 0xFFFF,
        check => check,
    };
    udp[6..8].copy_from_slice(&check.to_be_bytes());
    udp
}

fn without_checksum(mut udp: Vec<u8>) -> Vec<u8> {
    udp[6..8].fill(0);
    udp
}

/// Reads the frame with etherparse and asserts that it finds the layers, ids and checksums that were asked
/// for.
pub fn check_with_etherparse(spec: &PlainSpec, frame: &[u8]) {
    let packet = SlicedPacket::from_ethernet(frame).unwrap();
    let ids: Vec<u16> = packet.vlan_ids().iter().map(|id| id.value()).collect();
    assert_eq!(ids, spec.stack.vlans);
    if spec.stack.l3 == L3::Ethernet {
        assert!(packet.net.is_none());
        return;
    }
    let Some(TransportSlice::Udp(udp)) = packet.transport else { panic!("no UDP") };
    let header = udp.to_header();
    let expected = match packet.net.unwrap() {
        NetSlice::Ipv4(ip) => {
            let ip = ip.header().to_header();
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert!(ip.dont_fragment && !ip.is_fragmenting_payload());
            if spec.verify { header.calc_checksum_ipv4(&ip, udp.payload()).unwrap() } else { 0 }
        }
        NetSlice::Ipv6(ip) => header.calc_checksum_ipv6(&ip.header().to_header(), udp.payload()).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(header.checksum, expected);
    // Nothing of the frame is Ethernet padding.
    let payload_end = udp.payload().as_ptr_range().end;
    assert_eq!(payload_end, frame.as_ptr_range().end);
}
