//! Which frames a sink takes, told to the program, to the workers and to the user. Knows a configuration; knows no
//! socket and no figure.

use super::stamps;
use crate::config::{Match, RxConfig};
use crate::finding::{Code, Finding, Severity};
use crate::frame::probe::Way;
use crate::frame::{Inspector, Shape};
use crate::host::InterfaceFacts;
use crate::host::choose::why_host_needs;
use crate::xdp::{self, Check, RxOptions};

/// EtherTypes without which nobody reaches a host over IP: IPv4, ARP and IPv6.
const HOST_NEEDS: [u16; 3] = [0x0800, 0x0806, 0x86DD];

/// How the program is loaded.
pub fn options(config: &RxConfig) -> RxOptions {
    let Match { udp_port, vlan, ether_type, any } = config.matches;
    let shapes = shapes(config).iter().map(told).collect();
    RxOptions {
        udp_port,
        shapes,
        vlan,
        ether_type,
        any,
        count_only: config.count_only,
        stamp: stamps::stamps(config),
        back: false,
        queues: xdp::MAX_QUEUES,
    }
}

/// What the workers look for.
pub fn inspector(config: &RxConfig) -> Inspector {
    let shapes = shapes(config).into();
    Inspector { udp_port: config.matches.udp_port, verify: config.verify, shapes, way: Way::Forth }
}

/// The shapes that the program and the workers are told.
fn shapes(config: &RxConfig) -> Vec<Shape> {
    let told = config.streams.as_ref().map(|streams| streams.shapes(config.matches.udp_port));
    with_and_without_tags(&told.unwrap_or_default())
}

/// The shapes as frames may arrive: NICs take the outermost tag out of a frame, or leave it in. Each once, since every one
/// is asked of each frame in turn; streams that differ in numbers only have the same.
pub fn with_and_without_tags(shapes: &[Shape]) -> Vec<Shape> {
    let stripped = shapes.iter().filter_map(Shape::without_outer_tag);
    let mut all: Vec<Shape> = Vec::new();
    for shape in shapes.iter().cloned().chain(stripped) {
        if !all.contains(&shape) {
            all.push(shape);
        }
    }
    all
}

/// A shape in the program's words. What lies beyond 16 bits is beyond every header, and never holds there either.
pub fn told(shape: &Shape) -> xdp::Shape {
    let number = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
    let check = |check: &crate::frame::layout::HalfCheck| Check {
        at: number(check.at),
        mask: check.mask,
        value: check.value,
    };
    xdp::Shape { checks: shape.checks.iter().map(check).collect(), probe: number(shape.probe) }
}

/// The warning of a sink that takes from this host what it is reached through: said before anything is attached.
///
/// # Errors
/// When the kernel does not tell what the host uses.
pub fn takes_all(matches: Match, facts: &InterfaceFacts) -> Result<Option<Finding>, Finding> {
    let Some(taken) = needed(matches) else { return Ok(None) };
    let Some(use_of_it) = why_host_needs(facts.ifindex)? else { return Ok(None) };
    let what =
        format!("--match {taken} takes frames from this host's own stack, and the interface {use_of_it}");
    Ok(Some(
        Finding::new(Code::TakesAll, Severity::Warn, facts.name.clone(), what)
            .why("connections over it, an ssh session among them, hang from now on until the sink ends")
            .remedy("another interface, a VLAN of the test's own ('vlan N any'), or 'udp port N'; with --duration the sink ends by itself"),
    ))
}

/// What is taken that the host may need, as it is typed; within a VLAN of its own a test takes nothing of the host's.
fn needed(matches: Match) -> Option<String> {
    match matches {
        Match { vlan: Some(_), .. } => None,
        Match { any: true, .. } => Some("any".to_owned()),
        Match { ether_type: Some(number), .. } if HOST_NEEDS.contains(&number) => {
            Some(format!("'ethertype {number:#06x}'"))
        }
        _ => None,
    }
}

/// What a sink waits for.
pub fn words(matches: Match) -> String {
    let port = matches.udp_port.map_or_else(String::new, |port| format!("UDP port {port} or "));
    let ours = format!("frames to {port}EtherType 0x88b5");
    let taken = match matches {
        Match { any: true, .. } => "any frames".to_owned(),
        Match { ether_type: Some(number), .. } => format!("{ours}, or of EtherType {number:#06x}"),
        _ => ours,
    };
    let vlan = matches.vlan.map_or_else(String::new, |vlan| format!(" in VLAN {vlan}"));
    taken + &vlan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::layout::HalfCheck;

    #[test]
    fn what_is_waited_for_is_said() {
        let ours = Match::default();
        let said = |matches| words(matches);
        assert_eq!(said(ours), "frames to UDP port 9 or EtherType 0x88b5");
        assert_eq!(
            said(Match { vlan: Some(7), ..Match::ours(None) }),
            "frames to EtherType 0x88b5 in VLAN 7"
        );
        let arp = Match { ether_type: Some(0x0806), ..ours };
        assert_eq!(said(arp), "frames to UDP port 9 or EtherType 0x88b5, or of EtherType 0x0806");
        assert_eq!(said(Match { any: true, vlan: Some(0), ..ours }), "any frames in VLAN 0");
    }

    #[test]
    fn a_host_needs_ip_and_what_finds_it_outside_a_vlan_of_the_test() {
        let of = |ether_type| needed(Match { ether_type: Some(ether_type), ..Match::default() });
        assert_eq!(needed(Match::default()), None);
        assert_eq!(needed(Match { any: true, ..Match::default() }).as_deref(), Some("any"));
        assert_eq!(needed(Match { any: true, vlan: Some(5), ..Match::default() }), None);
        assert_eq!((of(0x88F7), of(0x0806).as_deref()), (None, Some("'ethertype 0x0806'")));
    }

    #[test]
    fn each_tagged_shape_is_told_with_its_tag_and_without_and_each_number_as_it_is() {
        let check = |at, value| HalfCheck { at, mask: u16::MAX, value };
        let tagged = Shape {
            checks: vec![check(12, 0x8100), check(16, 0x0800)],
            probe: 46,
            sums: Vec::new(),
            end: None,
        };
        let plain = Shape { checks: vec![check(12, 0x86DD)], probe: 70_000, ..tagged.clone() };
        let all = with_and_without_tags(&[tagged.clone(), plain.clone(), tagged.clone()]);
        assert_eq!(all[..2], [tagged.clone(), plain.clone()]);
        assert_eq!((all.len(), &all[2].checks, all[2].probe), (3, &vec![check(12, 0x0800)], 42));
        let same = xdp::Check { at: 16, mask: u16::MAX, value: 0x0800 };
        assert_eq!((told(&tagged).checks[1], told(&tagged).probe, told(&plain).probe), (same, 46, u16::MAX));
    }
}
