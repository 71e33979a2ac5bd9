//! The reader over files that are made here, byte by byte from the formats' definitions.

use super::super::fixture::{Ng, Order, Pcap, ng_block};
use super::*;
use proptest::prelude::*;

/// Every record: its bytes, its length on the wire and its time. And how it ended.
type Read = (Vec<(Vec<u8>, u32, Option<u64>)>, Option<CaptureError>);

fn read(file: &[u8]) -> Read {
    let mut records = match Records::new(file) {
        Ok(records) => records,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut found = Vec::new();
    loop {
        match records.next(|r| (r.bytes.to_vec(), r.wire_len, r.at.map(|at| at.0))) {
            Ok(Some(record)) => found.push(record),
            Ok(None) => return (found, None),
            Err(error) => return (found, Some(error)),
        }
    }
}

#[test]
fn both_byte_orders_and_both_resolutions() {
    for order in [Order::Little, Order::Big] {
        let micro = Pcap::new(order, false).record(7, 5, &[1; 60], 60).record(8, 6, &[2; 61], 70);
        let expected = vec![(vec![1; 60], 60, Some(7_000_005_000)), (vec![2; 61], 70, Some(8_000_006_000))];
        assert_eq!(read(&micro.bytes), (expected, None));
        let nano = Pcap::new(order, true).record(7, 5, &[1; 60], 60);
        assert_eq!(read(&nano.bytes).0, [(vec![1; 60], 60, Some(7_000_000_005))]);
    }
}

#[test]
fn pcapng_with_the_resolutions_of_its_interfaces() {
    for order in [Order::Little, Order::Big] {
        let file = Ng::new(order)
            .interface(1, &[])
            .interface(1, &[(9, &[9])])
            .interface(1, &[(9, &[0x80 | 10])])
            .packet(0, 2_000_001, &[1; 60], 60)
            .packet(1, 2_000_001, &[2; 61], 61)
            .packet(2, 1_024, &[3; 62], 62)
            .simple(&[4; 63]);
        let expected = vec![
            (vec![1; 60], 60, Some(2_000_001_000)),
            (vec![2; 61], 61, Some(2_000_001)),
            (vec![3; 62], 62, Some(1_000_000_000)),
            (vec![4; 63], 63, None),
        ];
        assert_eq!(read(&file.bytes), (expected, None));
    }
}

#[test]
fn an_interface_may_shift_its_times() {
    let minus_one = (-1_i64).to_le_bytes();
    let file = Ng::new(Order::Little).interface(1, &[(14, &minus_one)]).packet(0, 3_000_000, &[1; 60], 60);
    assert_eq!(read(&file.bytes).0[0].2, Some(2_000_000_000));
}

#[test]
fn a_file_that_ends_within_a_record_gives_those_before_it() {
    let whole = Pcap::new(Order::Little, false).record(1, 0, &[1; 60], 60).record(2, 0, &[2; 60], 60).bytes;
    for cut in [1, 30, 59, 60, 75] {
        let (found, error) = read(&whole[..whole.len() - cut]);
        assert_eq!((found.len(), error), (1, Some(CaptureError::Cut(2))), "{cut}");
    }
    assert_eq!(read(&whole[..whole.len() - 76]).1, None);
    let ng = Ng::new(Order::Big).interface(1, &[]).packet(0, 1, &[1; 60], 60).bytes;
    assert_eq!(read(&ng[..ng.len() - 4]), (Vec::new(), Some(CaptureError::Cut(1))));
}

#[test]
fn what_is_no_capture_says_what_it_is() {
    assert_eq!(read(b"").1, Some(CaptureError::Empty));
    assert_eq!(read(b"PK").1, Some(CaptureError::NoCapture));
    assert_eq!(read(b"not a capture, but a text of some length").1, Some(CaptureError::NoCapture));
    assert_eq!(read(&Pcap::new(Order::Big, true).bytes), (Vec::new(), None));
    let raw = Pcap::of_link(101).record(1, 0, &[1; 60], 60);
    assert_eq!(read(&raw.bytes).1, Some(CaptureError::LinkType("RAW".to_owned())));
    let unknown = Pcap::of_link(999).record(1, 0, &[1; 60], 60);
    assert_eq!(read(&unknown.bytes).1, Some(CaptureError::LinkType("number 999".to_owned())));
    // A header that says that frames end in four bytes of FCS.
    let with_fcs = Pcap::of_link(0x4400_0001).record(1, 0, &[1; 60], 60);
    assert!(matches!(read(&with_fcs.bytes).1, Some(CaptureError::LinkType(_))));
}

#[test]
fn a_packet_of_an_interface_that_is_not_described_is_damage() {
    let file = Ng::new(Order::Little).interface(1, &[]).packet(1, 1, &[1; 60], 60);
    assert!(matches!(read(&file.bytes).1, Some(CaptureError::Damaged { record: 1, .. })));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        read(&bytes);
    }

    #[test]
    fn nor_do_bytes_behind_a_good_header(bytes in prop::collection::vec(any::<u8>(), 0..600), big: bool) {
        let order = if big { Order::Big } else { Order::Little };
        read(&[Pcap::new(order, big).bytes, bytes.clone()].concat());
        read(&[Ng::new(order).interface(1, &[]).bytes, bytes].concat());
    }

    #[test]
    fn nor_do_blocks_with_any_body(
        kind in 0u32..12, body in prop::collection::vec(any::<u8>(), 0..200), big: bool,
    ) {
        let order = if big { Order::Big } else { Order::Little };
        let begun = Ng::new(order).interface(1, &[]).bytes;
        for kind in [kind, 0x0A0D_0D0A] {
            read(&[begun.clone(), ng_block(order, kind, &body)].concat());
        }
    }

    #[test]
    fn nor_does_one_changed_byte(at in 0usize..400, value: u8) {
        let file = Ng::new(Order::Little).interface(1, &[(9, &[9])]).packet(0, 1, &[1; 60], 60).simple(&[2; 60]);
        let mut bytes = file.bytes;
        let at = at % bytes.len();
        bytes[at] = value;
        read(&bytes);
    }
}
