//! Flags of a capture that a sink writes, and their way into the configuration.

use crate::config::{ConfigError, Recording, Written, validate_without};
use clap::Args;
use std::path::PathBuf;

/// What is written of what arrives.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Traffic")]
pub struct RecordingArgs {
    /// Write received frames to this file: pcapng where it ends so, else pcap, both with nanoseconds
    ///
    /// The count never waits for the file: what cannot be written fast enough is left out and told. Frames of one
    /// turn share a time; those of several queues are in order queue by queue.
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    /// Bytes of each frame to write at the most [default: all]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true)]
    pub write_snap: Option<String>,
    /// Write so many frames; the run goes on
    #[arg(long, value_name = "FRAMES", allow_negative_numbers = true)]
    pub write_count: Option<String>,
    /// Which frames to write: ours are those of the run, all also control frames and rejected ones [default: ours]
    #[arg(long, value_name = "WHAT", value_parser = Written::NAMES)]
    pub write_what: Option<String>,
}

impl RecordingArgs {
    /// The recording, if one is asked for.
    pub(super) fn recording(self, count_only: bool) -> Result<Option<Recording>, ConfigError> {
        let Some(file) = self.write else {
            let others = [
                ("--write-snap", self.write_snap.is_some()),
                ("--write-count", self.write_count.is_some()),
                ("--write-what", self.write_what.is_some()),
            ];
            validate_without(
                &others,
                "it is a file that it applies to",
                "--write FILE with it, or leave it out",
            )?;
            return Ok(None);
        };
        validate_without(
            &[("--write", count_only)],
            "--count-only opens no socket that frames could be taken from",
            "leave out --count-only, or this flag",
        )?;
        let (snap, count) = (self.write_snap.as_deref(), self.write_count.as_deref());
        Recording::validate(file, snap, count, self.write_what.as_deref()).map(Some)
    }
}
