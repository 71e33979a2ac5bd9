//! `tx`: from a configuration to frames on the wire and the sender's Report.

mod announce;
mod attach;
mod course;
mod discover;
mod offer;
mod replay;
mod report;
mod resolve;
mod streams;
mod trip;
mod trouble;
mod workers;

use self::announce::Farewell;
use self::discover::Peer;
use self::offer::Offer;
use self::replay::Replay;
use self::trip::{Came, Halves, Trip};
use super::control_link::ControlLink;
use super::interrupt::Interrupt;
use super::link_watch::{LinkWatch, Outages};
use super::live::{Goal, Live, Side, Sums};
use super::meter::Meter;
use super::notice::notice;
use super::placement::{self, Seat};
use super::privileges::{self, Needs};
use super::sockets::{self, Memory, Sockets, Wanted};
use super::{Failure, afford, busy_poll, ground, pair, tell};
use crate::config::TxConfig;
use crate::engine::{self, Outcome, Progress, Running};
use crate::finding::Finding;
use crate::host::netdev::Direction;
use crate::host::{DeviceCounters, InterfaceFacts, machine};
use crate::port::PortError;
use crate::report::{Report, XskModeUsed};
use crate::sys::clock::monotonic;
use crate::sys::tsc;
use crate::sys::xdp_socket;
use crate::units::Nanos;
use crate::xsk::{self, XskTx};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

pub use self::announce::LastWord;
pub use self::discover::Peer as KnownPeer;
// A forwarder sends as a sender does.
pub(super) use self::attach::{Attached, open as open_sockets};
pub(super) use self::offer::offered;

/// How often the controller looks at its workers.
const LOOK: Duration = Duration::from_millis(10);
/// How long completions are waited for at the end: twice what a ring of 2,048 takes at 10 Mbit/s, and well within the
/// second that an interrupted run may take.
const DRAIN: Nanos = Nanos::from_millis(300);

/// Runs `tx`.
///
/// # Errors
/// What stood in the way of the run, or ended it without a Report.
pub fn run(config: &TxConfig, interrupt: &Interrupt) -> Result<Vec<Report>, Failure> {
    match &config.sink {
        Some(sink) => pair::on_this_host(config, sink, interrupt),
        None => Sender::open(config, None, interrupt)?.run(interrupt, None).map(|report| vec![report]),
    }
}

/// A sender whose sockets are open and whose destination is known.
pub struct Sender<'a> {
    config: &'a TxConfig,
    facts: InterfaceFacts,
    offer: Offer,
    /// The capture that is sent instead of frames of our own.
    replay: Option<Replay>,
    /// How a sink is talked to; none is, about a capture.
    link: Option<ControlLink>,
    seats: Vec<Seat>,
    ports: Vec<XskTx>,
    xsk_mode: XskModeUsed,
    memory: Memory,
    program: Option<Attached>,
    /// The half that receives what comes back.
    trip: Option<Trip>,
    findings: Vec<Finding>,
    /// Whether the receiver has answered as a sink of ours does.
    sink_answers: bool,
}

/// What is left of a run, for the Report.
struct Aftermath {
    outcomes: Vec<Outcome>,
    panicked: bool,
    started_at: String,
    before: (Meter, Option<DeviceCounters>),
    after: (Meter, Option<DeviceCounters>),
    interrupted: bool,
    link: Outages,
    /// Whether the link was away when the run ended, and whether the interface was seen to be gone.
    away_at_end: bool,
    gone: bool,
    /// What came back, where that was asked for.
    came: Option<Came>,
}

impl Aftermath {
    /// Whether the link was lost by itself, and not only together with the interface.
    fn link_lost_before(&self) -> bool {
        self.link.count > u32::from(self.away_at_end)
    }

    /// Whether a worker ended because its interface disappeared.
    fn interface_gone(&self) -> bool {
        self.gone || self.outcomes.iter().any(|outcome| outcome.error == Some(PortError::Gone))
    }
}

