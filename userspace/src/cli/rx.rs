//! `rx`: its flags, and their way into [`RxConfig`].

use super::{HeaderArgs, OutputArgs, ProbeArgs, RecordingArgs, SocketArgs, TimingArgs};
use crate::config::{
    ConfigError, DEFAULT_PORT, DEFAULT_RX_RING, DEFAULT_WAIT_LINK, Match, Role, RxConfig, validate_answer,
    validate_count, validate_iface, validate_match, validate_port, validate_run_tag, validate_span,
    validate_wait, validate_without,
};
use clap::Args;

/// What `rx` takes.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = super::EXPLAIN)]
pub struct RxArgs {
    /// The interface to receive on [default: the only one that would do]
    #[arg(long, value_name = "IF")]
    pub iface: Option<String>,
    /// How long to wait for carrier, which attaching a program may drop for seconds [default: 10]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub wait_link: Option<String>,
    /// Take frames for other MACs as well
    #[arg(long)]
    pub promisc: bool,
    /// Answer for these addresses, 16 at the most, while running: ARP requests and neighbour solicitations
    #[arg(long, value_name = "IPS", allow_negative_numbers = true)]
    pub answer: Option<String>,
    /// Stop once so many frames have come; those of the next few milliseconds are counted too
    #[arg(long, value_name = "FRAMES", allow_negative_numbers = true, help_heading = "Traffic")]
    pub count: Option<String>,
    /// Stop after so long: 10 (seconds), 500ms, 2m [default: at Ctrl-C]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, help_heading = "Traffic")]
    pub duration: Option<String>,
    /// Stop after so long without a frame, once the first has come
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, help_heading = "Traffic")]
    pub idle_timeout: Option<String>,
    /// The UDP destination port of the frames to take: short for --match 'udp port N' [default: 9]
    #[arg(long, value_name = "PORT", allow_negative_numbers = true, help_heading = "Traffic")]
    pub port: Option<String>,
    /// What is done with received frames.
    #[command(flatten)]
    pub sink: SinkArgs,
    /// Which of them are timed.
    #[command(flatten)]
    pub timing: TimingArgs,
    /// What the headers are, as tx was told.
    #[command(flatten)]
    pub headers: HeaderArgs,
    /// What is written of them.
    #[command(flatten)]
    pub recording: RecordingArgs,
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

/// What the receiving end does with frames.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Traffic")]
pub struct SinkArgs {
    /// Count in the XDP program and drop there: no sockets, no checks, the least work a sink can do
    #[arg(long)]
    pub count_only: bool,
    /// Which frames to take: 'udp port N' or l2 (EtherType 0x88B5), those of xsk-gen alone; 'ethertype 0x0806' or any,
    /// others as well: they count as rejected and in the rates. 'vlan N', alone or in front of one of these, asks for
    /// that outermost tag. The stack does not see what is taken, and --count-only drops it; any leaves ARP and neighbour
    /// discovery to it [default: 'udp port 9']
    #[arg(long = "match", value_name = "EXPR")]
    pub matches: Option<String>,
}

impl RxArgs {
    fn matches(&self) -> Result<Match, ConfigError> {
        let Some(text) = &self.sink.matches else {
            let port = validate_port("--port", self.port.as_deref(), DEFAULT_PORT)?;
            return Ok(Match::ours(Some(port)));
        };
        let others = [("--port", self.port.is_some())];
        validate_without(&others, "--match says already which frames to take", "either --port or --match")?;
        validate_match(text)
    }

    /// Refuses flags of sockets where none is opened. A demanded mode must not be passed over in silence.
    fn validate_count_only(&self) -> Result<(), ConfigError> {
        let others = [
            ("--xsk-mode", self.sockets.xsk_mode.as_deref().is_some_and(|mode| mode != "auto")),
            ("--ring", self.sockets.ring.is_some()),
            ("--frames", self.sockets.frames.is_some()),
            ("--hugepages", self.sockets.hugepages),
            ("--busy-poll", self.sockets.busy_poll.is_some()),
            ("--latency-sample", self.timing.latency_sample.is_some()),
            ("--timestamps", self.timing.timestamps.is_some()),
        ];
        let given = if self.sink.count_only { &others[..] } else { &[] };
        validate_without(given, "--count-only opens no socket", "leave out --count-only, or this flag")
    }

    /// The configuration, without asking whether socket flags have an effect: those of a demo are its tx's, too.
    pub(super) fn into_config(self) -> Result<RxConfig, ConfigError> {
        let (rings, batch) = self.sockets.rings(DEFAULT_RX_RING)?;
        let matches = self.matches()?;
        let modes = self.sockets.modes(self.replace)?;
        Ok(RxConfig {
            role: Role::Sink,
            out: None,
            iface: self.iface.map(|name| validate_iface("--iface", &name)).transpose()?,
            placement: self.sockets.placement()?,
            rings,
            modes,
            count: validate_count(self.count.as_deref())?,
            duration: validate_span("--duration", self.duration.as_deref())?,
            idle_timeout: validate_span("--idle-timeout", self.idle_timeout.as_deref())?,
            count_only: self.sink.count_only,
            recording: self.recording.recording(self.sink.count_only)?,
            verify: !self.probe.no_verify,
            timing: self.timing.timing()?,
            timestamps: self.timing.timestamps(modes.xdp)?,
            matches,
            streams: self.headers.of_sink()?,
            answer: validate_answer(self.answer.as_deref())?,
            promisc: self.promisc,
            run_tag: validate_run_tag(self.probe.run_tag.as_deref())?,
            batch,
            wait_link: validate_wait("--wait-link", self.wait_link.as_deref(), DEFAULT_WAIT_LINK)?,
            output: self.output.output()?,
        })
    }
}

impl TryFrom<RxArgs> for RxConfig {
    type Error = ConfigError;

    fn try_from(args: RxArgs) -> Result<Self, ConfigError> {
        args.validate_count_only()?;
        args.into_config()
    }
}
