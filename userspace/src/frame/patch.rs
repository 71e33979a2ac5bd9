//! A modifier made ready for the sender's loop: the bytes that its field lies in, no division, and what it adds to
//! which checksum. Knows no probe.

use super::covers::{Covers, Sums};
use super::formula::{Formula, Per, hash};
use super::layout::{Field, Sum};
use super::remainder::Remainder;
use xdp_prog::table::{Kind, Row};

/// Bits of a field that a formula gives at the most; of a longer one the low ones vary.
pub const MAX_BITS: usize = 64;

/// A prepared modifier.
#[derive(Debug, Clone)]
pub struct Patch {
    value: Value,
    per: Per,
    /// First byte that the field has bits in, and how many bytes.
    at: usize,
    width: usize,
    /// By how many bits the value is shifted in those bytes, and which of them are its own.
    shift: u32,
    mask: u64,
    /// Checksums over those bytes, and by how many bits a value counts more in their 16-bit words.
    covers: Covers,
    word_shift: u32,
}

/// A formula without divisions.
#[derive(Debug, Clone)]
enum Value {
    Constant(u64),
    Step { base: u64, step: u64, count: Remainder },
    List { values: Box<[u64]>, count: Remainder },
    Random { seed: u64, low: u64, span: Remainder },
}

impl Value {
    fn of(formula: &Formula) -> Self {
        match formula {
            Formula::Constant(value) => Self::Constant(*value),
            Formula::Step { base, step, count } => {
                Self::Step { base: *base, step: *step, count: Remainder::of(*count) }
            }
            Formula::List(values) => {
                let count = Remainder::of(values.len().max(1) as u64);
                Self::List { values: values.clone().into_boxed_slice(), count }
            }
            Formula::Random { seed, low, span } => {
                Self::Random { seed: *seed, low: *low, span: Remainder::of(*span) }
            }
        }
    }

    #[inline]
    fn at(&self, n: u64) -> u64 {
        match self {
            Self::Constant(value) => *value,
            Self::Step { base, step, count } => base.wrapping_add(count.take(n).wrapping_mul(*step)),
            Self::List { values, count } => values.get(count.take(n) as usize).copied().unwrap_or(0),
            Self::Random { seed, low, span } => low.wrapping_add(span.take(hash(*seed, n))),
        }
    }
}

impl Patch {
    /// Prepares `formula` for `field` of frames with these checksums.
    pub fn new(field: &Field, formula: &Formula, per: Per, sums: &[Sum]) -> Self {
        let bits = field.bits.min(MAX_BITS);
        let end = field.bit + field.bits;
        let (at, last) = ((end - bits) / 8, end.div_ceil(8));
        let ones = u64::MAX >> (MAX_BITS - bits);
        let shift = (last * 8 - end) as u32;
        Self {
            value: Value::of(formula),
            per,
            at,
            width: last - at,
            shift,
            mask: ones << shift,
            covers: Covers::of(covering(sums, at, last)),
            word_shift: if last.is_multiple_of(2) { 0 } else { 8 },
        }
    }

    /// As a row of the tables; values of a list go behind those that are there.
    pub fn row(&self, lists: &mut Vec<u64>) -> Row {
        let (kind, a, b, c) = match &self.value {
            Value::Constant(value) => (Kind::Step, *value, 0, 1),
            Value::Step { base, step, count } => (Kind::Step, *base, *step, count.modulus()),
            Value::List { values, count } => {
                let at = lists.len() as u64;
                lists.extend_from_slice(values);
                (Kind::List, at, 0, count.modulus())
            }
            Value::Random { seed, low, span } => (Kind::Random, *low, *seed, span.modulus()),
        };
        let per_flow = u64::from(self.per == Per::Flow);
        let (at, width, shift) = (self.at as u64, self.width as u64, self.shift.into());
        let (covers, word_shift) = (self.covers.set().into(), self.word_shift.into());
        [kind as u64, per_flow, at, width, shift, self.mask, a, b, c, covers, word_shift]
    }

    /// Sets the field to zero, as the constant part of the checksums counts it.
    pub fn clear(&self, frame: &mut [u8]) {
        self.put(0, frame);
    }

    /// Writes the field for the frame of `index` in `flow`, and adds it to the checksums that it is under.
    #[inline(always)]
    pub fn write<const N: usize>(&self, index: u64, flow: u64, frame: &mut [u8], sums: &mut Sums<N>) {
        let n = if self.per == Per::Frame { index } else { flow };
        let bits = self.value.at(n) << self.shift & self.mask;
        self.put(bits, frame);
        // 2^32 is 1 modulo 0xFFFF: folded, so that sums of many do not overflow.
        let folded = (bits >> 32) + (bits & 0xFFFF_FFFF);
        sums.add(&self.covers, folded << self.word_shift);
    }

    /// Puts shifted bits into their bytes, and leaves the other bits of those bytes alone.
    #[inline]
    fn put(&self, bits: u64, frame: &mut [u8]) {
        match self.width {
            2 => self.put_in::<2>(bits, frame),
            4 => self.put_in::<4>(bits, frame),
            1 => self.put_in::<1>(bits, frame),
            3 => self.put_in::<3>(bits, frame),
            6 => self.put_in::<6>(bits, frame),
            8 => self.put_in::<8>(bits, frame),
            5 => self.put_in::<5>(bits, frame),
            _ => self.put_in::<7>(bits, frame),
        }
    }

    #[inline(always)]
    fn put_in<const N: usize>(&self, bits: u64, frame: &mut [u8]) {
        let Some(field) = frame.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut::<N>) else { return };
        let mut whole = [0; 8];
        whole[8 - N..].copy_from_slice(field);
        let kept = u64::from_be_bytes(whole) & !self.mask;
        field.copy_from_slice(&(kept | bits).to_be_bytes()[8 - N..]);
    }

    /// The checksums that it is under, a bit each.
    pub fn covers(&self) -> u8 {
        self.covers.set()
    }
}

/// The checksums that cover bytes `at..end`, which never lie half under one; bit i is the i-th.
pub fn covering(sums: &[Sum], at: usize, end: usize) -> u8 {
    let covers = |sum: &Sum| {
        let inside = sum.from <= at && sum.to.is_none_or(|to| end <= to);
        let addressed =
            sum.pseudo.as_ref().is_some_and(|p| p.addresses.start <= at && end <= p.addresses.end);
        inside || addressed
    };
    (0..).zip(sums).filter(|(_, sum)| covers(sum)).fold(0, |set, (i, _)| set | 1 << i)
}
