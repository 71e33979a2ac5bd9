//! The engines over a seeded wire in memory: one sender, several receivers by flow hash, every figure exact.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

#[path = "engine/bench.rs"]
mod bench;
#[path = "engine/sender.rs"]
mod sender;

use bench::{Bench, Setup};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use xsk_gen::memory_port::{Event, Faults, Ppm};
use xsk_gen::report::Balance;

/// Where the probe's sequence number lies in an untagged IPv4/UDP frame: 14 + 20 + 8 bytes of headers, then magic,
/// run and stream.
const SEQ_AT: usize = 48;
/// The MACs: the only bytes of such a frame that no checksum covers.
const MAC_BYTES: usize = 12;

/// What the wire did, in the plainest words: the reference that the engines are compared with.
#[derive(Debug, Default)]
struct Truth {
    flows: u32,
    lost: u64,
    corrupted: u64,
    duplicate: u64,
    reordered: u64,
    seen: HashSet<u32>,
    highest: HashMap<u32, u32>,
}

impl Truth {
    fn hear(&mut self, event: Event, frame: &[u8], sent: &HashMap<u32, Vec<u8>>) {
        match event {
            Event::Lost => self.lost += 1,
            Event::QueueFull(_) => panic!("the test empties its queues in time"),
            Event::Corrupted(_) if !only_macs_differ(frame, sent) => self.corrupted += 1,
            Event::Delivered(_) | Event::Corrupted(_) => self.deliver(seq(frame)),
        }
    }

    fn deliver(&mut self, seq: u32) {
        if !self.seen.insert(seq) {
            self.duplicate += 1;
            return;
        }
        let highest = self.highest.entry(seq % self.flows).or_insert(seq);
        if seq < *highest {
            self.reordered += 1;
        }
        *highest = seq.max(*highest);
    }
}

fn seq(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[SEQ_AT..SEQ_AT + 4].try_into().unwrap())
}

/// Whether a corrupted frame is one of the sent ones but for its MACs, so that it counts like any other.
fn only_macs_differ(frame: &[u8], sent: &HashMap<u32, Vec<u8>>) -> bool {
    sent.get(&seq(frame)).is_some_and(|good| good[MAC_BYTES..] == frame[MAC_BYTES..])
}

fn run(setup: Setup) {
    let truth = Arc::new(Mutex::new(Truth { flows: setup.flows, ..Truth::default() }));
    let heard = Arc::clone(&truth);
    let originals = originals(setup);
    let mut bench =
        Bench::new(setup, move |event, frame| heard.lock().unwrap().hear(event, frame, &originals));
    while bench.turn() {}
    let (sent, tally) = bench.finish();
    let truth = truth.lock().unwrap();

    let counts = tally.spaces.get(&0).copied().unwrap_or_default();
    assert_eq!(counts.unique, truth.seen.len() as u64);
    assert_eq!((counts.duplicate, counts.late), (truth.duplicate, 0));
    assert_eq!(counts.reordered, truth.reordered);
    assert_eq!(tally.rejected.iter().sum::<u64>(), truth.corrupted);
    assert_eq!(sent.completed - counts.unique, truth.lost + truth.corrupted);
    let balance = Balance {
        built: Some(sent.built),
        submitted: Some(sent.submitted),
        completed: Some(sent.completed),
        in_flight: Some(sent.in_flight),
        invalid: Some(sent.invalid),
        received: Some(tally.received()),
        control: Some(tally.control),
        probes: Some(tally.probes),
        rejected: [("any".to_owned(), truth.corrupted)].into(),
        unique: Some(counts.unique),
        duplicate: Some(counts.duplicate),
        late: Some(counts.late),
        lost: Some(truth.lost + truth.corrupted),
        ..Balance::default()
    };
    assert_eq!((sent.completed, balance.verify()), (setup.frames, Ok(())));
}

/// Every frame as it was sent, from a run over a wire without faults. The stamps are the same, since the clock is the
/// test's and a turn sends the same frames.
fn originals(setup: Setup) -> HashMap<u32, Vec<u8>> {
    let frames = Arc::new(Mutex::new(HashMap::new()));
    let heard = Arc::clone(&frames);
    let tap = move |_: Event, frame: &[u8]| drop(heard.lock().unwrap().insert(seq(frame), frame.to_vec()));
    let mut bench = Bench::new(Setup { faults: Faults::none(0), ..setup }, tap);
    while bench.turn() {}
    std::mem::take(&mut *frames.lock().unwrap())
}

#[test]
fn a_perfect_wire_delivers_every_frame_once() {
    run(Setup { frames: 10_000, flows: 64, queues: 4, faults: Faults::none(1) });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Loss, duplication, reordering and corruption at once, over four receive queues by flow hash.
    #[test]
    fn every_figure_equals_what_the_wire_did(
        seed: u64,
        flows in 1u32..200,
        shares in [0u32..100_000, 0..100_000, 0..250_000, 0..20_000],
        hold_frames in 1u32..500,
    ) {
        let [lose, double, hold, corrupt] = shares.map(Ppm);
        let faults = Faults { seed, lose, double, hold, hold_frames, corrupt };
        run(Setup { frames: 5_000, flows, queues: 4, faults });
    }
}