impl<'a> Sender<'a> {
    /// Checks, finds the destination, opens the sockets and waits for the link.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn open(config: &'a TxConfig, peer: Option<Peer>, interrupt: &Interrupt) -> Result<Self, Failure> {
        let facts = ground::survey(&config.iface, config.wait_link, interrupt)?;
        let longest = longest_frame(config, &facts)?;
        let replay = Replay::open(config, &facts, longest)?;
        let (all, sending, memory) = workers::places(config, &facts, longest)?;
        let seats = all.get(..sending).unwrap_or_default().to_vec();
        afford::check(&facts.name, all.len(), memory)?;
        afford::foretell(&config.output, "tx", all.len(), memory);
        let run = config.run_tag.unwrap_or_else(offer::random_tag);
        let (link, peer) = match &replay {
            Some(_) => (None, Peer::NOBODY),
            None => {
                let mut link = ControlLink::open(&facts, offer::udp_port(config))?;
                let peer = discover::destination(config, &facts, peer, &mut link, run, interrupt)?;
                (Some(link), peer)
            }
        };
        let offer = Offer::new(config, &facts, &peer, run, &seats)?;

        let mut halves = open_halves(config, &facts, (memory, &all, sending), &offer, interrupt)?;
        let mut findings = std::mem::take(&mut halves.notes);
        findings.extend(placement::shared(&facts.name, &all));
        findings.extend(trouble::no_far_end(&facts));
        findings.extend(busy_poll::remark(&facts, config.modes));
        findings.extend(streams::remarks(&config.streams, config.address.src_mac, &facts));
        let mut sender = Self {
            config,
            facts,
            offer,
            replay,
            link,
            seats,
            ports: halves.ports,
            xsk_mode: halves.mode,
            memory,
            program: halves.program,
            trip: halves.trip,
            findings,
            sink_answers: peer.answered,
        };
        sender.settle(interrupt)?;
        sender.findings.append(&mut halves.replaced);
        Ok(sender)
    }

    /// Sets the sockets' options, waits for the link that attaching may have reset, and for `--settle`.
    fn settle(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        for port in &self.ports {
            // A kernel that does not know the option (before 6.17) sends 32 chunks a call, which only costs calls.
            let budget = self.config.batch.saturating_mul(port.chunks_a_frame()).min(self.memory.ring);
            let _ = xdp_socket::set_tx_budget(port.fd(), budget.max(32));
            if let Some(budget) = self.config.modes.busy_poll {
                sockets::prefer_busy_poll(&self.facts.name, port.fd(), budget)?;
            }
        }
        ground::wait_for_carrier(&self.facts, self.config.wait_link, interrupt)?;
        let until = monotonic() + self.config.settle;
        while monotonic() < until {
            thread::sleep(LOOK);
            if interrupt.raised() {
                return Err(Failure::interrupted(&self.facts.name));
            }
        }
        if !self.config.output.quiet {
            tell(&self.findings);
        }
        Ok(())
    }

    /// Announces, sends, tells the end (a sink of this process hears it through `told` as well, where no full ring
    /// can lose it), and reports.
    ///
    /// # Errors
    /// When the run could not begin.
    pub fn run(
        mut self,
        interrupt: &Interrupt,
        told: Option<&OnceLock<LastWord>>,
    ) -> Result<Report, Failure> {
        let words = self.replay.as_ref().map_or_else(|| self.offer.words(), Replay::words);
        notice(self.config.output.quiet, "tx", words);
        let began = monotonic();
        if let Some(link) = &mut self.link {
            announce::start(link, &self.offer)?;
        }
        let started_at = machine::wall_clock();
        let before = (Meter::read(), DeviceCounters::read(self.facts.ifindex).ok());
        let progress: Vec<_> = self.seats.iter().map(|_| Arc::new(Progress::default())).collect();
        // Threads have the privileges of the one that starts them.
        self.findings.extend(privileges::reduce(Needs::of(&self.config.output), || {
            self.trip.as_ref().is_none_or(Trip::readable)
        }));
        let crews = self.crews(&progress)?;
        let stop = Arc::new(AtomicBool::new(false));
        let mut live = self.live();
        let drain = if self.trip.is_some() { trip::DRAIN } else { DRAIN };
        let running =
            engine::start(crews, tsc::Source::here().reader(), Arc::clone(&stop), drain, privileges::none)
                .map_err(|e| Failure::system(&self.facts.name, "a worker thread could not be started", &e))?;
        let mut link = LinkWatch::begin(self.facts.ifindex, monotonic());
        let (asked, gone) = attend(&running, &stop, &progress, (&mut live, &mut link), interrupt);
        let mut outcomes = running.join();
        let came = self.trip.as_mut().map(|trip| {
            // Detached before the END: its answers are the stack's, and nothing more is counted.
            trip.finish(&self.facts.name, outcomes.as_deref_mut().unwrap_or_default())
        });
        if let Some(replay) = &mut self.replay {
            replay.finish();
        }
        let intervals = live.finish(monotonic(), Sums::of(&progress));
        let aftermath = Aftermath {
            panicked: outcomes.is_none(),
            outcomes: outcomes.unwrap_or_default(),
            started_at,
            before,
            after: (Meter::read(), DeviceCounters::read(self.facts.ifindex).ok()),
            interrupted: interrupt.raised(),
            away_at_end: link.away(),
            link: link.finish(monotonic()),
            gone,
            came,
        };
        let word = announce::last_word(&self.offer, &aftermath);
        let farewell = Farewell { began, sink_answers: self.sink_answers, interrupted: asked };
        // On an interface that is gone nothing can be said, and that it is gone is told already.
        let unsaid =
            self.link.as_mut().and_then(|link| announce::end(link, &self.offer, &word, farewell).err());
        self.findings.extend(unsaid.filter(|_| !aftermath.interface_gone()));
        if let Some(told) = told {
            // Said once.
            let _ = told.set(word);
        }
        if let Some(program) = &mut self.program {
            program.program.detach();
        }
        Ok(report::build(self, &aftermath, intervals))
    }

    fn live(&self) -> Live {
        let goal = match (self.config.count, self.config.duration) {
            (Some(count), _) => Goal::Frames(count),
            (None, Some(duration)) => Goal::Time(duration),
            (None, None) => Goal::Open,
        };
        let output = &self.config.output;
        Live::new(Side::Tx, output.interval, output.quiet, goal, monotonic())
    }
}

