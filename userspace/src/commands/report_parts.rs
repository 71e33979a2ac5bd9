//! Parts of a Report that both sides make in the same way.

use crate::engine::Outcome;
use crate::finding::{Code, Finding, Severity};
use crate::port::{PortError, RxDrops};
use crate::report::{Rates, Report};
use crate::units::{Nanos, WIRE_OVERHEAD_BYTES};
use crate::xdp::QueueCounters;
use std::collections::BTreeSet;

/// How much a rate may lie above the link's speed: both clocks drift, 100 ppm each (IEEE 802.3).
const DRIFT: f64 = 200e-6;

/// Frames and their bytes, FCS included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Volume {
    /// Frames.
    pub frames: u64,
    /// Bytes.
    pub bytes: u64,
    /// Of which IP packets; None where some frames have none, or it is not known.
    pub l3_bytes: Option<u64>,
}

/// Rates of a volume over a time.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub fn rates(volume: Volume, time: Option<Nanos>, speed_bps: Option<u64>) -> Rates {
    let Some(seconds) = time.map(Nanos::as_secs_f64).filter(|s| *s > 0.0) else { return Rates::default() };
    let bps = |bytes: u64| bytes as f64 * 8.0 / seconds;
    let l1_bps = bps(volume.bytes + volume.frames * u64::from(WIRE_OVERHEAD_BYTES));
    Rates {
        pps: Some(volume.frames as f64 / seconds),
        l1_bps: Some(l1_bps),
        l2_bps: Some(bps(volume.bytes)),
        l3_bps: volume.l3_bytes.map(bps),
        line_rate_percent: speed_bps.filter(|s| *s > 0).map(|speed| l1_bps / speed as f64 * 100.0),
    }
}

/// Counters of the program and of the sockets that it feeds, by name.
pub fn named_counters(xdp: &QueueCounters, drops: &RxDrops) -> [(String, u64); 15] {
    let named = [
        ("xdp.ours", xdp.ours),
        ("xdp.redirected", xdp.redirected),
        ("xdp.no_socket", xdp.no_socket),
        ("xdp.counted", xdp.counted),
        ("xdp.control", xdp.control),
        ("xdp.passed", xdp.passed),
        ("xdp.malformed", xdp.malformed),
        ("xdp.unsupported", xdp.unsupported),
        ("xdp.bytes", xdp.bytes),
        ("xdp.taken", xdp.taken),
        ("xdp.taken_bytes", xdp.taken_bytes),
        ("xdp.no_room", xdp.no_room),
        ("xsk.rx_dropped", drops.dropped),
        ("xsk.rx_ring_full", drops.ring_full),
        ("xsk.rx_fill_ring_empty_descs", drops.fill_ring_empty),
    ];
    named.map(|(name, n)| (name.to_owned(), n))
}

/// Each value once, ascending.
pub fn distinct(values: impl Iterator<Item = u32>) -> Vec<u32> {
    values.collect::<BTreeSet<_>>().into_iter().collect()
}

/// A thread of workers that panicked.
pub fn worker_lost(iface: &str) -> Finding {
    Finding::new(Code::System, Severity::Fail, iface, "a worker ended unexpectedly; its books are lost")
        .remedy("please report it with the command line")
}

/// Workers that could not be pinned to their cores.
pub fn unpinned(iface: &str, outcomes: &[Outcome]) -> Option<Finding> {
    outcomes.iter().any(|outcome| outcome.core.is_none()).then(|| {
        Finding::new(Code::CoreRange, Severity::Warn, iface, "a worker could not be pinned to its core")
            .why("the scheduler moves it, and a figure then depends on where it was")
            .remedy("--cores with cores that this process may use (taskset -p, cpuset)")
    })
}

/// A worker's last error as a finding.
pub fn port_failed(iface: &str, doing: &str, error: &PortError) -> Finding {
    let (code, remedy) = match error {
        PortError::Gone => (Code::InterfaceGone, "bring the interface back and run again"),
        PortError::Stalled(_) => (
            Code::TxStalled,
            "look for the driver's reason with dmesg; ip link set down and up resets most NICs",
        ),
        PortError::LinkDown => (Code::LinkLost, "check cable and far end, and run again"),
        _ => (Code::System, "run it again; if it stays, report it with the JSON Report"),
    };
    Finding::new(code, Severity::Fail, iface, format!("{doing} ended: {error}"))
        .why("the figures are those up to that moment")
        .remedy(remedy)
}

/// Adds a Fail finding when the books do not come out.
pub fn check_books(report: &mut Report) {
    let reflected =
        report.reflected.as_ref().map_or(Ok(()), |reflected| reflected.verify(report.balance.probes));
    if let Err(error) = report.balance.verify().and(reflected) {
        report.findings.push(
            Finding::new(
                Code::BooksUnbalanced,
                Severity::Fail,
                "the books",
                format!("they do not balance: {error}"),
            )
            .why("a counter is wrong, or frames came from somewhere else")
            .remedy("do not trust this run; please report it with the JSON Report"),
        );
    }
}

/// Adds a finding when more was measured than the link can carry.
pub fn check_line_rate(report: &mut Report) {
    if report.rates.line_rate_percent.is_some_and(|percent| percent > 100.0 * (1.0 + DRIFT)) {
        report.findings.push(
            Finding::new(
                Code::AboveLineRate,
                Severity::Fail,
                report.interface.name.clone(),
                "the figure is above what the link can carry",
            )
            .why("the frames did not all pass the wire, or the link's speed is not what it says")
            .remedy(format!("compare with the counters of `ethtool -S {}`", report.interface.name)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_rate_of_ten_gigabit() {
        let volume = Volume { frames: 14_880_952, bytes: 14_880_952 * 64, l3_bytes: Some(14_880_952 * 46) };
        let rates = rates(volume, Some(Nanos::SECOND), Some(10_000_000_000));
        assert!((rates.line_rate_percent.unwrap() - 100.0).abs() < 1e-4);
        assert!((rates.l1_bps.unwrap() - 9_999_999_744.0).abs() < 1.0);
        assert!((rates.l2_bps.unwrap() - 7_619_047_424.0).abs() < 1.0);
        assert!((rates.l3_bps.unwrap() - 5_476_190_336.0).abs() < 1.0);
    }

    #[test]
    fn no_time_is_no_rate() {
        let volume = Volume { frames: 1, bytes: 64, l3_bytes: None };
        assert_eq!(rates(volume, None, None), Rates::default());
        assert_eq!(rates(volume, Some(Nanos(0)), Some(1)), Rates::default());
    }

    #[test]
    fn two_clocks_may_differ_and_more_is_a_failure() {
        let above = |percent| {
            let sample = include_str!("../../../tests/samples/report-full.json");
            let mut report: Report = serde_json::from_str(sample).unwrap();
            report.findings.clear();
            report.rates.line_rate_percent = percent;
            check_line_rate(&mut report);
            report.findings
        };
        assert_eq!((above(None), above(Some(100.01))), (vec![], vec![]));
        assert_eq!(above(Some(100.03)).first().map(|finding| finding.code), Some(Code::AboveLineRate));
    }
}
