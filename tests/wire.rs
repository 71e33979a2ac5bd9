//! What is on the wire, read by tshark from a capture at the far end with no sink running: lengths, checksums, tags and
//! every sequence number once. Nothing of xsk-gen takes part in the reading.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

#[path = "wire/capture.rs"]
mod capture;

use capture::{Checksum, Packet, dissect, pcap_of, record};
use std::collections::BTreeSet;
use support::{End, NetLab, require_root};

const FRAMES: u32 = 1_000;

/// Sends [`FRAMES`] frames of `size` bytes with FCS, and gives what arrived; None when the test is skipped.
fn sent(size: usize, args: &[&str]) -> Option<Vec<Packet>> {
    let lab = NetLab::new(1)?;
    let (count, size_text, mac) = (FRAMES.to_string(), size.to_string(), lab.mac(End::B));
    let fixed = ["--dst-mac", &mac, "--size", &size_text, "--count", &count, "--rate", "10kpps", "--quiet"];
    Some(record(&lab, FRAMES as usize * size, &[&fixed[..], args].concat()))
}

/// What holds of every stack: right lengths, and each sequence number of the run once. Gives the probes.
fn check(packets: &[Packet], size: usize) -> Vec<&Packet> {
    let probes: Vec<&Packet> = packets.iter().filter(|packet| packet.is_probe()).collect();
    let mut numbers: Vec<u32> = probes.iter().map(|packet| packet.sequence()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..FRAMES).collect::<Vec<_>>());
    assert!(probes.iter().all(|packet| packet.length == size - 4), "a length other than {} bytes", size - 4);
    probes
}

/// Every frame, control frames too, carries good checksums.
fn check_checksums(packets: &[Packet], ip: Checksum, udp: Checksum) {
    for packet in packets {
        assert_eq!((packet.ip_checksum, packet.udp_checksum), (ip, udp), "{packet:?}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn plain_ipv4() {
    let Some(packets) = sent(64, &[]) else { return };
    let probes = check(&packets, 64);
    check_checksums(&packets, Checksum::Good, Checksum::Good);
    assert!(probes.iter().all(|packet| packet.ether_type == "0x0800" && packet.vlans.is_empty()));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_longest_frame_of_an_ordinary_link() {
    let Some(packets) = sent(1518, &[]) else { return };
    check(&packets, 1518);
    check_checksums(&packets, Checksum::Good, Checksum::Good);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn one_vlan_tag() {
    let Some(packets) = sent(68, &["--vlan", "100"]) else { return };
    let probes = check(&packets, 68);
    check_checksums(&packets, Checksum::Good, Checksum::Good);
    assert!(probes.iter().all(|packet| packet.ether_type == "0x8100" && packet.vlans == [100]));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn two_vlan_tags_outermost_first() {
    let Some(packets) = sent(72, &["--vlan", "200,100"]) else { return };
    let probes = check(&packets, 72);
    check_checksums(&packets, Checksum::Good, Checksum::Good);
    assert!(probes.iter().all(|packet| packet.ether_type == "0x88a8" && packet.vlans == [200, 100]));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn ipv6_where_the_udp_checksum_is_not_optional() {
    let addresses = ["--src-ip", "2001:2::1", "--dst-ip", "2001:2:0:8000::1"];
    for more in [&[][..], &["--no-verify"]] {
        let Some(packets) = sent(84, &[&addresses[..], more].concat()) else { return };
        let probes = check(&packets, 84);
        check_checksums(&packets, Checksum::None, Checksum::Good);
        assert!(probes.iter().all(|packet| packet.source.starts_with("2001:2::1 ")), "{:?}", probes[0]);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn bare_ethernet() {
    let Some(packets) = sent(64, &["--l2"]) else { return };
    let probes = check(&packets, 64);
    check_checksums(&packets, Checksum::None, Checksum::None);
    assert!(probes.iter().all(|packet| packet.ether_type == "0x88b5"));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn sixteen_flows_are_sixteen_sources() {
    let Some(packets) = sent(64, &["--flows", "16"]) else { return };
    let probes = check(&packets, 64);
    check_checksums(&packets, Checksum::Good, Checksum::Good);
    let sources: BTreeSet<&str> = probes.iter().map(|packet| packet.source.as_str()).collect();
    assert_eq!(sources.len(), 16, "{sources:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn without_verification_udp_over_ipv4_has_no_checksum_and_still_its_numbers() {
    let Some(packets) = sent(64, &["--no-verify"]) else { return };
    for packet in check(&packets, 64) {
        assert_eq!((packet.ip_checksum, packet.udp_checksum), (Checksum::Good, Checksum::None), "{packet:?}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_reader_tells_a_bad_checksum_from_a_good_one() {
    // A probe with sequence number 5 as it stands on the wire, from 198.18.0.1 to 198.19.0.1.
    const FRAME: &str = "02000000000202000000000108004500002e000040004011ae97c6120001c6130001\
        10920009001a8a99584700018000000000050007000000000009";
    if !require_root() {
        return;
    }
    let good = capture::bytes_of(FRAME);
    let (mut bad_ip, mut bad_udp) = (good.clone(), good.clone());
    // One bit in each checksum.
    bad_ip[25] ^= 1;
    bad_udp[41] ^= 1;
    let packets = dissect(&pcap_of(&[good, bad_ip, bad_udp]));
    let read = packets.iter().map(|p| (p.ip_checksum, p.udp_checksum, p.sequence()));
    let (good, bad) = (Checksum::Good, Checksum::Bad);
    assert_eq!(read.collect::<Vec<_>>(), [(good, good, 5), (bad, good, 5), (good, bad, 5)]);
}
