//! A Report a run, from what the workers, the program, the device and the sender have told.

use super::fall_back::Swap;
use super::heard::{Heard, Totals as Sent};
use super::readings::Window;
use super::redirected::take_tallies;
use super::{Aftermath, Sink, attach, books, latency, stamps};
use crate::commands::cross_check::{self, Comparison};
use crate::commands::report_parts::{self, Volume};
use crate::commands::rx::trouble;
use crate::commands::tx::offered;
use crate::config::Role;
use crate::engine::RxTally;
use crate::finding::{Code, Finding};
use crate::host::{machine, napi};
use crate::measure::Sampling;
use crate::port::RxDrops;
use crate::report::{
    DeviceCounters, IntervalRow, LatencyKind, QueueRow, Reflected, Report, SCHEMA, Setup, SizeRow, Totals,
};
use crate::sys::tsc;
use crate::units::{FCS_BYTES, Nanos};
use crate::xdp::QueueCounters;

/// A sender that is under way leaves no longer pause, unless it is as slow as that.
const PAUSE: Nanos = Nanos::from_millis(100);

/// What one run left behind, put together.
pub struct RunFacts<'r> {
    /// The counters over its window.
    pub window: &'r Window,
    /// What the workers counted, merged.
    pub tally: RxTally,
    /// What each queue counted: number, frames, bytes, drops.
    pub queues: Vec<QueueRow>,
    /// What the sender has said.
    pub heard: Option<&'r Heard>,
    /// What it said at its end.
    pub sent: Option<Sent>,
    /// The program's counters over all queues.
    pub xdp: QueueCounters,
    /// What the sockets dropped.
    pub drops: RxDrops,
    /// What was dropped while redirect did not work.
    pub swap: Swap,
    /// Whether the sink stopped while frames still came.
    pub stopped_first: bool,
}

impl RunFacts<'_> {
    /// Frames of others that were asked for and came.
    pub fn others(&self, sink: &Sink<'_>) -> u64 {
        match (sink.takes_others(), sink.config.count_only) {
            (false, _) => 0,
            (true, true) => self.xdp.taken,
            (true, false) => self.tally.other_frames(),
        }
    }
}

/// Builds the Reports; `intervals` are those of each run.
pub fn build(sink: &Sink<'_>, mut aftermath: Aftermath, intervals: Vec<Vec<IntervalRow>>) -> Vec<Report> {
    let mut tallies = take_tallies(&mut aftermath.outcomes);
    let windows = std::mem::take(&mut aftermath.windows);
    let mut intervals = intervals.into_iter();
    let mut reports: Vec<Report> = windows
        .iter()
        .map(|window| {
            let run = gather(sink, window, &mut tallies, aftermath.stopped);
            one(sink, &aftermath, &run, intervals.next().unwrap_or_default())
        })
        .collect();
    if let (Some(last), Some(finding)) = (reports.last_mut(), trouble::forgotten(sink)) {
        last.findings.push(finding);
    }
    reports
}

/// The tallies of one run. What workers counted before any run (epoch 0) is told with the first; a run that
/// has no window, since it gave way within one look, is told with the next, as frames of another run.
fn gather<'r>(
    sink: &'r Sink<'_>,
    window: &'r Window,
    tallies: &mut Vec<RxTally>,
    stopped: Nanos,
) -> RunFacts<'r> {
    let (mine, rest): (Vec<_>, Vec<_>) =
        std::mem::take(tallies).into_iter().partition(|tally| tally.epoch <= window.epoch);
    *tallies = rest;
    let (mine, others): (Vec<_>, Vec<_>) =
        mine.into_iter().partition(|tally| tally.epoch == window.epoch || tally.epoch == 0);
    let queues = queue_rows(sink, window, &mine);
    let mut tally = RxTally::new(window.epoch, window.run, None);
    mine.into_iter().for_each(|part| tally.merge(part));
    others.iter().for_each(|part| tally.merge_foreign(part));
    let heard = sink.talk.heard(window.epoch);
    let drops = tally.drops.unwrap_or_default();
    let first = window.epoch <= 1 || sink.readings.is_first(window.epoch);
    let xdp: QueueCounters = window.queues.iter().copied().sum();
    let (arrivals, frames) = if sink.config.count_only {
        (window.noticed_probes, xdp.counted_probes())
    } else {
        (tally.arrivals, tally.probes)
    };
    RunFacts {
        // Redirect is settled before the first frame of the first run.
        swap: if first { sink.swap } else { Swap::default() },
        stopped_first: arrivals.is_some_and(|arrivals| recent(arrivals, frames, stopped)),
        window,
        queues,
        heard,
        sent: heard.and_then(Heard::totals),
        xdp,
        drops,
        tally,
    }
}

