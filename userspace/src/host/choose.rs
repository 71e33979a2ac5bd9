//! The one interface that a sink may take without being told: the decision is pure, the facts are read around it.

use super::InterfaceFacts;
use super::address::{self, Address};
use super::refused::refused;
use super::{route, ssh};
use crate::finding::{Code, Finding, Severity};
use std::collections::BTreeSet;
use std::net::IpAddr;

const CARRIES_SSH: &str = "carries an ssh session";
const HAS_DEFAULT_ROUTE: &str = "has the default route";

/// Interfaces, with what lies below them, that the host itself is reached through, by index.
#[derive(Debug, Clone, Default)]
struct InUse {
    default_route: BTreeSet<u32>,
    ssh: BTreeSet<u32>,
}

/// The name of the one interface that is up, with carrier, not loopback, not enslaved, without the default route or an
/// ssh session of the caller.
///
/// # Errors
/// `interface-choice` when none or more than one is left, saying why each other one is not taken; `system` when the
/// kernel refuses a question.
pub fn choose_rx_interface() -> Result<String, Finding> {
    let interfaces = InterfaceFacts::list()?;
    decide(&interfaces, &in_use(&interfaces)?)
}

/// What the host itself uses the interface for, or one above it, as a predicate: an ssh session of the caller, or the
/// default route. None when neither.
///
/// # Errors
/// `system` when the kernel refuses a question.
pub fn why_host_needs(ifindex: u32) -> Result<Option<&'static str>, Finding> {
    Ok(needs(ifindex, &in_use(&InterfaceFacts::list()?)?))
}

fn needs(ifindex: u32, in_use: &InUse) -> Option<&'static str> {
    [(&in_use.ssh, CARRIES_SSH), (&in_use.default_route, HAS_DEFAULT_ROUTE)]
        .into_iter()
        .find_map(|(indices, why)| indices.contains(&ifindex).then_some(why))
}

/// Which of them the host is reached through.
fn in_use(interfaces: &[InterfaceFacts]) -> Result<InUse, Finding> {
    let asked = |question| move |error: std::io::Error| refused("interfaces", question, &error);
    let default_route = route::default_route_interfaces().map_err(asked("list the routes"))?;
    let addresses = address::all().map_err(asked("list the addresses"))?;
    let ssh = holders(&addresses, &ssh::local_addresses());
    Ok(InUse { default_route: with_lower(interfaces, &default_route), ssh: with_lower(interfaces, &ssh) })
}

fn holders(addresses: &[Address], wanted: &[IpAddr]) -> BTreeSet<u32> {
    addresses.iter().filter(|a| wanted.contains(&a.ip)).map(|a| a.ifindex).collect()
}

fn decide(interfaces: &[InterfaceFacts], in_use: &InUse) -> Result<String, Finding> {
    let judged = interfaces.iter().map(|facts| (facts.name.as_str(), left_out(facts, in_use)));
    let (candidates, others): (Vec<_>, Vec<_>) = judged.partition(|(_, reason)| reason.is_none());
    match candidates[..] {
        [(only, _)] => Ok(only.to_owned()),
        _ => Err(no_choice(&candidates, &others)),
    }
}

/// The interfaces and what lies below them: who takes the NIC under a VLAN cuts the VLAN too.
fn with_lower(interfaces: &[InterfaceFacts], indices: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut all = indices.clone();
    // One more level a pass; as many passes as interfaces reach the bottom of any stack.
    for _ in interfaces {
        let below = interfaces.iter().filter(|i| all.contains(&i.ifindex)).filter_map(|i| i.lower);
        let below: Vec<u32> = below.collect();
        all.extend(below);
    }
    all
}

