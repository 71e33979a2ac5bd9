//! From a list of headers to its layout: checks the list, then writes one header after the other. What a header
//! looks like is `headers`'.

use super::builder::Builder;
use super::headers::{Place, put};
use super::{Defaults, Layout, MAX_HEADER_BYTES, MAX_SUMS, StackError, order};
use crate::frame::layer::Layer;

/// The bytes of a stack, and where everything in them lies.
///
/// # Errors
/// Headers that cannot follow each other, values that do not fit their fields, or more of something than there can
/// be.
pub fn compile(layers: &[Layer], defaults: &Defaults) -> Result<Layout, StackError> {
    order::check(layers)?;
    let mut builder = Builder::new();
    let mut place = Place::new(defaults);
    for (at, layer) in layers.iter().enumerate() {
        let of_its_kind = layers.iter().take(at + 1).filter(|other| other.name() == layer.name());
        builder.begin(layer.name(), of_its_kind.count());
        put(&mut builder, &mut place, layer, layers.get(at + 1..).unwrap_or_default())?;
    }
    let layout = builder.finish();
    within("bytes of headers", layout.header.len(), MAX_HEADER_BYTES)?;
    within("checksums", layout.sums.len(), MAX_SUMS)?;
    Ok(layout)
}

fn within(what: &'static str, count: usize, most: usize) -> Result<(), StackError> {
    if count > most { Err(StackError::TooMany { what, count, most }) } else { Ok(()) }
}
