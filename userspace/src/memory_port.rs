//! A seeded wire in memory behind the seam: loss, duplication, reordering, corruption and several receive queues by
//! hash, so that the engines can be tested exactly and without privileges. It knows no probe and no run.

mod driver;
mod faults;
mod queue;

pub use driver::Refused;
pub use faults::{Faults, Ppm};

use crate::port::{Done, PortError, RxDrops, RxFrame, RxPort, Slot, Source, TxPort};
use driver::Driver;
use faults::{Dice, Fate};
use queue::FrameQueue;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes a chunk of the sender and a place in a queue hold.
const CHUNK_BYTES: usize = 2048;

/// What the wire did with a frame: told to the tap, which so knows the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Put into this receive queue.
    Delivered(usize),
    /// Put into this receive queue with one bit changed.
    Corrupted(usize),
    /// Lost on the way.
    Lost,
    /// Dropped, since this receive queue was full.
    QueueFull(usize),
}

type Tap = Box<dyn FnMut(Event, &[u8]) + Send>;

struct Wire {
    queues: Vec<FrameQueue>,
    /// Frames held back, with the number of the frame behind which each is let go.
    held: VecDeque<(u64, Vec<u8>)>,
    dice: Dice,
    driver: Driver,
    carried: u64,
    tap: Tap,
}

/// The wire's sending end.
pub struct MemoryTx {
    wire: Arc<Mutex<Wire>>,
    chunks: Vec<[u8; CHUNK_BYTES]>,
    free: Vec<Slot>,
}

/// One receive queue of the wire.
pub struct MemoryRx {
    wire: Arc<Mutex<Wire>>,
    queue: usize,
    frame: Vec<u8>,
}

/// A wire with `queues` receive queues of `depth` frames and a sender with `chunks` chunks; `tap` hears of each
/// frame what became of it.
#[must_use]
pub fn wire(
    queues: usize,
    depth: usize,
    chunks: u32,
    faults: Faults,
    tap: impl FnMut(Event, &[u8]) + Send + 'static,
) -> (MemoryTx, Vec<MemoryRx>) {
    let wire = Arc::new(Mutex::new(Wire {
        queues: (0..queues).map(|_| FrameQueue::new(depth, CHUNK_BYTES)).collect(),
        held: VecDeque::with_capacity(faults.hold_frames as usize + 1),
        dice: Dice::new(faults),
        driver: Driver::with_room(chunks),
        carried: 0,
        tap: Box::new(tap),
    }));
    let tx = MemoryTx {
        wire: Arc::clone(&wire),
        chunks: vec![[0; CHUNK_BYTES]; chunks as usize],
        free: (0..chunks).rev().map(Slot).collect(),
    };
    let rx = (0..queues)
        .map(|queue| MemoryRx { wire: Arc::clone(&wire), queue, frame: Vec::with_capacity(CHUNK_BYTES) })
        .collect();
    (tx, rx)
}

/// A poisoned wire is a test that has failed already; its state is still whole.
fn lock(wire: &Mutex<Wire>) -> MutexGuard<'_, Wire> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    fn carry(&mut self, frame: &[u8]) {
        self.carried += 1;
        match self.dice.fate() {
            Fate::Pass => self.deliver(frame),
            Fate::Lose => (self.tap)(Event::Lost, frame),
            Fate::Double => {
                self.deliver(frame);
                self.deliver(frame);
            }
            Fate::Hold(frames) => self.held.push_back((self.carried + frames, frame.to_vec())),
            Fate::Corrupt { bit } => self.corrupt(frame, bit),
        }
        while self.held.front().is_some_and(|(until, _)| *until <= self.carried) {
            self.release();
        }
    }

    fn release(&mut self) {
        if let Some((_, frame)) = self.held.pop_front() {
            self.deliver(&frame);
        }
    }

    fn deliver(&mut self, frame: &[u8]) {
        let queue = self.queue_of(frame);
        let event = if self.put(queue, frame) { Event::Delivered(queue) } else { Event::QueueFull(queue) };
        (self.tap)(event, frame);
    }

    fn corrupt(&mut self, frame: &[u8], bit: u64) {
        let queue = self.queue_of(frame);
        let mut bad = frame.to_vec();
        let at = usize::try_from(bit).unwrap_or(0) % (bad.len().max(1) * 8);
        if let Some(byte) = bad.get_mut(at / 8) {
            *byte ^= 1 << (at % 8);
        }
        let event = if self.put(queue, &bad) { Event::Corrupted(queue) } else { Event::QueueFull(queue) };
        (self.tap)(event, &bad);
    }

    fn put(&mut self, queue: usize, frame: &[u8]) -> bool {
        self.queues.get_mut(queue).is_some_and(|q| q.push(frame))
    }

    /// The queue by a hash of addresses and ports, as a NIC's receive-side scaling does (FNV-1a, 32 bits).
    fn queue_of(&self, frame: &[u8]) -> usize {
        // IPv4 source to UDP destination port behind an untagged Ethernet header; shorter frames hash as they are.
        let key = frame.get(26..38).unwrap_or(frame);
        let hash = key.iter().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193));
        (hash >> 7) as usize % self.queues.len().max(1)
    }
}

