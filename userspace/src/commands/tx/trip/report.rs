//! What came back, in the sender's Report: books, latency, rows and counters.

use super::{Came, books};
use crate::commands::report_parts::named_counters;
use crate::commands::rx;
use crate::measure::Sampling;
use crate::report::{LatencyKind, Report, SizeRow};

/// Enters it. `built` says how many frames were written in a sequence space, `tx_drops` what the device dropped of them.
pub fn enter(report: &mut Report, came: &Came, tx_drops: Option<u64>, built: impl Fn(u16) -> u64) {
    let tally = &came.tally;
    books::enter(&mut report.balance, came, (&report.device_counters, tx_drops), built);
    books::enter_streams(&mut report.streams, came, report.balance.lost.is_some());
    (report.totals.rx_frames, report.totals.rx_bytes) = (Some(tally.probes), Some(tally.bytes));
    let counters = named_counters(&came.xdp(), &tally.drops.unwrap_or_default());
    report.device_counters.counters.extend(counters);
    let (how, of) = ((LatencyKind::RoundTrip, Some(Sampling::ALL)), (&report.balance, &*report.streams));
    let timed = rx::timed(&tally.times, how, report.offered.as_ref(), of, "no frame came back");
    (report.latency_ns, report.latency_absent) = (timed.latency, timed.latency_absent);
    report.ring_wait_ns = timed.ring_wait;
    for row in &mut report.queues {
        let of_queue = came.dropped.iter().find(|(queue, _)| *queue == row.id);
        row.kernel_drops = of_queue.and_then(|(_, frames)| *frames);
    }
    let rows = tally.sizes.rows().into_iter();
    report.sizes =
        rows.map(|(from_bytes, to_bytes, frames)| SizeRow { from_bytes, to_bytes, frames }).collect();
}
