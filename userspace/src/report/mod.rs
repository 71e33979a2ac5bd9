//! The Report: the one result of every command, as data. Knows nothing of how it is shown or measured.
//!
//! A figure that this side cannot know is `None` (null in JSON), never 0. Sizes and byte counts include the FCS.

mod balance;
mod gaps;
mod latency;
mod offered;
mod reflected;
mod setup;
mod wait;

pub use balance::{Balance, BooksError};
pub use gaps::{GapsKind, GapsNs};
pub use latency::{DelayVariationNs, LatencyKind, LatencyNs, StreamLatencyNs};
pub use offered::{Arrivals, Offered, OfferedPcap};
pub use reflected::Reflected;
pub use setup::{
    Engine, Host, Interface, Kind, Napi, Path, PathVerdict, Setup, TimestampSource, Timestamps, XdpModeUsed,
    XskModeUsed,
};
pub use wait::WaitNs;

use crate::finding::{Finding, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the Report's layout, the value of its `schema` field.
pub const SCHEMA: &str = "xsk-gen/1";

/// What happened in one run, seen from one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Names the run: the same on both sides.
    pub id: String,
    /// The command that made it: `tx`, `rx`, …
    pub command: String,
    /// Wall-clock start, RFC 3339, UTC.
    pub started_at: String,
    /// tx: the sending window without the drain. rx: first to last arrival; null under two frames.
    pub duration_s: Option<f64>,
    /// The machine.
    pub host: Host,
    /// The interface.
    pub interface: Interface,
    /// Where the frames travelled, as far as it is known.
    pub path: Path,
    /// What was obtained.
    pub setup: Setup,
    /// What was asked for, enough to repeat the run; null where this side was not told.
    pub offered: Option<Offered>,
    /// Frames and bytes.
    pub totals: Totals,
    /// Rates over `duration_s`.
    pub rates: Rates,
    /// The books.
    pub balance: Balance,
    /// reflect: what was sent back; null on other commands.
    #[serde(default)]
    pub reflected: Option<Reflected>,
    /// One-way or round-trip latency; null with the reason in `latency_absent`.
    pub latency_ns: Option<LatencyNs>,
    /// Why there is no latency.
    pub latency_absent: Option<String>,
    /// rx: how long frames waited between the XDP program, which saw them arrive, and the worker; null where the program does
    /// not say when.
    pub ring_wait_ns: Option<WaitNs>,
    /// How far apart the frames were; null where their times were not taken.
    #[serde(default)]
    pub gaps_ns: Option<GapsNs>,
    /// tx: how much later than due frames were sent, by the sender's clock; it is part of their latency. Null for max, for a
    /// capture, and on other commands.
    #[serde(default)]
    pub send_delay_ns: Option<WaitNs>,
    /// What the figures cost.
    pub cpu: Cpu,
    /// The kernel's and the device's own counters over the run, by name.
    pub device_counters: DeviceCounters,
    /// A row a queue.
    pub queues: Vec<QueueRow>,
    /// A row a sequence space.
    pub streams: Vec<StreamRow>,
    /// rx: frames of ours by length; more than 64 lengths by class (RFC 2819). Empty on tx.
    pub sizes: Vec<SizeRow>,
    /// A row an interval.
    pub intervals: Vec<IntervalRow>,
    /// What went wrong, or could have.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether a finding of this severity or worse is in it.
    #[must_use]
    pub fn has(&self, severity: Severity) -> bool {
        self.findings.iter().any(|f| f.severity >= severity)
    }
}

/// Frames and bytes, FCS included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Frames completed by the driver.
    pub tx_frames: Option<u64>,
    /// Their bytes.
    pub tx_bytes: Option<u64>,
    /// Frames received: probes, without control and rejected. Where `--match` takes frames that are not ours, those as
    /// well, which the books have as rejected for `not_ours`; the rates are over both.
    pub rx_frames: Option<u64>,
    /// Their bytes.
    pub rx_bytes: Option<u64>,
}

