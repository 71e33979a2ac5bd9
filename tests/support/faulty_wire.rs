//! A wire with known faults: a forwarder in a namespace of its own, between the two ends of a lab, that delays, loses,
//! doubles and reorders as its seed says and keeps books of what it did. Knows the probe on the wire and no Report.

use super::lab::NetLab;
use super::middle::{FAR, Middle, NEAR};
use super::packet::{Probe, Tap, buffer, probe_of};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::{TimeSpec, TimeValLike as _};
use std::collections::{HashMap, HashSet, VecDeque};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The longest that a wire works, whatever becomes of its test.
const LIFE: Duration = Duration::from_secs(120);
/// Between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(20);
/// Timers fire late by so much; the rest of a wait is spun.
const SPIN: Duration = Duration::from_micros(150);
/// A frame is held back until at most so many later ones of its flow have passed.
const LONGEST_HOLD: u64 = 8;

/// What happens to data frames from A to B. Control frames and the way back are left alone, but for the delay.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Every frame from A to B takes so much longer.
    pub delay: Duration,
    /// Each frame whose number on the wire this divides is lost; 0: none.
    pub lose_every: u64,
    /// Each frame whose number on the wire this divides is there twice; 0: none.
    pub double_every: u64,
    /// So many percent of the copies are held until later frames of their flow have passed.
    pub hold_percent: u64,
    /// Decides which, and for how long.
    pub seed: u64,
}

/// What the wire did to data frames from A to B, as it knows it itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireBooks {
    /// Frames that came in.
    pub came: u64,
    /// Of those, lost.
    pub lost: u64,
    /// Copies that were added.
    pub doubled: u64,
    /// Copies that went out.
    pub delivered: u64,
    /// Numbers whose first copy went out behind a higher one of the flow (RFC 4737).
    pub reordered: u64,
}

/// The forwarder between the ends of a lab; its namespace goes with it.
pub struct FaultyWire {
    /// Where it stands; dropped when the thread has ended.
    _middle: Middle,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<WireBooks>>,
}

impl FaultyWire {
    /// Takes the lab's cable out and puts itself in its place. The ends keep the names of their interfaces.
    pub fn between(lab: &NetLab, faults: Faults) -> Self {
        let middle = Middle::between(lab);
        let stop = Arc::new(AtomicBool::new(false));
        let ends = (Tap::open(middle.namespace(), NEAR), Tap::open(middle.namespace(), FAR));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || Forwarder::new(faults).run(&ends.0, &ends.1, &stopped));
        Self { _middle: middle, stop, thread: Some(thread) }
    }

    /// Ends the forwarding and gives the books.
    pub fn finish(mut self) -> WireBooks {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for FaultyWire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A copy that waits until so many more of its flow have passed.
struct Held {
    probe: Probe,
    frame: Vec<u8>,
    passes: u64,
}

/// One thread's work: frames in, faults, frames out.
struct Forwarder {
    faults: Faults,
    random: u64,
    held: Vec<Held>,
    /// What goes out to B, each with the time when; the delay is constant, so they are in order.
    leaving: VecDeque<(Instant, Vec<u8>)>,
    books: WireBooks,
    highest: HashMap<u16, u32>,
    passed: HashSet<u32>,
}

impl Forwarder {
    fn new(faults: Faults) -> Self {
        let books = WireBooks::default();
        let (highest, passed) = (HashMap::new(), HashSet::new());
        Self {
            faults,
            random: faults.seed,
            held: Vec::new(),
            leaving: VecDeque::new(),
            books,
            highest,
            passed,
        }
    }

    fn run(mut self, near: &Tap, far: &Tap, stop: &AtomicBool) -> WireBooks {
        let end = Instant::now() + LIFE;
        let mut buffer = buffer();
        while !stop.load(Ordering::Relaxed) && Instant::now() < end {
            while let Some((length, _)) = near.receive(&mut buffer) {
                self.take(&buffer[..length]);
                self.deliver(far);
            }
            while let Some((length, _)) = far.receive(&mut buffer) {
                near.send(&buffer[..length]);
            }
            self.deliver(far);
            let next = self.leaving.front().map(|(due, _)| due.saturating_duration_since(Instant::now()));
            let wait = next.unwrap_or(LOOK).saturating_sub(SPIN);
            let mut ends = [near, far].map(|tap| PollFd::new(tap.socket().as_fd(), PollFlags::POLLIN));
            let timeout = TimeSpec::nanoseconds(i64::try_from(wait.min(LOOK).as_nanos()).unwrap());
            ppoll(&mut ends, Some(timeout), None).unwrap();
        }
        self.books
    }

    /// A frame from A: what becomes of it.
    fn take(&mut self, frame: &[u8]) {
        let Some(probe) = probe_of(frame).filter(|probe| !probe.control) else {
            // A control frame speaks of all that went before it.
            self.release(|_| true);
            self.leave(frame.to_vec());
            return;
        };
        self.books.came += 1;
        let strikes = |every: u64| every > 0 && self.books.came.is_multiple_of(every);
        let (lost, doubled) = (strikes(self.faults.lose_every), strikes(self.faults.double_every));
        if lost {
            self.books.lost += 1;
            return;
        }
        self.books.doubled += u64::from(doubled);
        for _ in 0..=u64::from(doubled) {
            if self.draw() % 100 < self.faults.hold_percent {
                let passes = 1 + self.draw() % LONGEST_HOLD;
                self.held.push(Held { probe, frame: frame.to_vec(), passes });
            } else {
                self.pass(probe, frame.to_vec());
                let of_flow = self.held.iter_mut().filter(|held| held.probe.flow == probe.flow);
                of_flow.for_each(|held| held.passes -= 1);
                self.release(|held| held.passes == 0);
            }
        }
    }

    /// Lets held frames go, oldest first.
    fn release(&mut self, goes: impl Fn(&Held) -> bool) {
        let (going, staying) = std::mem::take(&mut self.held).into_iter().partition(goes);
        self.held = staying;
        let going: Vec<Held> = going;
        going.into_iter().for_each(|held| self.pass(held.probe, held.frame));
    }

    /// A data frame takes its place in the order of delivery, and is booked.
    fn pass(&mut self, probe: Probe, frame: Vec<u8>) {
        self.books.delivered += 1;
        if self.passed.insert(probe.seq) {
            let highest = self.highest.entry(probe.flow).or_insert(probe.seq);
            self.books.reordered += u64::from(probe.seq < *highest);
            *highest = probe.seq.max(*highest);
        }
        self.leave(frame);
    }

    fn leave(&mut self, frame: Vec<u8>) {
        self.leaving.push_back((Instant::now() + self.faults.delay, frame));
    }

    /// Sends to B what is due.
    fn deliver(&mut self, far: &Tap) {
        while self.leaving.front().is_some_and(|(due, _)| *due <= Instant::now()) {
            let (_, frame) = self.leaving.pop_front().unwrap();
            far.send(&frame);
        }
    }

    /// The next number of the series (splitmix64).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
