//! What a sender was asked for, enough to repeat the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every effective option of the sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// Ethernet frame length with the FCS; null where lengths vary.
    pub size_bytes: Option<u32>,
    /// The mean length, as the streams' weights mix them; null for a capture.
    pub mean_size_bytes: Option<f64>,
    /// The capture that was sent instead of numbered frames; null without one.
    pub pcap: Option<OfferedPcap>,
    /// Asked rate in frames a second, of a plan in the mean; null for max.
    pub rate_pps: Option<f64>,
    /// The same at layer 1: preamble, SFD and gap included.
    pub rate_l1_bps: Option<f64>,
    /// The same at layer 2: the frame with its FCS.
    pub rate_l2_bps: Option<f64>,
    /// Frames that follow back to back; 1 for even spacing.
    #[serde(default = "one")]
    pub burst: u32,
    /// How frames, or bursts, follow each other.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// The plan by which the rate changes, as typed; null without one.
    #[serde(default)]
    pub plan: Option<String>,
    /// Frames to send; null without a limit.
    pub count: Option<u64>,
    /// How long to send; null without a limit.
    pub duration_s: Option<f64>,
    /// Streams; none of a capture.
    pub streams: u16,
    /// Distinct source address and port pairs, over all streams; null for a capture.
    pub flows: Option<u64>,
    /// Seed of everything random.
    pub seed: u64,
    /// Tag of the run, as it stands in each frame; null for a capture.
    pub run_tag: Option<u16>,
    /// Frames a turn at the most.
    pub batch: u32,
    /// Sequence spaces: of each transmit queue one a stream; none of a capture.
    pub spaces: u16,
    /// Whether each frame carries a probe and a checksum.
    pub verify: bool,
    /// Source MAC; null for a capture.
    pub src_mac: Option<String>,
    /// Destination MAC; null for a capture.
    pub dst_mac: Option<String>,
    /// Source IP; null for `--l2`.
    pub src_ip: Option<String>,
    /// Destination IP; null for `--l2`.
    pub dst_ip: Option<String>,
    /// UDP source port of the first flow; null for `--l2`.
    pub src_port: Option<u16>,
    /// UDP destination port; null for `--l2`.
    pub dst_port: Option<u16>,
    /// VLAN ids, outermost first.
    pub vlans: Vec<u16>,
}

/// How frames follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// At times that know nothing of each other.
    Poisson,
}

/// As a sender that does not tell has it.
const fn one() -> u32 {
    1
}

/// A capture that was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedPcap {
    /// The file, as typed.
    pub file: String,
    /// Frames of it that can be sent; null when the run ended before it was read to its end.
    pub frames: Option<u64>,
    /// Their bytes, padding and FCS included.
    pub bytes: Option<u64>,
    /// How often it was to be sent; null without end.
    pub loops: Option<u64>,
    /// How many times its recorded speed; null where a rate was asked for.
    pub speed: Option<f64>,
    /// By how much the schedule had to be moved, since frames could not be sent when they were due.
    pub late_s: f64,
}
