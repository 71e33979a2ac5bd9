//! Readings of the program's, the device's and the cores' counters, cut into one window a run.

use crate::commands::link_watch::{LinkWatch, Outages};
use crate::commands::meter::Meter;
use crate::engine::{Latch, MAX_RUNS, SILENCE_AFTER_END};
use crate::host::{DeviceCounters, machine};
use crate::sys::clock::monotonic;
use crate::units::{FCS_BYTES, Nanos};
use crate::xdp::{QueueCounters, RxProgram};
use std::collections::VecDeque;

/// How often everything is read while a run lasts.
const PERIOD: Nanos = Nanos::from_millis(100);
/// The same behind an END, where another run may begin soon: what was read last must lie between the two.
const PERIOD_AFTER_END: Nanos = Nanos(SILENCE_AFTER_END.0 / 2);

/// From a first to a last moment; None before the first.
type Span = Option<(Nanos, Nanos)>;

/// All counters at one moment.
#[derive(Debug, Clone)]
struct Reading {
    queues: Vec<QueueCounters>,
    device: Option<DeviceCounters>,
}

/// The counters over one run, and the meter at its two ends.
#[derive(Debug, Clone)]
pub struct Window {
    /// Number of the run within the sink, from 1; 0 when none came.
    pub epoch: u32,
    /// Its tag.
    pub run: Option<u16>,
    /// Wall-clock start, RFC 3339, UTC.
    pub started_at: String,
    /// The program's counters, by queue.
    pub queues: Vec<QueueCounters>,
    /// The device's counters.
    pub device: Option<DeviceCounters>,
    /// The meter from shortly before the first frame to the last look within the run.
    pub meter: (Meter, Meter),
    /// In count-only, when the first and the last frame that was counted were noticed: within one look of the truth.
    pub noticed: Span,
    /// The same of probes.
    pub noticed_probes: Span,
    /// How the link was lost within the run: up to its END, where that was heard.
    pub link: Outages,
    /// The same with the time in which the sink waited for the next run.
    pub link_and_after: Outages,
}

/// Whose counters are read.
#[derive(Debug, Clone, Copy)]
pub struct Device {
    /// The interface.
    pub ifindex: u32,
    /// How many receive queues it has.
    pub queues: u32,
    /// Whether the program counts and drops, so that only its counters tell when frames come.
    pub count_only: bool,
}

/// Takes the readings.
pub struct Readings {
    on: Device,
    /// Where the open window began, and the last full reading.
    from: Reading,
    last: Reading,
    epoch: u32,
    run: Option<u16>,
    started_at: String,
    meter: (Meter, Meter),
    /// When frames, and probes among them, were noticed first and last.
    noticed: (Span, Span),
    /// Frames counted, and probes among them, when they were last looked at.
    counted: (u64, u64),
    next: Nanos,
    link: LinkWatch,
    /// What the link had come to when the run told its END.
    link_at_end: Option<Outages>,
    closed: VecDeque<Window>,
    /// Windows that were closed and are forgotten.
    forgotten: u64,
    /// The number of the first run.
    first: Option<u32>,
}

/// Sums of the program's counters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counted(QueueCounters);

impl Counted {
    /// Frames counted and dropped (count-only): probes, and others where they were asked for.
    #[must_use]
    pub const fn frames(self) -> u64 {
        self.0.counted
    }

    /// Their bytes with FCS; control frames are few and small, and are not in it.
    #[must_use]
    pub fn bytes(self) -> u64 {
        let QueueCounters { ours, bytes, taken_bytes, .. } = self.0;
        let probes = self.0.counted_probes();
        let share = if ours == 0 { 0 } else { u128::from(bytes) * u128::from(probes) / u128::from(ours) };
        u64::try_from(share).unwrap_or(u64::MAX) + taken_bytes + self.frames() * u64::from(FCS_BYTES)
    }
}

impl Reading {
    fn take(program: &RxProgram, on: Device) -> Self {
        Self {
            queues: program.counters(on.queues).unwrap_or_default(),
            device: DeviceCounters::read(on.ifindex).ok(),
        }
    }

    /// Reads again. What cannot be read at this moment is as it was, not zero.
    fn renew(&mut self, program: &RxProgram, on: Device) {
        if let Ok(queues) = program.counters(on.queues) {
            self.queues = queues;
        }
        self.device = DeviceCounters::read(on.ifindex).ok().or(self.device);
    }
}

impl Readings {
    /// Begins with a reading.
    pub fn begin(program: &RxProgram, on: Device) -> Self {
        let reading = Reading::take(program, on);
        let meter = Meter::read();
        Self {
            on,
            from: reading.clone(),
            last: reading,
            epoch: 0,
            run: None,
            started_at: machine::wall_clock(),
            meter: (meter.clone(), meter),
            noticed: (None, None),
            counted: (0, 0),
            next: Nanos(0),
            link: LinkWatch::begin(on.ifindex, monotonic()),
            link_at_end: None,
            closed: VecDeque::new(),
            forgotten: 0,
            first: None,
        }
    }

