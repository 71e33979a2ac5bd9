//! Reads a frame by its shape: whether it has it, where it ends, and whether its checksums hold. Pure, and takes any
//! bytes and any shape. Knows no plain stack and no run.

use super::layout::{MAX_HEADER_BYTES, Sum};
use super::probe::{Probe, Way};
use super::shape::{MAX_CHECKS, MAX_SHAPES, Shape};
use super::wire::{get_u16, ipv6};
use super::{Reason, checksum};

/// The first of `shapes` that the frame has; of more than [`MAX_SHAPES`] the first ones are asked.
#[must_use]
pub fn find<'s>(shapes: &'s [Shape], bytes: &[u8], way: Way) -> Option<&'s Shape> {
    shapes.iter().take(MAX_SHAPES).find(|shape| has(shape, bytes, way))
}

/// Whether all checks hold and a whole probe of a stream stands where it should: the same rule as in the XDP program.
/// Control frames come in plain stacks only.
fn has(shape: &Shape, bytes: &[u8], way: Way) -> bool {
    let holds = |at, mask, value| get_u16(bytes, at).is_some_and(|half| half & mask == value);
    let reachable = |at: usize, len| at <= MAX_HEADER_BYTES - len;
    let checks = shape.checks.iter().take(MAX_CHECKS);
    checks.into_iter().all(|check| reachable(check.at, 2) && holds(check.at, check.mask, check.value))
        && reachable(shape.probe, 0)
        && Probe::read_going(bytes.get(shape.probe..).unwrap_or_default(), way)
            .is_some_and(|probe| !probe.stream.is_control())
}

/// The probe of a frame that has the shape. With `verify` its checksums must hold.
///
/// # Errors
/// Why the frame does not count.
pub fn read(shape: &Shape, bytes: &[u8], way: Way, verify: bool) -> Result<Probe, Reason> {
    let end = end_of(shape, bytes)?;
    let payload = bytes.get(shape.probe..end).ok_or(Reason::Truncated)?;
    let probe = Probe::read_going(payload, way).ok_or(Reason::Truncated)?;
    if verify {
        shape.sums.iter().try_for_each(|sum| check(sum, bytes, end))?;
    }
    Ok(probe)
}

/// One past the last byte of the frame's own; what follows is Ethernet padding.
fn end_of(shape: &Shape, bytes: &[u8]) -> Result<usize, Reason> {
    let Some(end) = shape.end else { return Ok(bytes.len()) };
    let said = get_u16(bytes, end.at).and_then(|length| usize::from(length).checked_add(end.minus));
    said.filter(|said| *said <= bytes.len()).ok_or(Reason::Truncated)
}

/// Whether one checksum holds. UDP over IPv4 may have none (RFC 768); over IPv6 it must have one (RFC 8200, 8.1).
fn check(sum: &Sum, bytes: &[u8], end: usize) -> Result<(), Reason> {
    let part = |range: std::ops::Range<usize>| bytes.get(range).ok_or(Reason::Truncated);
    let covered = part(sum.from..sum.to.unwrap_or(end))?;
    let mut total = checksum::sum(covered);
    let mut over_ipv6 = false;
    if let Some(pseudo) = &sum.pseudo {
        over_ipv6 = pseudo.addresses.len() == ipv6::ADDRESSES;
        total += checksum::sum(part(pseudo.addresses.clone())?);
        total += covered.len() as u64 + u64::from(pseudo.protocol);
    }
    let none = sum.never_zero && get_u16(bytes, sum.at) == Some(0);
    if (none && !over_ipv6) || (!none && checksum::holds(total)) { Ok(()) } else { Err(reason(sum)) }
}

