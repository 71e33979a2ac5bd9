//! Recordings, read back with the reader.

use super::super::reader::Records;
use super::*;
use crate::units::Nanos;
use std::fs::OpenOptions;

fn spec(format: Format) -> WriteSpec {
    WriteSpec {
        format,
        iface: "v1".to_owned(),
        snap: 100,
        count: None,
        all: false,
        wall_lead_ns: 1_000_000_000,
    }
}

/// Keeps frames of these lengths; what came of it, and what is in the file.
fn record(spec: WriteSpec, lens: &[usize]) -> (Recording, Vec<(usize, u32, u64)>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let recorder = Recorder::start(file.reopen().unwrap(), spec).unwrap();
    let mut tap = recorder.tap();
    for (n, len) in (0..).zip(lens) {
        tap.keep(&vec![7; *len], *len, Nanos(n));
    }
    drop(tap);
    let recording = recorder.finish();
    let mut records = Records::new(file.reopen().unwrap()).unwrap();
    let mut found = Vec::new();
    while let Some(record) = records.next(|r| (r.bytes.len(), r.wire_len, r.at.unwrap().0)).unwrap() {
        found.push(record);
    }
    (recording, found)
}

#[test]
fn both_formats_keep_lengths_and_nanoseconds() {
    for format in [Format::Pcap, Format::PcapNg] {
        let (recording, found) = record(spec(format), &[60, 100, 101]);
        assert_eq!(recording, Recording { written: 3, missed: 0, error: None });
        assert_eq!(found, [(60, 60, 1_000_000_000), (100, 100, 1_000_000_001), (100, 101, 1_000_000_002)]);
    }
}

#[test]
fn a_count_ends_the_recording_and_nothing_is_missed() {
    let (recording, found) = record(WriteSpec { count: Some(2), ..spec(Format::Pcap) }, &[60; 10]);
    assert_eq!((recording.written, recording.missed, found.len()), (2, 0, 2));
}

#[test]
fn more_than_slabs_hold_is_written_or_counted() {
    const FRAMES: usize = 600_000;
    let (recording, found) = record(spec(Format::Pcap), &[60; FRAMES]);
    assert_eq!(
        (recording.written + recording.missed, recording.written),
        (FRAMES as u64, found.len() as u64)
    );
}

#[test]
fn a_full_disk_ends_the_recording_with_a_reason() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let recorder = Recorder::start(full, spec(Format::Pcap)).unwrap();
    let mut tap = recorder.tap();
    tap.keep(&[7; 60], 60, Nanos(0));
    drop(tap);
    let recording = recorder.finish();
    assert_eq!((recording.written, recording.missed), (0, 1));
    assert_eq!(recording.error.as_deref(), Some("No space left on device"));
}

#[test]
fn the_name_says_the_format() {
    for (name, format) in
        [("a.pcapng", Format::PcapNg), ("a.PCAPNG", Format::PcapNg), ("a.pcap", Format::Pcap)]
    {
        assert_eq!(Format::of(Path::new(name)), format);
    }
}