/// Whether the last of so many frames came so shortly before `stopped` that the next was still to be
/// expected.
fn recent((first, last): (Nanos, Nanos), frames: u64, stopped: Nanos) -> bool {
    let gap = (last - first).0 / frames.max(2).saturating_sub(1);
    stopped - last < Nanos(gap.saturating_mul(3)).max(PAUSE)
}

fn queue_rows(sink: &Sink<'_>, window: &Window, tallies: &[RxTally]) -> Vec<QueueRow> {
    let row = |seat: &crate::commands::placement::Seat| {
        let mut row = QueueRow { id: seat.queue, core: Some(seat.core), ..QueueRow::default() };
        for tally in tallies.iter().filter(|tally| tally.queue == Some(seat.queue)) {
            let (frames, bytes) = tally.volume(sink.takes_others());
            row.frames += frames;
            row.bytes += bytes;
            row.kernel_drops = tally.drops.map(|drops| drops.frames() + row.kernel_drops.unwrap_or(0));
        }
        if sink.config.count_only {
            let counted = window.queues.get(seat.queue as usize).map_or(0, |queue| queue.counted);
            (row.core, row.frames, row.bytes) = (None, counted, 0);
        }
        row
    };
    sink.seats.iter().map(row).collect()
}

fn one(sink: &Sink<'_>, aftermath: &Aftermath, run: &RunFacts<'_>, intervals: Vec<IntervalRow>) -> Report {
    let time = duration(sink, run);
    let volume = volume(sink, run);
    let start = run.heard.and_then(|heard| heard.start.as_ref());
    let workers = sink.seats.iter().filter(|_| !sink.config.count_only);
    let cores = report_parts::distinct(workers.map(|seat| seat.core));
    let (device_counters, disagreement) = device_counters(sink, run);
    let balance = books::balance(sink, run);
    let offered = start.zip(run.window.run).map(|(start, run)| offered(start, run));
    let streams = books::streams(sink, run, &balance);
    let how = (LatencyKind::OneWay, sink.config.timing.map(Sampling::one_in));
    let absent = latency::absent(sink, run);
    let timed = latency::timed(&run.tally.times, how, offered.as_ref(), (&balance, &streams), absent);
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        id: start.map_or_else(
            || run.window.run.map_or("none".to_owned(), |run| format!("{run:04x}")),
            |s| s.id.clone(),
        ),
        command: sink.config.role.command().to_owned(),
        started_at: run.window.started_at.clone(),
        duration_s: time.map(Nanos::as_secs_f64),
        host: machine::host(),
        interface: (&sink.facts).into(),
        path: crate::host::kind::path(&sink.facts),
        setup: setup(sink, run, &cores),
        offered,
        totals: totals(sink, run, &volume),
        rates: report_parts::rates(volume, time, sink.facts.line_speed_bps()),
        balance,
        reflected: reflected(sink, run),
        latency_ns: timed.latency,
        latency_absent: timed.latency_absent,
        ring_wait_ns: timed.ring_wait,
        gaps_ns: timed.gaps,
        send_delay_ns: None,
        cpu: run.window.meter.0.cost(&run.window.meter.1, &cores, run.tally.load, volume.frames),
        device_counters,
        queues: run.queues.clone(),
        streams,
        sizes: sizes(run),
        intervals,
        findings: sink.findings.clone(),
    };
    let troubles = trouble::find(sink, aftermath, run, &report);
    report.findings.extend(troubles);
    // Of a device that is gone the last reading is older than the program's.
    let gone = report.findings.iter().any(|finding| finding.code == Code::InterfaceGone);
    report.findings.extend(disagreement.filter(|_| !gone));
    report_parts::check_books(&mut report);
    report_parts::check_line_rate(&mut report);
    report
}

