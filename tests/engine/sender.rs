//! A sender whose driver does not give back what it was given: for a while, never, or never what it refused.

use super::bench::{BATCH, CHUNKS, feed};
use proptest::prelude::*;
use std::sync::Arc;
use xsk_gen::engine::{Books, Progress, Turn, TxBooks, TxWorker, Worker};
use xsk_gen::memory_port::{Faults, Refused, WireHandle, wire};
use xsk_gen::pace::{Course, Limits, Pacer};
use xsk_gen::port::PortError;
use xsk_gen::units::{FrameRate, Nanos};

const MILLISECOND: Nanos = Nanos::from_millis(1);
const START: Nanos = Nanos(1);

/// A sender, a hand on its wire, and the time.
struct Sender {
    worker: Box<dyn Worker>,
    wire: WireHandle,
    progress: Arc<Progress>,
    now: Nanos,
}

impl Sender {
    /// Begun, with `count` frames to send at `rate`.
    fn new(count: u64, rate: Option<FrameRate>) -> Self {
        let (port, _) = wire(1, 1, CHUNKS, Faults::none(1), |_, _| {});
        let (wire, progress) = (port.handle(), Arc::new(Progress::default()));
        let pacer =
            Pacer::new(&Course::steady(rate), Limits { count: Some(count), duration: None }, BATCH, (0, 1));
        let mut worker = TxWorker::new(port, feed(1), 0, pacer, Arc::clone(&progress));
        worker.begin(START);
        Self { worker: Box::new(worker), wire, progress, now: START }
    }

    /// A turn a millisecond until `until`, or until one says that it was the last.
    fn run(&mut self, until: Nanos) -> Option<Turn> {
        while self.now < until {
            self.now = self.now + MILLISECOND;
            let turn = self.worker.turn(self.now);
            if matches!(turn, Turn::Finished | Turn::Failed(_)) {
                return Some(turn);
            }
        }
        None
    }

    /// The books after a drain that ends in vain or not.
    fn books(mut self) -> TxBooks {
        self.worker.end(self.now);
        self.worker.drain(self.now);
        let Books::Tx(books) = self.worker.into_books() else { panic!("a sender has a sender's books") };
        assert_eq!(books.built, books.submitted);
        assert_eq!(books.submitted, books.completed + books.in_flight + books.invalid, "{books:?}");
        books
    }
}

fn stalled(turn: Option<Turn>) -> bool {
    matches!(turn, Some(Turn::Failed(PortError::Stalled(_))))
}

fn seconds(n: u64) -> Nanos {
    Nanos(n * 1_000_000_000)
}

#[test]
fn a_driver_that_completes_nothing_is_given_up_and_what_it_holds_is_in_flight() {
    for rate in [None, FrameRate::new(100_000, 1)] {
        let mut sender = Sender::new(1_000_000, rate);
        sender.run(START + seconds(1));
        sender.wire.hold_completions(true);
        assert_eq!(sender.run(START + seconds(5)), None);
        assert!(stalled(sender.run(START + seconds(7))));
        let books = sender.books();
        assert_eq!(books.in_flight, u64::from(CHUNKS));
        assert!(books.completed > 0);
    }
}

#[test]
fn completions_that_come_late_are_no_fault() {
    let mut sender = Sender::new(100_000, None);
    sender.wire.hold_completions(true);
    assert_eq!(sender.run(START + seconds(4)), None);
    sender.wire.hold_completions(false);
    assert_eq!(sender.run(START + seconds(60)), Some(Turn::Finished));
    let books = sender.books();
    assert_eq!((books.completed, books.in_flight), (100_000, 0));
}

#[test]
fn a_link_that_is_away_is_waited_for_and_has_its_five_seconds_when_it_is_back() {
    let mut sender = Sender::new(1_000_000, None);
    sender.wire.hold_completions(true);
    sender.progress.tell_link(true);
    assert_eq!(sender.run(START + seconds(60)), None);
    sender.progress.tell_link(false);
    assert_eq!(sender.run(START + seconds(64)), None);
    assert!(stalled(sender.run(START + seconds(66))));
}

#[test]
fn a_slow_sender_is_not_a_driver_that_stands_still() {
    // One frame in twenty seconds: nothing is due for longer than any patience.
    let mut sender = Sender::new(3, FrameRate::new(1, 20));
    assert_eq!(sender.run(START + seconds(100)), Some(Turn::Finished));
    assert_eq!(sender.books().completed, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Both kinds of kernel, with any number of refused descriptors at any time, and a driver that may stand still at
    /// the end. Chunks that an older kernel keeps run out at last: then the run ends, and does not hang.
    #[test]
    fn refused_descriptors_leave_the_books_balanced(
        kept: bool,
        before in 0u64..200,
        refused in 0u64..400,
        stuck: bool,
        count in 1u64..5_000,
    ) {
        let kernel = if kept { Refused::Kept } else { Refused::Completed };
        let mut sender = Sender::new(count, None);
        sender.run(START + Nanos(before * 1_000_000 / 10));
        sender.wire.refuse(refused, kernel);
        sender.wire.hold_completions(stuck);
        let last = sender.run(START + seconds(60));
        let expected_refused = refused.min(count);
        let starved = kept && refused >= u64::from(CHUNKS);
        prop_assert!(last.is_some(), "it hangs");
        let books = sender.books();
        prop_assert!(books.invalid <= expected_refused);
        if last == Some(Turn::Finished) && !stuck {
            prop_assert_eq!(books.in_flight, 0);
            prop_assert_eq!(books.completed, count - books.invalid);
        } else {
            prop_assert!(stuck || starved, "{:?}", books);
        }
    }
}
