//! Our count of frames beside the device's, by a counter that is known to be right for the driver.

use crate::finding::{Code, Finding, Severity};
use crate::host::{CrossCheck, DeviceCounters as Device, InterfaceFacts, cross_check};
use crate::report::DeviceCounters;

/// How far the two counts may lie apart: frames between the two readings, and a share for drivers that update their
/// counters late.
const TOLERANCE_FRAMES: u64 = 64;
const TOLERANCE_SHARE: u64 = 1000;

/// Two counts of the same frames.
#[derive(Debug, Clone, Copy)]
pub struct Comparison {
    /// The device's counter, by name.
    pub counter: &'static str,
    /// What it says.
    pub device: u64,
    /// What we count, by name.
    pub our_name: &'static str,
    /// What we say.
    pub ours: u64,
}

impl Comparison {
    fn text(self) -> String {
        let Self { counter, device, our_name, ours } = self;
        format!("{counter} {device} beside {ours} {our_name}")
    }

    fn agrees(self) -> bool {
        self.device.abs_diff(self.ours) <= TOLERANCE_FRAMES.max(self.ours / TOLERANCE_SHARE)
    }
}

/// What the device counted between two readings.
#[must_use]
pub fn delta(before: Option<Device>, after: Option<Device>) -> Option<Device> {
    Some(after?.since(before?))
}

/// The device's counters for the Report, with the comparison where the driver has a counter to be trusted, and a
/// finding where the two disagree.
pub fn compare(
    facts: &InterfaceFacts,
    delta: Option<Device>,
    of: impl FnOnce(&Device) -> Comparison,
) -> (DeviceCounters, Option<Finding>) {
    let named = delta.map(Device::named).into_iter().flatten();
    let counters = named.map(|(name, n)| (name.to_owned(), n)).collect();
    let comparison = match (cross_check(facts), &delta) {
        (CrossCheck::NetDev, Some(delta)) => Ok(of(delta)),
        (CrossCheck::NetDev, None) => Err("the device's counters could not be read".to_owned()),
        (CrossCheck::Unknown(reason), _) => Err(reason),
    };
    let disagreement = comparison.as_ref().ok().filter(|c| !c.agrees()).map(|c| disagrees(facts, *c));
    let (cross_check, cross_check_absent) = match comparison {
        Ok(comparison) => (Some(comparison.text()), None),
        Err(reason) => (None, Some(reason)),
    };
    (DeviceCounters { cross_check, cross_check_absent, counters }, disagreement)
}

fn disagrees(facts: &InterfaceFacts, comparison: Comparison) -> Finding {
    let what = format!("the device's count disagrees: {}", comparison.text());
    Finding::new(Code::DeviceDisagrees, Severity::Warn, facts.name.clone(), what)
        .why("frames passed one of the two and not the other")
        .remedy("run again with nothing else on the interface")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_difference_is_none() {
        let compare = |device, ours| Comparison { counter: "a", device, our_name: "b", ours }.agrees();
        assert!(compare(1_000, 1_064) && !compare(1_000, 1_065));
        assert!(compare(1_000_000, 1_001_000) && !compare(1_000_000, 1_002_000));
    }
}
