//! The receiving worker: one queue, every run that arrives on it.

use super::latch::Latch;
use super::times::Arrival;
use super::{Books, Inlet, Load, Progress, RxTally, Turn, Worker};
use crate::capture::Tap;
use crate::frame::{Control, Inspected, Inspector, Probe, Reason, control};
use crate::measure::Sampling;
use crate::port::{PortError, RxDrops};
use crate::units::Nanos;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// How often the port is asked for its drops: it is a system call.
const DROPS_PERIOD: Nanos = Nanos::from_millis(10);
/// Silence after which the thread may sleep between turns, unless a run was announced.
const DORMANT_AFTER: Nanos = Nanos::from_millis(2_000);

/// Runs of one sink that are told one by one: an endless sink must not fill memory. Of older ones the sums are kept.
pub const MAX_RUNS: usize = 1024;

/// A control frame on its way to whoever answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlFrame {
    /// The run that it speaks of.
    pub run: u16,
    /// The message, to be decoded by [`crate::frame::control::decode`].
    pub body: Vec<u8>,
}

/// What a receive worker needs to know.
#[derive(Debug, Clone)]
pub struct RxSpec {
    /// The queue that its port serves.
    pub queue: u32,
    /// Frames a turn at the most.
    pub batch: u32,
    /// Recognition and verification.
    pub inspector: Inspector,
    /// Whether frames that are not ours are shown as received: they were asked for.
    pub others: bool,
    /// Which frames are timed; None for none at all.
    pub timing: Option<Sampling>,
    /// This host's clock, as it stands in the probes.
    pub clock_id: u16,
    /// Reads the time.
    pub clock: fn() -> Nanos,
}

/// Receives, verifies and measures what arrives through one port.
pub struct RxWorker<P> {
    port: P,
    spec: RxSpec,
    latch: Arc<Latch>,
    control: SyncSender<ControlFrame>,
    progress: Arc<Progress>,
    book: TallyBook,
    last_frame: Nanos,
    drops_read: Nanos,
    /// Where frames are kept as well.
    tap: Option<Tap>,
}

/// The tally that is open, and those that are closed.
struct TallyBook {
    open: RxTally,
    timing: Option<Sampling>,
    closed: VecDeque<RxTally>,
    /// Sums of the runs that were the oldest of more than [`MAX_RUNS`].
    forgotten: Option<RxTally>,
    /// The open tally's run, as long as it is the latched one.
    current: Option<u16>,
    /// What the turns cost since the open tally's run began; None before the first.
    load: Option<Load>,
    /// Whether the last turn brought frames that count.
    fruitful: bool,
    /// Drops when the open tally began, and when they were last read.
    drops_before: RxDrops,
    drops_now: Option<RxDrops>,
    /// Frames that were sent back of runs that are closed and have not come back.
    owed: u64,
    /// The run of the last control frame that was sent on, and when it was said.
    passed: Option<(u32, u64)>,
    /// Sums of all closed tallies.
    earlier: RxTally,
}

impl<P: Inlet> RxWorker<P> {
    /// A worker that serves `port`; control frames go to `control` and are counted when it is full.
    pub fn new(
        port: P,
        spec: RxSpec,
        latch: Arc<Latch>,
        control: SyncSender<ControlFrame>,
        progress: Arc<Progress>,
    ) -> Self {
        let book = TallyBook {
            open: RxTally::new(0, None, Some(spec.queue)).timed(spec.timing),
            timing: spec.timing,
            closed: VecDeque::new(),
            forgotten: None,
            current: None,
            load: None,
            fruitful: false,
            drops_before: RxDrops::default(),
            drops_now: None,
            owed: 0,
            passed: None,
            earlier: RxTally::forgotten(None),
        };
        let (last_frame, drops_read, tap) = (Nanos(0), Nanos(0), None);
        Self { port, spec, latch, control, progress, book, last_frame, drops_read, tap }
    }

    /// The same worker, which also keeps frames by `tap`.
    #[must_use]
    pub fn with_tap(self, tap: Option<Tap>) -> Self {
        Self { tap, ..self }
    }

