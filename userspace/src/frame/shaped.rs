//! Reads a frame by its shape: whether it has it, where it ends, and whether its checksums hold. Pure, and takes any
//! bytes and any shape. Knows no plain stack and no run.

use super::layout::{MAX_HEADER_BYTES, Sum};
use super::probe::Probe;
use super::shape::{MAX_CHECKS, MAX_SHAPES, Shape};
use super::wire::{get_u16, ipv6};
use super::{Reason, checksum};

/// The first of `shapes` that the frame has; of more than [`MAX_SHAPES`] the first ones are asked.
#[must_use]
pub fn find<'s>(shapes: &'s [Shape], bytes: &[u8]) -> Option<&'s Shape> {
    shapes.iter().take(MAX_SHAPES).find(|shape| has(shape, bytes))
}

/// Whether all checks hold and a whole probe of a stream stands where it should: the same rule as in the XDP program.
/// Control frames come in plain stacks only.
fn has(shape: &Shape, bytes: &[u8]) -> bool {
    let holds = |at, mask, value| get_u16(bytes, at).is_some_and(|half| half & mask == value);
    let reachable = |at: usize, len| at <= MAX_HEADER_BYTES - len;
    let checks = shape.checks.iter().take(MAX_CHECKS);
    checks.into_iter().all(|check| reachable(check.at, 2) && holds(check.at, check.mask, check.value))
        && reachable(shape.probe, 0)
        && Probe::read(bytes.get(shape.probe..).unwrap_or_default())
            .is_some_and(|probe| !probe.stream.is_control())
}

/// The probe of a frame that has the shape. With `verify` its checksums must hold.
///
/// # Errors
/// Why the frame does not count.
pub fn read(shape: &Shape, bytes: &[u8], verify: bool) -> Result<Probe, Reason> {
    let end = end_of(shape, bytes)?;
    let payload = bytes.get(shape.probe..end).ok_or(Reason::Truncated)?;
    let probe = Probe::read(payload).ok_or(Reason::Truncated)?;
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
