//! Everything that is known of one interface, read once. Judges nothing: kind, choice and checks stand elsewhere.

use super::address::{self, Address};
use super::link::{self, By, Link};
use super::netdev::{self, RxMetadata, XdpFeatures};
use super::refused::refused;
use super::sysfs::SysfsInterface;
use super::unknown_name::unknown_interface;
use super::{ethtool, kind};
use crate::finding::Finding;
use crate::report::Interface;
use crate::sys::driver_info::driver_info;
use macaddr::MacAddr6;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The other end of a veth pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VethPeer {
    /// Its index in its own namespace.
    pub ifindex: u32,
    /// Whether that is this namespace, so that the index means something here.
    pub same_netns: bool,
}

/// One interface of the calling thread's network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceFacts {
    /// Its name; never an alternative one.
    pub name: String,
    /// Its index within the namespace.
    pub ifindex: u32,
    /// Its alternative names.
    pub altnames: Vec<String>,
    /// Its MAC; None for what is not Ethernet, loopback included.
    pub mac: Option<MacAddr6>,
    /// Its MTU in bytes: the largest IP packet, without Ethernet header, tags and FCS.
    pub mtu: u32,
    /// The smallest MTU that the driver takes; None where it sets no limit.
    pub min_mtu: Option<u32>,
    /// The largest MTU that the driver takes; None where it sets no limit.
    pub max_mtu: Option<u32>,
    /// Administratively up (IFF_UP).
    pub up: bool,
    /// Up and with a link (IFF_LOWER_UP).
    pub carrier: bool,
    /// The loopback interface.
    pub loopback: bool,
    /// rtnetlink's kind ("veth", "bond", "vlan", …); None for a device with a bus, virtio included.
    pub link_kind: Option<String>,
    /// The other end, for a veth.
    pub veth_peer: Option<VethPeer>,
    /// The interface below a vlan, macvlan or the like, where it is in this namespace.
    pub lower: Option<u32>,
    /// The bond, bridge or VRF that it belongs to.
    pub master: Option<u32>,
    /// The device below it: a PCI address, "virtio2", …; None for what has no bus.
    pub parent: Option<String>,
    /// Its driver's name.
    pub driver: Option<String>,
    /// Receive queues in use.
    pub rx_queues: u32,
    /// Transmit queues in use.
    pub tx_queues: u32,
    /// What the driver claims, in bit/s; see [`InterfaceFacts::line_speed_bps`].
    pub speed_bps: Option<u64>,
    /// The NUMA node of its bus; None where it has none or sysfs shows another namespace.
    pub numa_node: Option<u32>,
    /// What the driver can do with XDP; None where the kernel does not tell (before 6.3). Empty means nothing.
    pub xdp_features: Option<XdpFeatures>,
    /// Chunks of packet memory that the driver lets a frame take in zero-copy mode; None where it has no such mode, or the
    /// kernel does not tell (before 6.6).
    pub zero_copy_chunks: Option<u32>,
    /// What the driver tells an XDP program of a frame; None where the kernel does not tell (before 6.6).
    pub rx_metadata: Option<RxMetadata>,
    /// Id of an attached XDP program.
    pub xdp_program: Option<u32>,
    /// Its first global IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// Its first global IPv6 address.
    pub ipv6: Option<Ipv6Addr>,
}

impl InterfaceFacts {
    /// The interface called `name` (alternative names count) in the calling thread's network namespace.
    ///
    /// # Errors
    /// `interface-unknown` naming what there is; `system` when the kernel refuses the question.
    pub fn read(name: &str) -> Result<Self, Finding> {
        let found = link::get(By::Name(name)).map_err(|e| refused(name, "say what it is", &e))?;
        let Some(link) = found else { return Err(unknown(name)) };
        Ok(Self::assemble(link, &addresses(name)?))
    }

