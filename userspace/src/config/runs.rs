//! The configuration of each command: everything that was chosen, valid and without a word about the machine.

use super::{
    Addressing, ConfigError, Match, Modes, Output, Placement, Recording, Replay, Rings, Spacing, StreamSet,
    TimestampChoice,
};
use crate::units::{Nanos, RateSpec};
use macaddr::MacAddr6;
use std::net::IpAddr;
use std::num::NonZeroU32;

/// How long a link may take to come up again after a program was attached, unless `--wait-link` says otherwise:
/// real NICs reset and renegotiate, which takes up to several seconds.
pub const DEFAULT_WAIT_LINK: Nanos = Nanos(10_000_000_000);
/// How long `tx` and `demo` send when neither `--count` nor `--duration` is given.
pub const DEFAULT_DURATION: Nanos = Nanos(10_000_000_000);
/// The sending end of the demo's veth pair.
pub const DEMO_TX: &str = "xg0";
/// The receiving end of the demo's veth pair.
pub const DEMO_RX: &str = "xg1";

/// What `tx` is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TxConfig {
    /// The interface that sends.
    pub iface: String,
    /// A second interface of this host that receives; never the same.
    pub sink: Option<String>,
    /// Whether what a reflector sends back is received, on the same queues.
    pub round_trip: bool,
    /// Queues and cores.
    pub placement: Placement,
    /// What is sent.
    pub streams: StreamSet,
    /// The capture to send instead of frames of our own; its frames have sizes of their own.
    pub replay: Option<Replay>,
    /// The rate asked for; of a replay only where it has no speed. A plan has rates of its own.
    pub rate: RateSpec,
    /// How frames follow each other.
    pub spacing: Spacing,
    /// Frames to send; None without a limit.
    pub count: Option<u64>,
    /// How long to send; None without a limit. The run ends at whichever limit comes first.
    pub duration: Option<Nanos>,
    /// Frames a turn at the most; never more than the ring.
    pub batch: u32,
    /// Rings and packet memory.
    pub rings: Rings,
    /// Modes.
    pub modes: Modes,
    /// From whom and to whom.
    pub address: Addressing,
    /// Whether the MAC of the destination IP, which is then stated, is to be looked up.
    pub resolve: bool,
    /// Whether frames carry a UDP checksum for the sink to verify.
    pub verify: bool,
    /// The run's tag; None for a random one.
    pub run_tag: Option<u16>,
    /// How long to wait for carrier after attaching.
    pub wait_link: Nanos,
    /// How long to wait after carrier before sending.
    pub settle: Nanos,
    /// Where the result goes.
    pub output: Output,
}

/// What becomes of the frames of a run that arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// They end here: `rx`.
    #[default]
    Sink,
    /// They are sent back: `reflect`.
    Reflector,
    /// They leave by another interface: `reflect --out`.
    Forwarder,
}

impl Role {
    /// The command of that role.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self {
            Self::Sink => "rx",
            Self::Reflector | Self::Forwarder => "reflect",
        }
    }
}

/// Where a forwarder's frames leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Out {
    /// The interface; never the one that receives.
    pub iface: String,
    /// Where they go; None for where they were going.
    pub dst_mac: Option<MacAddr6>,
}

/// What `rx` or `reflect` is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RxConfig {
    /// What becomes of frames that are received.
    pub role: Role,
    /// Where frames leave, of a forwarder.
    pub out: Option<Out>,
    /// The interface that receives; None for the only one that would do.
    pub iface: Option<String>,
    /// Queues and cores.
    pub placement: Placement,
    /// Rings and packet memory.
    pub rings: Rings,
    /// Modes.
    pub modes: Modes,
    /// Frames after which the run ends, of those that are taken; None without a limit.
    pub count: Option<u64>,
    /// How long to receive; None until it is interrupted.
    pub duration: Option<Nanos>,
    /// The silence after the first frame that ends the run; None without one.
    pub idle_timeout: Option<Nanos>,
    /// Count in the XDP program and drop there.
    pub count_only: bool,
    /// The capture that is written of what arrives.
    pub recording: Option<Recording>,
    /// Whether checksums are verified.
    pub verify: bool,
    /// One frame in how many is timed, by a hash of its number; None for none at all.
    pub timing: Option<NonZeroU32>,
    /// Who takes their times of arrival.
    pub timestamps: TimestampChoice,
    /// Which frames are taken.
    pub matches: Match,
    /// The sender's streams, where they are known: a sink must be told where their probes lie.
    pub streams: Option<StreamSet>,
    /// Addresses that are answered for with the interface's MAC while the sink runs.
    pub answer: Vec<IpAddr>,
    /// Whether the interface takes frames for other MACs.
    pub promisc: bool,
    /// The run to follow; None for the first that is seen.
    pub run_tag: Option<u16>,
    /// Frames a turn at the most; never more than the ring.
    pub batch: u32,
    /// How long to wait for carrier after attaching.
    pub wait_link: Nanos,
    /// Where the result goes.
    pub output: Output,
}

