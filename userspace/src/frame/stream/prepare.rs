//! From the choice of a stream to what its sender's loop needs: what is the same in each frame is computed here,
//! once. Knows no loop.

use super::{Check, Follows, Numbered, Stream, StreamSpec, asks_for_flow, put_probe};
use crate::frame::covers::Covers;
use crate::frame::formula::Modifier;
use crate::frame::layout::{Field, Layout, Length, Sum, compile};
use crate::frame::patch::{Patches, covering};
use crate::frame::probe::{self, Probe, StreamId};
use crate::frame::remainder::Remainder;
use crate::frame::sizes::Lengths;
use crate::frame::wire::{ipv4, put};
use crate::frame::{FrameError, checksum, flow};
use crate::units::{FCS_BYTES, FrameSize};
use std::ops::Range;

/// Everything ready.
pub fn stream(spec: &StreamSpec) -> Result<Stream, FrameError> {
    let space = spec.place.space()?;
    let mut layout = compile(&spec.layers, &spec.defaults)?;
    let shortest = spec.sizes.bounds().0;
    check_size(&layout, shortest)?;
    let modifiers = modifiers(spec, &layout)?;
    let overridden = ranges(&modifiers, &layout)?;
    leave_out(&mut layout, &overridden, spec.verify);
    let probe = (shortest.in_memory() >= layout.probe() + probe::LEN).then(|| numbered(spec, space, &layout));
    let mut prefix = layout.header.clone();
    if let Some(numbered) = &probe {
        prefix.resize(numbered.at + probe::LEN, 0);
        put_probe(&numbered.probe, numbered.at, &mut prefix);
    }
    let patches = patches(&modifiers, &layout, &mut prefix);
    let follows = lengths(spec, &layout, &mut prefix);
    let mut stream = Stream {
        prefix,
        lengths: Lengths::of(&spec.sizes),
        patches,
        follows,
        checks: Vec::new(),
        sums: layout.sums.len(),
        probe,
        place: spec.place,
        flows: Remainder::of(spec.flows.max(1).into()),
        by_flow: asks_for_flow(&modifiers),
    };
    let fixed = spec.sizes.fixed().map(FrameSize::in_memory);
    stream.checks = checks(&mut stream, &layout.sums, fixed);
    Ok(stream)
}

fn check_size(layout: &Layout, shortest: FrameSize) -> Result<(), FrameError> {
    if shortest.in_memory() >= layout.header.len() {
        return Ok(());
    }
    let min = layout.header.len() as u32 + FCS_BYTES;
    Err(FrameError::TooSmall { min })
}

/// The user's modifiers behind those of the flows, but for flows' fields that the user has taken.
fn modifiers(spec: &StreamSpec, layout: &Layout) -> Result<Vec<Modifier>, FrameError> {
    match spec.flows {
        0 => return Err(FrameError::NoFlows),
        1 => {}
        flows if !flow::possible(layout) => return Err(FrameError::FlowsNeedIp { flows }),
        _ => {}
    }
    let taken = |name: &str| {
        spec.modifiers.iter().any(|m| layout.field(&m.field).is_some_and(|field| field.name == name))
    };
    let own = flow::modifiers(layout, spec.flows).into_iter().filter(|m| !taken(&m.field));
    Ok(own.chain(spec.modifiers.iter().cloned()).collect())
}

fn find<'l>(layout: &'l Layout, name: &str) -> Result<&'l Field, FrameError> {
    layout.field(name).ok_or_else(|| FrameError::NoField { name: name.to_owned() })
}

/// The bits that modifiers write; two of them never the same.
fn ranges(modifiers: &[Modifier], layout: &Layout) -> Result<Vec<Range<usize>>, FrameError> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for modifier in modifiers {
        let field = find(layout, &modifier.field)?;
        let range = field.bit..field.bit + field.bits;
        if ranges.iter().any(|other| other.start < range.end && range.start < other.end) {
            return Err(FrameError::FieldTwice { name: modifier.field.clone() });
        }
        ranges.push(range);
    }
    Ok(ranges)
}

