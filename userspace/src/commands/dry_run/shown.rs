//! One stream as a dry run shows it: what it is, and its first frame field by field.

use super::values::{bits_of, bytes_of, formula, hex, show, sizes};
use crate::config::StreamPlan;
use crate::frame::formula::Modifier;
use crate::frame::layout::{Field, Layout, Notation, compile};
use crate::frame::{FrameError, Held, Stream, StreamSpec, flow};
use crate::units::Nanos;
use serde::Serialize;

/// A stream.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// How often it takes its turn.
    pub weight: u32,
    /// Its flows.
    pub flows: u32,
    /// Whether its frames carry a probe.
    pub numbered: bool,
    /// Its frame lengths in words.
    pub sizes: String,
    /// The shortest, FCS included.
    pub min_size_bytes: u32,
    /// The longest, FCS included.
    pub max_size_bytes: u32,
    /// The mean, FCS included.
    pub mean_size_bytes: f64,
    /// Bytes of all headers.
    pub header_bytes: usize,
    /// The first frame in hexadecimal, without FCS.
    pub frame: String,
    /// Its fields, in order.
    pub fields: Vec<ShownField>,
}

/// A field of the first frame.
#[derive(Debug, Serialize)]
pub struct ShownField {
    /// Its name, as a stream file has it.
    pub name: String,
    /// Its first byte.
    pub offset: usize,
    /// Its first bit in that byte, from the most significant one.
    pub bit: usize,
    /// How many bits it has.
    pub bits: usize,
    /// The bytes that it has bits in, in hexadecimal.
    pub bytes: String,
    /// Its value in its notation.
    pub value: String,
    /// Who writes it; null where it is the same in each frame.
    pub role: Option<Role>,
    /// What the role means in words.
    pub varies: Option<String>,
}

/// Who writes a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A modifier of the user's.
    Modifier,
    /// What tells flows apart.
    Flow,
    /// It follows the frame's length.
    Length,
    /// It is a checksum.
    Checksum,
    /// It is part of the probe.
    Probe,
}

/// The probe, field by field, with bytes.
const PROBE: [(&str, usize, Notation); 6] = [
    ("probe.magic", 2, Notation::Hex),
    ("probe.run", 2, Notation::Decimal),
    ("probe.stream", 2, Notation::Hex),
    ("probe.seq", 4, Notation::Decimal),
    ("probe.clock", 2, Notation::Hex),
    ("probe.sent", 6, Notation::Decimal),
];

impl Shown {
    /// The stream of `plan`, as it is sent by `spec`.
    ///
    /// # Errors
    /// A stream that cannot be built.
    pub fn of(plan: &StreamPlan, spec: &StreamSpec) -> Result<Self, FrameError> {
        let (stream, layout) = (Stream::new(spec)?, compile(&spec.layers, &spec.defaults)?);
        let mut frame = vec![0; stream.len_of(0)];
        stream.write(Held::Nothing, 0, Nanos(0), true, &mut frame);
        let fields = layout.fields.iter().map(|field| of_header(field, &frame, &layout, spec));
        let probe = probe_fields(layout.probe());
        let probe = probe.iter().filter(|_| stream.numbered());
        let (least, most) = plan.sizes.bounds();
        Ok(Self {
            name: plan.name.clone(),
            weight: plan.weight,
            flows: plan.flows,
            numbered: stream.numbered(),
            sizes: sizes(&plan.sizes),
            min_size_bytes: least.with_fcs(),
            max_size_bytes: most.with_fcs(),
            mean_size_bytes: plan.sizes.mean().bytes_a_frame(),
            header_bytes: layout.header.len(),
            frame: hex(&frame),
            fields: fields.chain(probe.map(|field| shown(field, &frame, Some(Role::Probe), None))).collect(),
        })
    }
}

fn probe_fields(at: usize) -> Vec<Field> {
    let mut at = at * 8;
    let field = |(name, bytes, notation): &(&str, usize, Notation)| {
        let bit = at;
        at += bytes * 8;
        Field { name: (*name).to_owned(), bit, bits: bytes * 8, notation: *notation }
    };
    PROBE.iter().map(field).collect()
}

fn of_header(field: &Field, frame: &[u8], layout: &Layout, spec: &StreamSpec) -> ShownField {
    let of_field = |modifier: &&Modifier| layout.field(&modifier.field).is_some_and(|other| other == field);
    let high = bits_of(frame, field) >> 64 << 64;
    if let Some(modifier) = spec.modifiers.iter().find(of_field) {
        return shown(field, frame, Some(Role::Modifier), Some(formula(modifier, field, high)));
    }
    let flows = flow::modifiers(layout, spec.flows);
    if let Some(modifier) = flows.iter().find(of_field) {
        let words = formula(modifier, field, high);
        return shown(field, frame, Some(Role::Flow), Some(words));
    }
    let at = field.bit / 8;
    if layout.lengths.iter().any(|length| length.at == at && field.bits == 16) {
        return shown(field, frame, Some(Role::Length), None);
    }
    if layout.sums.iter().any(|sum| sum.at == at && field.bits == 16) {
        return shown(field, frame, Some(Role::Checksum), None);
    }
    shown(field, frame, None, None)
}

fn shown(field: &Field, frame: &[u8], role: Option<Role>, varies: Option<String>) -> ShownField {
    ShownField {
        name: field.name.clone(),
        offset: field.bit / 8,
        bit: field.bit % 8,
        bits: field.bits,
        bytes: hex(bytes_of(frame, field)),
        value: show(bits_of(frame, field), field),
        role,
        varies,
    }
}
