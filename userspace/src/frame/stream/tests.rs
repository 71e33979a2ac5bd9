//! Frames as written for sending, against frames built from scratch and other parsers.

use super::*;
use crate::frame::probe;
use crate::frame::reference::{self, PlainSpec, any_spec};
use crate::frame::wire::udp;
use crate::units::FrameSize;
use proptest::prelude::*;

/// Frame `seq` in a buffer of its own.
fn fresh(stream: &Stream, seq: u64, sent: u64, measured: bool) -> Vec<u8> {
    let mut buf = vec![0xAA; stream.len_of(seq)];
    stream.write(Held::Nothing, seq, Nanos(sent), measured, &mut buf);
    buf
}

#[test]
fn the_smallest_ipv4_frame_byte_by_byte() {
    let spec = PlainSpec {
        stack: reference::v4_stack(),
        size: FrameSize::MIN,
        flows: 1,
        space: 0,
        spaces: 1,
        run: 0x0102,
        clock: 0x0304,
        verify: true,
    };
    let frame = fresh(&Stream::new(&spec.spec()).unwrap(), 5, 6, true);
    #[rustfmt::skip]
    let expected = [
        0x02, 0, 0, 0, 0, 2,  0x02, 0, 0, 0, 0, 1,  0x08, 0x00,
        // IPv4: 46 bytes, don't fragment, 64 hops, UDP, 198.18.0.1 to 198.19.0.1; its checksum is the
        // complement of 4500 + 002e + 4000 + 4011 + c612 + 0001 + c613 + 0001 = 25166, folded 5168
        0x45, 0, 0, 46,  0, 0, 0x40, 0,  64, 17, 0xAE, 0x97,  198, 18, 0, 1,  198, 19, 0, 1,
        // UDP 1024 to 9, 26 bytes; the complement of c612 + 1 + c613 + 1 + 11 + 1a (pseudo-header)
        // + 400 + 9 + 1a + 5847 + 102 + 8000 + 5 + 304 + 6 = 26ccd, folded 6ccf
        0x04, 0x00, 0, 9, 0, 26, 0x93, 0x30,
        0x58, 0x47, 1, 2, 0x80, 0, 0, 0, 0, 5, 3, 4, 0, 0, 0, 0, 0, 6,
    ];
    assert_eq!(frame, expected);
}

#[test]
fn a_checksum_that_comes_out_zero_is_sent_as_all_ones() {
    let spec = PlainSpec { size: FrameSize::MIN, ..reference::v4_spec() };
    let stream = Stream::new(&spec.spec()).unwrap();
    let at = reference::v4_stack().headers().udp().unwrap() + udp::CHECKSUM;
    let zeros: Vec<_> = (0..0x1_0000).map(|seq| fresh(&stream, seq, 0, false)).collect();
    assert!(zeros.iter().all(|frame| frame[at..at + 2] != [0, 0]));
    assert!(zeros.iter().any(|frame| frame[at..at + 2] == [0xFF, 0xFF]));
}

#[test]
fn spaces_that_the_probe_cannot_name_are_refused() {
    let with = |space, spaces| Stream::new(&PlainSpec { space, spaces, ..reference::v4_spec() }.spec()).err();
    assert_eq!(with(0, 0), Some(FrameError::Space { space: 0, spaces: 0 }));
    assert_eq!(with(3, 3), Some(FrameError::Space { space: 3, spaces: 3 }));
    assert_eq!(with(0, 0x8000), Some(FrameError::Space { space: 0, spaces: 0x8000 }));
    assert_eq!(with(probe::MAX_SPACES - 1, probe::MAX_SPACES), None);
    let spaces = probe::MAX_SPACES + 1;
    assert_eq!(with(0, spaces), Some(FrameError::Space { space: 0, spaces: spaces.into() }));
}

#[test]
fn writing_a_frame_allocates_nothing() {
    let stream = Stream::new(&PlainSpec { flows: 8, ..reference::v4_spec() }.spec()).unwrap();
    let mut buf = vec![0; stream.len_of(0)];
    let info = allocation_counter::measure(|| {
        for seq in 0..100 {
            let held = if seq == 0 { Held::Nothing } else { Held::Same };
            stream.write(held, seq, Nanos(seq), true, &mut buf);
        }
    });
    assert_eq!(info.count_total, 0);
}

proptest! {
    #[test]
    fn a_frame_is_the_one_built_from_scratch(
        spec in any_spec(), seq: u64, sent: u64, measured: bool,
    ) {
        let frame = fresh(&Stream::new(&spec.spec()).unwrap(), seq, sent, measured);
        prop_assert_eq!(frame, reference::frame(&spec, seq, sent, measured));
    }

    #[test]
    fn another_parser_finds_every_checksum_right(
        spec in any_spec(), seq: u64, sent: u64, measured: bool,
    ) {
        let frame = fresh(&Stream::new(&spec.spec()).unwrap(), seq, sent, measured);
        reference::check_with_etherparse(&spec, &frame);
    }

    #[test]
    fn writing_over_any_frame_of_the_stream_equals_writing_afresh(
        spec in any_spec(),
        frames in prop::collection::vec((any::<u64>(), any::<u64>(), any::<bool>()), 1..8),
    ) {
        let stream = Stream::new(&spec.spec()).unwrap();
        let mut used = fresh(&stream, 0, 0, false);
        for (seq, sent, measured) in frames {
            stream.write(Held::Same, seq, Nanos(sent), measured, &mut used);
            prop_assert_eq!(&used, &fresh(&stream, seq, sent, measured));
        }
    }
}
