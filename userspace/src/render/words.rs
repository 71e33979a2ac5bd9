//! Figures and enumerations in words, with `unknown` for what is not there.

use crate::report::{Kind, PathVerdict, TimestampSource, XdpModeUsed, XskModeUsed};
use crate::units::{grouped, si, span};

/// What stands for a figure that this side cannot know.
pub(super) const UNKNOWN: &str = "unknown";

pub(super) fn count(value: Option<u64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), grouped)
}

pub(super) fn scaled(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| si(value, unit))
}

pub(super) fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| format!("{value:.1} %"))
}

/// A span given in seconds.
pub(super) fn seconds(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |value| span(value * 1e9))
}

/// Numbers of queues or cores: `0, 1, 2`.
pub(super) fn list(numbers: &[u32]) -> String {
    if numbers.is_empty() {
        return "none".to_owned();
    }
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// `1 flow`, `64 flows`.
pub(super) fn plural(n: u64, noun: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(n))
}

pub(super) const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Physical => "physical NIC",
        Kind::SriovPf => "SR-IOV physical function",
        Kind::SriovVf => "SR-IOV virtual function",
        Kind::Passthrough => "passthrough NIC",
        Kind::Paravirtual => "paravirtual NIC",
        Kind::Emulated => "emulated NIC",
        Kind::Virtual => "virtual interface",
        Kind::Unknown => "interface of unknown kind",
    }
}

pub(super) const fn path(verdict: PathVerdict) -> &'static str {
    match verdict {
        PathVerdict::Wire => "over a wire",
        PathVerdict::NicSwitch => "inside one NIC's switch",
        PathVerdict::Vswitch => "through a hypervisor's switch",
        PathVerdict::SameHost => "within this host",
        PathVerdict::Unknown => UNKNOWN,
    }
}

pub(super) const fn xdp_mode(mode: XdpModeUsed) -> &'static str {
    match mode {
        XdpModeUsed::Native => "native XDP",
        XdpModeUsed::Generic => "generic XDP",
        XdpModeUsed::None => "no XDP program",
    }
}

pub(super) const fn timestamps(source: TimestampSource) -> &'static str {
    match source {
        TimestampSource::Nic => "NIC and XDP program",
        TimestampSource::Xdp => "XDP program",
        TimestampSource::None => "none",
    }
}

pub(super) const fn xsk_mode(mode: XskModeUsed) -> &'static str {
    match mode {
        XskModeUsed::Zerocopy => "zero-copy sockets",
        XskModeUsed::Copy => "copying sockets",
        XskModeUsed::None => "no sockets",
    }
}
