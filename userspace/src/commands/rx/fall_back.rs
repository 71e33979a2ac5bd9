//! From native to generic XDP within a run: for a driver that took the program and drops what it redirects.
//! The latch, the conversation and the books go on; what was dropped meanwhile is counted.

use super::attach::{self, Ports};
use super::shift::Shift;
use super::{Sink, redirected};
use crate::commands::attaching::{Place, patiently};
use crate::commands::interrupt::Interrupt;
use crate::commands::sockets::Wanted;
use crate::commands::{Failure, ground, tell};
use crate::config::{XdpChoice, XskChoice};
use crate::finding::{Code, Finding, Severity};
use crate::host::DeviceCounters;
use crate::host::drivers::{self, DriverNote};
use crate::host::netdev::Direction;
use crate::xdp::{AttachMode, QueueCounters};

/// Tries to read two counters at the same moment.
const TRIES: u32 = 10;

/// Frames that reached the interface and no socket, because redirect did not work or was being replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swap {
    /// Redirected by the program, and never seen again.
    pub silent: u64,
    /// Counted by the device while no program was attached.
    pub unseen: u64,
    /// Found no socket while the new ones were opened.
    pub no_socket: u64,
}

impl Sink<'_> {
    /// Whether another mode may be taken: native is what there is, and the user did not demand one that generic
    /// XDP cannot have.
    pub(super) const fn may_fall_back(&self) -> bool {
        !self.config.count_only
            // Its way out is not opened a second time.
            && self.config.out.is_none()
            && matches!(self.attached.mode, AttachMode::Native)
            && matches!(self.config.modes.xdp, XdpChoice::Auto)
            && !matches!(self.config.modes.xsk, XskChoice::ZeroCopy)
    }

    /// Attaches in generic mode, opens the sockets anew in copy mode and starts workers over them.
    ///
    /// # Errors
    /// Why it could not, or may not, be done; the workers have ended and nothing is attached.
    pub(super) fn fall_back(&mut self, shift: Shift, interrupt: &Interrupt) -> Result<Shift, Vec<Finding>> {
        // First the workers: nothing comes to them, and they keep the cores busy that the change needs. The
        // program drops and counts meanwhile what has no socket.
        self.take_in(shift.end());
        self.swap.silent = self.missing().unwrap_or(0);
        if !self.may_fall_back() {
            self.readings.stop(&self.attached.program);
            self.attached.program.detach();
            return Err(vec![silent(self, Severity::Fail)]);
        }
        self.replace_program(interrupt).map_err(|finding| vec![silent(self, Severity::Warn), finding])?;
        let warning = silent(self, Severity::Warn);
        if !self.config.output.quiet {
            tell(std::slice::from_ref(&warning));
        }
        self.findings.push(warning);
        let shift = self.reopen(interrupt).map_err(|failure| failure.findings().to_vec())?;
        self.swap.no_socket = self.counters().no_socket;
        Ok(shift)
    }

    /// Takes the program out of the driver and attaches it in the stack, with as little time between as can
    /// be.
    fn replace_program(&mut self, interrupt: &Interrupt) -> Result<(), Finding> {
        self.readings.stop(&self.attached.program);
        let seen_before = self.seen();
        self.attached.program.detach();
        // Nobody else's program is taken off for this one: whoever came in between stays.
        let place = Place::new(&self.facts, false, interrupt);
        let program = &mut self.attached.program;
        let attach = || program.attach(self.facts.ifindex, &self.facts.name, AttachMode::Generic);
        patiently(place, &mut Vec::new(), attach)?;
        self.attached.mode = AttachMode::Generic;
        if let (Some(before), Some(after)) = (seen_before, self.seen()) {
            let (by_device, by_program) = (after.0 - before.0, after.1 - before.1);
            self.swap.unseen = u64::try_from(by_device - by_program).unwrap_or(0);
        }
        Ok(())
    }

    /// Frames that the device has counted, and those that the program has, at the same moment: of several
    /// tries the one within which the fewest frames came.
    fn seen(&self) -> Option<(i128, i128)> {
        let mut best: Option<(u64, (i128, i128))> = None;
        for _ in 0..TRIES {
            let before = self.counters().frames();
            let device = DeviceCounters::read(self.facts.ifindex).ok()?.rx_packets;
            let came = self.counters().frames() - before;
            if best.is_none_or(|(fewest, _)| came < fewest) {
                best = Some((came, (i128::from(device), i128::from(before))));
            }
            if came == 0 {
                break;
            }
        }
        best.map(|(_, seen)| seen)
    }

    fn reopen(&mut self, interrupt: &Interrupt) -> Result<Shift, Failure> {
        let mut wanted = Wanted::new(&self.facts, self.config.modes, self.memory, Direction::Rx);
        wanted.modes.xsk = XskChoice::Copy;
        let Ports { ports, mode, .. } = attach::bind(&wanted, &self.seats, &mut self.attached)?;
        (self.ports, self.xsk_mode) = (ports, mode);
        // Taking a program out of a driver may cost the link for a while, as attaching it did.
        ground::wait_for_carrier(&self.facts, self.config.wait_link, interrupt)?;
        self.readings.forgive_link();
        self.start()
    }

    /// The program's counters now, over all queues.
    pub(super) fn counters(&self) -> QueueCounters {
        let queues = self.attached.program.counters(self.facts.rx_queues);
        queues.unwrap_or_default().into_iter().sum()
    }

    /// Frames that were redirected, and neither came out of a socket nor were counted by one as dropped. None
    /// when more came than were redirected.
    pub(super) fn missing(&self) -> Option<u64> {
        self.counters().redirected.checked_sub(redirected::accounted(&self.outcomes))
    }
}

fn silent(sink: &Sink<'_>, severity: Severity) -> Finding {
    let driver = sink.facts.driver.as_deref().unwrap_or("the driver");
    let frames = sink.swap.silent;
    let (then, remedy) = match severity {
        Severity::Fail => {
            ("", "--xdp-mode generic, or auto to fall back to it; another driver for the NIC's own figure")
        }
        _ => ("; generic XDP is used from there on", "--xdp-mode generic to begin with it"),
    };
    let what =
        format!("{frames} frames were redirected to AF_XDP in native mode and none reached a socket{then}");
    let why = "the driver takes an XDP program and drops what it redirects, or its queues are not those that the sockets are bound to";
    let hint = drivers::note(driver).and_then(DriverNote::hint).map(|hint| format!("; {hint}"));
    Finding::new(Code::RedirectSilent, severity, format!("{} ({driver})", sink.facts.name), what)
        .why(format!("{why}{}", hint.unwrap_or_default()))
        .remedy(remedy)
}
