//! `rx`: from a configuration to an attached sink and a Report a run.

mod answer;
mod attach;
mod books;
mod fall_back;
mod faults;
mod heard;
mod latency;
mod matching;
mod means;
mod onward;
mod readings;
mod recording;
mod redirect;
mod redirected;
mod report;
mod shift;
mod stamps;
mod talk;
mod trouble;
mod vlan;
mod watch;
mod workers;

use self::answer::Answering;
use self::attach::Ports;
use self::fall_back::Swap;
use self::onward::Onward;
use self::readings::{Device, Readings, Window};
use self::recording::Recording;
use self::shift::Shift;
use self::talk::Talk;
use self::watch::{Ending, Watch};
use super::control_link::ControlLink;
use super::interrupt::Interrupt;
use super::live::{Live, Side, Sums};
use super::notice::notice;
use super::placement::{self, Seat};
use super::privileges::{self, Needs};
use super::sockets::Memory;
use super::tx::{KnownPeer, LastWord};
use super::{Failure, busy_poll, ground, report_parts, tell};
use crate::config::RxConfig;
use crate::engine::{ControlFrame, Latch, Outcome, Progress};
use crate::finding::Finding;
use crate::host::InterfaceFacts;
use crate::host::choose::choose_rx_interface;
use crate::report::{Report, XskModeUsed};
use crate::sys::clock::monotonic;
use crate::units::Nanos;
use crate::xdp::AttachMode;
use crate::xsk::XskRx;
use std::io::{self, IsTerminal};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

pub use self::watch::UntilEnd;
// A sender that hears its own frames come back receives as a sink does.
pub(super) use self::attach::{Attached, attach, mode_used};
pub(super) use self::latency::{of_space, timed};
pub(super) use self::matching::{told, with_and_without_tags};
pub(super) use self::redirected::{accounted, disagreement, take_tallies};

/// Control frames that may wait for the controller: many times what one look's worth of STARTs and ENDs is.
const CONTROL_QUEUE: usize = 1024;

/// Runs `rx`.
///
/// # Errors
/// What stood in the way of the run, or ended it without a Report.
pub fn run(config: &RxConfig, interrupt: &Interrupt) -> Result<Vec<Report>, Failure> {
    Sink::open(config, interrupt)?.run(interrupt, None)
}

/// A sink whose program is attached and whose sockets are open.
pub struct Sink<'a> {
    config: &'a RxConfig,
    facts: InterfaceFacts,
    attached: Attached,
    seats: Vec<Seat>,
    ports: Vec<XskRx>,
    /// By what frames leave, of a forwarder.
    onward: Option<Onward>,
    xsk_mode: XskModeUsed,
    memory: Memory,
    latch: Arc<Latch>,
    talk: Talk,
    answering: Option<Answering>,
    control: SyncSender<ControlFrame>,
    readings: Readings,
    findings: Vec<Finding>,
    /// Figures of all workers that there were.
    progress: Vec<Arc<Progress>>,
    /// What the workers that have ended left behind, and whether one of them panicked.
    outcomes: Vec<Outcome>,
    panicked: bool,
    /// What was dropped while redirect did not work.
    swap: Swap,
    /// The capture that is written.
    recording: Option<Recording>,
}

/// What is left of a session, for the Reports.
struct Aftermath {
    outcomes: Vec<Outcome>,
    windows: Vec<Window>,
    interrupted: bool,
    /// When the sink stopped.
    stopped: Nanos,
    failed: Vec<Finding>,
}

