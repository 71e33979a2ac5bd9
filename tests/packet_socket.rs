//! The packet socket over a private cable: what is sent on one end is received on the other as it was on the wire.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests, and their helpers")]

use std::num::NonZeroU32;
use xsk_gen::private_net::PrivateNet;
use xsk_gen::sys::packet_socket::PacketSocket;
use xsk_gen::units::Nanos;

const PORT: u16 = 9;

struct Cable {
    a: PacketSocket,
    b: PacketSocket,
    // After the sockets: they go first.
    _net: PrivateNet,
}

/// Sockets on both ends; `port` limits the second one to frames of ours.
fn cable(port: Option<u16>) -> Cable {
    let net = PrivateNet::new(NonZeroU32::MIN).unwrap();
    let (at_a, at_b) = (net.a.interface.ifindex, net.b.interface.ifindex);
    let a = net.a.namespace.run(|| PacketSocket::open(at_a)).unwrap().unwrap();
    let open =
        || port.map_or_else(|| PacketSocket::open(at_b), |port| PacketSocket::open_for_ours(at_b, port));
    let b = net.b.namespace.run(open).unwrap().unwrap();
    Cable { a, b, _net: net }
}

impl Cable {
    /// Sends on the first end and returns what the second received, None for nothing. Delivery over veth is done in
    /// the sender's own call or just after it, so a frame that follows at once marks the end.
    fn carry(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let marker = ethernet(&[0x88, 0xb5], b"marker");
        self.a.send(frame).unwrap();
        self.a.send(&marker).unwrap();
        let first = self.next();
        (first != marker).then(|| {
            assert_eq!(self.next(), marker);
            first
        })
    }

    fn next(&self) -> Vec<u8> {
        let mut buf = [0; 2048];
        assert!(self.b.wait(Nanos::SECOND).unwrap(), "nothing arrived");
        let length = self.b.recv(&mut buf).unwrap().unwrap();
        buf[..length].to_vec()
    }
}

/// A frame of 60 bytes or more: MACs, `types` (EtherType, tags in front of it) and payload.
fn ethernet(types: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut frame = [&[0x02, 0, 0, 0, 0, 9, 0x02, 0, 0, 0, 0, 8], types, payload].concat();
    frame.resize(frame.len().max(60), 0xa5);
    frame
}

fn udp4(port: u16) -> Vec<u8> {
    let mut packet =
        [&[0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0][..], &[192, 0, 2, 1, 192, 0, 2, 2]].concat();
    packet.extend([0x10, 0]);
    packet.extend(port.to_be_bytes());
    packet.extend([0, 26, 0, 0]);
    packet
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_arrive_as_they_were_sent_tags_included() {
    let cable = cable(None);
    for types in [
        &[0x88, 0xb5][..],
        &[0x81, 0x00, 0x20, 0x05, 0x88, 0xb5],
        // VLAN 0: only a priority, and a control word that is zero.
        &[0x81, 0x00, 0x00, 0x00, 0x88, 0xb5],
        &[0x88, 0xa8, 0x00, 0x07, 0x81, 0x00, 0x00, 0x05, 0x88, 0xb5],
    ] {
        let frame = ethernet(types, &[1, 2, 3]);
        assert_eq!(cable.carry(&frame).as_deref(), Some(&frame[..]), "{types:x?}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_filter_passes_ours_only() {
    let cable = cable(Some(PORT));
    let tagged = [0x81, 0x00, 0x00, 0x05, 0x08, 0x00];
    for frame in [ethernet(&[8, 0], &udp4(PORT)), ethernet(&tagged, &udp4(PORT))] {
        assert_eq!(cable.carry(&frame), Some(frame));
    }
    for frame in [ethernet(&[8, 0], &udp4(22)), ethernet(&tagged, &udp4(22)), ethernet(&[8, 6], &[0; 28])] {
        assert_eq!(cable.carry(&frame), None);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn own_frames_are_not_received_and_nothing_is_no_error() {
    let cable = cable(None);
    let mut buf = [0; 64];
    assert_eq!(cable.a.recv(&mut buf).unwrap(), None);
    assert!(cable.carry(&ethernet(&[0x88, 0xb5], &[])).is_some());
    assert_eq!(cable.a.recv(&mut buf).unwrap(), None);
    assert!(!cable.a.wait(Nanos(0)).unwrap());
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_longer_frame_is_cut_to_the_buffer() {
    let cable = cable(None);
    let frame = ethernet(&[0x81, 0x00, 0x00, 0x05, 0x88, 0xb5], &[7; 200]);
    cable.a.send(&frame).unwrap();
    assert!(cable.b.wait(Nanos::SECOND).unwrap());
    let mut buf = [0; 32];
    assert_eq!(cable.b.recv(&mut buf).unwrap(), Some(32));
    assert_eq!(buf, frame[..32]);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn promiscuity_goes_with_the_socket() {
    let net = PrivateNet::new(NonZeroU32::MIN).unwrap();
    net.a
        .namespace
        .run(|| {
            let promiscuity = || {
                let output =
                    std::process::Command::new("ip").args(["-j", "-d", "link", "show", "xg0"]).output();
                let links: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
                links[0]["promiscuity"].as_u64().unwrap()
            };
            let socket = PacketSocket::open(net.a.interface.ifindex).unwrap();
            socket.set_promiscuous(true).unwrap();
            assert_eq!(promiscuity(), 1);
            socket.set_promiscuous(false).unwrap();
            assert_eq!(promiscuity(), 0);
            socket.set_promiscuous(true).unwrap();
            drop(socket);
            assert_eq!(promiscuity(), 0);
        })
        .unwrap();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_filter_for_neighbours_passes_questions_and_answers_only() {
    let net = PrivateNet::new(NonZeroU32::MIN).unwrap();
    let (at_a, at_b) = (net.a.interface.ifindex, net.b.interface.ifindex);
    let a = net.a.namespace.run(|| PacketSocket::open(at_a)).unwrap().unwrap();
    let b = net.b.namespace.run(|| PacketSocket::open_for_neighbours(at_b)).unwrap().unwrap();
    let cable = Cable { a, b, _net: net };
    let arp = ethernet(&[8, 6], &[0; 28]);
    let tagged = ethernet(&[0x81, 0x00, 0x00, 0x05, 0x08, 0x06], &[0; 28]);
    for frame in [ethernet(&[8, 0], &udp4(PORT)), ethernet(&[0x88, 0xb5], &[]), tagged.clone(), arp.clone()] {
        cable.a.send(&frame).unwrap();
    }
    assert_eq!((cable.next(), cable.next()), (tagged, arp));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_group_is_left_with_the_socket() {
    let net = PrivateNet::new(NonZeroU32::MIN).unwrap();
    net.a
        .namespace
        .run(|| {
            let joined = || {
                let output =
                    std::process::Command::new("ip").args(["maddress", "show", "dev", "xg0"]).output();
                String::from_utf8(output.unwrap().stdout).unwrap().contains("33:33:ff:01:02:03")
            };
            let socket = PacketSocket::open_for_neighbours(net.a.interface.ifindex).unwrap();
            assert!(!joined());
            socket.join([0x33, 0x33, 0xff, 1, 2, 3]).unwrap();
            assert!(joined());
            drop(socket);
            assert!(!joined());
        })
        .unwrap();
}
