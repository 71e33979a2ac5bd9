//! What an interface does with the VLAN tags of received frames, from its ethtool features, and which VLANs have an
//! interface over it. Judges nothing.

use super::{InterfaceFacts, ethtool, link};
use std::collections::BTreeSet;

/// Features that touch the tags of received frames (`ethtool -k`), for each of the two kinds of tag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VlanOffloads {
    /// `rx-vlan-hw-parse`: customer tags (0x8100) are taken out of the frame.
    pub strips: bool,
    /// `rx-vlan-filter`: frames whose customer tag has an id that nobody registered are dropped.
    pub filters: bool,
    /// `rx-vlan-stag-hw-parse`: the same of service tags (0x88A8), the outer ones of two.
    pub strips_service: bool,
    /// `rx-vlan-stag-filter`.
    pub filters_service: bool,
    /// VLAN ids that an interface over this one stands for.
    pub registered: BTreeSet<u16>,
}

/// The features of the interface; None where the kernel does not tell (before 5.7), or not which VLANs there are.
#[must_use]
pub fn vlan_offloads(facts: &InterfaceFacts) -> Option<VlanOffloads> {
    let active = ethtool::active_features(facts.ifindex)?;
    let on = |name: &str| active.contains(name);
    Some(VlanOffloads {
        strips: on("rx-vlan-hw-parse"),
        filters: on("rx-vlan-filter"),
        strips_service: on("rx-vlan-stag-hw-parse"),
        filters_service: on("rx-vlan-stag-filter"),
        registered: registered(facts.ifindex)?,
    })
}

fn registered(ifindex: u32) -> Option<BTreeSet<u16>> {
    let links = link::all().ok()?.into_iter();
    // An index means something in its own namespace only.
    let above = links.filter(|link| link.lower == Some(ifindex) && link.lower_netns.is_none());
    Some(above.filter_map(|link| link.vlan).collect())
}
