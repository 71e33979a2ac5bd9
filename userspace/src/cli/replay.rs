//! Flags of a replay, and their way into the configuration: the capture is looked at here, before anything about the
//! machine is.

use super::TxArgs;
use crate::capture::{self, CaptureError};
use crate::config::{ConfigError, Replay, validate_rate, validate_without};
use clap::Args;
use std::path::{Path, PathBuf};

const FLAG: &str = "--pcap";

/// What of a capture is sent, and how.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Traffic")]
pub struct ReplayArgs {
    /// Send the frames of this pcap or pcapng file, byte by byte, instead of numbered ones; at the recorded times
    /// unless --pcap-speed or --rate says otherwise
    ///
    /// A rate in bit/s or per cent counts every frame with its own length. Frames that are not there in full, and those
    /// that the interface cannot send, are left out and told. No sink is asked for, nor told of the end. All leave by one
    /// queue, in their order; over several --queues flows are spread, each of which keeps its order.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Send the capture at so many times its recorded speed [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub pcap_speed: Option<String>,
    /// Send the capture so many times, each like the first; 0 until --count, --duration or Ctrl-C [default: 1]
    #[arg(long = "loop", value_name = "N", allow_negative_numbers = true)]
    pub loops: Option<String>,
}

impl TxArgs {
    /// The replay, if one is asked for.
    pub(super) fn replay(&self) -> Result<Option<Replay>, ConfigError> {
        let ReplayArgs { pcap, pcap_speed, loops } = &self.replay;
        let Some(file) = pcap else {
            let others = [("--pcap-speed", pcap_speed.is_some()), ("--loop", loops.is_some())];
            validate_without(
                &others,
                "it is a capture that it applies to",
                "--pcap FILE with it, or leave it out",
            )?;
            return Ok(None);
        };
        self.validate_replay()?;
        let rate = self.load.rate.as_deref().map(|rate| validate_rate(Some(rate))).transpose()?;
        let replay = Replay::validate(file.clone(), pcap_speed.as_deref(), loops.as_deref(), rate)?;
        capture::look(file).map_err(|error| refused(file, &error))?;
        Ok(Some(replay))
    }

    /// Refuses flags that make frames: those of a capture are what they are.
    fn validate_replay(&self) -> Result<(), ConfigError> {
        let address = &self.address;
        let others = [
            ("--size", self.load.size.is_some()),
            ("--burst", self.load.burst.is_some()),
            ("--arrivals", self.load.arrivals.is_some()),
            ("--plan", self.load.plan.is_some()),
            ("--flows", self.load.flows.is_some()),
            ("--no-verify", self.probe.no_verify),
            ("--run-tag", self.probe.run_tag.is_some()),
            ("--src-mac", address.src_mac.is_some()),
            ("--dst-mac", address.dst_mac.is_some()),
            ("--src-ip", address.src_ip.is_some()),
            ("--dst-ip", address.dst_ip.is_some()),
            ("--src-port", address.src_port.is_some()),
            ("--port", address.port.is_some()),
            ("--vlan", address.vlan.is_some()),
            ("--l2", address.l2),
        ];
        validate_without(
            &others,
            "--pcap sends frames as they were captured",
            "leave out --pcap, or this flag",
        )?;
        let sink = [("--sink", self.sink.is_some())];
        validate_without(
            &sink,
            "frames of --pcap carry no numbers that a sink could count them by",
            "leave it out, and count at the other end with `ip -s link` or tcpdump",
        )?;
        let placement = self.sockets.placement()?;
        let several = placement.cores.is_some_and(|cores| cores.len() > 1) && placement.queues.is_none();
        validate_without(
            &[("--cores", several)],
            "a capture is sent by one queue, in its order, unless several are named",
            "--queues with as many, over which flows are spread, or one core",
        )
    }
}

fn refused(file: &Path, error: &CaptureError) -> ConfigError {
    let remedy = match error {
        CaptureError::Io(_) => "a file that is there and can be read",
        CaptureError::NoFile => "a copy of it in a file of its own",
        CaptureError::LinkType(_) => "a capture of an Ethernet interface (tcpdump -i eth0, not -i any)",
        _ => "a file that tcpdump or Wireshark has written to its end",
    };
    ConfigError::new(FLAG, &file.display().to_string(), error.to_string(), remedy)
}