    fn receive(&mut self) -> Result<usize, PortError> {
        let Self { port, spec, latch, control, book, tap, .. } = self;
        book.follow(latch.epoch());
        if P::ECHOES {
            book.came_back(port.reclaim()? as u64);
        }
        let mut arrived = None;
        let (mut probes, mut others) = (false, false);
        let n = port.take(spec.batch as usize, |frame, room| {
            // The clock is read once a turn, and only when there is something to time.
            let now = *arrived.get_or_insert_with(spec.clock);
            let (mut counts, mut lies) = (false, 0);
            let mut leaves = false;
            match spec.inspector.inspect(frame.bytes) {
                Inspected::Probe { probe, at } if book.admits(&probe, latch, now) => {
                    (counts, lies) = (true, at);
                    let (stamp, nic) = (frame.xdp_ns.map(Nanos), frame.nic_ns.map(Nanos));
                    let at = Arrival { stamp, nic, now, clock_id: spec.clock_id };
                    let seen = book.open.probe(&probe, frame.wire_len, at, latch);
                    leaves = P::ECHOES && book.open.echo.lets_go(seen, P::ONWARD);
                }
                Inspected::Probe { .. } => book.open.reject(Reason::OtherRun),
                Inspected::Control { probe, body } => {
                    book.control(&probe, body, control);
                    give_way(&probe, body, latch, now);
                    leaves = P::ONWARD && book.passes_on(&probe, body, latch, now);
                }
                Inspected::Rejected(Reason::NotOurs) => {
                    others = spec.others;
                    book.open.other(frame.wire_len, now);
                }
                Inspected::Rejected(reason) => book.open.reject(reason),
            }
            probes |= counts;
            if let Some(tap) = tap
                && (counts || tap.wants_all())
            {
                tap.keep(frame.bytes, frame.wire_len, now);
            }
            if leaves {
                book.open.echo.leave(frame.wire_len, room);
            }
            (leaves && room).then_some(lies)
        })?;
        book.fruitful = probes || others;
        if others {
            // Without a run the work begins with the first of them.
            book.load.get_or_insert_default();
        }
        if let (true, Some(now)) = (probes, arrived) {
            latch.touch(now);
        }
        let (open, closed) = (book.open.volume(spec.others), book.earlier.volume(spec.others));
        self.progress.set_frames(open.0 + closed.0, open.1 + closed.1);
        if n > 0 {
            self.progress.set_arrived();
        }
        if P::ECHOES {
            self.port.kick()?;
        }
        Ok(n)
    }

    /// The tally of each run, oldest first.
    pub(super) fn close(mut self) -> Vec<RxTally> {
        self.book.drops_now = self.port.dropped();
        self.book.roll(u32::MAX, None);
        self.book.forgotten.into_iter().chain(self.book.closed).collect()
    }

    fn read_drops(&mut self, now: Nanos) {
        if now - self.drops_read >= DROPS_PERIOD {
            self.drops_read = now;
            self.book.drops_now = self.port.dropped();
            self.progress.set_drops(self.book.drops_now.unwrap_or_default().frames());
            self.progress.set_looked(now);
            if let Some(tap) = &mut self.tap {
                tap.flush();
            }
        }
    }
}

/// Where what is counted gives way to a START, that is followed at once: by the time that the controller
/// reads it, the first frames behind it may have come.
#[cold]
fn give_way(probe: &Probe, body: &[u8], latch: &Latch, now: Nanos) {
    if latch.gives_way(now) && matches!(control::decode(body), Ok(Control::Start(_))) {
        latch.claim(probe.run, now);
    }
}

impl TallyBook {
    /// Forgets the run that was counted where `epoch`, the latched one's number, says that it no longer is.
    fn follow(&mut self, epoch: u32) {
        if epoch != self.open.epoch {
            self.current = None;
        }
    }

    /// Whether a probe belongs to the run that is counted; opens a new tally where it begins a new run.
    #[inline]
    fn admits(&mut self, probe: &Probe, latch: &Latch, now: Nanos) -> bool {
        self.current == Some(probe.run) || self.consult(probe.run, latch, now)
    }

