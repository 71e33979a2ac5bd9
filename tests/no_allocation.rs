//! The steady state takes no memory from the heap: counted, with every part of the loop at work.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

#[path = "engine/bench.rs"]
mod bench;

use bench::{Bench, Setup};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use xsk_gen::capture::{Feeder, Fit, Format, Recorder, WriteSpec};
use xsk_gen::engine::{Books, ReplaySpec, ReplayWorker, Turn, Worker};
use xsk_gen::memory_port::{Faults, wire};
use xsk_gen::pace::Timing;
use xsk_gen::units::Nanos;

/// Turns until chunks, sequence spaces and latency have what they need, and turns that are counted.
const WARM: usize = 200;
const COUNTED: usize = 2_000;

fn allocations(turns: usize, bench: &mut Bench) -> u64 {
    allocation_counter::measure(|| {
        for _ in 0..turns {
            assert!(bench.turn(), "the run is longer than the test");
        }
    })
    .count_total
}

#[test]
fn sending_and_receiving_allocate_nothing_once_warm() {
    let setup = Setup { frames: u64::MAX, flows: 64, queues: 4, faults: Faults::none(1) };
    let mut bench = Bench::new(setup, |_, _| {});
    assert!(allocations(WARM, &mut bench) > 0, "the counter counts");
    assert_eq!(allocations(COUNTED, &mut bench), 0);
    let (sent, tally) = bench.finish();
    assert!(sent.completed > (COUNTED * 32) as u64);
    assert_eq!(tally.probes, sent.completed);
}

/// A capture of a thousand frames of several lengths (pcap 2.4, LINKTYPE_ETHERNET).
fn capture() -> File {
    let header: [u32; 6] = [0xA1B2_C3D4, 2 | 4 << 16, 0, 0, 65_535, 1];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for len in [60, 1_514, 200, 60].into_iter().cycle().take(1_000) {
        bytes.extend([0, 0, len, len].iter().flat_map(|word: &u32| word.to_le_bytes()));
        bytes.resize(bytes.len() + len as usize, 7);
    }
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    file
}

#[test]
fn replaying_allocates_nothing_in_the_worker() {
    let fit = Fit { mtu: 1_500, chunk: 2_048 };
    let feeder = Feeder { file: Arc::new(capture()), timing: Timing::Max, fit, loops: 0, count: None };
    let (reel, reader) = feeder.start().unwrap();
    let (port, _rx) = wire(1, 64, 256, Faults::none(1), |_, _| {});
    let spec = ReplaySpec { batch: 32, duration: None, timing: Timing::Max, slots: 256 };
    let mut worker = Box::new(ReplayWorker::new(port, reel, spec, Arc::default()));
    worker.begin(Nanos(0));
    let mut turns = |most: usize| {
        let counted = allocation_counter::measure(|| {
            for _ in 0..most {
                assert!(!matches!(worker.turn(Nanos(1)), Turn::Finished | Turn::Failed(_)));
            }
        });
        counted.count_total
    };
    turns(WARM);
    assert_eq!(turns(20 * COUNTED), 0);
    let Books::Tx(books) = worker.into_books() else { panic!("a sender's books") };
    let slab = 4_096;
    assert!(books.built > 4 * slab, "{} frames are too few to turn slabs over", books.built);
    assert!(reader.join().unwrap().whole);
}

#[test]
fn keeping_frames_for_a_capture_allocates_nothing() {
    let spec = WriteSpec {
        format: Format::Pcap,
        iface: "v1".to_owned(),
        snap: 262_144,
        count: None,
        all: false,
        wall_lead_ns: 0,
    };
    let recorder = Recorder::start(File::create("/dev/null").unwrap(), spec).unwrap();
    let mut tap = recorder.tap();
    let mut keep = |frames: u64| {
        allocation_counter::measure(|| (0..frames).for_each(|n| tap.keep(&[7; 60], 60, Nanos(n)))).count_total
    };
    keep(WARM as u64);
    assert_eq!(keep(1_000_000), 0);
    drop(tap);
    let recording = recorder.finish();
    assert_eq!(recording.written + recording.missed, 1_000_000 + WARM as u64);
}