    /// Every interface of the calling thread's network namespace, by index.
    ///
    /// # Errors
    /// `system` when the kernel refuses the question.
    pub fn list() -> Result<Vec<Self>, Finding> {
        let links = link::all().map_err(|e| refused("interfaces", "list them", &e))?;
        let addresses = addresses("interfaces")?;
        Ok(links.into_iter().map(|link| Self::assemble(link, &addresses)).collect())
    }

    /// The speed of its link in bit/s; None where there is none, or where it is a number without a wire behind it
    /// (veth claims 10 Gbit/s).
    #[must_use]
    pub fn line_speed_bps(&self) -> Option<u64> {
        let means = kind::speed_means_something(kind::kind(self), self.driver.as_deref());
        self.speed_bps.filter(|_| means)
    }

    fn assemble(link: Link, addresses: &[Address]) -> Self {
        let driver = driver_info(&link.name).ok().map(|info| info.driver);
        let sysfs = SysfsInterface::find(&link.name, link.ifindex, link.mac);
        let (rx_queues, tx_queues) = queues_in_use(&link);
        let is_veth = link.kind.as_deref() == Some("veth");
        let same_netns = link.lower_netns.is_none();
        let xdp = netdev::xdp_abilities(link.ifindex);
        Self {
            veth_peer: link.lower.filter(|_| is_veth).map(|ifindex| VethPeer { ifindex, same_netns }),
            lower: link.lower.filter(|_| !is_veth && same_netns),
            numa_node: sysfs.and_then(|sysfs| sysfs.numa_node()),
            speed_bps: ethtool::speed_bps(link.ifindex),
            xdp_features: xdp.map(|xdp| xdp.features),
            zero_copy_chunks: xdp.and_then(|xdp| xdp.zero_copy_chunks),
            rx_metadata: xdp.and_then(|xdp| xdp.rx_metadata),
            ipv4: address::first_ipv4(addresses, link.ifindex),
            ipv6: address::first_ipv6(addresses, link.ifindex),
            driver,
            rx_queues,
            tx_queues,
            name: link.name,
            ifindex: link.ifindex,
            altnames: link.altnames,
            mac: link.mac,
            mtu: link.mtu,
            min_mtu: link.min_mtu,
            max_mtu: link.max_mtu,
            up: link.up,
            carrier: link.carrier,
            loopback: link.loopback,
            link_kind: link.kind,
            master: link.master,
            parent: link.parent,
            xdp_program: link.xdp_program,
        }
    }
}

impl From<&InterfaceFacts> for Interface {
    fn from(facts: &InterfaceFacts) -> Self {
        Self {
            name: facts.name.clone(),
            ifindex: facts.ifindex,
            kind: kind::kind(facts),
            driver: facts.driver.clone(),
            mac: facts.mac.map(|mac| mac.to_string().to_lowercase()),
            mtu: facts.mtu,
            speed_bps: facts.line_speed_bps(),
            numa_node: facts.numa_node,
        }
    }
}

fn addresses(on: &str) -> Result<Vec<Address>, Finding> {
    address::all().map_err(|e| refused(on, "list its addresses", &e))
}

/// The finding for a name that no interface has; without a list of those that exist it still stands.
fn unknown(name: &str) -> Finding {
    let links = link::all().unwrap_or_default();
    let names: Vec<String> = links.iter().map(|link| link.name.clone()).collect();
    let alternative: Vec<String> = links.into_iter().flat_map(|link| link.altnames).collect();
    unknown_interface(name, &names, &alternative)
}

/// Queues in use, rx and tx. rtnetlink's own numbers are only what was allocated, so they come last: netdev knows what
/// runs while the device is up, ethtool's channels what is configured.
fn queues_in_use(link: &Link) -> (u32, u32) {
    let running = netdev::queues(link.ifindex).ok().map(|q| (q.rx, q.tx));
    let configured = || ethtool::channels(link.ifindex).ok().map(|c| (c.rx + c.combined, c.tx + c.combined));
    let some = |queues: &(u32, u32)| queues.0 > 0 && queues.1 > 0;
    running.filter(some).or_else(|| configured().filter(some)).unwrap_or((link.rx_queues, link.tx_queues))
}