    #[cold]
    fn consult(&mut self, run: u16, latch: &Latch, now: Nanos) -> bool {
        let Some(epoch) = latch.admit(run, now) else { return false };
        if self.open.run.is_none() {
            // What came before the first run (a HELLO, a stray frame) is told with it.
            (self.open.epoch, self.open.run) = (epoch, Some(run));
        } else if self.open.epoch != epoch {
            self.roll(epoch, Some(run));
        }
        self.current = Some(run);
        self.load.get_or_insert_default();
        true
    }

    /// Books a turn; the tally takes over what was booked whenever there were frames of the run.
    #[inline]
    fn work(&mut self, turn: &Turn, from: Nanos, to: Nanos) {
        if let Some(load) = &mut self.load {
            load.book(turn, from, to);
            if self.fruitful {
                self.open.load = *load;
            }
        }
    }

    /// Books frames that were sent back and that the driver is done with: first those of runs that are closed.
    fn came_back(&mut self, frames: u64) {
        let closed = frames.min(self.owed);
        self.owed -= closed;
        self.open.echo.completed += frames - closed;
    }

    /// Whether a control frame is sent on: a START or an END of the run that is counted, and none that comes round again.
    #[cold]
    fn passes_on(&mut self, probe: &Probe, body: &[u8], latch: &Latch, now: Nanos) -> bool {
        let epoch = match control::decode(body) {
            Ok(Control::Start(_)) => latch.claim(probe.run, now),
            Ok(Control::End(_)) => (latch.run() == Some(probe.run)).then(|| latch.epoch()),
            _ => None,
        };
        let Some(epoch) = epoch else { return false };
        let later = self.passed.is_none_or(|(of, said)| of != epoch || probe.is_later_than(said));
        if later {
            self.passed = Some((epoch, probe.sent));
            self.open.echo.control += 1;
        }
        later
    }

    #[cold]
    fn control(&mut self, probe: &Probe, body: &[u8], to: &SyncSender<ControlFrame>) {
        self.open.control += 1;
        let message = ControlFrame { run: probe.run, body: body.to_vec() };
        if to.try_send(message).is_err() {
            self.open.control_unread += 1;
        }
    }

    /// Closes the open tally with the drops as they were last read, which was before this turn's frames.
    fn roll(&mut self, epoch: u32, run: Option<u16>) {
        let queue = self.open.queue;
        let next = RxTally::new(epoch, run, queue).timed(self.timing);
        let mut closed = std::mem::replace(&mut self.open, next);
        closed.close();
        self.owed += closed.echo.in_flight();
        closed.drops = self.drops_now.map(|now| now.since(self.drops_before));
        self.earlier.merge_sums(&closed);
        self.drops_before = self.drops_now.unwrap_or(self.drops_before);
        self.closed.push_back(closed);
        self.load = None;
        while self.closed.len() > MAX_RUNS {
            self.forget_oldest();
        }
    }

    /// Keeps of the oldest run only what goes into the sums of all.
    fn forget_oldest(&mut self) {
        let Some(oldest) = self.closed.pop_front() else { return };
        let queue = oldest.queue;
        self.forgotten.get_or_insert_with(|| RxTally::forgotten(queue)).merge_sums(&oldest);
    }
}

impl<P: Inlet + Send> Worker for RxWorker<P> {
    fn begin(&mut self, now: Nanos) {
        self.last_frame = now;
        self.drops_read = now;
    }

    fn turn(&mut self, now: Nanos) -> Turn {
        self.read_drops(now);
        match self.receive() {
            Ok(0) if self.latch.expecting() || now - self.last_frame < DORMANT_AFTER => Turn::Empty,
            Ok(0) => Turn::Dormant,
            Ok(_) => {
                self.last_frame = now;
                Turn::Worked
            }
            // The socket stays bound and its device may come back; whoever watches the link tells of it.
            Err(PortError::LinkDown) => Turn::Empty,
            Err(error) => Turn::Failed(error),
        }
    }

    fn book(&mut self, turn: &Turn, from: Nanos, to: Nanos) {
        self.book.work(turn, from, to);
    }

    fn end(&mut self, _now: Nanos) {}

    fn drain(&mut self, _now: Nanos) -> bool {
        !matches!(self.receive(), Ok(n) if n > 0) && self.port.idle()
    }

    fn into_books(self: Box<Self>) -> Books {
        Books::Rx(self.close())
    }
}

#[cfg(test)]
mod tests;