/// What a checksum that does not hold is called: that of a header, of UDP, or another.
const fn reason(sum: &Sum) -> Reason {
    match sum {
        Sum { to: Some(_), .. } => Reason::IpChecksum,
        Sum { never_zero: true, .. } => Reason::UdpChecksum,
        _ => Reason::Checksum,
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{HalfCheck, Length, Pseudo};
    use super::super::probe;
    use super::super::reference::{PlainSpec, any_spec, frame, v4_spec, v6_stack};
    use super::super::{Inspected, Inspector, L3};
    use super::*;
    use crate::frame::headers::Net;
    use proptest::prelude::*;

    /// The shape of a plain stack, made from where its headers lie.
    fn plain_shape(spec: &PlainSpec) -> Shape {
        let headers = spec.stack.headers();
        let at = headers.l3 - 2;
        let kind = get_u16(&frame(spec, 0, 0, true), at).unwrap();
        let checks = vec![HalfCheck { at, mask: u16::MAX, value: kind }];
        let Some(header) = headers.udp() else {
            return Shape { checks, probe: headers.probe, sums: Vec::new(), end: None };
        };
        let pseudo = Some(Pseudo { addresses: headers.addresses(), protocol: 17 });
        let udp = Sum { at: header + 6, from: header, to: None, pseudo, never_zero: true };
        let ip =
            Sum { at: headers.l3 + 10, from: headers.l3, to: Some(header), pseudo: None, never_zero: false };
        let sums = if headers.net == Net::V4 { vec![udp, ip] } else { vec![udp] };
        Shape { checks, probe: headers.probe, sums, end: Some(Length { at: header + 4, minus: header }) }
    }

    /// An inspector that knows no plain stack.
    fn by_shape(shape: &Shape, verify: bool) -> Inspector {
        Inspector { udp_port: None, verify, shapes: [shape.clone()].into(), way: Way::Forth }
    }

    fn any_sum() -> impl Strategy<Value = Sum> {
        let at = 0..70usize;
        let pseudo = prop::option::of((at.clone(), at.clone(), any::<u8>()));
        (at.clone(), at.clone(), prop::option::of(at), pseudo, any::<bool>()).prop_map(
            |(at, from, to, pseudo, never_zero)| {
                let pseudo = pseudo
                    .map(|(start, end, protocol)| Pseudo { addresses: start..end.max(start), protocol });
                Sum { at, from, to: to.map(|to| to.max(from)), pseudo, never_zero }
            },
        )
    }

    prop_compose! {
        /// Any shape at all, far beyond any frame, too.
        fn any_shape()(
            checks in prop::collection::vec((0..80usize, any::<u16>(), any::<u16>()), 0..3),
            probe in prop_oneof![9 => 0..60usize, 1 => any::<usize>()],
            sums in prop::collection::vec(any_sum(), 0..4),
            end in prop::option::of((0..70usize, prop_oneof![0..70usize, any::<usize>()])),
        ) -> Shape {
            let check = |(at, mask, value)| HalfCheck { at, mask, value };
            let end = end.map(|(at, minus)| Length { at, minus });
            Shape { checks: checks.into_iter().map(check).collect(), probe, sums, end }
        }
    }

    #[test]
    fn each_kind_of_checksum_has_its_reason() {
        let sum = |to, never_zero| Sum { at: 0, from: 0, to, pseudo: None, never_zero };
        assert_eq!(reason(&sum(Some(4), false)), Reason::IpChecksum);
        assert_eq!(reason(&sum(None, true)), Reason::UdpChecksum);
        assert_eq!(reason(&sum(None, false)), Reason::Checksum);
    }

    #[test]
    fn no_checksum_is_unchecked_over_ipv4_and_wrong_over_ipv6() {
        let v6 = PlainSpec { stack: v6_stack(), ..v4_spec() };
        for (spec, expected) in [(v4_spec(), None), (v6, Some(Reason::UdpChecksum))] {
            let mut bytes = frame(&spec, 1, 2, true);
            let at = spec.stack.headers().udp().unwrap() + 6;
            bytes[at..at + 2].fill(0);
            assert_eq!(read(&plain_shape(&spec), &bytes, Way::Forth, true).err(), expected);
        }
    }

    #[test]
    fn padding_is_no_part_of_the_frame_and_a_cut_one_is_truncated() {
        let (spec, mut bytes) = (v4_spec(), frame(&v4_spec(), 1, 2, true));
        let shape = plain_shape(&spec);
        bytes.extend([0xAA; 9]);
        assert_eq!(read(&shape, &bytes, Way::Forth, true).map(|probe| probe.seq), Ok(1));
        bytes.truncate(bytes.len() - 10);
        assert_eq!(read(&shape, &bytes, Way::Forth, true), Err(Reason::Truncated));
        let beyond = Shape { end: Some(Length { at: 38, minus: usize::MAX }), ..shape };
        assert_eq!(read(&beyond, &bytes, Way::Forth, true), Err(Reason::Truncated));
    }

    proptest! {
        /// A plain stack by its shape reads as it does by its headers, whole or spoilt.
        #[test]
        fn a_shape_reads_what_the_headers_read(
            spec in any_spec(), seq: u64, bit: prop::sample::Index, spoil: bool,
        ) {
            let spec = PlainSpec { verify: true, ..spec };
            let shape = plain_shape(&spec);
            let mut bytes = frame(&spec, seq, 2, true);
            if spoil {
                let from = spec.stack.headers().l3;
                let bit = bit.index((bytes.len() - from) * 8);
                bytes[from + bit / 8] ^= 1 << (bit % 8);
            }
            let by_headers = Inspector::plain(spec.stack.dst_port(), true).inspect(&bytes);
            let by_shape = by_shape(&shape, true).inspect(&bytes);
            match by_headers {
                // Of IPv6's header no checksum covers all, and this shape asks for nothing in it.
                Inspected::Rejected(_) if matches!(spec.stack.l3, L3::V4 { .. }) => {
                    let unchecked = get_u16(&bytes, shape.probe - 2) == Some(0);
                    let rejected = matches!(by_shape, Inspected::Rejected(_));
                    prop_assert!(rejected || unchecked, "{:?}", by_shape);
                }
                Inspected::Rejected(_) => {}
                Inspected::Control { .. } => {
                    prop_assert_eq!(by_shape, Inspected::Rejected(Reason::NotOurs));
                }
                // EtherType 0x88B5 is a plain one to every inspector.
                same => prop_assert_eq!(by_shape, same),
            }
        }

        #[test]
        fn any_bytes_and_any_shape_are_taken(
            shape in any_shape(), bytes in prop::collection::vec(any::<u8>(), 0..120), verify: bool, fit: bool,
        ) {
            let mut bytes = bytes;
            if let (true, Some(place)) = (fit, bytes.get_mut(shape.probe..).and_then(|rest| rest.get_mut(..2))) {
                place.copy_from_slice(&probe::MAGIC.to_be_bytes());
            }
            let open = Shape { checks: Vec::new(), ..shape.clone() };
            for shape in [shape, open] {
                match by_shape(&shape, verify).inspect(&bytes) {
                    Inspected::Probe { .. } => prop_assert!(bytes.len() >= shape.probe.saturating_add(probe::LEN)),
                    Inspected::Rejected(_) | Inspected::Control { .. } => {}
                }
            }
        }

        /// The variant of a stack that lost its outermost tag reads the frame that lost it.
        #[test]
        fn a_stripped_frame_has_the_stripped_shape(
            spec in any_spec().prop_filter("has a tag", |spec| !spec.stack.vlans.is_empty()), seq: u64,
        ) {
            let mut shape = plain_shape(&spec);
            let mut bytes = frame(&spec, seq, 2, true);
            let outer = get_u16(&bytes, 12).unwrap();
            shape.checks.push(HalfCheck { at: 12, mask: u16::MAX, value: outer });
            let whole = read(&shape, &bytes, Way::Forth, true);
            prop_assert!(whole.is_ok() && has(&shape, &bytes, Way::Forth));
            bytes.drain(12..16);
            let stripped = shape.without_outer_tag().unwrap();
            prop_assert!(has(&stripped, &bytes, Way::Forth));
            prop_assert_eq!(read(&stripped, &bytes, Way::Forth, true), whole);
        }
    }
}
