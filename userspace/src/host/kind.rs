//! What the facts about one interface say of its kind, of the path behind it and of its speed. Pure; where the facts do
//! not decide, the answer is "unknown" with the evidence.

use super::InterfaceFacts;
use crate::report::{Kind, Path, PathVerdict};

/// Drivers that talk to a hypervisor instead of imitating a NIC: virtio; VMware; Xen's front end, which calls itself
/// `vif`; Hyper-V; EC2's and Google Cloud's NICs.
const PARAVIRTUAL: [&str; 7] = ["virtio_net", "vmxnet3", "vif", "xen_netfront", "hv_netvsc", "ena", "gve"];
/// Paravirtual drivers whose speed is a number that nobody measured. ENA and gve report no nominal one.
const NOMINAL_SPEED: [&str; 5] = ["virtio_net", "vmxnet3", "vif", "xen_netfront", "hv_netvsc"];
/// Kinds of rtnetlink that begin and end in this host.
const INSIDE_THE_HOST: [&str; 5] = ["veth", "dummy", "ifb", "netkit", "tun"];

/// What kind of NIC it is, as far as link kind and driver decide.
#[must_use]
pub fn kind(facts: &InterfaceFacts) -> Kind {
    match facts.driver.as_deref() {
        _ if facts.loopback || facts.link_kind.is_some() => Kind::Virtual,
        Some(driver) if PARAVIRTUAL.contains(&driver) => Kind::Paravirtual,
        _ => Kind::Unknown,
    }
}

/// Where frames of this interface travel, as far as the interface alone shows it.
#[must_use]
pub fn path(facts: &InterfaceFacts) -> Path {
    let name = &facts.name;
    match facts.link_kind.as_deref() {
        _ if facts.loopback => same_host(format!("{name} is the loopback interface")),
        Some("veth") => same_host(veth_evidence(facts)),
        Some(kind) if INSIDE_THE_HOST.contains(&kind) => {
            same_host(format!("{name} is of kind {kind}, which no wire is behind"))
        }
        Some(kind) => unknown(format!("{name} is a {kind} over other interfaces")),
        None => unknown(format!("{name} has a device behind it; what that is connected to is not known")),
    }
}

/// Whether the driver's link speed is that of a wire, so that a percentage of it means something.
#[must_use]
pub fn speed_means_something(kind: Kind, driver: Option<&str>) -> bool {
    kind != Kind::Virtual && !driver.is_some_and(|driver| NOMINAL_SPEED.contains(&driver))
}

fn veth_evidence(facts: &InterfaceFacts) -> String {
    let name = &facts.name;
    match facts.veth_peer {
        Some(peer) if peer.same_netns => {
            format!("{name} is a veth whose peer is interface {} of this namespace", peer.ifindex)
        }
        Some(_) => format!("{name} is a veth whose peer is in another network namespace of this host"),
        None => format!("{name} is a veth"),
    }
}

const fn same_host(evidence: String) -> Path {
    Path { verdict: PathVerdict::SameHost, evidence }
}

const fn unknown(evidence: String) -> Path {
    Path { verdict: PathVerdict::Unknown, evidence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture::facts;
    use crate::host::interface::VethPeer;

    fn with(link_kind: Option<&str>, driver: Option<&str>) -> InterfaceFacts {
        let (link_kind, driver) = (link_kind.map(str::to_owned), driver.map(str::to_owned));
        InterfaceFacts { link_kind, driver, ..facts("eth0", 2) }
    }

    #[test]
    fn link_kind_and_driver_decide() {
        assert_eq!(kind(&with(Some("veth"), Some("veth"))), Kind::Virtual);
        assert_eq!(kind(&InterfaceFacts { loopback: true, ..with(None, None) }), Kind::Virtual);
        assert_eq!(kind(&with(None, Some("virtio_net"))), Kind::Paravirtual);
        assert_eq!(kind(&with(None, Some("ixgbevf"))), Kind::Unknown);
        assert_eq!(kind(&with(None, None)), Kind::Unknown);
        // A bond of virtio interfaces is a bond.
        assert_eq!(kind(&with(Some("bond"), Some("virtio_net"))), Kind::Virtual);
    }

    #[test]
    fn a_nominal_speed_means_nothing() {
        for (kind, driver, means) in [
            (Kind::Virtual, Some("veth"), false),
            (Kind::Paravirtual, Some("virtio_net"), false),
            (Kind::Paravirtual, Some("hv_netvsc"), false),
            (Kind::Paravirtual, Some("ena"), true),
            (Kind::Unknown, Some("ice"), true),
        ] {
            assert_eq!(speed_means_something(kind, driver), means, "{driver:?}");
        }
    }

    #[test]
    fn a_path_is_only_claimed_with_evidence() {
        let peer = |same_netns| Some(VethPeer { ifindex: 7, same_netns });
        let veth = |same| InterfaceFacts { veth_peer: peer(same), ..with(Some("veth"), None) };
        assert_eq!(path(&veth(true)).verdict, PathVerdict::SameHost);
        assert!(path(&veth(true)).evidence.contains("interface 7"));
        assert!(path(&veth(false)).evidence.contains("another network namespace"));
        assert_eq!(path(&with(Some("bond"), None)).verdict, PathVerdict::Unknown);
        assert_eq!(path(&with(None, Some("ice"))).verdict, PathVerdict::Unknown);
    }
}
