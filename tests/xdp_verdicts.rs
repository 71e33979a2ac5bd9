//! What the XDP programs do with a frame, by dry runs in the kernel: the verdict, and the one counter that moves.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "xdp_verdicts/frames.rs"]
mod frames;

use etherparse::IpNumber;
use frames::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use xsk_gen::finding::Code;
use xsk_gen::xdp::dry_run::{Action, DryRun, TestProgram, TestRun, verdict};
use xsk_gen::xdp::{QueueCounters, RxOptions};

const RX: RxOptions = RxOptions::plain(Some(PORT), 4);
const CONTROL: u16 = 0xFFFF;
/// A probe of the measured phase; only the highest number is a control frame's.
const STREAM: u16 = 0xFFFE;

fn rx(options: RxOptions) -> DryRun {
    DryRun::load(TestProgram::Rx(options)).expect("the receive program loads")
}

fn one(counter: fn(&mut QueueCounters) -> &mut u64) -> QueueCounters {
    let mut row = QueueCounters::default();
    *counter(&mut row) = 1;
    row
}

/// What a frame of ours leaves in the books besides `more`.
fn ours(frame: &[u8], more: QueueCounters) -> QueueCounters {
    QueueCounters { ours: 1, bytes: frame.len() as u64, ..QueueCounters::default() } + more
}