/// The sockets of a sender, with the half that receives where a round trip is asked for.
fn open_halves(
    config: &TxConfig,
    facts: &InterfaceFacts,
    (memory, seats, sending): (Memory, &[Seat], usize),
    offer: &Offer,
    interrupt: &Interrupt,
) -> Result<Halves, Failure> {
    if config.round_trip {
        return trip::open(config, facts, (memory, seats, sending), offer, interrupt);
    }
    let wanted = Wanted::new(facts, config.modes, memory, Direction::Tx);
    let mut replaced = Vec::new();
    let (sockets, program) = attach::open(&wanted, facts, seats, &mut replaced, interrupt)?;
    let Sockets { opened, mode, notes, .. } = sockets;
    let ports = opened.into_iter().map(xsk::Opened::into_tx).collect();
    Ok(Halves { trip: None, program, ports, mode, notes, replaced })
}

/// VLAN tags of the stream that has most.
fn most_tags(config: &TxConfig) -> usize {
    config.streams.streams().iter().map(|stream| stream.vlans().len()).max().unwrap_or(0)
}

/// Bytes of the longest frame without FCS: of the streams, or of a capture what the interface lets through.
///
/// # Errors
/// Streams that do not fit the interface.
fn longest_frame(config: &TxConfig, facts: &InterfaceFacts) -> Result<u32, Failure> {
    if config.replay.is_some() {
        let [longest, _] = ground::longest_frames(facts.mtu);
        return Ok(longest);
    }
    let (_, longest) = config.streams.bounds();
    ground::check_size(facts, longest, most_tags(config))?;
    Ok(u32::try_from(longest.in_memory()).unwrap_or(u32::MAX))
}

/// Watches the workers until they have finished, the interface is gone, or the user has had enough: when that was, and
/// whether it is gone. A worker that waits for its next frame would not notice.
fn attend(
    running: &Running,
    stop: &AtomicBool,
    progress: &[Arc<Progress>],
    (live, link): (&mut Live, &mut LinkWatch),
    interrupt: &Interrupt,
) -> (Option<Nanos>, bool) {
    let mut asked = None;
    while !running.finished() {
        thread::sleep(LOOK);
        live.tick(monotonic(), Sums::of(progress));
        link.look(monotonic());
        progress.iter().for_each(|progress| progress.tell_link(link.away()));
        if interrupt.raised() {
            asked.get_or_insert_with(monotonic);
        }
        if asked.is_some() || link.gone() {
            stop.store(true, Relaxed);
        }
    }
    (asked, link.gone())
}
