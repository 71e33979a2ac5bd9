//! What a sink times: its flags, and their way into the configuration.

use crate::config::{ConfigError, TimestampChoice, XdpChoice, validate_timestamps, validate_timing};
use clap::Args;
use std::num::NonZeroU32;

/// Which frames are timed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Traffic")]
pub struct TimingArgs {
    /// Time no frame: neither latency nor ring wait nor gaps
    #[arg(long)]
    pub no_latency: bool,
    /// Time one frame in so many, 1/100 or 100, by a hash of its number [default: every frame]
    #[arg(long, value_name = "1/N", allow_negative_numbers = true)]
    pub latency_sample: Option<String>,
    /// Who takes the times of arrival: xdp is the XDP program, nic demands those of the NIC beside it, off takes none [default:
    /// auto, the NIC's where the driver advertises them]
    #[arg(long, value_name = "WHO", value_parser = TimestampChoice::NAMES)]
    pub timestamps: Option<String>,
}

impl TimingArgs {
    pub(super) fn timestamps(&self, xdp: XdpChoice) -> Result<TimestampChoice, ConfigError> {
        validate_timestamps(self.timestamps.as_deref(), xdp)
    }

    pub(super) fn timing(&self) -> Result<Option<NonZeroU32>, ConfigError> {
        validate_timing(self.no_latency, self.latency_sample.as_deref())
    }
}
