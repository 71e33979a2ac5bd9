//! `tx`: its flags, and their way into [`TxConfig`].

use super::{AddressArgs, HeaderArgs, LoadArgs, OutputArgs, ProbeArgs, ReplayArgs, SocketArgs};
use crate::config::{
    ConfigError, DEFAULT_TX_RING, DEFAULT_WAIT_LINK, Spacing, TxConfig, sending_time, validate_count,
    validate_for_sender, validate_iface, validate_numbered, validate_resolve, validate_run_tag,
    validate_sink, validate_span, validate_wait, validate_without,
};
use crate::units::{Nanos, RateSpec};
use clap::Args;
use std::path::PathBuf;

/// What `tx` takes.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = super::EXPLAIN)]
pub struct TxArgs {
    /// The interface to send from
    #[arg(long, value_name = "IF", required_unless_present = "dry_run")]
    pub iface: Option<String>,
    /// Receive on this second interface of the same host: one clock, joint books
    #[arg(long, value_name = "IF")]
    pub sink: Option<String>,
    /// Receive what `xsk-gen reflect` at the other end sends back: loss and time of the round trip, on one clock
    ///
    /// Each queue sends and receives on one core. What has not come back 0.3 s after the last frame is lost.
    #[arg(long, conflicts_with_all = ["sink", "pcap", "dry_run"])]
    pub round_trip: bool,
    /// How long to wait for carrier, which attaching a program may drop for seconds [default: 10]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub wait_link: Option<String>,
    /// How long to wait after carrier before sending [default: 0]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub settle: Option<String>,
    /// What is sent.
    #[command(flatten)]
    pub load: LoadArgs,
    /// Send nothing: print the streams and the first frame of each, field by field; needs no interface
    #[arg(long, help_heading = "Traffic")]
    pub dry_run: bool,
    /// With --dry-run: write the first frames to this pcap file, --count of them [default: 1000 frames]
    #[arg(long, value_name = "FILE", help_heading = "Traffic", requires = "dry_run")]
    pub write: Option<PathBuf>,
    /// A capture to send instead.
    #[command(flatten)]
    pub replay: ReplayArgs,
    /// What frames carry.
    #[command(flatten)]
    pub probe: ProbeArgs,
    /// What the headers are.
    #[command(flatten)]
    pub headers: HeaderArgs,
    /// From whom and to whom.
    #[command(flatten)]
    pub address: AddressArgs,
    /// Find the MAC for --dst-ip: from the kernel's neighbour table, or by ARP or neighbour discovery
    ///
    /// Of a destination behind a gateway it is the gateway's. With --vlan the question is tagged as the frames are, and
    /// the destination is taken to be on that network's link.
    #[arg(long, help_heading = "Addresses")]
    pub resolve: bool,
    /// Queues, cores, rings and modes.
    #[command(flatten)]
    pub sockets: SocketArgs,
    /// Take another XDP program off the interface where one is to be attached; it is not put back
    #[arg(long, help_heading = "Sockets")]
    pub replace: bool,
    /// Where the result goes.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl TxArgs {
    /// Refuses what has no effect where nothing is sent.
    fn validate_dry_run(&self) -> Result<(), ConfigError> {
        let others =
            [("--output", self.output.output.is_some()), ("--fail-if", !self.output.fail_if.is_empty())];
        let given = if self.dry_run { &others[..] } else { &[] };
        validate_without(
            given,
            "--dry-run sends nothing, so there is no Report",
            "leave out --dry-run, or this flag",
        )
    }
}

impl TryFrom<TxArgs> for TxConfig {
    type Error = ConfigError;

    fn try_from(args: TxArgs) -> Result<Self, ConfigError> {
        let replay = args.replay()?;
        args.validate_dry_run()?;
        let address = args.address.addressing(args.headers.ipv6)?;
        let streams = args.headers.of_sender(&args.load, &args.address, &address)?;
        let resolve = validate_resolve(args.resolve, address.dst_ip, address.dst_mac.is_some(), address.l2)?;
        let (rings, batch) = args.sockets.rings(DEFAULT_TX_RING)?;
        rings.validate_for(streams.bounds().1, DEFAULT_TX_RING)?;
        let count = validate_count(args.load.count.as_deref())?;
        let duration = validate_span("--duration", args.load.duration.as_deref())?;
        let (rate, spacing) = args.load.pace()?;
        let output = args.output.output()?;
        if args.round_trip {
            validate_numbered(&streams)?;
        }
        if args.sink.is_none() && !args.round_trip {
            let paced = rate != RateSpec::Max || matches!(spacing, Spacing::Plan(_));
            validate_for_sender(&output.fail_if, paced)?;
        }
        let iface = args.iface.map(|name| validate_iface("--iface", &name)).transpose()?.unwrap_or_default();
        Ok(Self {
            sink: validate_sink(&iface, args.sink.as_deref())?,
            round_trip: args.round_trip,
            iface,
            placement: args.sockets.placement()?,
            streams,
            rate,
            count,
            // A capture ends by itself, or was asked not to.
            duration: if replay.is_some() { duration } else { sending_time(count, duration, &spacing) },
            spacing,
            replay,
            batch,
            rings,
            modes: args.sockets.modes(args.replace)?,
            address,
            resolve,
            verify: !args.probe.no_verify,
            run_tag: validate_run_tag(args.probe.run_tag.as_deref())?,
            wait_link: validate_wait("--wait-link", args.wait_link.as_deref(), DEFAULT_WAIT_LINK)?,
            settle: validate_wait("--settle", args.settle.as_deref(), Nanos(0))?,
            output,
        })
    }
}
