//! The replay over a wire in memory and a clock that the test turns.

use super::*;
use crate::capture::{Feeder, Fit, Queues, Tally};
use crate::memory_port::{Event, Faults, MemoryTx, WireHandle, wire};
use std::io::Write;
use std::sync::Mutex;
use std::thread::JoinHandle;

/// A pcap file with nanoseconds of frames of these lengths, at these times; each begins with its number.
fn capture(frames: &[(u32, usize)]) -> Arc<std::fs::File> {
    let mut bytes: Vec<u8> =
        [0xA1B2_3C4D, 2 | 4 << 16, 0, 0, 65_535, 1_u32].iter().flat_map(|w| w.to_le_bytes()).collect();
    for (n, (ns, len)) in (0_u8..).zip(frames) {
        let size = u32::try_from(*len).unwrap();
        bytes.extend([0, *ns, size, size].iter().flat_map(|word| word.to_le_bytes()));
        bytes.push(n);
        bytes.extend(vec![0; len - 1]);
    }
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    Arc::new(file)
}

type Seen = Arc<Mutex<Vec<(u8, usize)>>>;

struct Bench {
    worker: ReplayWorker<MemoryTx>,
    wire: WireHandle,
    seen: Seen,
    thread: JoinHandle<Tally>,
}

/// 64 slots, recorded times.
fn bench(frames: &[(u32, usize)], timing: Timing, duration: Option<Nanos>) -> Bench {
    let fit = Fit { mtu: 1_500, chunk: 2_048 };
    let queues = Queues { number: 1, flow: |_| 0 };
    let feeder = Feeder { file: capture(frames), timing, fit, loops: 1, count: None, queues };
    let (mut reels, thread) = feeder.start().unwrap();
    let seen = Seen::default();
    let told = Arc::clone(&seen);
    let (port, _) = wire(1, 4_096, 64, Faults::none(1), move |event, frame| {
        assert!(matches!(event, Event::Delivered(_)));
        told.lock().unwrap().push((frame[0], frame.len()));
    });
    let wire = port.handle();
    let spec = ReplaySpec { worker: 0, batch: 8, duration, timing, slots: 64 };
    let mut worker = ReplayWorker::new(port, reels.remove(0), spec, Arc::default());
    worker.begin(Nanos(1_000));
    Bench { worker, wire, seen, thread }
}

impl Bench {
    /// A turn so long after the start; the numbers of all frames that have left.
    fn at(&mut self, ns: u64) -> Vec<u8> {
        self.worker.turn(Nanos(1_000 + ns));
        self.seen.lock().unwrap().iter().map(|seen| seen.0).collect()
    }

    fn finish(mut self, ns: u64) -> TxBooks {
        self.worker.end(Nanos(1_000 + ns));
        while !self.worker.drain(Nanos(1_000 + ns)) {}
        let Books::Tx(books) = Box::new(self.worker).into_books() else { panic!("a sender's books") };
        self.thread.join().unwrap();
        books
    }
}

fn recorded() -> Timing {
    Timing::Recorded(1.into())
}

#[test]
fn a_frame_leaves_when_it_is_due_and_not_before() {
    let mut bench = bench(&[(100, 60), (600, 61), (601, 62)], recorded(), None);
    assert_eq!(bench.at(0), [0]);
    assert_eq!(bench.at(499), [0]);
    assert_eq!(bench.at(500), [0, 1]);
    assert_eq!(bench.at(501), [0, 1, 2]);
    assert_eq!(bench.worker.turn(Nanos(1_502)), Turn::Finished);
    let books = bench.finish(502);
    assert_eq!((books.built, books.completed, books.bytes), (3, 3, 64 + 65 + 66));
    assert_eq!((books.window, books.late, books.shortfall), (Nanos(501), Nanos(0), 0));
}

#[test]
fn a_hiccup_is_caught_up_and_the_schedule_stays() {
    let frames: Vec<(u32, usize)> = (0..30).map(|n| (n * 1_000_000, 60)).collect();
    let mut bench = bench(&frames, recorded(), None);
    (0..10).for_each(|ms| drop(bench.at(ms * 1_000_000)));
    assert_eq!(bench.at(16_000_000).len(), 17);
    (17..31).for_each(|ms| drop(bench.at(ms * 1_000_000)));
    let books = bench.finish(31_000_000);
    assert_eq!((books.built, books.late, books.shortfall), (30, Nanos(0), 0));
}

