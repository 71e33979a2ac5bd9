//! What a command stands on: the interface's facts, looked at before anything is attached or sent.

use super::interrupt::Interrupt;
use super::{Failure, tell};
use crate::finding::{Code, Finding, Severity};
use crate::host::{InterfaceFacts, process};
use crate::sys::clock::monotonic;
use crate::units::{FCS_BYTES, FrameSize, Nanos};
use std::thread;
use std::time::Duration;

/// How often a link is looked at while it is waited for.
const LINK_PERIOD: Duration = Duration::from_millis(20);
/// Bytes of an Ethernet header, and of a VLAN tag: neither counts in the MTU.
const ETHERNET_BYTES: u32 = 14;
const VLAN_BYTES: u32 = 4;

/// Reads an interface and refuses one that cannot carry a test: loopback, down, or still without carrier after
/// `wait`.
///
/// # Errors
/// Every finding that is in the way.
pub fn survey(iface: &str, wait: Nanos, interrupt: &Interrupt) -> Result<InterfaceFacts, Failure> {
    let facts = InterfaceFacts::read(iface)?;
    let mut findings = process::preflight_privileges();
    findings.extend(unfit(&facts));
    if findings.is_empty() { with_carrier(facts, wait, interrupt) } else { Err(Failure::Blocked(findings)) }
}

/// Why an interface cannot carry a test at all.
fn unfit(facts: &InterfaceFacts) -> Option<Finding> {
    let fail = |code, what: &str| Finding::new(code, Severity::Fail, facts.name.clone(), what);
    if facts.loopback {
        return Some(
            fail(Code::Loopback, "the loopback interface cannot carry this test")
                .why("it has no driver that an XDP program or an AF_XDP socket could work with, and no wire behind it")
                .remedy("xsk-gen demo for a run without a NIC, or --iface with another interface"),
        );
    }
    (!facts.up).then(|| {
        fail(Code::InterfaceDown, "the interface is administratively down")
            .why("no frame enters or leaves it")
            .remedy(format!("ip link set {} up", facts.name))
    })
}

fn with_carrier(
    mut facts: InterfaceFacts,
    wait: Nanos,
    interrupt: &Interrupt,
) -> Result<InterfaceFacts, Failure> {
    if !facts.carrier {
        wait_for_carrier(&facts, wait, interrupt)?;
        facts = InterfaceFacts::read(&facts.name)?;
    }
    Ok(facts)
}

/// Waits until the interface has carrier, for at most `wait`.
///
/// # Errors
/// [`Code::NoCarrier`], or [`Code::InterfaceGone`] and its like when it vanishes meanwhile.
pub fn wait_for_carrier(facts: &InterfaceFacts, wait: Nanos, interrupt: &Interrupt) -> Result<(), Failure> {
    let deadline = monotonic() + wait;
    let mut told = false;
    loop {
        let now = InterfaceFacts::read(&facts.name)?;
        if now.carrier {
            return Ok(());
        }
        if interrupt.raised() {
            return Err(Failure::interrupted(&facts.name));
        }
        if monotonic() >= deadline {
            return Err(unfit(&now).unwrap_or_else(|| no_carrier(&facts.name, wait)).into());
        }
        if !told {
            told = true;
            tell(&[Finding::new(Code::NoCarrier, Severity::Info, facts.name.clone(), "waiting for carrier")]);
        }
        thread::sleep(LINK_PERIOD);
    }
}

fn no_carrier(name: &str, wait: Nanos) -> Finding {
    let what = format!("the interface is up but has no carrier after {:.1} s", wait.as_secs_f64());
    Finding::new(Code::NoCarrier, Severity::Fail, name, what)
        .why("no cable, the far end is down, or the driver has not brought the link up yet")
        .remedy(format!(
            "check the cable and the far end (ethtool {name}); --wait-link for a link that takes longer"
        ))
}

/// Bytes of a frame that count in an MTU. One tag is outside it; a second one counts in it (`is_skb_forwardable`, and
/// drivers likewise).
#[must_use]
pub fn payload(size: FrameSize, vlans: usize) -> u32 {
    let in_memory = u32::try_from(size.in_memory()).unwrap_or(u32::MAX);
    in_memory.saturating_sub(ETHERNET_BYTES + first_tag(vlans))
}

fn first_tag(vlans: usize) -> u32 {
    u32::from(vlans > 0) * VLAN_BYTES
}

/// Whether a frame fits the interface.
///
/// # Errors
/// [`Code::SizeAboveMtu`].
pub fn check_size(facts: &InterfaceFacts, size: FrameSize, vlans: usize) -> Result<(), Finding> {
    let payload = payload(size, vlans);
    let on = format!("--size {}", size.with_fcs());
    if payload > facts.mtu {
        let largest = facts.mtu + ETHERNET_BYTES + first_tag(vlans) + FCS_BYTES;
        return Err(Finding::new(Code::SizeAboveMtu, Severity::Fail, on, format!("the frame is above the MTU of {}", facts.name))
            .why(format!("it carries {payload} bytes behind its Ethernet header and first tag, and the MTU is {}; drivers drop such frames in silence", facts.mtu))
            .remedy(format!("--size {largest} at the most, or ip link set {} mtu {payload} on both ends", facts.name)));
    }
    Ok(())
}

/// The longest frames of ours, without FCS, that the interface lets through: with two tags, and without.
#[must_use]
pub fn longest_frames(mtu: u32) -> [u32; 2] {
    let built = u32::try_from(FrameSize::MAX.in_memory()).unwrap_or(u32::MAX);
    [2 * VLAN_BYTES, 0].map(|tags| mtu.saturating_add(ETHERNET_BYTES + tags).min(built))
}
