//! Puts a stack's bytes down, bit by bit, and notes where each field lies. Knows no protocol.

use super::{Field, HalfCheck, Layout, Length, Notation, Sum};

/// A layout under construction.
#[derive(Debug)]
pub struct Builder {
    layout: Layout,
    /// Bits that do not fill a byte yet, and how many.
    open: (u64, usize),
    /// What stands in front of the dot in the names of the header that is built.
    prefix: String,
}

impl Builder {
    /// Nothing yet.
    pub fn new() -> Self {
        let layout = Layout {
            header: Vec::new(),
            fields: Vec::new(),
            lengths: Vec::new(),
            sums: Vec::new(),
            l3: None,
            checks: Vec::new(),
        };
        Self { layout, open: (0, 0), prefix: String::new() }
    }

    /// Begins the header that is the `nth` of its kind, from 1.
    pub fn begin(&mut self, name: &str, nth: usize) {
        self.prefix = if nth == 1 { name.to_owned() } else { format!("{name}[{nth}]") };
    }

    /// The first byte of what comes next.
    pub fn at(&self) -> usize {
        self.layout.header.len()
    }

    /// Notes where the outermost IP header begins.
    pub fn ip_begins(&mut self) {
        self.layout.l3.get_or_insert(self.layout.header.len());
    }

    /// A decimal field of `bits` bits.
    pub fn dec(&mut self, name: &str, bits: usize, value: u64) {
        self.field(name, bits, Notation::Decimal);
        self.put(bits, value);
    }

    /// A hexadecimal field of `bits` bits.
    pub fn hex(&mut self, name: &str, bits: usize, value: u64) {
        self.field(name, bits, Notation::Hex);
        self.put(bits, value);
    }

    /// A field of whole bytes.
    pub fn bytes(&mut self, name: &str, notation: Notation, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.field(name, bytes.len() * 8, notation);
            self.layout.header.extend_from_slice(bytes);
        }
    }

    /// A u16 that counts the frame's bytes but for the first `minus`.
    pub fn length(&mut self, name: &str, minus: usize) {
        self.layout.lengths.push(Length { at: self.at(), minus });
        self.dec(name, 16, 0);
    }

    /// A u16 that is a checksum, or 0 for none.
    pub fn checksum(&mut self, name: &str, sum: Option<Sum>) {
        self.layout.sums.extend(sum);
        self.hex(name, 16, 0);
    }

    /// Two bytes at `at` whose bits in `mask` are as built, in each frame.
    pub fn check(&mut self, at: usize, mask: u16) {
        if let Some(pair) = self.layout.header.get(at..).and_then(<[u8]>::first_chunk::<2>) {
            let value = u16::from_be_bytes(*pair) & mask;
            self.layout.checks.push(HalfCheck { at, mask, value });
        }
    }

    /// The layout, with checksums and lengths innermost first.
    pub fn finish(mut self) -> Layout {
        self.layout.sums.reverse();
        self.layout.lengths.reverse();
        self.layout
    }

    fn field(&mut self, name: &str, bits: usize, notation: Notation) {
        let bit = self.layout.header.len() * 8 + self.open.1;
        let name = format!("{}.{name}", self.prefix);
        self.layout.fields.push(Field { name, bit, bits, notation });
    }

    /// Appends the low `bits` bits of `value`, 48 at the most.
    fn put(&mut self, bits: usize, value: u64) {
        let (acc, held) = self.open;
        let (mut acc, mut held) = (acc << bits | (value & ((1 << bits) - 1)), held + bits);
        while held >= 8 {
            held -= 8;
            self.layout.header.push((acc >> held) as u8);
            acc &= (1 << held) - 1;
        }
        self.open = (acc, held);
    }
}
