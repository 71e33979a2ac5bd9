//! Where a field's bits lie, and how they are put there in as few instructions as its width allows. Knows no formula.

use crate::frame::covers::Covers;
use crate::frame::layout::{Field, Sum};
use crate::frame::wire::put;

/// Bits of a field that vary at the most; of a longer one the low ones.
pub const MAX_BITS: usize = 64;

/// The bytes that hold a field's bits.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// First byte, and how many there are.
    pub at: usize,
    pub width: usize,
    store: Store,
    /// What a value is multiplied by to stand in those bytes, a power of two; and which of their bits are its own.
    scale: u64,
    pub mask: u64,
    /// Checksums over the field, and how many times its bytes count in their 16-bit words: 1, or 256.
    pub covers: Covers,
    word_scale: u64,
}

/// How the bytes are written: as a whole, or in part, which keeps the bits beside the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Store {
    Half,
    Word,
    Byte,
    ByteInPart,
    HalfInPart,
    WordInPart,
    Other,
}

impl Place {
    /// The place of `field` in frames with these checksums.
    pub fn of(field: &Field, sums: &[Sum]) -> Self {
        let bits = field.bits.min(MAX_BITS);
        let end = field.bit + field.bits;
        let (first, last) = ((end - bits) / 8, end.div_ceil(8));
        let shift = last * 8 - end;
        // Three bytes are written as four, of which the first is kept.
        let width = if last - first == 3 { 4 } else { last - first };
        let store = match (width, bits == width * 8) {
            (1, true) => Store::Byte,
            (2, true) => Store::Half,
            (4, true) => Store::Word,
            (1, false) => Store::ByteInPart,
            (2, false) => Store::HalfInPart,
            (4, false) => Store::WordInPart,
            _ => Store::Other,
        };
        Self {
            at: last - width,
            width,
            store,
            scale: 1 << shift,
            mask: u64::MAX >> (MAX_BITS - bits) << shift,
            covers: Covers::of(covering(sums, first, last)),
            word_scale: if last.is_multiple_of(2) { 1 } else { 256 },
        }
    }

    /// Puts `value` there; gives what it adds to a checksum over it.
    #[inline(always)]
    pub fn put(&self, value: u64, frame: &mut [u8]) -> u64 {
        // A multiplication takes one instruction where a shift by a variable takes three.
        let bits = value.wrapping_mul(self.scale) & self.mask;
        let share = match self.store {
            Store::Half => {
                put(frame, self.at, (bits as u16).to_be_bytes());
                bits
            }
            Store::Word => {
                put(frame, self.at, (bits as u32).to_be_bytes());
                bits
            }
            Store::Byte => {
                put(frame, self.at, [bits as u8]);
                bits
            }
            Store::ByteInPart => self.merge::<1>(bits, frame),
            Store::HalfInPart => self.merge::<2>(bits, frame),
            Store::WordInPart => self.merge::<4>(bits, frame),
            Store::Other => self.put_other(bits, frame),
        };
        share * self.word_scale
    }

    /// By how many bits a value is shifted in its bytes, and these in the words of a checksum.
    pub const fn shifts(&self) -> [u32; 2] {
        [self.scale.trailing_zeros(), self.word_scale.trailing_zeros()]
    }

    /// The widths of few fields: MACs and the low half of IPv6 addresses.
    fn put_other(&self, bits: u64, frame: &mut [u8]) -> u64 {
        match self.width {
            5 => self.merge::<5>(bits, frame),
            6 => self.merge::<6>(bits, frame),
            7 => self.merge::<7>(bits, frame),
            _ => self.merge::<8>(bits, frame),
        };
        // 2^32 is 1 modulo 0xFFFF: folded, so that sums of many do not overflow.
        (bits >> 32) + (bits & 0xFFFF_FFFF)
    }

    /// Writes the field's bits, and leaves the other bits of their bytes alone.
    #[inline(always)]
    fn merge<const N: usize>(&self, bits: u64, frame: &mut [u8]) -> u64 {
        if let Some(field) = frame.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut::<N>) {
            let mut whole = [0; 8];
            whole[8 - N..].copy_from_slice(field);
            let kept = u64::from_be_bytes(whole) & !self.mask;
            field.copy_from_slice(&(kept | bits).to_be_bytes()[8 - N..]);
        }
        bits
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
