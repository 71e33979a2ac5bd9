//! Fields, sizes and formulas in words. Knows no stream.

use crate::frame::formula::{Formula, Modifier, Per};
use crate::frame::layout::{Field, Notation};
use crate::frame::sizes::Sizes;
use crate::units::grouped;
use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The field's bits in `frame`, the low 128 of them.
pub fn bits_of(frame: &[u8], field: &Field) -> u128 {
    (field.bit..field.bit + field.bits).fold(0, |value, bit| {
        let byte = frame.get(bit / 8).copied().unwrap_or(0);
        value << 1 | u128::from(byte >> (7 - bit % 8) & 1)
    })
}

/// The bytes that a field has bits in.
pub fn bytes_of<'f>(frame: &'f [u8], field: &Field) -> &'f [u8] {
    frame.get(field.bit / 8..(field.bit + field.bits).div_ceil(8)).unwrap_or_default()
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A value in the notation of its field.
pub fn show(value: u128, field: &Field) -> String {
    // Notations of addresses come with fields of their width.
    let low = value as u64;
    match field.notation {
        Notation::Decimal => value.to_string(),
        Notation::Hex => format!("0x{value:0width$x}", width = field.bits.div_ceil(4)),
        Notation::Mac => {
            let [_, _, bytes @ ..] = low.to_be_bytes();
            bytes.map(|byte| format!("{byte:02x}")).join(":")
        }
        Notation::Ipv4 => Ipv4Addr::from(low as u32).to_string(),
        Notation::Ipv6 => Ipv6Addr::from(value).to_string(),
        Notation::Bytes => "bytes".to_owned(),
    }
}

/// What a modifier does, in words. `high` is what stands above the 64 bits that vary.
pub fn formula(modifier: &Modifier, field: &Field, high: u128) -> String {
    let mask = if field.bits < 64 { (1 << field.bits) - 1 } else { u64::MAX };
    let show = |value: u64| show(high | u128::from(value & mask), field);
    let per = if modifier.per == Per::Flow { "by flow" } else { "by frame" };
    match &modifier.formula {
        Formula::Constant(value) => format!("set to {}", show(*value)),
        Formula::Step { base, step, count } => {
            let last = base.wrapping_add(count.wrapping_sub(1).wrapping_mul(*step));
            let (way, step) =
                if *step > u64::MAX / 2 { ("down", step.wrapping_neg()) } else { ("up", *step) };
            let (from, to) = (show(*base), show(last));
            format!(
                "{per}: {from} {way} to {to}{}",
                if step == 1 { String::new() } else { format!(" in steps of {step}") }
            )
        }
        Formula::List(values) => format!("{per}: {} values in turn", grouped(values.len() as u64)),
        Formula::Random { seed, low, span } => {
            let to = low.wrapping_add(span.wrapping_sub(1));
            format!("{per}: {} to {} at random, seed {seed}", show(*low), show(to))
        }
    }
}

/// Frame lengths in words.
pub fn sizes(sizes: &Sizes) -> String {
    let (least, most) = sizes.bounds();
    let (least, most) = (grouped(least.with_fcs().into()), grouped(most.with_fcs().into()));
    match sizes {
        Sizes::Fixed(_) => format!("{least} bytes"),
        Sizes::Pattern(table) => format!("{least} to {most} bytes, {} in turn", grouped(table.len() as u64)),
        Sizes::Sweep { step, .. } => format!("{least} to {most} bytes in steps of {step}"),
        Sizes::Uniform { seed, .. } => format!("{least} to {most} bytes at random, seed {seed}"),
    }
}
