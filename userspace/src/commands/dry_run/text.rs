//! A stream of a dry run as text: a heading, and a line a field.

use super::shown::{Role, Shown, ShownField};
use crate::units::grouped;
use std::io::{self, Write};

/// Digits of one line's bytes at the most: an IPv6 address.
const MAX_DIGITS: usize = 32;

/// Writes one stream.
pub fn write(stream: &Shown, out: &mut impl Write) -> io::Result<()> {
    let plural = |n: u32| if n == 1 { "1 flow".to_owned() } else { format!("{} flows", grouped(n.into())) };
    let Shown { name, weight, sizes, .. } = stream;
    let numbered = if stream.numbered { "numbered" } else { "unnumbered: no room for the probe" };
    writeln!(out, "{name}: {sizes} (FCS included), {}, weight {weight}, {numbered}", plural(stream.flows))?;
    let widths = |of: fn(&ShownField) -> usize| stream.fields.iter().map(of).max().unwrap_or(0);
    let bytes = widths(|field| field.bytes.len().min(MAX_DIGITS + 1));
    let (names, values) = (widths(|field| field.name.len()), widths(|field| field.value.len()));
    for field in &stream.fields {
        let offset = match field.bit {
            0 => field.offset.to_string(),
            bit => format!("{}.{bit}", field.offset),
        };
        let (digits, name, value) = (digits(&field.bytes), &field.name, &field.value);
        let line =
            format!("  {offset:>5}  {digits:<bytes$}  {name:<names$}  {value:<values$}  {}", mark(field));
        writeln!(out, "{}", line.trim_end())?;
    }
    let (length, used) = (stream.frame.len() / 2, stream.fields.iter().map(end).max().unwrap_or(0));
    if length > used {
        writeln!(out, "  {used:>5}  {} bytes of zeros", grouped((length - used) as u64))?;
    }
    writeln!(out)
}

fn end(field: &ShownField) -> usize {
    field.offset + field.bytes.len() / 2
}

fn digits(bytes: &str) -> String {
    match bytes.get(..MAX_DIGITS) {
        Some(first) if bytes.len() > MAX_DIGITS => format!("{first}…"),
        _ => bytes.to_owned(),
    }
}

fn mark(field: &ShownField) -> String {
    let varies = field.varies.as_deref().unwrap_or_default();
    match field.role {
        None => String::new(),
        Some(Role::Modifier) => format!("<- {varies}"),
        Some(Role::Flow) => format!("<- flows, {varies}"),
        Some(Role::Length) => "<- length".to_owned(),
        Some(Role::Checksum) => "<- checksum".to_owned(),
        Some(Role::Probe) => "<- probe".to_owned(),
    }
}
