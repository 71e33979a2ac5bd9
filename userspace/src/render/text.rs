//! The Report for people: short, aligned, the books as equations, findings with their remedies last.

use super::header::{header, labelled};
use super::words::{UNKNOWN, count, path, percent, scaled, seconds};
use super::{books, latency, table};
use crate::report::{CoreRow, Cpu, QueueRow, Rates, Report, SizeRow, StreamRow, Totals};
use crate::units::{grouped, span};
use std::io::{self, Write};

/// Writes the Report as text.
///
/// # Errors
/// What writing to `out` gives.
pub fn text(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let r = report;
    write!(out, "{}", header(&r.command, &r.interface, &r.setup, r.offered.as_ref()))?;
    section(out, "path", &[with_reason(path(r.path.verdict), &r.path.evidence)])?;
    section(out, "frames", &totals(&r.totals, r.balance.probes))?;
    section(out, "rate", &[rates(&r.rates, r.duration_s)])?;
    section(out, "books", &books::lines(&r.balance))?;
    let reflected = r.reflected.as_ref().map(|reflected| books::reflected(reflected, r.balance.probes));
    let onward = r.reflected.as_ref().is_some_and(|reflected| reflected.out.is_some());
    section(out, if onward { "sent on" } else { "sent back" }, &reflected.unwrap_or_default())?;
    section(out, "latency", &latency::lines(r.latency_ns.as_ref(), r.latency_absent.as_deref()))?;
    section(out, "ring wait", r.ring_wait_ns.as_ref().map(latency::wait).as_slice())?;
    section(out, "delay", r.send_delay_ns.as_ref().map(latency::delay).as_slice())?;
    section(out, "gaps", r.gaps_ns.as_ref().map(latency::gaps).as_slice())?;
    section(out, "cpu", &cpu(&r.cpu))?;
    section(out, "device", &[cross_check(r)])?;
    section(out, "queues", &queues(&r.queues))?;
    section(out, "streams", &streams(&r.streams))?;
    section(out, "by stream", &latency::streams(&r.streams))?;
    section(out, "sizes", &sizes(&r.sizes))?;
    r.findings.iter().try_for_each(|finding| writeln!(out, "{finding}"))
}

/// Lines under one label, or nothing at all.
fn section(out: &mut impl Write, label: &str, lines: &[String]) -> io::Result<()> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    labels.zip(lines).try_for_each(|(label, line)| write!(out, "{}", labelled(label, line)))
}

pub(super) fn with_reason(what: &str, why: &str) -> String {
    if why.is_empty() { what.to_owned() } else { format!("{what}: {why}") }
}

/// What was sent and received; of more frames than `probes` the rest is of others.
fn totals(t: &Totals, probes: Option<u64>) -> Vec<String> {
    let side = |what: &str, frames: Option<u64>, bytes: Option<u64>| {
        frames.map(|n| format!("{} {what}, {} bytes with FCS", grouped(n), count(bytes)))
    };
    let both = [side("sent", t.tx_frames, t.tx_bytes), side("received", t.rx_frames, t.rx_bytes)];
    let others = t.rx_frames.zip(probes).map_or(0, |(frames, probes)| frames.saturating_sub(probes));
    let others = (others > 0).then(|| {
        format!(
            "{} of them not of xsk-gen, taken because --match says so (not_ours in the books)",
            grouped(others)
        )
    });
    both.into_iter().flatten().chain(others).collect()
}

fn rates(r: &Rates, duration_s: Option<f64>) -> String {
    let bits = |bps| scaled(bps, "bit/s");
    format!(
        "{} over {}: L1 {}, L2 {}, L3 {}, line rate {}",
        scaled(r.pps, "pps"),
        seconds(duration_s),
        bits(r.l1_bps),
        bits(r.l2_bps),
        bits(r.l3_bps),
        // Two places: both clocks together may drift by 0.02 %.
        r.line_rate_percent.map_or_else(|| UNKNOWN.to_owned(), |line| format!("{line:.2} %")),
    )
}

fn cpu(c: &Cpu) -> Vec<String> {
    let per_frame = c.ns_per_frame.map_or_else(|| UNKNOWN.to_owned(), span);
    let total = format!(
        "process {}, per Gbit/s {}, per frame {per_frame}, empty turns {}",
        percent(c.process_percent),
        percent(c.percent_per_gbps),
        percent(c.empty_turn_percent),
    );
    std::iter::once(total).chain(c.cores.iter().map(core)).collect()
}

fn core(c: &CoreRow) -> String {
    let (busy, soft, steal) = (c.busy_percent, c.softirq_percent, c.steal_percent);
    format!("core {}: busy {busy:.1} %, softirq {soft:.1} %, steal {steal:.1} %", c.id)
}

fn cross_check(r: &Report) -> String {
    let counters = &r.device_counters;
    match (&counters.cross_check, &counters.cross_check_absent) {
        (Some(check), _) => check.clone(),
        (None, why) => with_reason("no counter to compare with", why.as_deref().unwrap_or_default()),
    }
}

/// A table when there is more than one queue: of a single one the totals say it all.
fn queues(rows: &[QueueRow]) -> Vec<String> {
    if rows.len() < 2 {
        return Vec::new();
    }
    let cells = |q: &QueueRow| {
        let core = q.core.map_or_else(|| UNKNOWN.to_owned(), |core| core.to_string());
        [q.id.to_string(), core, grouped(q.frames), grouped(q.bytes), count(q.kernel_drops)]
    };
    let rows: Vec<_> = rows.iter().map(cells).collect();
    table::lines(["queue", "core", "frames", "bytes", "kernel drops"], &rows)
}

/// A table when there is more than one size.
fn sizes(rows: &[SizeRow]) -> Vec<String> {
    if rows.len() < 2 {
        return Vec::new();
    }
    let all: u64 = rows.iter().map(|row| row.frames).sum();
    let cells = |row: &SizeRow| {
        let size = match (row.from_bytes, row.to_bytes) {
            (from, to) if from == to => grouped(from.into()),
            (from, to) => format!("{} to {}", grouped(from.into()), grouped(to.into())),
        };
        [size, grouped(row.frames), format!("{:.2}", share(row.frames, all))]
    };
    let rows: Vec<_> = rows.iter().map(cells).collect();
    table::lines(["bytes with FCS", "frames", "per cent"], &rows)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn share(part: u64, all: u64) -> f64 {
    part as f64 * 100.0 / all.max(1) as f64
}

/// A space by its number, with its stream where there are several.
pub(super) fn space(s: &StreamRow, all: &[StreamRow]) -> String {
    if all.iter().all(|row| row.stream == 0) {
        return s.space.to_string();
    }
    let of = s.name.clone().unwrap_or_else(|| format!("stream {}", s.stream));
    format!("{} ({of})", s.space)
}

fn streams(rows: &[StreamRow]) -> Vec<String> {
    if rows.len() < 2 {
        return Vec::new();
    }
    let cells = |s: &StreamRow| {
        let counts = [s.completed, s.unique, s.lost, s.duplicate, s.late, s.reordered].map(count);
        let [completed, unique, lost, duplicate, late, reordered] = counts;
        [space(s, rows), completed, unique, lost, duplicate, late, reordered]
    };
    let rows: Vec<_> = rows.iter().map(cells).collect();
    table::lines(["space", "completed", "unique", "lost", "duplicate", "late", "reordered"], &rows)
}
