//! Flags that more than one command takes, and their way into the configuration.

use crate::config::{
    Addressing, ConfigError, DEFAULT_BUSY_POLL, DEFAULT_PORT, DEFAULT_SRC_PORT, Modes, Output, Placement,
    Rings, Spacing, XdpChoice, XskChoice, validate_batch, validate_busy_poll, validate_dst_mac, validate_ips,
    validate_placement, validate_port, validate_rate, validate_spacing, validate_src_mac, validate_vlans,
    validate_without,
};
use crate::units::RateSpec;
use clap::Args;
use std::path::PathBuf;

/// What is sent, and how much of it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Traffic")]
pub struct LoadArgs {
    /// Ethernet frame length including the 4-byte FCS and all tags: 64, imix, 64,512,1518 in turn, or 64-1518 at
    /// random [default: 64, or the least that the headers leave room for]
    ///
    /// As in RFC 2544: 64 is the shortest Ethernet frame, 60 bytes of it in packet memory, 84 on the wire. The probe
    /// needs 64 bytes with IPv4, 84 with IPv6, and 4 more for each VLAN tag. imix is 64, 594 and 1518 as 7:4:1;
    /// imix:aabg is a genome of RFC 6985.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub size: Option<String>,
    /// How fast: max, 1.5Mpps, 250kpps, 10Gbps (layer 1), 10Gbps-l2, 40% of the link [default: max]
    ///
    /// Layer 1 counts preamble, start delimiter and inter-frame gap, 20 bytes a frame; layer 2 the frame with its
    /// FCS. A rate that cannot be held shows as shortfall; the run is never stretched to hide it.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub rate: Option<String>,
    /// Send bursts of N frames back to back, at the same rate in the mean [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub burst: Option<String>,
    /// How frames of a rate follow each other: constant, or poisson for times that know nothing of each other
    /// [default: constant]
    ///
    /// --seed names the series of the times.
    #[arg(long, value_name = "HOW", value_parser = Spacing::ARRIVALS)]
    pub arrivals: Option<String>,
    /// Rates that change: '1Mpps:10s,off:5s,ramp 2Mpps-5Mpps:30s'
    ///
    /// Each step is a rate, off, or a ramp between two rates, and how long it lasts. A longer --duration begins the plan
    /// anew. Interval lines show what was asked for beside what was sent.
    #[arg(long, value_name = "PLAN", allow_hyphen_values = true)]
    pub plan: Option<String>,
    /// Stop after so many frames
    #[arg(long, value_name = "FRAMES", allow_negative_numbers = true)]
    pub count: Option<String>,
    /// Stop after so long: 10 (seconds), 500ms, 2m [default: 10, or as long as --plan, unless --count is given]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub duration: Option<String>,
    /// Distinct pairs of source IP and UDP port, so that RSS spreads over receive queues [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub flows: Option<String>,
    /// Names the series of all that is random: the same seed, the same frames [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<String>,
}

impl LoadArgs {
    /// The rate, and how frames follow each other.
    pub(super) fn pace(&self) -> Result<(RateSpec, Spacing), ConfigError> {
        let rate = validate_rate(self.rate.as_deref())?;
        let (burst, arrivals, plan) = (self.burst.as_deref(), self.arrivals.as_deref(), self.plan.as_deref());
        Ok((rate, validate_spacing(burst, arrivals, plan, (self.rate.is_some(), rate))?))
    }
}

/// What frames carry, and what is checked.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Traffic")]
pub struct ProbeArgs {
    /// Leave UDP checksums out, or unchecked; numbering and books stay
    #[arg(long)]
    pub no_verify: bool,
    /// The run's tag in each frame, 0 to 65535: both ends name the same, or rx follows the first that it sees
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub run_tag: Option<String>,
}

/// Sockets: queues, cores, rings and modes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Sockets")]
pub struct SocketArgs {
    /// Queues to use: 0, 0-3 or 0,2 [default: to send one a core, of a capture one in all; to receive all]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub queues: Option<String>,
    /// Cores to use, one worker each: 2, 2-5 or 2,4 [default: those near the NIC]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub cores: Option<String>,
    /// Frames a turn at the most [default: 64]
    #[arg(long, value_name = "FRAMES", allow_negative_numbers = true)]
    pub batch: Option<String>,
    /// Entries of each queue's ring, a power of two up to 65536 [default: 2048 to send, 8192 to receive]
    #[arg(long, value_name = "ENTRIES", allow_negative_numbers = true)]
    pub ring: Option<String>,
    /// Chunks of packet memory a queue, at least as many as ring entries [default: what the rings need]
    #[arg(long, value_name = "CHUNKS", allow_negative_numbers = true)]
    pub frames: Option<String>,
    /// Put packet memory in huge pages
    #[arg(long)]
    pub hugepages: bool,
    /// Where the XDP program runs: native is in the driver, generic in the stack [default: auto]
    #[arg(long, value_name = "MODE", value_parser = XdpChoice::NAMES)]
    pub xdp_mode: Option<String>,
    /// How frames reach the NIC: zerocopy demands it, copy avoids it [default: auto]
    #[arg(long, value_name = "MODE", value_parser = XskChoice::NAMES)]
    pub xsk_mode: Option<String>,
    /// Let the sockets poll the driver instead of waiting for interrupts, for so many frames at a time [default without a
    /// number: 64]
    #[arg(long, value_name = "BUDGET", num_args = 0..=1, default_missing_value = DEFAULT_BUSY_POLL, allow_negative_numbers = true)]
    pub busy_poll: Option<String>,
    /// Wake the driver on every turn instead of when it asks
    #[arg(long)]
    pub no_need_wakeup: bool,
}

