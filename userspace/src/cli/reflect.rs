//! `reflect`: its flags, and their way into [`RxConfig`]: a reflector is a sink that sends back, or on.

use super::rx::SinkArgs;
use super::{HeaderArgs, OutputArgs, ProbeArgs, RecordingArgs, RxArgs, SocketArgs, TimingArgs};
use crate::config::{ConfigError, Out, Role, RxConfig, validate_dst_mac, validate_out};
use clap::Args;

/// What `reflect` takes.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = super::EXPLAIN)]
pub struct ReflectArgs {
    /// The interface to receive on and to send back from
    #[arg(long, value_name = "IF")]
    pub iface: String,
    /// Send on by this second interface instead, from its MAC; START and END as well, so that a sink behind it knows the run
    ///
    /// Each probe leaves once: a ring of forwarders ends them. Frames keep their destination unless --dst-mac names one, and
    /// a queue of this interface is needed for each receive queue of the first.
    #[arg(long, value_name = "IF")]
    pub out: Option<String>,
    /// With --out: the MAC that frames are sent on to [default: the one that they came to]
    #[arg(long, value_name = "MAC", requires = "out")]
    pub dst_mac: Option<String>,
    /// How long to wait for carrier, which attaching a program may drop for seconds [default: 10]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub wait_link: Option<String>,
    /// Answer for these addresses, 16 at the most, while running: ARP requests and neighbour solicitations
    #[arg(long, value_name = "IPS", allow_negative_numbers = true)]
    pub answer: Option<String>,
    /// Stop once so many frames have come; those of the next few milliseconds are sent back too
    #[arg(long, value_name = "FRAMES", allow_negative_numbers = true, help_heading = "Traffic")]
    pub count: Option<String>,
    /// Stop after so long: 10 (seconds), 500ms, 2m [default: at Ctrl-C]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, help_heading = "Traffic")]
    pub duration: Option<String>,
    /// Stop after so long without a frame, once the first has come
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, help_heading = "Traffic")]
    pub idle_timeout: Option<String>,
    /// The UDP destination port of the frames to send back: short for --match 'udp port N' [default: 9]
    #[arg(long, value_name = "PORT", allow_negative_numbers = true, help_heading = "Traffic")]
    pub port: Option<String>,
    /// Which frames to send back: 'udp port N' or l2 (EtherType 0x88B5); 'vlan N' in front of one of these, or alone,
    /// asks for that outermost tag [default: 'udp port 9']
    #[arg(long = "match", value_name = "EXPR", help_heading = "Traffic")]
    pub matches: Option<String>,
    /// What the headers are, as tx was told.
    #[command(flatten)]
    pub headers: HeaderArgs,
    /// What frames carry.
    #[command(flatten)]
    pub probe: ProbeArgs,
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

impl TryFrom<ReflectArgs> for RxConfig {
    type Error = ConfigError;

    fn try_from(args: ReflectArgs) -> Result<Self, ConfigError> {
        let matches = args.matches.clone();
        let to = validate_dst_mac(args.dst_mac.as_deref())?;
        let out = |iface: String| Ok::<_, ConfigError>(Out { iface, dst_mac: to });
        let out =
            args.out.as_deref().map(|name| validate_out(&args.iface, name).and_then(out)).transpose()?;
        let config = RxArgs {
            iface: Some(args.iface),
            wait_link: args.wait_link,
            promisc: false,
            answer: args.answer,
            count: args.count,
            duration: args.duration,
            idle_timeout: args.idle_timeout,
            port: args.port,
            sink: SinkArgs { count_only: false, matches: args.matches },
            timing: TimingArgs::default(),
            headers: args.headers,
            recording: RecordingArgs::default(),
            probe: args.probe,
            sockets: args.sockets,
            replace: args.replace,
            output: args.output,
        }
        .into_config()?;
        if config.matches.takes_others() {
            let what = "only frames of xsk-gen are sent back";
            return Err(ConfigError::new(
                "--match",
                &matches.unwrap_or_default(),
                what,
                "--match 'udp port 9'",
            ));
        }
        let role = if out.is_some() { Role::Forwarder } else { Role::Reflector };
        Ok(Self { role, out, ..config })
    }
}
