//! Whether the sink's interface lets tagged frames through, and as they were sent. Knows no frame.

use crate::config::{RxConfig, StreamPlan, StreamSet};
use crate::finding::{Code, Finding, Severity};
use crate::host::vlan::{VlanOffloads, vlan_offloads};
use crate::host::{InterfaceFacts, kind};
use crate::report::PathVerdict;

/// What stands in the way of the tagged frames that a sink was told to expect: those of one VLAN, or of its sender's
/// first stream that has tags.
#[must_use]
pub fn remarks(config: &RxConfig, facts: &InterfaceFacts) -> Vec<Finding> {
    let streams = config.streams.iter().flat_map(StreamSet::streams).map(StreamPlan::vlans);
    let told = streams.chain(config.matches.vlan.map(|id| vec![id]));
    // Id 0 stands for any number of tags.
    told.into_iter()
        .find(|ids| ids.first().is_some_and(|id| *id > 0))
        .map_or_else(Vec::new, |ids| vlan_findings(facts, &ids))
}

/// What stands in the way of frames with these VLAN ids, outermost first; nothing where that cannot be read.
#[must_use]
pub fn vlan_findings(facts: &InterfaceFacts, ids: &[u16]) -> Vec<Finding> {
    let same_host = kind::path(facts).verdict == PathVerdict::SameHost;
    vlan_offloads(facts).map_or_else(Vec::new, |offloads| judge(&facts.name, same_host, &offloads, ids))
}

/// The decision, on plain data. Only the outermost tag is looked at by either feature. Inside one host the tag of a frame
/// that AF_XDP sent is bytes like any other, which nothing takes out whatever the feature says: veth claims to, and means
/// tags that travel beside a frame of the stack's.
fn judge(name: &str, same_host: bool, offloads: &VlanOffloads, ids: &[u16]) -> Vec<Finding> {
    let Some(&outer) = ids.first() else { return Vec::new() };
    let (strips, filters) = match ids {
        [_] => (offloads.strips, offloads.filters),
        _ => (offloads.strips_service, offloads.filters_service),
    };
    // Id 0 is always let through (IEEE 802.1Q, and the kernel registers it by itself).
    let dropped = filters && outer != 0 && !offloads.registered.contains(&outer);
    let found = [
        dropped.then(|| filtered(name, outer, ids.len() > 1)),
        (strips && !same_host).then(|| stripped(name, outer, ids.len() > 1)),
    ];
    found.into_iter().flatten().collect()
}

fn filtered(name: &str, id: u16, service: bool) -> Finding {
    let (feature, protocol) =
        if service { ("rx-vlan-stag-filter", " proto 802.1ad") } else { ("rx-vlan-filter", "") };
    let what = format!("frames of VLAN {id} are expected, and the interface may drop them");
    Finding::new(Code::VlanFilter, Severity::Warn, name, what)
        .why(format!("{feature} is on, and no VLAN interface has registered {id}: the NIC drops such frames before the XDP program sees them"))
        .remedy(format!("ethtool -K {name} {feature} off, or ip link add link {name} name {name}.{id} type vlan{protocol} id {id} && ip link set {name}.{id} up"))
}

fn stripped(name: &str, id: u16, service: bool) -> Finding {
    let (feature, flag) = if service {
        ("rx-vlan-stag-hw-parse", "rx-vlan-stag-hw-parse")
    } else {
        ("rx-vlan-hw-parse", "rxvlan")
    };
    let what = format!("frames of VLAN {id} are expected, and the interface takes that tag out of them");
    Finding::new(Code::VlanOffload, Severity::Warn, name, what)
        .why(format!("{feature} is on: the XDP program sees frames that are 4 bytes shorter, and no id"))
        .remedy(format!("ethtool -K {name} {flag} off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(same_host: bool, offloads: &VlanOffloads, ids: &[u16]) -> Vec<Code> {
        judge("eth1", same_host, offloads, ids).into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn the_outermost_tag_decides() {
        let all_c = VlanOffloads { strips: true, filters: true, ..VlanOffloads::default() };
        let all_s = VlanOffloads { strips_service: true, filters_service: true, ..VlanOffloads::default() };
        let both = [Code::VlanFilter, Code::VlanOffload];
        for (offloads, ids, expected) in [
            (&all_c, &[][..], &[][..]),
            (&all_c, &[100], &both),
            (&all_c, &[200, 100], &[]),
            (&all_s, &[100], &[]),
            (&all_s, &[200, 100], &both),
            (&VlanOffloads::default(), &[100], &[]),
        ] {
            assert_eq!(codes(false, offloads, ids), expected, "{offloads:?} {ids:?}");
        }
    }

    #[test]
    fn a_registered_id_passes_the_filter() {
        let offloads = VlanOffloads { filters: true, registered: [100].into(), ..VlanOffloads::default() };
        assert_eq!(codes(false, &offloads, &[100]), []);
        assert_eq!(codes(false, &offloads, &[101]), [Code::VlanFilter]);
        assert_eq!(codes(false, &offloads, &[0]), [], "a priority tag is no VLAN");
    }

    #[test]
    fn inside_one_host_no_tag_is_taken_out() {
        let offloads = VlanOffloads { strips: true, filters: true, ..VlanOffloads::default() };
        assert_eq!(codes(true, &offloads, &[100]), [Code::VlanFilter]);
    }

    #[test]
    fn remedies_can_be_typed() {
        let offloads = VlanOffloads { strips: true, filters: true, ..VlanOffloads::default() };
        let [filter, offload] = &judge("eth1", false, &offloads, &[100])[..] else { panic!("two findings") };
        assert!(filter.remedy.contains("ethtool -K eth1 rx-vlan-filter off"), "{filter}");
        assert!(filter.remedy.contains("ip link add link eth1 name eth1.100 type vlan id 100"), "{filter}");
        assert!(offload.remedy.contains("ethtool -K eth1 rxvlan off"), "{offload}");
    }
}