/// From whom and to whom.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Addresses")]
pub struct AddressArgs {
    /// Source MAC [default: the interface's own]
    #[arg(long, value_name = "MAC")]
    pub src_mac: Option<String>,
    /// Destination MAC; groups are taken when named [default: the sink is asked]
    #[arg(long, value_name = "MAC")]
    pub dst_mac: Option<String>,
    /// Source IP, of the first flow [default: the interface's own, else 198.18.0.1 or 2001:2::1]
    #[arg(long, value_name = "IP")]
    pub src_ip: Option<String>,
    /// Destination IP; IPv6 here or in --src-ip makes the frames IPv6 [default: 198.19.0.1 or 2001:2:0:8000::1]
    #[arg(long, value_name = "IP")]
    pub dst_ip: Option<String>,
    /// UDP source port, of the first flow [default: 4242]
    #[arg(long, value_name = "PORT", allow_negative_numbers = true)]
    pub src_port: Option<String>,
    /// UDP destination port, by which the sink knows its frames [default: 9]
    #[arg(long, value_name = "PORT", allow_negative_numbers = true)]
    pub port: Option<String>,
    /// VLAN id, or two with the outer one first: 100 or 200,100
    #[arg(long, value_name = "IDS", allow_negative_numbers = true)]
    pub vlan: Option<String>,
    /// No IP and UDP: the probe follows EtherType 0x88B5
    #[arg(long)]
    pub l2: bool,
    /// Differentiated services codepoint of the outermost IP header, 0 to 63 [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub dscp: Option<String>,
    /// Time to live, or hop limit, of the outermost IP header [default: 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub ttl: Option<String>,
}

/// Where the result goes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the JSON to this file as well; it is opened before the run
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Time between lines of progress, 100ms or more [default: 1]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub interval: Option<String>,
    /// No lines of progress
    #[arg(long)]
    pub quiet: bool,
    /// Exit with 1 when this holds, or cannot be known: 'loss>0', 'loss>=0.1%', 'rate<99%'; may be repeated
    ///
    /// Figures are loss, unexplained, shortfall, duplicate, reordered and rate. Per cent are of the completed frames
    /// (loss, unexplained), of those due (shortfall), of the distinct ones received (duplicate, reordered), and of the
    /// rate asked for (rate).
    #[arg(long, value_name = "COND")]
    pub fail_if: Vec<String>,
}

impl SocketArgs {
    /// Queues and cores.
    pub(super) fn placement(&self) -> Result<Placement, ConfigError> {
        validate_placement(self.queues.as_deref(), self.cores.as_deref())
    }

    /// Rings, and the batch that fits them.
    pub(super) fn rings(&self, default_ring: u32) -> Result<(Rings, u32), ConfigError> {
        let rings = Rings::validate(self.ring.as_deref(), self.frames.as_deref(), self.hugepages)?;
        let batch = validate_batch(self.batch.as_deref(), &rings, default_ring)?;
        Ok((rings, batch))
    }

    /// Modes; `replace` is a flag of the commands that attach to interfaces which are not their own.
    pub(super) fn modes(&self, replace: bool) -> Result<Modes, ConfigError> {
        Ok(Modes {
            xdp: self.xdp_mode.as_deref().map_or(Ok(XdpChoice::Auto), str::parse)?,
            xsk: self.xsk_mode.as_deref().map_or(Ok(XskChoice::Auto), str::parse)?,
            busy_poll: validate_busy_poll(self.busy_poll.as_deref())?,
            need_wakeup: !self.no_need_wakeup,
            replace,
        })
    }
}

impl AddressArgs {
    /// Addresses, valid against each other.
    pub(super) fn addressing(&self, ipv6: bool) -> Result<Addressing, ConfigError> {
        self.validate_l2()?;
        let [src_ip, dst_ip] = validate_ips(self.src_ip.as_deref(), self.dst_ip.as_deref())?;
        if let Some(ip) = src_ip.or(dst_ip).filter(|ip| ipv6 && ip.is_ipv4()) {
            let remedy = "IPv6 addresses, or leave out --ipv6";
            return Err(ConfigError::bare("--ipv6", format!("{ip} is an IPv4 address"), remedy));
        }
        Ok(Addressing {
            src_mac: validate_src_mac(self.src_mac.as_deref())?,
            dst_mac: validate_dst_mac(self.dst_mac.as_deref())?,
            src_ip,
            dst_ip,
            src_port: validate_port("--src-port", self.src_port.as_deref(), DEFAULT_SRC_PORT)?,
            port: validate_port("--port", self.port.as_deref(), DEFAULT_PORT)?,
            vlans: validate_vlans(self.vlan.as_deref())?,
            l2: self.l2,
            ipv6,
        })
    }

    fn validate_l2(&self) -> Result<(), ConfigError> {
        let others = [
            ("--src-ip", self.src_ip.is_some()),
            ("--dst-ip", self.dst_ip.is_some()),
            ("--src-port", self.src_port.is_some()),
            ("--port", self.port.is_some()),
        ];
        let given = if self.l2 { &others[..] } else { &[] };
        validate_without(given, "--l2 frames have neither IP nor UDP", "leave out --l2, or this flag")
    }
}

impl OutputArgs {
    /// Where the result goes.
    pub(super) fn output(&self) -> Result<Output, ConfigError> {
        Output::validate(self.json, self.quiet, self.output.clone(), self.interval.as_deref(), &self.fail_if)
    }
}
