//! The receiving half of `tx --round-trip`: the program and the sockets through which a sender hears its own frames come
//! back, and what it counted of them.

mod books;
mod report;
mod trouble;

pub use self::report::enter;
pub use self::trouble::find;

use super::offer::{self, Offer};
use crate::commands::placement::Seat;
use crate::commands::rx::{self, Attached};
use crate::commands::sockets::{self, Memory, Sockets, Wanted};
use crate::commands::{Failure, Interrupt};
use crate::config::{DEFAULT_RX_RING, TxConfig, XskChoice};
use crate::engine::{
    Inlet, Latch, Outcome, PackedDepartures, Progress, Returns, RxSpec, RxTally, RxWorker, Shape, Times,
};
use crate::finding::{Code, Finding, Severity};
use crate::frame::Inspector;
use crate::frame::probe::Way;
use crate::host::netdev::Direction;
use crate::host::{InterfaceFacts, machine};
use crate::measure::Sampling;
use crate::report::{TimestampSource, Timestamps, XdpModeUsed, XskModeUsed};
use crate::sys::clock::monotonic;
use crate::units::Nanos;
use crate::xdp::{self, AttachMode, QueueCounters, RxOptions, RxProgram, STAMP_BYTES};
use crate::xsk::{XskBack, XskTx};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// How long what has not come back is waited for once a signal has ended the run.
pub const DRAIN: Nanos = Nanos::from_millis(400);

/// The receiving half, attached and open.
pub struct Trip {
    attached: Attached,
    /// Every queue on which frames may come back.
    seats: Vec<Seat>,
    ports: Vec<XskBack>,
    /// Transmit sides of queues that only receive; they live as long as the rest of their sockets.
    _idle: Vec<XskTx>,
    progress: Vec<Arc<Progress>>,
    latch: Arc<Latch>,
    inspector: Inspector,
    batch: u32,
}

/// The sockets of a sender, as they were opened.
pub struct Halves {
    /// What receives, on a round trip.
    pub trip: Option<Trip>,
    /// The program that zero-copy may want, where nothing is received.
    pub program: Option<super::Attached>,
    /// What sends, one a sending seat.
    pub ports: Vec<XskTx>,
    /// The mode of the sockets.
    pub mode: XskModeUsed,
    /// What was not as it could have been.
    pub notes: Vec<Finding>,
    /// Programs of others that were taken off; the user has been told.
    pub replaced: Vec<Finding>,
}

/// What came back of a run.
pub struct Came {
    /// What the workers counted.
    pub tally: RxTally,
    /// Frames that each queue's socket dropped.
    pub dropped: Vec<(u32, Option<u64>)>,
    /// The program's counters, by queue.
    pub queues: Vec<QueueCounters>,
    /// What was redirected and never seen again.
    pub silent: Option<Finding>,
}

impl Came {
    /// The program's counters over all queues.
    pub fn xdp(&self) -> QueueCounters {
        self.queues.iter().copied().sum()
    }
}

/// Packet memory of a queue: half of it to send from, half to receive into.
pub fn memory(config: &TxConfig, longest: u32) -> Memory {
    let memory = Memory::of(&config.rings, DEFAULT_RX_RING, longest.saturating_add(STAMP_BYTES));
    Memory { table_bytes: Times::MOST_BYTES + PackedDepartures::TABLE_BYTES, ..memory }
}

/// Attaches the program, opens sockets on all `seats`, and gives the first `sending` of them a half that sends.
///
/// # Errors
/// When either cannot be had.
pub fn open(
    config: &TxConfig,
    facts: &InterfaceFacts,
    (memory, seats, sending): (Memory, &[Seat], usize),
    offer: &Offer,
    interrupt: &Interrupt,
) -> Result<Halves, Failure> {
    let program = RxProgram::load(&options(config))?;
    program.check_counters()?;
    let mut attached = rx::attach(config.modes, facts, program, interrupt)?;
    let mut wanted = Wanted::new(facts, config.modes, memory, Direction::Tx);
    if attached.mode == AttachMode::Generic && wanted.modes.xsk == XskChoice::Auto {
        // Zero-copy needs the program in the driver.
        wanted.modes.xsk = XskChoice::Copy;
    }
    let Sockets { opened, mode, notes, .. } = sockets::open(&wanted, seats)?;
    let (mut ports, mut receiving) = (Vec::new(), Vec::new());
    for (opened, seat) in opened.into_iter().zip(seats) {
        let (tx, mut rx) = opened.into_both().map_err(|error| {
            let on = format!("{} queue {}", facts.name, seat.queue);
            Finding::new(Code::NoMemory, Severity::Fail, on, error.to_string())
                .why("half of the chunks must be on the fill ring before frames come back")
                .remedy("fewer chunks with --frames")
        })?;
        rx.busy_polling(config.modes.busy_poll.is_some());
        rx.stamped(Some(machine::monotonic_offset_ns()));
        attached.program.set_socket(seat.queue, &rx.fd())?;
        ports.push(tx);
        receiving.push(rx);
    }
    let notes = attached.notes.drain(..).chain(notes).collect();
    let replaced = std::mem::take(&mut attached.replaced);
    let trip = Trip {
        attached,
        seats: seats.to_vec(),
        progress: seats.iter().map(|_| Arc::default()).collect(),
        ports: receiving,
        _idle: ports.split_off(sending.min(ports.len())),
        latch: latch(offer),
        inspector: inspector(config),
        batch: config.batch,
    };
    Ok(Halves { trip: Some(trip), program: None, ports, mode, notes, replaced })
}

