//! The steady state takes no memory from the heap: counted, with every part of the loop at work.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

#[path = "engine/bench.rs"]
mod bench;

use bench::{Bench, Setup};
use xsk_gen::memory_port::Faults;

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