/// Rates over the Report's duration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// Frames a second.
    pub pps: Option<f64>,
    /// (size + 20) × 8 × pps.
    pub l1_bps: Option<f64>,
    /// size × 8 × pps.
    pub l2_bps: Option<f64>,
    /// IP length × 8 × pps; null for `--l2`.
    pub l3_bps: Option<f64>,
    /// l1_bps over the link's speed; null where there is no speed or it means nothing.
    pub line_rate_percent: Option<f64>,
}

/// What the figures cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// A row a core of ours, over the run.
    pub cores: Vec<CoreRow>,
    /// User and system time of this process over the run; 100 is one core.
    pub process_percent: Option<f64>,
    /// `process_percent` by Gbit/s at layer 2; null while workers spin, since a spinning worker is always busy.
    pub percent_per_gbps: Option<f64>,
    /// Worker time in turns that found work, by frame.
    pub ns_per_frame: Option<f64>,
    /// Turns that found nothing to do.
    pub empty_turn_percent: Option<f64>,
}

/// One core over the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreRow {
    /// The core's number.
    pub id: u32,
    /// Not idle.
    pub busy_percent: f64,
    /// In soft interrupts.
    pub softirq_percent: f64,
    /// Taken by the hypervisor.
    pub steal_percent: f64,
}

/// Counters of others, beside our own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCounters {
    /// Which counter of the device our own was compared with, and how; null when none can be trusted.
    pub cross_check: Option<String>,
    /// Why there was nothing to compare with.
    pub cross_check_absent: Option<String>,
    /// XDP program: `xdp.ours`, `xdp.redirected`, …; socket: `xsk.rx_dropped`, …; device: `netdev.rx_packets`, …
    pub counters: BTreeMap<String, u64>,
}

/// One queue's share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueRow {
    /// The queue's number.
    pub id: u32,
    /// The core that served it.
    pub core: Option<u32>,
    /// Frames completed (tx) or received (rx), as in `totals`.
    pub frames: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
    /// Frames that the kernel dropped for want of a buffer or a place in this socket's ring.
    pub kernel_drops: Option<u64>,
}

/// One sequence space: a transmit queue and a stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamRow {
    /// The sequence space's number.
    pub space: u16,
    /// The stream's number.
    pub stream: u16,
    /// The stream's name, where this side was told.
    pub name: Option<String>,
    /// Whether its frames carry a probe: those without are counted by the sender only.
    pub numbered: bool,
    /// Frames completed by the sender, where known.
    pub completed: Option<u64>,
    /// Their bytes with FCS; null on rx.
    pub completed_bytes: Option<u64>,
    /// Distinct frames received.
    pub unique: Option<u64>,
    /// Frames received again.
    pub duplicate: Option<u64>,
    /// Frames too late to tell whether they were seen.
    pub late: Option<u64>,
    /// Frames that arrived after a later one of the same flow (RFC 4737).
    pub reordered: Option<u64>,
    /// completed − unique.
    pub lost: Option<u64>,
    /// Latency of its frames alone; null in a run of one row, of which `latency_ns` says it, and where `streams_absent` of
    /// that says why.
    #[serde(default)]
    pub latency_ns: Option<StreamLatencyNs>,
}

/// Frames of one length, or of a class of lengths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeRow {
    /// The shortest, FCS included.
    pub from_bytes: u32,
    /// The longest, FCS included.
    pub to_bytes: u32,
    /// How many there were.
    pub frames: u64,
}

/// One interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalRow {
    /// Start, seconds from the run's start.
    pub start_s: f64,
    /// Real length in seconds.
    pub length_s: f64,
    /// Frames completed (tx) or received (rx) within it.
    pub frames: u64,
    /// frames / length_s.
    pub pps: f64,
    /// At layer 2, FCS included.
    pub l2_bps: f64,
    /// Kernel drops within it; null on tx.
    pub kernel_drops: Option<u64>,
    /// Shortfall within it; null on rx.
    pub shortfall: Option<u64>,
    /// tx: frames a second that were due within it; null for max, for a capture and on rx.
    #[serde(default)]
    pub asked_pps: Option<f64>,
}