/// Who takes the times of what comes back.
pub fn timestamps() -> Timestamps {
    let why = "a round trip is timed by the clock of one host".to_owned();
    Timestamps { source: TimestampSource::Xdp, why }
}

/// Takes what a reflector has sent back, and nothing else: the answers to an END go to the stack.
fn options(config: &TxConfig) -> RxOptions {
    let udp_port = offer::udp_port(config);
    let shapes = rx::with_and_without_tags(&config.streams.shapes_back(udp_port));
    RxOptions {
        shapes: shapes.iter().map(rx::told).collect(),
        stamp: true,
        back: true,
        ..RxOptions::plain(udp_port, xdp::MAX_QUEUES)
    }
}

fn inspector(config: &TxConfig) -> Inspector {
    let udp_port = offer::udp_port(config);
    let shapes = rx::with_and_without_tags(&config.streams.shapes_back(udp_port)).into();
    Inspector { udp_port, verify: config.verify, shapes, way: Way::Back }
}

/// Follows the sender's own run, of which everything is known.
fn latch(offer: &Offer) -> Arc<Latch> {
    let (latch, start) = (Latch::new(Some(offer.run)), offer.start());
    if let Some(epoch) = latch.admit(offer.run, monotonic()) {
        latch.announce(epoch, Shape { flows: start.flows.into(), spaces: start.spaces });
    }
    Arc::new(latch)
}

impl Trip {
    /// How the program is attached.
    pub const fn mode_used(&self) -> XdpModeUsed {
        rx::mode_used(self.attached.mode)
    }

    /// Whether the program's counters can be read.
    pub fn readable(&self) -> bool {
        self.attached.program.counters(1).is_ok()
    }

    /// What the workers of both halves know of each other.
    pub fn returns(&self, sent: &[Arc<Progress>]) -> Arc<Returns> {
        Arc::new(Returns::new(sent.to_vec(), self.progress.clone()))
    }

    /// The receiving halves of the workers, each with its core.
    pub fn receivers(&mut self) -> Vec<(u32, RxWorker<XskBack>)> {
        let ports = std::mem::take(&mut self.ports);
        let seated = ports.into_iter().zip(self.seats.iter().zip(&self.progress));
        seated.map(|(port, (seat, progress))| (seat.core, self.receiver(port, *seat, progress))).collect()
    }

    fn receiver<P: Inlet>(&self, port: P, seat: Seat, progress: &Arc<Progress>) -> RxWorker<P> {
        let spec = RxSpec {
            queue: seat.queue,
            batch: self.batch,
            inspector: self.inspector.clone(),
            others: false,
            timing: Some(Sampling::ALL),
            clock_id: machine::clock_id(),
            clock: monotonic,
        };
        // Control frames do not come back; nobody would read them.
        let (unread, _) = sync_channel(1);
        RxWorker::new(port, spec, Arc::clone(&self.latch), unread, Arc::clone(progress))
    }

    /// Ends it: what came back, of what the workers left behind.
    pub fn finish(&mut self, iface: &str, outcomes: &mut [Outcome]) -> Came {
        let queues = self.seats.iter().map(|seat| seat.queue + 1).max().unwrap_or(0);
        let queues = self.attached.program.counters(queues).unwrap_or_default();
        self.attached.program.detach();
        let redirected = queues.iter().map(|queue| queue.redirected).sum();
        let silent = rx::disagreement(iface, redirected, rx::accounted(outcomes), self.seats.len());
        let mut tally = RxTally::new(1, None, None);
        let mut dropped = Vec::new();
        for part in rx::take_tallies(outcomes) {
            dropped.extend(part.queue.map(|queue| (queue, part.drops.map(|drops| drops.frames()))));
            tally.merge(part);
        }
        Came { tally, dropped, queues, silent }
    }
}
