//! One sender and several receivers over the seeded wire, driven turn by turn on a clock that the test moves.

use macaddr::MacAddr6;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use xsk_gen::engine::{
    Books, Feed, Latch, Progress, RxSpec, RxTally, RxWorker, Shape, Turn, TxBooks, TxWorker, Worker,
};
use xsk_gen::frame::layout::Defaults;
use xsk_gen::frame::sizes::Sizes;
use xsk_gen::frame::{Inspector, L3, Place, Stack, Stream, StreamSpec};
use xsk_gen::measure::Sampling;
use xsk_gen::memory_port::{Event, Faults, WireHandle, wire};
use xsk_gen::pace::{Course, Limits, Pacer};
use xsk_gen::units::{FrameSize, Nanos};

/// The run's tag and the clock's name in these tests.
pub const RUN: u16 = 7;
const CLOCK: u16 = 3;
const PORT: u16 = 9;
/// Chunks of the sender: four batches.
pub const CHUNKS: u32 = 256;
pub const BATCH: u32 = 64;

/// What to send and through what.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub frames: u64,
    pub flows: u32,
    pub queues: usize,
    pub faults: Faults,
}

/// Sender, receivers and the time.
pub struct Bench {
    tx: Box<dyn Worker>,
    rx: Vec<Box<dyn Worker>>,
    wire: WireHandle,
    now: Nanos,
}

fn stack() -> Stack {
    Stack {
        src_mac: MacAddr6::new(2, 0, 0, 0, 0, 1),
        dst_mac: MacAddr6::new(2, 0, 0, 0, 0, 2),
        vlans: Vec::new(),
        l3: L3::V4 {
            src: Ipv4Addr::new(198, 18, 0, 1),
            dst: Ipv4Addr::new(198, 19, 0, 1),
            src_port: 4242,
            dst_port: PORT,
        },
    }
}

/// Frames of 64 bytes of one sequence space.
pub fn feed(flows: u32) -> Feed {
    let spec = StreamSpec {
        layers: stack().layers(),
        defaults: Defaults::BENCHMARK,
        modifiers: Vec::new(),
        sizes: Sizes::Fixed(FrameSize::MIN),
        flows,
        place: Place::ALONE,
        run: RUN,
        clock: CLOCK,
        verify: true,
    };
    Feed::new(vec![Stream::new(&spec).unwrap()], vec![0], CHUNKS)
}

impl Bench {
    /// Everything connected and begun; `tap` hears what the wire does.
    pub fn new(setup: Setup, tap: impl FnMut(Event, &[u8]) + Send + 'static) -> Self {
        let (port, ports) = wire(setup.queues, 4 * BATCH as usize, CHUNKS, setup.faults, tap);
        let handle = port.handle();
        let pacer =
            Pacer::new(&Course::Max, Limits { count: Some(setup.frames), duration: None }, BATCH, (0, 1));
        let progress = || Arc::new(Progress::default());
        let tx = TxWorker::new(port, feed(setup.flows), 0, pacer, progress());
        let latch = Arc::new(Latch::new(None));
        let epoch = latch.admit(RUN, Nanos(1)).expect("the first run is admitted");
        latch.announce(epoch, Shape { flows: [setup.flows].into(), spaces: 1 });
        let receive = |(queue, port)| {
            let inspector = Inspector::plain(Some(PORT), true);
            let clock = || Nanos(1_000_000);
            let timing = Some(Sampling::ALL);
            let spec =
                RxSpec { queue, batch: BATCH, inspector, others: false, timing, clock_id: CLOCK, clock };
            let (control, _) = sync_channel(1);
            Box::new(RxWorker::new(port, spec, Arc::clone(&latch), control, progress())) as Box<dyn Worker>
        };
        let rx = (0..).zip(ports).map(receive).collect();
        let mut bench = Self { tx: Box::new(tx), rx, wire: handle, now: Nanos(1) };
        bench.tx.begin(bench.now);
        bench.rx.iter_mut().for_each(|rx| rx.begin(bench.now));
        bench
    }

    /// One turn of every worker, a microsecond later; false when the sender has finished.
    pub fn turn(&mut self) -> bool {
        self.now = self.now + Nanos(1_000);
        let turn = self.tx.turn(self.now);
        for rx in &mut self.rx {
            while rx.turn(self.now) == Turn::Worked {}
        }
        turn != Turn::Finished
    }

    /// Ends the run: the books of the sender, and the receivers' tallies of the run, merged.
    pub fn finish(mut self) -> (TxBooks, RxTally) {
        self.tx.end(self.now);
        self.wire.flush();
        assert!(self.tx.drain(self.now), "the wire in memory completes at once");
        let Books::Tx(sent) = self.tx.into_books() else { panic!("a sender has a sender's books") };
        let mut merged = RxTally::new(1, Some(RUN), None);
        for mut rx in self.rx {
            while !rx.drain(self.now) {}
            let Books::Rx(tallies) = rx.into_books() else { panic!("a receiver has a receiver's books") };
            tallies.into_iter().for_each(|tally| merged.merge(tally));
        }
        (sent, merged)
    }
}
