//! The sender's Report, from what the workers, the device and the cores left behind.

use super::announce::tx_books;
use super::{Aftermath, Sender, attach, trip, trouble};
use crate::commands::cross_check::{self, Comparison};
use crate::commands::report_parts::{self, Volume};
use crate::engine::{LaneBooks, Load, TxBooks};
use crate::finding::Finding;
use crate::host::{machine, napi};
use crate::measure::{Latency, PackedLatency, Summary};
use crate::report::{
    Balance, DeviceCounters, Engine, GapsKind, GapsNs, IntervalRow, Offered, QueueRow, Report, SCHEMA, Setup,
    StreamRow, Totals, WaitNs,
};
use crate::sys::tsc;
use crate::units::FCS_BYTES;

/// Builds the Report.
pub fn build(sender: Sender<'_>, aftermath: &Aftermath, intervals: Vec<IntervalRow>) -> Report {
    let mut books: Vec<&TxBooks> = tx_books(aftermath).collect();
    // Workers come by core, rows go by queue.
    books.sort_by_key(|b| b.worker);
    let balance = balance(&books);
    let window = books.iter().map(|b| b.window).max().unwrap_or_default();
    let completed = balance.completed.unwrap_or(0);
    let volume = Volume {
        frames: completed,
        bytes: books.iter().map(|b| b.bytes).sum(),
        // Frames of a capture are not looked into.
        l3_bytes: l3_bytes(&sender, &books).filter(|_| sender.replay.is_none()),
    };
    let cores = report_parts::distinct(sender.seats.iter().map(|seat| seat.core));
    let (before, after) = (&aftermath.before.0, &aftermath.after.0);
    let (device_counters, disagreement) = device_counters(&sender, aftermath, volume.frames);
    let mut findings = sender.findings.clone();
    // Of a device that is gone the last reading is older than our count.
    findings.extend(disagreement.filter(|_| !aftermath.interface_gone()));
    findings.extend(trouble::find(&sender, aftermath, &balance, window, &books));
    findings.extend(sender.replay.iter().flat_map(|replay| replay.findings(&books)));
    let load = books.iter().fold(Load::default(), |sum, b| sum.plus(b.load));
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        id: sender.offer.id.clone(),
        command: "tx".to_owned(),
        started_at: aftermath.started_at.clone(),
        duration_s: Some(window.as_secs_f64()),
        host: machine::host(),
        interface: (&sender.facts).into(),
        path: crate::host::kind::path(&sender.facts),
        setup: setup(&sender, &cores),
        offered: Some(offered(&sender, &books)),
        totals: Totals { tx_frames: Some(volume.frames), tx_bytes: Some(volume.bytes), ..Totals::default() },
        rates: report_parts::rates(volume, Some(window), sender.facts.line_speed_bps()),
        balance,
        reflected: None,
        latency_ns: None,
        latency_absent: Some("latency is measured where frames arrive".to_owned()),
        ring_wait_ns: None,
        gaps_ns: gaps(&books),
        send_delay_ns: send_delay(&books),
        cpu: before.cost(after, &cores, load, volume.frames),
        device_counters,
        queues: queues(&sender, &books),
        streams: streams(&sender, &books),
        sizes: Vec::new(),
        intervals,
        findings,
    };
    if let Some(came) = &aftermath.came {
        let (tx_drops, on) = (aftermath.device_drops(), sender.facts.name.as_str());
        trip::enter(&mut report, came, tx_drops, |space| built(&sender, &books, space));
        let how = (aftermath.interrupted, sender.sink_answers);
        report.findings.extend(trip::find(on, came, &report.balance, how));
    }
    report_parts::check_books(&mut report);
    report_parts::check_line_rate(&mut report);
    report
}

/// Gaps between departures, each queue's own.
fn gaps(books: &[&TxBooks]) -> Option<GapsNs> {
    let summary = merged(books.iter().map(|b| &b.departures.gaps))?;
    Some(GapsNs::new(GapsKind::Departure, "userspace", summary))
}

/// How much later than due frames were sent.
fn send_delay(books: &[&TxBooks]) -> Option<WaitNs> {
    merged(books.iter().map(|b| &b.departures.delay)).map(WaitNs::from)
}

fn merged<'b>(parts: impl Iterator<Item = &'b PackedLatency>) -> Option<Summary> {
    let mut all = Latency::new();
    parts.for_each(|part| all.unpack(part));
    all.summary()
}

