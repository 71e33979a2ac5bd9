//! The NAPI settings of an interface, which decide much of what a receiver can hold. Changes none of them.
//! Source: Documentation/networking/napi.rst.

use super::InterfaceFacts;
use super::netdev::{self, NapiInstance};
use super::sysfs::SysfsInterface;
use crate::report::Napi;

pub use super::irq::cores as irq_cores;

/// The settings; each is None where it is unknown or where the instances do not agree. NAPI instances are asked first
/// (Linux 6.13), then sysfs, which knows the settings of the whole interface, where it shows the same interface.
#[must_use]
pub fn settings(facts: &InterfaceFacts) -> Option<Napi> {
    let instances = netdev::napi_instances(facts.ifindex);
    let sysfs = SysfsInterface::find(&facts.name, facts.ifindex, facts.mac);
    let found = merge(from_instances(&instances), sysfs.as_ref().map(from_sysfs));
    (found != Napi::default()).then_some(found)
}

fn from_instances(instances: &[NapiInstance]) -> Napi {
    Napi {
        defer_hard_irqs: common(instances, |napi| napi.defer_hard_irqs),
        gro_flush_timeout_ns: common(instances, |napi| napi.gro_flush_timeout_ns),
        threaded: common(instances, |napi| napi.threaded),
    }
}

/// The value that every instance has.
fn common<T: PartialEq>(instances: &[NapiInstance], get: impl Fn(&NapiInstance) -> Option<T>) -> Option<T> {
    let first = get(instances.first()?);
    instances.iter().all(|napi| get(napi) == first).then_some(first).flatten()
}

fn from_sysfs(sysfs: &SysfsInterface) -> Napi {
    Napi {
        defer_hard_irqs: sysfs.number("napi_defer_hard_irqs"),
        gro_flush_timeout_ns: sysfs.number("gro_flush_timeout"),
        threaded: sysfs.number::<u32>("threaded").map(|mode| mode != 0),
    }
}

/// What the instances say. The interface's own setting stands in only where they say nothing at all: an instance may
/// differ from it.
fn merge(instances: Napi, interface: Option<Napi>) -> Napi {
    match interface {
        Some(interface) if instances == Napi::default() => interface,
        _ => instances,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn napi(defer: u32) -> NapiInstance {
        NapiInstance {
            irq: None,
            defer_hard_irqs: Some(defer),
            gro_flush_timeout_ns: Some(20_000),
            threaded: None,
        }
    }

    #[test]
    fn a_setting_is_known_where_all_agree() {
        let agree = from_instances(&[napi(2), napi(2)]);
        assert_eq!((agree.defer_hard_irqs, agree.gro_flush_timeout_ns), (Some(2), Some(20_000)));
        assert_eq!(from_instances(&[napi(2), napi(0)]).defer_hard_irqs, None);
        assert_eq!(from_instances(&[]), Napi::default());
    }

    #[test]
    fn the_interfaces_own_settings_stand_in_for_silence_only() {
        let own = Napi { defer_hard_irqs: Some(0), gro_flush_timeout_ns: Some(0), threaded: Some(false) };
        assert_eq!(merge(Napi::default(), Some(own.clone())), own);
        let told = from_instances(&[napi(2), napi(1)]);
        assert_eq!(merge(told.clone(), Some(own)), told);
        assert_eq!(merge(Napi::default(), None), Napi::default());
    }
}