/// Why an interface is not a candidate.
fn left_out(facts: &InterfaceFacts, in_use: &InUse) -> Option<&'static str> {
    let index = &facts.ifindex;
    [
        (facts.loopback, "loopback"),
        (facts.mac.is_none(), "not Ethernet"),
        // A port of the host itself, common where containers or guests run; no traffic of a peer ends there.
        (facts.link_kind.as_deref() == Some("bridge"), "a bridge"),
        (!facts.up, "down"),
        (!facts.carrier, "no carrier"),
        (facts.master.is_some(), "part of a bond, bridge or VRF"),
        (in_use.ssh.contains(index), CARRIES_SSH),
        (in_use.default_route.contains(index), HAS_DEFAULT_ROUTE),
    ]
    .into_iter()
    .find_map(|(holds, reason)| holds.then_some(reason))
}

type Judged<'a> = (&'a str, Option<&'static str>);

fn no_choice(candidates: &[Judged<'_>], others: &[Judged<'_>]) -> Finding {
    let names = candidates.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let (what, first) = match candidates.first() {
        Some((first, _)) => (format!("no interface was named, and more than one would do: {names}"), *first),
        None => ("no interface was named, and none would do".to_owned(), "IF"),
    };
    let reasons = others.iter().filter_map(|(name, reason)| reason.map(|r| format!("{name} ({r})")));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    let why = if reasons.is_empty() { String::new() } else { format!("left out: {reasons}") };
    Finding::new(Code::InterfaceChoice, Severity::Fail, "--iface", what)
        .why(why)
        .remedy(format!("name one: --iface {first}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture::facts;

    fn loopback() -> InterfaceFacts {
        InterfaceFacts { loopback: true, ..facts("lo", 1) }
    }

    #[test]
    fn the_only_one_left_is_taken() {
        let interfaces = [
            loopback(),
            facts("eth0", 2),
            InterfaceFacts { master: Some(9), ..facts("eth1", 3) },
            InterfaceFacts { carrier: false, ..facts("eth2", 4) },
            InterfaceFacts { up: false, carrier: false, ..facts("eth3", 5) },
            InterfaceFacts { mac: None, ..facts("wg0", 6) },
            InterfaceFacts { link_kind: Some("bridge".to_owned()), ..facts("br0", 10) },
            facts("ens1f0", 7),
            facts("eth4", 8),
        ];
        let in_use = InUse { default_route: [2].into(), ssh: [8].into() };
        assert_eq!(decide(&interfaces, &in_use).unwrap(), "ens1f0");
    }

    #[test]
    fn two_are_listed_and_the_others_explained() {
        let interfaces = [loopback(), facts("a", 2), facts("b", 3)];
        let finding = decide(&interfaces, &InUse::default()).unwrap_err();
        assert_eq!(finding.code, Code::InterfaceChoice);
        assert!(finding.what.ends_with("more than one would do: a, b"));
        assert_eq!(finding.why, "left out: lo (loopback)");
        assert_eq!(finding.remedy, "name one: --iface a");
    }

    #[test]
    fn none_is_said_so() {
        let finding = decide(&[loopback()], &InUse::default()).unwrap_err();
        assert!(finding.what.ends_with("none would do"));
        assert!(decide(&[], &InUse::default()).is_err());
    }

    #[test]
    fn the_nic_below_a_vlan_with_the_default_route_is_left_alone() {
        let interfaces = [
            facts("eth0", 2),
            InterfaceFacts { lower: Some(2), ..facts("eth0.5", 3) },
            InterfaceFacts { lower: Some(3), ..facts("mv0", 4) },
        ];
        let in_use = InUse { default_route: with_lower(&interfaces, &[4].into()), ssh: BTreeSet::new() };
        let finding = decide(&interfaces, &in_use).unwrap_err();
        assert!(finding.why.contains("eth0 (has the default route)"), "{}", finding.why);
        assert_eq!((needs(2, &in_use), needs(9, &in_use)), (Some(HAS_DEFAULT_ROUTE), None));
    }

    #[test]
    fn an_ssh_session_is_found_by_its_address() {
        let address = |ifindex, ip: &str| Address { ifindex, ip: ip.parse().unwrap(), global: true };
        let addresses = [address(2, "192.0.2.1"), address(3, "192.0.2.2")];
        assert_eq!(holders(&addresses, &["192.0.2.2".parse().unwrap()]), [3].into());
    }
}