/// Leaves out what a modifier sets instead: a length or a checksum that is wrong on purpose; and without
/// verification the checksums that may be left out.
fn leave_out(layout: &mut Layout, overridden: &[Range<usize>], verify: bool) {
    let set = |at: usize| overridden.iter().any(|range| range.start < at * 8 + 16 && at * 8 < range.end);
    layout.lengths.retain(|length| !set(length.at));
    let optional = |sum: &Sum| {
        sum.never_zero && sum.pseudo.as_ref().is_some_and(|p| p.addresses.len() == ipv4::ADDRESSES)
    };
    layout.sums.retain(|sum| !set(sum.at) && (verify || !optional(sum)));
}

fn numbered(spec: &StreamSpec, space: u16, layout: &Layout) -> Numbered {
    let at = layout.probe();
    Numbered {
        probe: Probe {
            run: spec.run,
            stream: StreamId::new(space, false),
            seq: 0,
            clock: spec.clock,
            sent: 0,
        },
        at,
        covers: Covers::of(covering(&layout.sums, at, at + probe::LEN)),
        word_shift: if at.is_multiple_of(2) { 0 } else { 8 },
    }
}

/// Constants go into the prefix at once, and what varies is zero in it.
fn patches(modifiers: &[Modifier], layout: &Layout, prefix: &mut [u8]) -> Patches {
    let mut patches = Patches::default();
    for modifier in modifiers {
        if let Some(field) = layout.field(&modifier.field) {
            patches.add(field, &modifier.formula, modifier.per, &layout.sums, prefix);
        }
    }
    patches
}

/// Lengths that are always the same go into the prefix.
fn lengths(spec: &StreamSpec, layout: &Layout, prefix: &mut [u8]) -> Vec<Follows> {
    if let Some(size) = spec.sizes.fixed() {
        for Length { at, minus } in &layout.lengths {
            put(prefix, *at, length(size.in_memory(), *minus).to_be_bytes());
        }
        return Vec::new();
    }
    let fields = layout.lengths.iter().map(|length| Follows {
        at: Some(length.at),
        minus: length.minus,
        covers: Covers::of(covering(&layout.sums, length.at, length.at + 2)),
    });
    let pseudo = (0..).zip(&layout.sums).filter(|(_, sum)| sum.pseudo.is_some());
    let counted =
        pseudo.map(|(own, sum)| Follows { at: None, minus: sum.from, covers: Covers::of(1 << own) });
    fields.chain(counted).collect()
}

/// [`FrameSize::MAX`] is far below 2^16, so the bound is never met.
fn length(len: usize, minus: usize) -> u16 {
    u16::try_from(len.saturating_sub(minus)).unwrap_or(u16::MAX)
}

/// The checksums, innermost first; those over nothing that varies go into the prefix.
fn checks(stream: &mut Stream, sums: &[Sum], fixed: Option<usize>) -> Vec<Check> {
    let mut varying = stream.patches.covers();
    varying |= stream.follows.iter().fold(0, |set, follows| set | follows.covers.set());
    varying |= stream.probe.map_or(0, |numbered| numbered.covers.set());
    let mut checks = Vec::new();
    for (own, sum) in sums.iter().enumerate() {
        let constant = constant(&stream.prefix, sum, fixed);
        let covers = covering(sums, sum.at, sum.at + 2) & !(1 << own);
        let over = (covers != 0).then(|| Covers::of(covers));
        let check = Check { at: sum.at, constant, never_zero: sum.never_zero, own, covers: over };
        if varying & 1 << own == 0 {
            let field =
                if sum.never_zero { checksum::udp_field(constant) } else { checksum::field(constant) };
            put(&mut stream.prefix, sum.at, field.to_be_bytes());
        } else {
            varying |= covers;
            checks.push(check);
        }
    }
    checks
}

/// What a checksum covers, as far as it stands in the prefix.
fn constant(prefix: &[u8], sum: &Sum, fixed: Option<usize>) -> u64 {
    let end = sum.to.unwrap_or(prefix.len());
    let bytes = |range: Range<usize>| prefix.get(range).map_or(0, checksum::sum);
    let pseudo = sum.pseudo.as_ref().map_or(0, |pseudo| {
        let length = fixed.map_or(0, |len| u64::from(length(len, sum.from)));
        bytes(pseudo.addresses.clone()) + u64::from(pseudo.protocol) + length
    });
    bytes(sum.from..end) + pseudo
}