impl MemoryTx {
    /// A hand on the wire, which stays when the port has gone to a worker.
    #[must_use]
    pub fn handle(&self) -> WireHandle {
        WireHandle(Arc::clone(&self.wire))
    }
}

/// A hand on the wire.
pub struct WireHandle(Arc<Mutex<Wire>>);

impl WireHandle {
    /// Has the driver hold completions back, or give them again.
    pub fn hold_completions(&self, holds: bool) {
        lock(&self.0).driver.hold(holds);
    }

    /// Has so many of the next descriptors refused.
    pub fn refuse(&self, descriptors: u64, refused: Refused) {
        lock(&self.0).driver.refuse(descriptors, refused);
    }

    /// Lets go of every frame that is still held back.
    pub fn flush(&self) {
        let mut wire = lock(&self.0);
        while !wire.held.is_empty() {
            wire.release();
        }
    }
}

impl TxPort for MemoryTx {
    fn send(&mut self, max: usize, source: &mut impl Source) -> Result<usize, PortError> {
        let mut sent = 0;
        while sent < max && !self.free.is_empty() {
            let Some(len) = source.next_len() else { break };
            let Some(slot) = self.free.pop() else { break };
            let Some(buf) = self.chunks.get_mut(slot.0 as usize).and_then(|c| c.get_mut(..len)) else {
                self.free.push(slot);
                return Err(PortError::Other {
                    what: "building a frame",
                    why: "it does not fit a chunk".into(),
                });
            };
            source.write(slot, buf);
            let mut wire = lock(&self.wire);
            if wire.driver.take(slot) {
                wire.carry(buf);
            }
            sent += 1;
        }
        Ok(sent)
    }

    fn kick(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn reclaim(&mut self, mut done: impl FnMut(Done)) -> usize {
        let free = &mut self.free;
        lock(&self.wire).driver.complete(|slot| {
            done(Done { slot });
            free.push(slot);
        })
    }

    fn room(&mut self) -> usize {
        self.free.len()
    }

    fn in_flight(&self) -> usize {
        lock(&self.wire).driver.in_flight()
    }

    fn invalid(&self) -> u64 {
        lock(&self.wire).driver.invalid
    }
}

impl RxPort for MemoryRx {
    fn recv(&mut self, max: usize, mut visit: impl FnMut(RxFrame<'_>)) -> Result<usize, PortError> {
        for n in 0..max {
            let taken =
                lock(&self.wire).queues.get_mut(self.queue).is_some_and(|q| q.pop_into(&mut self.frame));
            if !taken {
                return Ok(n);
            }
            visit(RxFrame { bytes: &self.frame, wire_len: self.frame.len(), xdp_ns: None, nic_ns: None });
        }
        Ok(max)
    }

    fn drops(&self) -> Option<RxDrops> {
        let ring_full = lock(&self.wire).queues.get(self.queue).map_or(0, FrameQueue::dropped);
        Some(RxDrops { ring_full, ..RxDrops::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Numbers(u8);

    impl Source for Numbers {
        fn next_len(&mut self) -> Option<usize> {
            (self.0 > 0).then_some(60)
        }
        fn write(&mut self, _slot: Slot, buf: &mut [u8]) {
            self.0 -= 1;
            buf.fill(self.0);
        }
    }

    fn received(rx: &mut MemoryRx) -> Vec<u8> {
        let mut seen = Vec::new();
        rx.recv(usize::MAX, |frame| seen.push(frame.bytes[0])).unwrap();
        seen
    }

    #[test]
    fn a_perfect_wire_keeps_order_and_every_frame() {
        let (mut tx, mut rx) = wire(1, 64, 64, Faults::none(1), |_, _| {});
        assert_eq!(tx.send(50, &mut Numbers(50)), Ok(50));
        assert_eq!((tx.in_flight(), tx.reclaim(|_| {}), tx.in_flight()), (50, 50, 0));
        assert_eq!(received(&mut rx[0]), (0..50).rev().collect::<Vec<u8>>());
    }

    #[test]
    fn a_full_queue_drops_and_counts() {
        let (mut tx, mut rx) = wire(1, 8, 64, Faults::none(1), |_, _| {});
        assert_eq!(tx.send(50, &mut Numbers(50)), Ok(50));
        assert_eq!(rx[0].drops().unwrap().frames(), 42);
        assert_eq!(received(&mut rx[0]).len(), 8);
    }

    #[test]
    fn no_free_chunk_means_fewer_sent() {
        let (mut tx, _rx) = wire(1, 64, 4, Faults::none(1), |_, _| {});
        assert_eq!(tx.send(50, &mut Numbers(50)), Ok(4));
        assert_eq!(tx.send(50, &mut Numbers(46)), Ok(0));
    }

    #[test]
    fn held_frames_come_later_and_none_is_forgotten() {
        let faults = Faults { hold: Ppm(250_000), hold_frames: 3, ..Faults::none(7) };
        let (mut tx, mut rx) = wire(1, 256, 256, faults, |_, _| {});
        assert_eq!(tx.send(200, &mut Numbers(200)), Ok(200));
        tx.handle().flush();
        let mut seen = received(&mut rx[0]);
        assert!(seen.windows(2).any(|w| w[0] < w[1]), "nothing was reordered");
        seen.sort_unstable();
        assert_eq!(seen, (0..200).collect::<Vec<u8>>());
    }
}