/// What `demo` is to do: both ends of a veth pair, [`DEMO_TX`] and [`DEMO_RX`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoConfig {
    /// The sending end.
    pub tx: TxConfig,
    /// The receiving end.
    pub rx: RxConfig,
}

/// Bytes of the longest name: an alternative one (ALTIFNAMSIZ of linux/if.h, less its NUL).
const LONGEST_IFACE: usize = 127;

/// The name of an interface. Whether there is one of that name is a fact about the machine.
///
/// # Errors
/// An empty name, one with control characters, or one that is longer than any can be.
pub fn validate_iface(flag: &str, name: &str) -> Result<String, ConfigError> {
    let refuse = |what: &str| Err(ConfigError::new(flag, name, what, "a name that `ip link` lists"));
    if name.trim().is_empty() {
        return refuse("an interface has a name");
    }
    if name.contains(char::is_control) {
        return refuse("no interface has control characters in its name");
    }
    if name.len() > LONGEST_IFACE {
        return refuse("no interface has so long a name");
    }
    Ok(name.to_owned())
}

/// A second interface beside `iface`.
///
/// # Errors
/// An empty name, or the same interface: a port does not receive what it sends.
pub fn validate_sink(iface: &str, sink: Option<&str>) -> Result<Option<String>, ConfigError> {
    const FLAG: &str = "--sink";
    let Some(name) = sink else { return Ok(None) };
    if name == iface {
        let what = "a port does not receive what it sends, so the sink must be another interface";
        return Err(ConfigError::new(
            FLAG,
            name,
            what,
            "the port at the other end of the cable, or leave --sink out",
        ));
    }
    validate_iface(FLAG, name).map(Some)
}

/// The interface by which frames leave, beside the one that receives.
///
/// # Errors
/// The same interface, or a name that none has.
pub fn validate_out(iface: &str, out: &str) -> Result<String, ConfigError> {
    const FLAG: &str = "--out";
    if out == iface {
        let what = "frames leave by another interface than the one that they come in by";
        return Err(ConfigError::new(
            FLAG,
            out,
            what,
            "another interface, or leave --out out to send them back",
        ));
    }
    validate_iface(FLAG, out)
}

/// How long to send: as long as the plan, or 10 s without one, when no limit was given at all.
#[must_use]
pub fn sending_time(count: Option<u64>, duration: Option<Nanos>, spacing: &Spacing) -> Option<Nanos> {
    match (count, duration, spacing) {
        (None, None, Spacing::Plan(plan)) => Some(plan.length()),
        (None, None, _) => Some(DEFAULT_DURATION),
        (_, duration, _) => duration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_limits_takes_ten_seconds() {
        let even = Spacing::Even;
        assert_eq!(sending_time(None, None, &even), Some(Nanos(10_000_000_000)));
        assert_eq!(sending_time(Some(5), None, &even), None);
        assert_eq!(sending_time(Some(5), Some(Nanos(1)), &even), Some(Nanos(1)));
    }

    #[test]
    fn a_plan_is_followed_once_unless_limits_say_otherwise() {
        let rate = (false, RateSpec::Max);
        let plan = crate::config::validate_spacing(None, None, Some("1kpps:3s,off:1s"), rate).unwrap();
        assert_eq!(sending_time(None, None, &plan), Some(Nanos(4_000_000_000)));
        assert_eq!(sending_time(Some(5), None, &plan), None);
        assert_eq!(sending_time(None, Some(Nanos(1)), &plan), Some(Nanos(1)));
    }

    #[test]
    fn the_sink_is_another_interface() {
        assert_eq!(validate_sink("eth0", Some("eth1")), Ok(Some("eth1".to_owned())));
        assert_eq!(validate_sink("eth0", None), Ok(None));
        assert_eq!(validate_sink("eth0", Some("eth0")).unwrap_err().flag, "--sink eth0");
        assert_eq!(validate_sink("eth0", Some("")).unwrap_err().flag, "--sink ''");
        assert!(validate_iface("--iface", " ").is_err());
        assert_eq!(validate_out("eth0", "eth1"), Ok("eth1".to_owned()));
        assert_eq!(validate_out("eth0", "eth0").unwrap_err().flag, "--out eth0");
    }

    #[test]
    fn a_name_is_one_that_an_interface_can_have() {
        let longest = "x".repeat(127);
        assert!(
            ["eth0", "fifteen-letters", "a/b", &longest].iter().all(|n| validate_iface("--iface", n).is_ok())
        );
        for name in ["", "\t", "eth0\n", "\u{1b}[31m", &"x".repeat(128)] {
            let error = validate_iface("--iface", name).unwrap_err();
            assert!(!error.flag.contains(char::is_control), "{error:?}");
        }
    }
}