impl<'a> Sink<'a> {
    /// Checks, attaches, opens the sockets and waits for the link.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn open(config: &'a RxConfig, interrupt: &Interrupt) -> Result<Self, Failure> {
        let iface = config.iface.clone().map_or_else(choose_rx_interface, Ok)?;
        let facts = ground::survey(&iface, config.wait_link, interrupt)?;
        means::affordable(config, &facts)?;
        if let Some(out) = &config.out {
            onward::survey(config, out, (&facts, &means::seats(config, &facts)?), interrupt)?;
        }
        let recording = config.recording.as_ref().map(Recording::open).transpose()?;
        let takes_all = matching::takes_all(config.matches, &facts)?;
        if !config.output.quiet {
            tell(takes_all.as_slice());
        }
        let program = stamps::load(config, &facts, &matching::options(config))?;
        program.check_counters()?;
        let mut attached = attach(config.modes, &facts, program, interrupt)?;
        let remark = stamps::check(config, &facts, &attached)?;
        attached.notes.extend(remark);
        // Some drivers change their queues when a program comes: what counts is what is there now.
        let facts = InterfaceFacts::read(&facts.name)?;
        let seats = means::seats(config, &facts)?;
        let Ports { ports, mode: xsk_mode, memory, notes } =
            means::ports(config, &facts, &seats, &mut attached)?;
        let mut notes = notes;
        let onward =
            config.out.as_ref().map(|out| Onward::open(config, out, (&facts, &seats), &mut notes, interrupt));
        let onward = onward.transpose()?;
        ground::wait_for_carrier(&facts, config.wait_link, interrupt)?;