/// First to last arrival; None under two frames.
fn duration(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Nanos> {
    let others = sink.takes_others();
    let arrivals = if sink.config.count_only { run.window.noticed } else { run.tally.span(others) };
    arrivals.map(|(first, last)| last - first).filter(|time| time.0 > 0)
}

/// What was taken: probes, and frames of others where they were asked for.
fn volume(sink: &Sink<'_>, run: &RunFacts<'_>) -> Volume {
    let start = run.heard.and_then(|heard| heard.start.as_ref());
    let (frames, bytes) = if sink.config.count_only {
        let size = start.and_then(|start| start.size_bytes).map(u64::from);
        // Without one length the control frames are few beside the rest, and the mean is that of the frames.
        let mean = size.unwrap_or_else(|| run.xdp.bytes / run.xdp.ours.max(1) + u64::from(FCS_BYTES));
        let others = run.xdp.taken_bytes + run.xdp.taken * u64::from(FCS_BYTES);
        (run.xdp.counted, run.xdp.counted_probes() * mean + others)
    } else {
        run.tally.volume(sink.takes_others())
    };
    // Of frames of others nobody knows it.
    let offset = start.filter(|_| run.others(sink) == 0).and_then(|start| start.l3_offset);
    let before = offset.map(|offset| u64::from(offset) + u64::from(FCS_BYTES));
    Volume { frames, bytes, l3_bytes: before.map(|before| bytes.saturating_sub(frames * before)) }
}

/// Of what was sent back the bytes are known once all of it has left.
fn totals(sink: &Sink<'_>, run: &RunFacts<'_>, volume: &Volume) -> Totals {
    let (echo, reflects) = (run.tally.echo, sink.config.role != Role::Sink);
    Totals {
        tx_frames: reflects.then_some(echo.completed),
        tx_bytes: (reflects && echo.in_flight() == 0).then_some(echo.bytes),
        rx_frames: Some(volume.frames),
        rx_bytes: Some(volume.bytes),
    }
}

fn reflected(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Reflected> {
    let echo = run.tally.echo;
    (sink.config.role != Role::Sink).then(|| Reflected {
        out: sink.config.out.as_ref().map(|out| out.iface.clone()),
        submitted: echo.submitted,
        completed: echo.completed,
        in_flight: echo.in_flight(),
        ring_full: echo.ring_full,
        withheld: echo.withheld,
        control: echo.control,
    })
}

fn sizes(run: &RunFacts<'_>) -> Vec<SizeRow> {
    let rows = run.tally.sizes.rows().into_iter();
    rows.map(|(from_bytes, to_bytes, frames)| SizeRow { from_bytes, to_bytes, frames }).collect()
}

fn setup(sink: &Sink<'_>, run: &RunFacts<'_>, cores: &[u32]) -> Setup {
    let memory = sink.memory;
    Setup {
        xdp_mode: attach::mode_used(sink.attached.mode),
        xsk_mode: sink.xsk_mode,
        engine: None,
        need_wakeup: sink.config.modes.need_wakeup && !sink.config.count_only,
        busy_poll: sink.config.modes.busy_poll.is_some(),
        busy_poll_budget: sink.config.modes.busy_poll,
        clock: Some(tsc::Source::here().name().to_owned()),
        queues: sink.seats.iter().map(|seat| seat.queue).collect(),
        cores: cores.to_vec(),
        irq_cores: napi::irq_cores(&sink.facts),
        batch: sink.config.batch,
        ring_size: memory.ring,
        chunk_bytes: memory.chunk_bytes,
        chunks: memory.chunks,
        hugepages: memory.hugepages,
        napi: napi::settings(&sink.facts),
        timestamps: Some(stamps::used(sink.config, &sink.facts, &sink.attached, &run.xdp)),
    }
}

/// All counters by name. The device must have counted what the program saw, frame by frame.
fn device_counters(sink: &Sink<'_>, run: &RunFacts<'_>) -> (DeviceCounters, Option<Finding>) {
    let of = |device: &crate::host::DeviceCounters| Comparison {
        counter: "netdev.rx_packets",
        device: device.rx_packets,
        our_name: "frames seen by the XDP program",
        ours: run.xdp.frames() + run.swap.unseen,
    };
    let (mut counters, disagreement) = cross_check::compare(&sink.facts, run.window.device, of);
    counters.counters.extend(report_parts::named_counters(&run.xdp, &run.drops));
    counters.counters.extend(stamps::counters(&sink.attached, &run.xdp));
    (counters, disagreement)
}
