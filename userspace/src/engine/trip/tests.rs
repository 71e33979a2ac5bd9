//! A round trip through a reflector over two wires in memory, one of them with faults: what the sender's books say is what
//! the wire did.

use super::*;
use crate::engine::{Feed, Latch, Reflector, RxSpec, RxTally, TxBooks};
use crate::frame::layer::{Ethernet, Layer};
use crate::frame::layout::Defaults;
use crate::frame::probe::Way;
use crate::frame::sizes::Sizes;
use crate::frame::{Inspector, Place, Stream, StreamSpec};
use crate::measure::Sampling;
use crate::memory_port::{Event, Faults, MemoryRx, MemoryTx, Ppm, wire};
use crate::pace::{Course, Limits, Pacer};
use crate::port::relay::Relay;
use crate::units::FrameSize;
use macaddr::MacAddr6;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;

const RUN: u16 = 7;
const FRAMES: u64 = 5_000;
const CHUNKS: u32 = 256;
const TICK: Nanos = Nanos(10_000);

fn feed() -> Feed {
    let spec = StreamSpec {
        layers: vec![Layer::Ethernet(Ethernet::default())],
        defaults: Defaults::BENCHMARK,
        modifiers: Vec::new(),
        sizes: Sizes::Fixed(FrameSize::MIN),
        flows: 1,
        place: Place { worker: 0, workers: 1, stream: 0, streams: 1 },
        run: RUN,
        clock: 5,
        verify: true,
    };
    Feed::new(vec![Stream::new(&spec).unwrap()], vec![0], CHUNKS)
}

fn receiver<P: Inlet>(port: P, run: u16, way: Way, progress: &Arc<Progress>) -> RxWorker<P> {
    let inspector = Inspector { way, ..Inspector::plain(None, true) };
    let spec = RxSpec {
        queue: 0,
        batch: 64,
        inspector,
        others: false,
        timing: Some(Sampling::ALL),
        clock_id: 5,
        clock: || Nanos(1 << 40),
    };
    let latch = Arc::new(Latch::new(Some(run)));
    RxWorker::new(port, spec, latch, sync_channel(1).0, Arc::clone(progress))
}

fn trip(tx: MemoryTx, rx: MemoryRx) -> TripWorker<MemoryTx, MemoryRx> {
    let progress: [Arc<Progress>; 2] = Default::default();
    let [sent, back] = &progress;
    let pacer = Pacer::new(&Course::Max, Limits { count: Some(FRAMES), duration: None }, 64, (0, 1));
    let tx = TxWorker::new(tx, feed(), 0, pacer, Arc::clone(sent));
    let rx = receiver(rx, RUN, Way::Back, back);
    TripWorker::new(Some(tx), rx, Arc::new(Returns::new(vec![Arc::clone(sent)], vec![Arc::clone(back)])))
}

/// The books of a round trip over a wire with such faults to a reflector that follows `run`, what the wire delivered of
/// each frame, and how long it took behind the last frame.
fn run(faults: Faults, run: u16) -> (TxBooks, RxTally, BTreeMap<Vec<u8>, u64>) {
    let delivered = Arc::new(Mutex::new(BTreeMap::new()));
    let seen = Arc::clone(&delivered);
    let tap = move |event: Event, bytes: &[u8]| {
        if matches!(event, Event::Delivered(_)) {
            *seen.lock().unwrap().entry(bytes.to_vec()).or_insert(0) += 1;
        }
    };
    let (near_tx, mut far_rx) = wire(1, 4_096, CHUNKS, faults, tap);
    let (far_tx, mut near_rx) = wire(1, 4_096, 4_096, Faults::none(1), |_, _| {});
    let held = near_tx.handle();
    let port = Reflector::new(Relay::new(far_rx.remove(0), far_tx, 2_048), MacAddr6::nil());
    let mut reflector = receiver(port, run, Way::Forth, &Arc::default());
    let mut sender = trip(near_tx, near_rx.remove(0));
    let mut now = Nanos(1 << 40);
    sender.begin(now);
    reflector.begin(now);
    while sender.turn(now) != Turn::Finished {
        now = now + TICK;
        reflector.turn(now);
        if !sender.sending {
            held.flush();
        }
    }
    sender.end(now);
    assert!(sender.drain(now));
    let Books::Trip(Some(sent), came) = Box::new(sender).into_books() else { panic!("both halves") };
    let mut back = RxTally::new(1, None, None);
    came.into_iter().for_each(|tally| back.merge(tally));
    let delivered = delivered.lock().unwrap().clone();
    (sent, back, delivered)
}

#[test]
fn every_frame_comes_back_over_a_wire_without_faults() {
    let (sent, back, _) = run(Faults::none(1), RUN);
    let counts = back.spaces[&0];
    assert_eq!((sent.completed, back.received()), (FRAMES, FRAMES));
    assert_eq!((counts.unique, counts.duplicate, counts.reordered), (FRAMES, 0, 0));
    assert_eq!((back.times.latency.summary().unwrap().count, back.times.foreign_clock), (FRAMES, 0));
}

#[test]
fn loss_duplicates_and_order_are_the_wires_own() {
    let faults = Faults {
        lose: Ppm(50_000),
        double: Ppm(20_000),
        hold: Ppm(30_000),
        hold_frames: 9,
        corrupt: Ppm(0),
        ..Faults::none(3)
    };
    let (sent, back, delivered) = run(faults, RUN);
    let counts = back.spaces[&0];
    let copies: u64 = delivered.values().sum();
    assert_eq!((sent.completed, back.probes), (FRAMES, copies));
    assert_eq!((counts.unique, counts.duplicate), (delivered.len() as u64, copies - delivered.len() as u64));
    assert!(counts.unique < FRAMES && counts.duplicate > 0 && counts.reordered > 0, "{counts:?}");
}

#[test]
fn without_an_answer_the_worker_ends_after_its_patience_and_not_before() {
    let (sent, back, delivered) = run(Faults::none(1), RUN + 1);
    assert_eq!((sent.completed, delivered.len() as u64), (FRAMES, FRAMES));
    assert_eq!((back.received(), back.spaces.len()), (0, 0));
    let returns = Returns::new(vec![Arc::default()], vec![Arc::default()]);
    assert!(!returns.over(PATIENCE));
    returns.sent_all(Nanos(1));
    assert!(
        !returns.over(ALL_BACK) && returns.over(ALL_BACK + Nanos(1)),
        "none was sent, and none is missing"
    );
}