    /// The program's sums now.
    #[must_use]
    pub fn now(&self, program: &RxProgram) -> Counted {
        let sum: QueueCounters = program.counters(self.on.queues).unwrap_or_default().into_iter().sum();
        Counted(sum)
    }

    /// Frames that the program had redirected when it was last read: up to 100 ms old.
    #[must_use]
    pub fn redirected(&self) -> u64 {
        self.last.queues.iter().map(|queue| queue.redirected).sum()
    }

    /// Whether the interface is no longer there.
    #[must_use]
    pub const fn interface_gone(&self) -> bool {
        self.link.gone()
    }

    /// Whether the link is away.
    #[must_use]
    pub const fn link_away(&self) -> bool {
        self.link.away()
    }

    /// Watches the link anew: what it did meanwhile was our own doing.
    pub fn forgive_link(&mut self) {
        self.link = LinkWatch::begin(self.on.ifindex, monotonic());
    }

    /// Whether the run of that number is the first that is told.
    #[must_use]
    pub fn is_first(&self, epoch: u32) -> bool {
        self.first == Some(epoch)
    }

    /// How many windows are not told any more.
    #[must_use]
    pub const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Looks: closes the window when another run has begun, and reads when it is time.
    pub fn look(&mut self, now: Nanos, program: &RxProgram, latch: &Latch) {
        if latch.epoch() != self.epoch {
            self.turn_over(latch);
        }
        self.link.look(now);
        if latch.concluded() && self.link_at_end.is_none() {
            self.link_at_end = Some(self.link.so_far(now));
        }
        if self.notice(now, program) {
            latch.touch(now);
        }
        let active = latch.last_probe().is_some_and(|last| now - last < PERIOD) || self.epoch == 0;
        if now >= self.next {
            self.next = now + if latch.concluded() { PERIOD_AFTER_END } else { PERIOD };
            self.last.renew(program, self.on);
            if active {
                self.meter.1 = Meter::read();
            }
        }
    }

    /// A new run: what was read last was read in the silence before it.
    fn turn_over(&mut self, latch: &Latch) {
        if self.epoch > 0 {
            self.close(self.last.clone());
            self.from = self.last.clone();
        } else {
            // What the link did before anybody sent is of no run.
            self.link.cut(monotonic());
        }
        self.link_at_end = None;
        let meter = Meter::read();
        (self.epoch, self.run) = (latch.epoch(), latch.run());
        self.first = self.first.or(Some(self.epoch));
        self.started_at = machine::wall_clock();
        self.meter = (meter.clone(), meter);
        self.noticed = (None, None);
    }

    /// In count-only, notes when counted frames were seen to grow in number; whether probes have. Elsewhere the workers
    /// know, and reading a row a queue at each look would be for nothing.
    fn notice(&mut self, now: Nanos, program: &RxProgram) -> bool {
        if !self.on.count_only {
            return false;
        }
        let Counted(sum) = self.now(program);
        let until = |noticed: Span| Some((noticed.map_or(now, |(first, _)| first), now));
        let (counted, probes) = self.counted;
        if sum.counted > counted {
            self.noticed.0 = until(self.noticed.0);
            self.counted.0 = sum.counted;
        }
        // Frames of others are no sign of life of a run.
        let grown = sum.counted_probes() > probes;
        if grown {
            self.noticed.1 = until(self.noticed.1);
            self.counted.1 = sum.counted_probes();
        }
        grown
    }

    fn close(&mut self, until: Reading) {
        let queues = until.queues.iter().zip(&self.from.queues).map(|(now, then)| *now - *then).collect();
        let device = match (self.from.device, until.device) {
            (Some(before), Some(after)) => Some(after.since(before)),
            _ => None,
        };
        let link_and_after = self.link.cut(monotonic());
        self.closed.push_back(Window {
            epoch: self.epoch,
            run: self.run,
            started_at: self.started_at.clone(),
            queues,
            device,
            meter: self.meter.clone(),
            noticed: self.noticed.0,
            noticed_probes: self.noticed.1,
            link: self.link_at_end.take().unwrap_or(link_and_after),
            link_and_after,
        });
        while self.closed.len() > MAX_RUNS {
            self.closed.pop_front();
            self.forgotten += 1;
        }
    }

    /// The last reading.
    pub fn stop(&mut self, program: &RxProgram) {
        self.notice(monotonic(), program);
        self.last.renew(program, self.on);
    }

    /// All windows, oldest first; the last one ends with the last reading.
    pub fn finish(&mut self, latch: &Latch) -> Vec<Window> {
        if latch.epoch() != self.epoch {
            self.turn_over(latch);
        }
        if self.epoch == 0 {
            self.meter.1 = Meter::read();
        }
        self.close(self.last.clone());
        std::mem::take(&mut self.closed).into()
    }
}