        let link = ControlLink::open(&facts, config.matches.udp_port)?.within(config.matches.vlan);
        if config.promisc {
            link.promiscuous()?;
        }
        let latch = Arc::new(Latch::new(config.run_tag));
        let (control, frames) = sync_channel(CONTROL_QUEUE);
        let mut findings = attached.notes.clone();
        findings.extend(notes);
        let (answering, own) = answer::open(&config.answer, &facts)?;
        findings.extend(own);
        findings.extend(vlan::remarks(config, &facts));
        findings.extend(busy_poll::remark(&facts, config.modes));
        findings.extend(placement::shared(&facts.name, &seats).filter(|_| !config.count_only));
        let talk = talk(link, frames, &latch, &facts, &seats).acknowledging(config.out.is_none());
        let device =
            Device { ifindex: facts.ifindex, queues: facts.rx_queues, count_only: config.count_only };
        let readings = Readings::begin(&attached.program, device);
        let mut sink = Self {
            config,
            facts,
            attached,
            seats,
            ports,
            onward,
            xsk_mode,
            memory,
            latch,
            talk,
            answering,
            control,
            readings,
            findings,
            progress: Vec::new(),
            outcomes: Vec::new(),
            panicked: false,
            swap: Swap::default(),
            recording,
        };
        if !config.output.quiet {
            tell(&sink.findings);
        }
        // Of these the user has been told.
        sink.findings.append(&mut sink.attached.replaced);
        sink.findings.extend(takes_all);
        notice(config.output.quiet, config.role.command(), sink.ready());
        Ok(sink)
    }

    /// What it waits for, in words.
    fn ready(&self) -> String {
        let frames = matching::words(self.config.matches);
        let modes = match self.attached.mode {
            AttachMode::Native => "native XDP",
            AttachMode::Generic => "generic XDP",
        };
        let queues = self.seats.len();
        format!("ready on {} ({modes}, {queues} queue(s)): waiting for {frames}", self.facts.name)
    }

    /// Whether it was told to take frames that are not ours.
    const fn takes_others(&self) -> bool {
        self.config.matches.takes_others()
    }

    /// Where a sender of this host can send to.
    #[must_use]
    pub fn peer(&self) -> Option<KnownPeer> {
        let ip = self.facts.ipv4.map(IpAddr::V4).or(self.facts.ipv6.map(IpAddr::V6));
        Some(KnownPeer { mac: self.facts.mac?, ip, answered: false })
    }

    /// Receives until the configuration, the user or (with `until_end`) the sender's END says stop; reports.
    ///
    /// # Errors
    /// When the run could not begin.
    pub fn run(mut self, interrupt: &Interrupt, until_end: Option<UntilEnd>) -> Result<Vec<Report>, Failure> {
        self.give_up(Needs { fall_back: self.may_fall_back(), ..Needs::of(&self.config.output) });
        if let Some(recording) = &mut self.recording {
            recording.start(&self.facts.name)?;
        }
        let shift = self.start()?;
        let mut live = self.live(until_end.is_some());
        let told = until_end.as_ref().map(|end| Arc::clone(&end.told));
        let ending = Ending::new(self.config, until_end, monotonic());
        let mut watched = Watch::new(&mut self, ending, interrupt).run(shift, &mut live);

        if let Some(LastWord { run, parts }) = told.as_ref().and_then(|told| told.get()) {
            parts.iter().for_each(|part| self.talk.ended(*run, part.clone(), monotonic()));
        }
        let stopped = monotonic();
        if let Some(shift) = watched.shift.take() {
            // While the program is there: afterwards the device counts on and the program does not.
            self.readings.stop(&self.attached.program);
            // First the program, so that nothing more is on its way into sockets that are about to close.
            self.attached.program.detach();
            self.take_in(shift.end());
            // An END may have been among the last frames: after a stop of this process, for instance.
            self.talk.hear_the_rest(monotonic());
            watched.failed.extend(self.disagreement());
        }
        let recording = self.recording.take();
        self.findings.extend(recording.and_then(|recording| recording.finish(self.config.output.quiet)));
        watched.failed.extend(self.panicked.then(|| report_parts::worker_lost(&self.facts.name)));
        if let Some(answering) = &self.answering {
            notice(self.config.output.quiet, self.config.role.command(), answering.words());
        }
        let windows = self.readings.finish(&self.latch);
        let mut intervals = watched.intervals;
        intervals.push_back(live.finish(monotonic(), self.sums()));
        let aftermath = Aftermath {
            outcomes: std::mem::take(&mut self.outcomes),
            windows,
            interrupted: interrupt.raised(),
            stopped,
            failed: watched.failed,
        };
        Ok(report::build(&self, aftermath, intervals.into()))
    }

    /// Progress as it is shown; a terminal has room for one progress bar, which is the sender's.
    fn live(&self, with_sender: bool) -> Live {
        let output = &self.config.output;
        let quiet = output.quiet || (with_sender && io::stderr().is_terminal());
        Live::new(Side::Rx, output.interval, quiet, watch::goal(self.config), monotonic())
    }

    /// Gives up the privileges that are not needed any more.
    fn give_up(&mut self, needs: Needs) {
        let program = &self.attached.program;
        let kept = privileges::reduce(needs, || program.counters(1).is_ok());
        // The second time the same may be kept again.
        self.findings.extend(kept.filter(|kept| !self.findings.contains(kept)));
    }

    /// Starts workers over the open sockets.
    fn start(&mut self) -> Result<Shift, Failure> {
        let progress: Vec<_> = self.ports.iter().map(|_| Arc::new(Progress::default())).collect();
        self.progress.extend(progress.iter().cloned());
        let workers = self.workers(&progress);
        Shift::start(workers, progress)
            .map_err(|e| Failure::system(&self.facts.name, "a worker thread could not be started", &e))
    }

    /// Keeps what workers left behind.
    fn take_in(&mut self, outcomes: Option<Vec<Outcome>>) {
        self.panicked |= outcomes.is_none();
        self.outcomes.extend(outcomes.unwrap_or_default());
    }

    /// Whether all that was redirected is in our books. What is missing is a drop of the kernel's; with
    /// several runs nobody knows of which.
    fn disagreement(&mut self) -> Option<Finding> {
        if self.panicked || self.config.count_only {
            return None;
        }
        let redirected = self.counters().redirected;
        let known = redirected::accounted(&self.outcomes) + self.swap.silent;
        let finding = redirected::disagreement(&self.facts.name, redirected, known, self.seats.len())?;
        if self.latch.epoch() <= 1 {
            self.swap.silent += redirected.saturating_sub(known);
        }
        Some(finding)
    }

    /// Figures so far: the workers', or in count-only the program's.
    fn sums(&self) -> Sums {
        if !self.config.count_only {
            return Sums::of(&self.progress);
        }
        let counted = self.readings.now(&self.attached.program);
        Sums { frames: counted.frames(), bytes: counted.bytes(), ..Sums::default() }
    }
}

fn talk(
    link: ControlLink,
    frames: Receiver<ControlFrame>,
    latch: &Arc<Latch>,
    facts: &InterfaceFacts,
    seats: &[Seat],
) -> Talk {
    Talk::new(link, frames, Arc::clone(latch), facts, u32::try_from(seats.len()).unwrap_or(u32::MAX))
}