fn check(program: &mut DryRun, name: &str, frame: &[u8], action: Action, counters: QueueCounters) {
    let run = program.run(frame).expect("the kernel runs the program");
    assert_eq!(run, TestRun { action, bytes: frame.to_vec(), counters }, "{name}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn without_a_socket_probes_are_dropped_and_control_frames_pass() {
    let mut program = rx(RX);
    for stream in [0, 1, 0x8000, STREAM] {
        for frame in stacks_of_ours(stream) {
            let expected = ours(&frame, one(|row| &mut row.no_socket));
            check(&mut program, &format!("{frame:02x?}"), &frame, Action::Drop, expected);
        }
    }
    for frame in stacks_of_ours(CONTROL) {
        let expected = ours(&frame, one(|row| &mut row.control));
        check(&mut program, &format!("{frame:02x?}"), &frame, Action::Pass, expected);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn count_only_counts_probes_and_lets_control_frames_pass() {
    let mut program = rx(RxOptions { count_only: true, ..RX });
    for frame in stacks_of_ours(STREAM) {
        let expected = ours(&frame, one(|row| &mut row.counted));
        check(&mut program, &format!("{frame:02x?}"), &frame, Action::Drop, expected);
    }
    for frame in stacks_of_ours(CONTROL) {
        let expected = ours(&frame, one(|row| &mut row.control));
        check(&mut program, &format!("{frame:02x?}"), &frame, Action::Pass, expected);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_is_not_ours_passes() {
    let mut wrong_magic = probe(STREAM);
    wrong_magic[1] ^= 1;
    let ip_of = |protocol, payload: &[u8]| ethernet(&[], 0x0800, &ipv4(protocol, payload, |_| ()));
    let padded = [plain(&[]), probe(STREAM)].concat();
    let cases = [
        ("another port", ip_of(IpNumber::UDP, &udp(PORT + 1, &probe(STREAM)))),
        ("wrong magic", plain(&wrong_magic)),
        ("wrong magic, IPv6", plain6(&wrong_magic)),
        ("wrong magic, 0x88B5", ethernet(&[], 0x88B5, &wrong_magic)),
        ("a probe less one byte", plain(&probe(STREAM)[..17])),
        ("a probe less one byte, 0x88B5", ethernet(&[], 0x88B5, &probe(STREAM)[..17])),
        ("a probe in the padding", padded),
        ("no payload", plain(&[])),
        ("TCP", ip_of(IpNumber::TCP, &udp(PORT, &probe(STREAM)))),
        ("ICMP", ip_of(IpNumber::ICMP, &[8, 0, 0, 0, 0, 0, 0, 0])),
        ("ARP", ethernet(&[], 0x0806, &[0; 28])),
        ("802.3 length", ethernet(&[], 46, &probe(STREAM))),
        ("0x9100 is no tag of ours", ethernet(&[0x9100], 0x88B5, &probe(STREAM))),
        ("three tags, not ours", ethernet(&[C_TAG; 3], 0x0806, &[0; 28])),
    ];
    let mut program = rx(RX);
    for (name, frame) in cases {
        check(&mut program, name, &frame, Action::Pass, one(|row| &mut row.passed));
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn no_udp_is_ours_without_a_port() {
    let mut program = rx(RxOptions { udp_port: None, ..RX });
    let to_port_zero = ethernet(&[], 0x0800, &ipv4(IpNumber::UDP, &udp(0, &probe(STREAM)), |_| ()));
    for frame in [plain(&probe(STREAM)), plain6(&probe(STREAM)), to_port_zero] {
        check(&mut program, "UDP", &frame, Action::Pass, one(|row| &mut row.passed));
    }
    let raw = ethernet(&[C_TAG], 0x88B5, &probe(STREAM));
    let expected = ours(&raw, one(|row| &mut row.no_socket));
    check(&mut program, "0x88B5", &raw, Action::Drop, expected);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_may_be_ours_behind_an_unparsed_stack_passes_for_that_reason() {
    let datagram = udp(PORT, &probe(STREAM));
    let ip = ipv4(IpNumber::UDP, &datagram, |_| ());
    let first = ipv4(IpNumber::UDP, &datagram[..24], |header| header.more_fragments = true);
    let later = ipv4(IpNumber::UDP, &datagram[8..], |header| header.fragment_offset = 1.try_into().unwrap());
    let v6 = |next, payload: &[u8]| ethernet(&[], 0x86DD, &ipv6(next, payload));
    let two = extension(IpNumber::IPV6_DESTINATION_OPTIONS, 0, &extension(IpNumber::UDP, 2, &datagram));
    let cases = [
        ("three tags, IPv4", ethernet(&[C_TAG; 3], 0x0800, &ip)),
        ("four tags, 0x88B5", ethernet(&[S_TAG, C_TAG, C_TAG, C_TAG], 0x88B5, &probe(STREAM))),
        ("first fragment", ethernet(&[], 0x0800, &first)),
        ("later fragment", ethernet(&[], 0x0800, &later)),
        (
            "first fragment, IPv6",
            v6(IpNumber::IPV6_FRAGMENTATION_HEADER, &fragment(IpNumber::UDP, 0, true, &datagram[..24])),
        ),
        (
            "later fragment, IPv6",
            v6(IpNumber::IPV6_FRAGMENTATION_HEADER, &fragment(IpNumber::UDP, 1, false, &datagram[8..])),
        ),
        ("hop-by-hop options", v6(IpNumber::IPV6_HEADER_HOP_BY_HOP, &extension(IpNumber::UDP, 0, &datagram))),
        ("routing header", v6(IpNumber::IPV6_ROUTE_HEADER, &extension(IpNumber::UDP, 3, &datagram))),
        ("two extension headers", v6(IpNumber::IPV6_HEADER_HOP_BY_HOP, &two)),
    ];
    let mut program = rx(RX);
    for (name, frame) in cases {
        check(&mut program, name, &frame, Action::Pass, one(|row| &mut row.unsupported));
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn another_ones_fragments_and_extension_headers_are_not_counted_as_ours() {
    let other = udp(PORT + 1, &probe(STREAM));
    let first = ipv4(IpNumber::UDP, &other[..24], |header| header.more_fragments = true);
    let later = ipv4(IpNumber::TCP, &other, |header| header.fragment_offset = 1.try_into().unwrap());
    let hop = ipv6(IpNumber::IPV6_HEADER_HOP_BY_HOP, &extension(IpNumber::UDP, 0, &other));
    let later6 = ipv6(IpNumber::IPV6_FRAGMENTATION_HEADER, &fragment(IpNumber::TCP, 1, false, &other));
    let mut program = rx(RX);
    for (ether_type, packet) in [(0x0800, first), (0x0800, later), (0x86DD, hop), (0x86DD, later6)] {
        check(
            &mut program,
            "other",
            &ethernet(&[], ether_type, &packet),
            Action::Pass,
            one(|row| &mut row.passed),
        );
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn headers_that_contradict_themselves_are_malformed() {
    let patched = |mut frame: Vec<u8>, at: usize, bytes: &[u8]| {
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        frame
    };
    let v4 = || plain(&probe(STREAM));
    let v6 = || plain6(&probe(STREAM));
    let hop_by_hop = ethernet(
        &[],
        0x86DD,
        &ipv6(IpNumber::IPV6_HEADER_HOP_BY_HOP, &extension(IpNumber::UDP, 0, &udp(PORT, &probe(STREAM)))),
    );
    let cases = [
        ("IHL 4", patched(v4(), 14, &[0x44])),
        ("IHL beyond the packet", patched(plain(&[]), 14, &[0x4F])),
        ("version 5 as IPv4", patched(v4(), 14, &[0x55])),
        ("version 4 as IPv6", patched(v6(), 14, &[0x40])),
        ("total length beyond the frame", patched(v4(), 16, &47_u16.to_be_bytes())),
        ("total length within the header", patched(v4(), 16, &19_u16.to_be_bytes())),
        ("total length within the UDP header", patched(v4(), 16, &27_u16.to_be_bytes())),
        ("UDP length 7", patched(v4(), 38, &7_u16.to_be_bytes())),
        ("UDP length beyond the packet", patched(v4(), 38, &27_u16.to_be_bytes())),
        ("payload length beyond the frame", patched(v6(), 18, &27_u16.to_be_bytes())),
        ("payload length within the UDP header", patched(v6(), 18, &7_u16.to_be_bytes())),
        ("UDP length beyond the packet, IPv6", patched(v6(), 58, &27_u16.to_be_bytes())),
        ("extension header beyond the packet", patched(hop_by_hop.clone(), 18, &7_u16.to_be_bytes())),
        (
            "UDP length beyond what its extension header leaves",
            patched(hop_by_hop, 66, &27_u16.to_be_bytes()),
        ),
        ("a tag cut in two", ethernet(&[C_TAG], 0x88B5, &[])[..16].to_vec()),
    ];
    let mut program = rx(RX);
    for (name, frame) in cases {
        check(&mut program, name, &frame, Action::Pass, one(|row| &mut row.malformed));
    }
}

/// Exactly one of the four kinds grows, ours agrees with etherparse, and the verdict follows from the kind.
fn books_hold(frame: &[u8], run: &TestRun) {
    let QueueCounters { ours, no_socket, passed, malformed, unsupported, bytes, .. } = run.counters;
    assert_eq!(ours + passed + malformed + unsupported, 1, "{frame:02x?}");
    assert_eq!(run.counters.frames(), 1);
    assert_eq!(ours == 1, is_ours(frame), "{frame:02x?}");
    assert_eq!((no_socket, bytes), (ours, ours * frame.len() as u64));
    assert_eq!(run.action, if ours == 1 { Action::Drop } else { Action::Pass });
    assert_eq!(run.bytes, frame);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_frame_cut_anywhere_is_never_ours_before_the_probe_is_whole() {
    let mut program = rx(RX);
    for frame in stacks_of_ours(STREAM) {
        for length in 14..=frame.len() {
            let run = program.run(&frame[..length]).expect("the kernel runs the program");
            assert_eq!(run.counters.ours == 1, length == frame.len(), "{length} of {frame:02x?}");
            books_hold(&frame[..length], &run);
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_shorter_datagram_is_never_ours_before_the_probe_is_whole() {
    let mut program = rx(RX);
    let payload = [probe(STREAM), vec![0xEE; 40]].concat();
    for length in 0..payload.len() {
        for frame in [plain(&payload[..length]), plain6(&payload[..length])] {
            let run = program.run(&frame).expect("the kernel runs the program");
            assert_eq!(run.counters.ours == 1, length >= 18, "{length}");
            books_hold(&frame, &run);
        }
    }
}

/// A frame of some stack with a few bytes changed and its tail cut or lengthened, or bytes from nowhere.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let changed = (prop::sample::select(stacks_of_ours(STREAM)), changes, 0..80_usize).prop_map(
        |(mut frame, changes, tail)| {
            changes.iter().for_each(|(index, byte)| *index.get_mut(&mut frame) = *byte);
            if tail < 40 {
                frame.truncate((frame.len() - tail.min(frame.len())).max(14))
            } else {
                frame.resize(frame.len() + tail - 40, 0)
            };
            frame
        },
    );
    prop_oneof![3 => changed, 1 => prop::collection::vec(any::<u8>(), 14..200)]
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_program_and_an_independent_parser_agree_on_what_is_ours() {
    let config = Config { cases: 4096, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let program = std::cell::RefCell::new(rx(RX));
    let outcome = runner.run(&any_frame(), |frame| {
        let run = program.borrow_mut().run(&frame).expect("the kernel runs the program");
        books_hold(&frame, &run);
        Ok(())
    });
    outcome.unwrap();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_frame_of_several_buffers_is_counted_with_its_whole_length() {
    let mut program = rx(RX);
    let jumbo = plain(&[probe(STREAM), vec![0; 8900]].concat());
    let expected = ours(&jumbo, one(|row| &mut row.no_socket));
    check(&mut program, "9,000 bytes", &jumbo, Action::Drop, expected);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_passing_program_passes_everything_and_counts_nothing() {
    for frame in stacks_of_ours(STREAM) {
        let run = verdict(TestProgram::Pass, &frame).expect("the kernel runs the program");
        assert_eq!(run, TestRun { action: Action::Pass, bytes: frame, counters: QueueCounters::default() });
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_frame_shorter_than_its_ethernet_header_is_refused_in_words() {
    let refused = verdict(TestProgram::Rx(RX), &[0; 13]).unwrap_err();
    assert_eq!(refused.code, Code::System);
    assert!(!refused.why.contains("os error") && refused.on == "13 bytes", "{refused}");
}