/// Frames written in a sequence space.
fn built(sender: &Sender<'_>, books: &[&TxBooks], space: u16) -> u64 {
    let spaces = books.iter().flat_map(|b| sender.offer.spaces(b));
    spaces.filter(|(number, ..)| *number == space).map(|(_, _, lane)| lane.built).sum()
}

fn offered(sender: &Sender<'_>, books: &[&TxBooks]) -> Offered {
    let late = books.iter().map(|b| b.late).max().unwrap_or_default();
    let replay = sender.replay.as_ref().map(|replay| replay.offered(sender.config, late));
    replay.unwrap_or_else(|| sender.offer.offered())
}

fn balance(books: &[&TxBooks]) -> Balance {
    let sum = |of: fn(&TxBooks) -> u64| Some(books.iter().map(|b| of(b)).sum());
    Balance {
        built: sum(|b| b.built),
        submitted: sum(|b| b.submitted),
        completed: sum(|b| b.completed),
        in_flight: sum(|b| b.in_flight),
        invalid: sum(|b| b.invalid),
        shortfall: sum(|b| b.shortfall),
        lost_absent: Some("only the sink's count is delivery".to_owned()),
        ..Balance::default()
    }
}

fn setup(sender: &Sender<'_>, cores: &[u32]) -> Setup {
    Setup {
        xdp_mode: sender
            .trip
            .as_ref()
            .map_or_else(|| attach::mode_used(sender.program.as_ref()), trip::Trip::mode_used),
        xsk_mode: sender.xsk_mode,
        engine: Some(Engine::Xsk),
        need_wakeup: sender.config.modes.need_wakeup,
        busy_poll: sender.config.modes.busy_poll.is_some(),
        busy_poll_budget: sender.config.modes.busy_poll,
        clock: Some(tsc::Source::here().name().to_owned()),
        queues: sender.seats.iter().map(|seat| seat.queue).collect(),
        cores: cores.to_vec(),
        irq_cores: napi::irq_cores(&sender.facts),
        batch: sender.config.batch,
        ring_size: sender.memory.ring,
        chunk_bytes: sender.memory.chunk_bytes,
        chunks: sender.memory.chunks,
        hugepages: sender.memory.hugepages,
        napi: napi::settings(&sender.facts),
        timestamps: sender.trip.as_ref().map(|_| trip::timestamps()),
    }
}

fn queues(sender: &Sender<'_>, books: &[&TxBooks]) -> Vec<QueueRow> {
    let row = |b: &&TxBooks| {
        let seat = sender.seats.get(usize::from(b.worker))?;
        Some(QueueRow {
            id: seat.queue,
            core: Some(seat.core),
            frames: b.completed,
            bytes: b.bytes,
            kernel_drops: None,
        })
    };
    books.iter().filter_map(row).collect()
}

/// Bytes of IP packets in the completed frames; None where a stream has none.
fn l3_bytes(sender: &Sender<'_>, books: &[&TxBooks]) -> Option<u64> {
    let plans = sender.config.streams.streams();
    let offsets: Option<Vec<u64>> = plans.iter().map(|plan| Some(plan.layout().ok()?.l3? as u64)).collect();
    let offsets = offsets?;
    let of = |lane: &LaneBooks, before: u64| {
        lane.completed_bytes.saturating_sub(lane.completed * (before + u64::from(FCS_BYTES)))
    };
    let of_worker = |b: &&TxBooks| b.lanes.iter().zip(&offsets).map(|(lane, at)| of(lane, *at)).sum::<u64>();
    Some(books.iter().map(of_worker).sum())
}

/// A row a sequence space.
fn streams(sender: &Sender<'_>, books: &[&TxBooks]) -> Vec<StreamRow> {
    let row = |(space, stream, lane): (u16, u16, LaneBooks)| StreamRow {
        space,
        stream,
        name: sender.config.streams.streams().get(usize::from(stream)).map(|plan| plan.name.clone()),
        numbered: lane.numbered,
        completed: Some(lane.completed),
        completed_bytes: Some(lane.completed_bytes),
        ..StreamRow::default()
    };
    books.iter().flat_map(|b| sender.offer.spaces(b)).map(row).collect()
}

/// The device's counters over the run; control frames were sent before and after it.
fn device_counters(
    sender: &Sender<'_>,
    aftermath: &Aftermath,
    completed: u64,
) -> (DeviceCounters, Option<Finding>) {
    let delta = cross_check::delta(aftermath.before.1, aftermath.after.1);
    cross_check::compare(&sender.facts, delta, |device| Comparison {
        counter: "netdev.tx_packets + netdev.tx_dropped",
        device: device.tx_packets + device.tx_dropped,
        our_name: "frames completed",
        ours: completed,
    })
}
