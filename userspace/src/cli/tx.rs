//! `tx`: its flags, and their way into [`TxConfig`].

use super::{AddressArgs, LoadArgs, OutputArgs, ProbeArgs, ReplayArgs, SocketArgs};
use crate::config::{
    ConfigError, DEFAULT_TX_RING, DEFAULT_WAIT_LINK, TxConfig, sending_time, validate_count, validate_flows,
    validate_for_sender, validate_iface, validate_rate, validate_run_tag, validate_sink, validate_size,
    validate_span, validate_wait,
};
use crate::units::Nanos;
use clap::Args;

/// What `tx` takes.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = super::EXPLAIN)]
pub struct TxArgs {
    /// The interface to send from
    #[arg(long, value_name = "IF")]
    pub iface: String,
    /// Receive on this second interface of the same host: one clock, joint books
    #[arg(long, value_name = "IF")]
    pub sink: Option<String>,
    /// How long to wait for carrier, which attaching a program may drop for seconds [default: 10]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub wait_link: Option<String>,
    /// How long to wait after carrier before sending [default: 0]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub settle: Option<String>,
    /// What is sent.
    #[command(flatten)]
    pub load: LoadArgs,
    /// A capture to send instead.
    #[command(flatten)]
    pub replay: ReplayArgs,
    /// What frames carry.
    #[command(flatten)]
    pub probe: ProbeArgs,
    /// From whom and to whom.
    #[command(flatten)]
    pub address: AddressArgs,
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

impl TryFrom<TxArgs> for TxConfig {
    type Error = ConfigError;

    fn try_from(args: TxArgs) -> Result<Self, ConfigError> {
        let replay = args.replay()?;
        let address = args.address.addressing()?;
        let (rings, batch) = args.sockets.rings(DEFAULT_TX_RING)?;
        let count = validate_count(args.load.count.as_deref())?;
        let duration = validate_span("--duration", args.load.duration.as_deref())?;
        let rate = validate_rate(args.load.rate.as_deref())?;
        let output = args.output.output()?;
        if args.sink.is_none() {
            validate_for_sender(&output.fail_if, rate)?;
        }
        Ok(Self {
            iface: validate_iface("--iface", &args.iface)?,
            sink: validate_sink(&args.iface, args.sink.as_deref())?,
            placement: args.sockets.placement()?,
            size: validate_size(args.load.size.as_deref(), &address)?,
            rate,
            count,
            // A capture ends by itself, or was asked not to.
            duration: if replay.is_some() { duration } else { sending_time(count, duration) },
            replay,
            batch,
            rings,
            modes: args.sockets.modes(args.replace)?,
            flows: validate_flows(args.load.flows.as_deref(), address.l2, address.src_port)?,
            address,
            verify: !args.probe.no_verify,
            run_tag: validate_run_tag(args.probe.run_tag.as_deref())?,
            wait_link: validate_wait("--wait-link", args.wait_link.as_deref(), DEFAULT_WAIT_LINK)?,
            settle: validate_wait("--settle", args.settle.as_deref(), Nanos(0))?,
            output,
        })
    }
}