#[test]
fn a_stall_moves_the_schedule_and_is_no_burst() {
    // A frame every millisecond; the worker is away for thirty, and a batch is eight.
    let frames: Vec<(u32, usize)> = (0..60).map(|n| (n * 1_000_000, 60)).collect();
    let mut bench = bench(&frames, recorded(), None);
    (0..10).for_each(|ms| drop(bench.at(ms * 1_000_000)));
    assert_eq!(bench.at(40_000_000).len(), 10 + 8, "one batch");
    assert_eq!(bench.at(40_000_001).len(), 10 + 8 + 2, "and a millisecond more are caught up");
    assert_eq!(bench.at(41_000_000).len(), 10 + 8 + 3);
    (42..90).for_each(|ms| drop(bench.at(ms * 1_000_000)));
    let books = bench.finish(90_000_000);
    assert_eq!((books.built, books.late), (60, Nanos(21_000_000)));
    assert_eq!(books.shortfall, 60 * 21 / 59, "as many as the schedule has in that time");
}

#[test]
fn what_was_due_at_the_end_and_not_sent_is_shortfall() {
    let frames: Vec<(u32, usize)> = (0..60).map(|n| (n * 1_000_000, 60)).collect();
    let mut bench = bench(&frames, recorded(), Some(Nanos::from_millis(50)));
    (0..10).for_each(|ms| drop(bench.at(ms * 1_000_000)));
    assert_eq!(bench.worker.turn(Nanos(50_001_000)), Turn::Finished);
    let books = bench.finish(50_000_000);
    assert_eq!((books.built, books.late), (10, Nanos(39_000_000)));
    assert_eq!(books.shortfall, 10, "of a recording no more than what was sent");
}

#[test]
fn a_rate_that_is_not_held_is_short_by_what_it_asked_for_and_did_not_get() {
    let million = Timing::at_rate(&"1Mpps".parse().unwrap(), None).unwrap();
    let mut bench = bench(&vec![(0, 60); 200], million, None);
    // A turn sends eight frames, and ten milliseconds ask for ten thousand.
    (0..25).for_each(|turn| drop(bench.at(turn * 10_000_000)));
    let books = bench.finish(240_000_000);
    assert_eq!(books.built, 200 - 7);
    let due = books.built + books.shortfall;
    assert!((235_000..245_000).contains(&due), "{due} frames of 240,000");
}

#[test]
fn frames_of_one_moment_are_late_once() {
    let mut bench = bench(&vec![(0, 60); 200], recorded(), None);
    (0..100).for_each(|turn| drop(bench.at(turn * 10_000_000)));
    let books = bench.finish(1_000_000_000);
    assert_eq!((books.built, books.shortfall), (200, 200));
}

#[test]
fn top_speed_is_never_late() {
    let frames = vec![(0, 60); 200];
    let mut bench = bench(&frames, Timing::Max, None);
    (0..100).for_each(|turn| drop(bench.at(turn * 10_000_000)));
    let books = bench.finish(1_000_000_000);
    assert_eq!((books.completed, books.shortfall, books.late), (200, 0, Nanos(0)));
}

#[test]
fn a_duration_ends_it_and_what_was_due_later_stays() {
    let mut bench = bench(&[(0, 60), (500, 60), (1_000, 60)], recorded(), Some(Nanos(1_000)));
    assert_eq!(bench.at(0).len() + bench.at(999).len(), 1 + 2);
    assert_eq!(bench.worker.turn(Nanos(2_000)), Turn::Finished);
    let books = bench.finish(1_000);
    assert_eq!((books.built, books.window), (2, Nanos(1_000)));
}

#[test]
fn a_driver_that_gives_nothing_back_is_given_up_and_its_bytes_are_not_sent() {
    let mut bench = bench(&vec![(0, 100); 200], Timing::Max, None);
    bench.wire.hold_completions(true);
    (0..20).for_each(|turn| drop(bench.at(turn)));
    let stalled = bench.worker.turn(Nanos(6_000_000_000));
    assert!(matches!(stalled, Turn::Failed(PortError::Stalled(_))), "{stalled:?}");
    bench.wire.hold_completions(false);
    let books = bench.finish(6_000_000_000);
    assert_eq!((books.built, books.completed, books.bytes), (64, 64, 64 * 104));
}

#[test]
fn bytes_of_refused_frames_are_an_equal_share() {
    assert_eq!((share(1_000, 7, 10), share(u64::MAX, 3, 3), share(5, 0, 0)), (700, u64::MAX, 5));
}
