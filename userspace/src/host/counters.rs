//! The device's own counters (IFLA_STATS64), and whether they may contradict ours. Judges no run.
//! Source: Documentation/networking/statistics.rst.

use super::InterfaceFacts;
use super::link::{self, By};
use super::refused::refused;
use crate::finding::{Code, Finding, Severity};
use netlink_bindings::rt_link::RtnlLinkStats64;
use std::io;

/// Standard counters of an interface since its driver started, or what they grew by. Whether bytes include the FCS is
/// the driver's choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields carry the kernel's names")]
pub struct DeviceCounters {
    pub rx_packets: u64,
    pub tx_packets: u64,
    pub rx_bytes: u64,
    pub tx_bytes: u64,
    pub rx_dropped: u64,
    pub tx_dropped: u64,
    pub rx_missed: u64,
    pub rx_errors: u64,
    pub tx_errors: u64,
}

impl DeviceCounters {
    /// The counters now, of an interface in the calling thread's network namespace.
    ///
    /// # Errors
    /// `interface-gone` when there is no such interface any more; `system` when the kernel refuses the question.
    pub fn read(ifindex: u32) -> Result<Self, Finding> {
        let on = format!("interface {ifindex}");
        let link = link::get(By::Index(ifindex)).map_err(|e| refused(&on, "give its counters", &e))?;
        let stats = link.ok_or_else(|| gone(&on))?.stats;
        let absent = || refused(&on, "give its counters", &io::Error::other("the answer holds none"));
        stats.map(Self::from).ok_or_else(absent)
    }

    /// What they grew by since `earlier`; 0 where a driver reset its counter in between.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            rx_packets: self.rx_packets.saturating_sub(earlier.rx_packets),
            tx_packets: self.tx_packets.saturating_sub(earlier.tx_packets),
            rx_bytes: self.rx_bytes.saturating_sub(earlier.rx_bytes),
            tx_bytes: self.tx_bytes.saturating_sub(earlier.tx_bytes),
            rx_dropped: self.rx_dropped.saturating_sub(earlier.rx_dropped),
            tx_dropped: self.tx_dropped.saturating_sub(earlier.tx_dropped),
            rx_missed: self.rx_missed.saturating_sub(earlier.rx_missed),
            rx_errors: self.rx_errors.saturating_sub(earlier.rx_errors),
            tx_errors: self.tx_errors.saturating_sub(earlier.tx_errors),
        }
    }

    /// Name and value of each, as they stand in the Report: `netdev.rx_packets`, …
    #[must_use]
    pub const fn named(self) -> [(&'static str, u64); 9] {
        [
            ("netdev.rx_packets", self.rx_packets),
            ("netdev.tx_packets", self.tx_packets),
            ("netdev.rx_bytes", self.rx_bytes),
            ("netdev.tx_bytes", self.tx_bytes),
            ("netdev.rx_dropped", self.rx_dropped),
            ("netdev.tx_dropped", self.tx_dropped),
            ("netdev.rx_missed", self.rx_missed),
            ("netdev.rx_errors", self.rx_errors),
            ("netdev.tx_errors", self.tx_errors),
        ]
    }
}

impl From<RtnlLinkStats64> for DeviceCounters {
    fn from(stats: RtnlLinkStats64) -> Self {
        Self {
            rx_packets: stats.rx_packets,
            tx_packets: stats.tx_packets,
            rx_bytes: stats.rx_bytes,
            tx_bytes: stats.tx_bytes,
            rx_dropped: stats.rx_dropped,
            tx_dropped: stats.tx_dropped,
            rx_missed: stats.rx_missed_errors,
            rx_errors: stats.rx_errors,
            tx_errors: stats.tx_errors,
        }
    }
}

fn gone(on: &str) -> Finding {
    Finding::new(Code::InterfaceGone, Severity::Fail, on, "the interface is no longer there")
        .why("it was removed, renamed away or moved to another network namespace")
        .remedy("bring it back and run again")
}

/// Which counter of the device may contradict ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrossCheck {
    /// The standard counters count AF_XDP frames, one a frame.
    NetDev,
    /// None is known to be right; why.
    Unknown(String),
}

/// The choice for an interface, by its driver.
#[must_use]
pub fn cross_check(facts: &InterfaceFacts) -> CrossCheck {
    match facts.driver.as_deref() {
        Some("veth" | "virtio_net") => CrossCheck::NetDev,
        Some("mlx5_core" | "mlx5e_rep") => {
            CrossCheck::Unknown("mlx5's netdev counters leave XDP sends out".to_owned())
        }
        Some(driver) => CrossCheck::Unknown(format!("not verified for driver {driver}")),
        None => CrossCheck::Unknown("the driver is not known".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture::facts;
    use std::collections::BTreeSet;

    #[test]
    fn growth_of_each_counter_is_its_own() {
        let earlier = DeviceCounters { rx_packets: 10, tx_bytes: 7, ..DeviceCounters::default() };
        let now = DeviceCounters { rx_packets: 25, tx_bytes: 3, rx_missed: 2, ..earlier };
        let grown = DeviceCounters { rx_packets: 15, rx_missed: 2, ..DeviceCounters::default() };
        assert_eq!(now.since(earlier), grown);
        assert_eq!(now.since(now), DeviceCounters::default());
    }

    #[test]
    fn every_counter_has_a_name_of_its_own() {
        let counters = DeviceCounters {
            rx_packets: 1,
            tx_packets: 2,
            rx_bytes: 3,
            tx_bytes: 4,
            rx_dropped: 5,
            tx_dropped: 6,
            rx_missed: 7,
            rx_errors: 8,
            tx_errors: 9,
        };
        let named = counters.named();
        assert_eq!(named.iter().map(|n| n.0).collect::<BTreeSet<_>>().len(), 9);
        assert_eq!(named.iter().map(|n| n.1).collect::<BTreeSet<_>>(), (1..=9).collect());
    }

    #[test]
    fn only_verified_drivers_may_contradict() {
        let check = |driver: Option<&str>| {
            cross_check(&InterfaceFacts { driver: driver.map(str::to_owned), ..facts("eth0", 2) })
        };
        assert_eq!(check(Some("veth")), CrossCheck::NetDev);
        assert_eq!(check(Some("ice")), CrossCheck::Unknown("not verified for driver ice".to_owned()));
        assert!(matches!(check(Some("mlx5_core")), CrossCheck::Unknown(why) if why.contains("XDP sends")));
        assert!(matches!(check(None), CrossCheck::Unknown(_)));
    }

    #[test]
    fn an_absent_interface_is_gone() {
        assert_eq!(DeviceCounters::read(u32::MAX).unwrap_err().code, Code::InterfaceGone);
    }
}
