//! What is said of a sender's streams before the first frame: which of them nobody but the sender can count, and whose
//! source address may keep them from leaving. Knows choices and facts; knows no frame that was sent.

use crate::config::{StreamPlan, StreamSet};
use crate::finding::{Code, Finding, Severity};
use crate::frame::layer::Layer;
use crate::frame::probe;
use crate::host::{InterfaceFacts, kind};
use crate::report::Kind;
use crate::units::FCS_BYTES;
use macaddr::MacAddr6;

/// The findings.
pub fn remarks(streams: &StreamSet, src_mac: Option<MacAddr6>, facts: &InterfaceFacts) -> Vec<Finding> {
    let plans = streams.streams();
    let unnumbered = plans.iter().filter(|plan| plan.weight > 0 && !plan.numbered()).map(unnumbered);
    unnumbered.chain(foreign_source(plans, src_mac, facts)).collect()
}

fn unnumbered(plan: &StreamPlan) -> Finding {
    let header = plan.layout().map_or(0, |layout| layout.probe());
    let least = header + probe::LEN + FCS_BYTES as usize;
    let shortest = plan.sizes.bounds().0.with_fcs();
    let on = format!("stream {}", plan.name);
    let what = "its frames carry no probe, and the sender alone counts them".to_owned();
    Finding::new(Code::StreamUnnumbered, Severity::Warn, on, what)
        .why(format!(
            "{header} bytes of headers, 18 of probe and the FCS need {least} bytes, and its shortest frame has \
             {shortest}; a sink cannot tell such frames from others, so their loss is unknown"
        ))
        .remedy(format!("a size of {least} or more"))
}

/// Frames from another address than the interface's, where something between driver and wire may look at it.
fn foreign_source(
    plans: &[StreamPlan],
    src_mac: Option<MacAddr6>,
    facts: &InterfaceFacts,
) -> Option<Finding> {
    // Nothing looks at it on a device that is software to its far end.
    let own = facts.mac.filter(|_| kind::kind(facts) != Kind::Virtual)?;
    let stated = |plan: &StreamPlan| match plan.layers.first() {
        Some(Layer::Ethernet(header)) => header.src.or(src_mac),
        _ => None,
    };
    let varies = |plan: &StreamPlan| plan.modifiers.iter().any(|m| m.field.starts_with("ethernet.src"));
    let foreign = |plan: &&StreamPlan| varies(plan) || stated(plan).is_some_and(|mac| mac != own);
    let plan = plans.iter().find(foreign)?;
    let what = format!("frames of stream {} do not come from the interface's own MAC", plan.name);
    Some(
        Finding::new(Code::ForeignSource, Severity::Warn, facts.name.clone(), what)
            .why(
                "the switch inside an SR-IOV NIC and most hypervisors drop frames from addresses that they did not \
                 assign (MAC anti-spoofing), and the driver completes them all the same",
            )
            .remedy(format!(
                "leave the source MAC out, or allow it: ip link set PF vf N spoofchk off; own is {}",
                own.to_string().to_lowercase()
            )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Addressing;
    use crate::frame::formula::{Formula, Modifier, Per};
    use crate::frame::sizes::Sizes;
    use crate::host::fixture;
    use crate::units::FrameSize;

    fn streams(vlans: Vec<u16>, size: u32) -> StreamSet {
        let address = Addressing { vlans, ..Addressing::default() };
        StreamSet::plain(&address, Sizes::Fixed(FrameSize::new(size).unwrap()), 1)
    }

    fn codes(streams: &StreamSet, mac: Option<MacAddr6>, facts: &InterfaceFacts) -> Vec<Code> {
        remarks(streams, mac, facts).into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn a_frame_without_room_for_a_probe_says_what_it_needs() {
        let facts = fixture::facts("eth1", 2);
        assert_eq!(codes(&streams(vec![7], 68), None, &facts), []);
        let found = remarks(&streams(vec![7], 64), None, &facts);
        assert_eq!(found[0].code, Code::StreamUnnumbered);
        assert!(found[0].why.contains("need 68 bytes") && found[0].remedy.contains("68"), "{found:?}");
    }

    #[test]
    fn another_source_than_the_interface_is_said_where_a_switch_may_look_at_it() {
        let other = Some(MacAddr6::new(2, 0, 0, 0, 0, 99));
        let nic = fixture::facts("eth1", 2);
        let veth = InterfaceFacts { link_kind: Some("veth".to_owned()), ..nic.clone() };
        let plain = streams(vec![], 64);
        assert_eq!(codes(&plain, None, &nic), [], "without a word it is the interface's own");
        assert_eq!(codes(&plain, nic.mac, &nic), []);
        assert_eq!(codes(&plain, other, &nic), [Code::ForeignSource]);
        assert_eq!(codes(&plain, other, &veth), []);
        let mut varied = plain.streams()[0].clone();
        let formula = Formula::Step { base: 0, step: 1, count: 9 };
        varied.modifiers = vec![Modifier { field: "ethernet.src".to_owned(), formula, per: Per::Frame }];
        assert_eq!(codes(&StreamSet::new(vec![varied]).unwrap(), None, &nic), [Code::ForeignSource]);
    }
}
