//! Read-only facts about the machine, the process and its interfaces. Changes nothing and decides nothing beyond what
//! the facts themselves say.
//!
//! Interface facts come from netlink and ethtool, and are those of the calling thread's network namespace: every call
//! opens its own socket. sysfs shows the namespace it was mounted in, so it is used only where it agrees.

pub mod address;
pub mod carrier;
pub mod choose;
pub mod counters;
pub mod cpu;
pub mod drivers;
mod ethtool;
#[cfg(test)]
pub(crate) mod fixture;
pub mod interface;
mod irq;
pub mod kind;
mod link;
pub mod machine;
pub mod memory;
pub mod napi;
pub mod neighbour;
pub mod netdev;
mod number_list;
pub mod process;
mod refused;
mod route;
mod ssh;
mod sysfs;
mod unknown_name;
pub mod vlan;

pub use counters::{CrossCheck, DeviceCounters, cross_check};
pub use interface::InterfaceFacts;
pub use netdev::{RxMetadata, XdpFeatures};
