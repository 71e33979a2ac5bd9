//! The steady state takes no memory from the heap: counted, with every part of the loop at work.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

#[path = "engine/bench.rs"]
mod bench;

use bench::{Bench, Setup};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use xsk_gen::capture::{Feeder, Fit, Format, Queues, Recorder, WriteSpec};
use xsk_gen::engine::{Books, Feed, ReplaySpec, ReplayWorker, Turn, Worker};
use xsk_gen::frame::formula::{Formula, Modifier, Per};
use xsk_gen::frame::layer::{Ethernet, Ipv4, Layer, Udp, Vxlan};
use xsk_gen::frame::layout::Defaults;
use xsk_gen::frame::sizes::Sizes;
use xsk_gen::frame::{Place, Stream, StreamSpec};
use xsk_gen::memory_port::{Faults, wire};
use xsk_gen::pace::Timing;
use xsk_gen::port::{Done, Slot, Source};
use xsk_gen::units::{FrameSize, Nanos};

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

/// A tunnel in which a field of each layer follows each kind of formula, in lengths of each kind.
fn every_modifier(stream: u16, sizes: Sizes) -> StreamSpec {
    let ethernet = || Layer::Ethernet(Ethernet::default());
    let ipv4 = || Layer::Ipv4(Ipv4::default());
    let udp = || Layer::Udp(Udp { checksum: Some(true), ..Udp::default() });
    let vxlan = Layer::Vxlan(Vxlan::default());
    let modifier = |field: &str, per, formula| Modifier { field: field.to_owned(), formula, per };
    StreamSpec {
        layers: vec![ethernet(), ipv4(), udp(), vxlan, ethernet(), ipv4(), udp()],
        defaults: Defaults::BENCHMARK,
        modifiers: vec![
            modifier("ipv4[2].dst", Per::Frame, Formula::Random { seed: 1, low: 0, span: 1 << 24 }),
            modifier("udp[2].src_port", Per::Flow, Formula::Step { base: 1, step: 3, count: 77 }),
            modifier("vxlan.vni", Per::Frame, Formula::List(vec![4, 5, 6])),
            modifier("ipv4.ttl", Per::Frame, Formula::Constant(3)),
        ],
        sizes,
        flows: 32,
        place: Place { stream, streams: 3, ..Place::ALONE },
        run: 1,
        clock: 1,
        verify: true,
    }
}

#[test]
fn streams_of_every_modifier_and_length_allocate_nothing() {
    const CHUNKS: u32 = 16;
    let size = |bytes| FrameSize::new(bytes).unwrap();
    let sizes = [
        Sizes::Pattern(vec![size(128), size(594), size(1518)]),
        Sizes::Uniform { from: size(128), to: size(1518), seed: 3 },
        Sizes::Sweep { from: size(128), to: size(300), step: 7 },
    ];
    let specs = (0..).zip(sizes).map(|(stream, sizes)| every_modifier(stream, sizes));
    let streams = specs.map(|spec| Stream::new(&spec).unwrap()).collect();
    let mut feed = Feed::new(streams, vec![0, 1, 0, 2], CHUNKS);
    let mut chunks = vec![[0u8; 2048]; CHUNKS as usize];
    let mut bytes = 0;
    let counted = allocation_counter::measure(|| {
        for slot in (0..CHUNKS).cycle().take(COUNTED) {
            let len = feed.next_len().unwrap();
            feed.write(Slot(slot), &mut chunks[slot as usize][..len]);
            bytes += feed.done(Done { slot: Slot(slot) });
        }
    });
    assert_eq!(counted.count_total, 0);
    let books: Vec<_> = feed.books().collect();
    assert_eq!(books.iter().map(|lane| lane.completed).sum::<u64>(), COUNTED as u64);
    assert_eq!(books.iter().map(|lane| lane.completed_bytes).sum::<u64>(), bytes);
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
    let (file, queues) = (Arc::new(capture()), Queues { number: 1, flow: |_| 0 });
    let feeder = Feeder { file, timing: Timing::Max, fit, loops: 0, count: None, queues };
    let (mut reels, reader) = feeder.start().unwrap();
    let (port, _rx) = wire(1, 64, 256, Faults::none(1), |_, _| {});
    let spec = ReplaySpec { worker: 0, batch: 32, duration: None, timing: Timing::Max, slots: 256 };
    let mut worker = Box::new(ReplayWorker::new(port, reels.remove(0), spec, Arc::default()));
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
