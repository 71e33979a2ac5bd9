//! A stream as plain tables, for the program that makes frames inside the kernel: bpf/table.h in Rust, every field a
//! u64. Knows no header.

/// Rows of modified fields, and of fields that follow the length, at the most.
pub const MAX_ROWS: usize = 16;
/// The same of the second kind.
pub const MAX_FOLLOWS: usize = 16;
/// Checksums at the most.
pub const MAX_SUMS: usize = 8;
/// No such place in the frame.
pub const NOWHERE: u64 = u64::MAX;

/// The program's name.
pub const PROGRAM: &str = "xsk_gen_build";
/// The map of [`Table::lists`].
pub const LISTS_MAP: &str = "lists";
/// The map that says which frame.
pub const WHICH_MAP: &str = "which";

/// How a field's value comes about: `enum xsk_gen_kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Kind {
    /// `a + (n mod c) × b`.
    Step,
    /// `lists[a + n mod c]`.
    List,
    /// `a + hash(b, n) mod c`.
    Random,
}

/// A field that differs from frame to frame: `struct xsk_gen_row`, in order.
pub type Row = [u64; 11];
/// A u16 that is the frame's length less a constant: `struct xsk_gen_follows`, in order.
pub type Follows = [u64; 3];
/// A checksum: `struct xsk_gen_sum`, in order.
pub type Check = [u64; 5];

/// `struct xsk_gen_table`, and the values of its lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Offset of the probe or [`NOWHERE`], checksums over it, shift in their words, run, space, clock.
    pub probe: [u64; 6],
    /// Modified fields.
    pub rows: Vec<Row>,
    /// Lengths.
    pub follows: Vec<Follows>,
    /// Checksums, innermost first.
    pub checks: Vec<Check>,
    /// Values of all lists.
    pub lists: Vec<u64>,
}

impl Table {
    /// The global `table`; None where it has more of something than the program takes.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let counts = [self.rows.len(), self.follows.len(), self.checks.len()];
        let fits = counts.iter().zip([MAX_ROWS, MAX_FOLLOWS, MAX_SUMS]).all(|(count, most)| *count <= most);
        let mut words: Vec<u64> = counts.iter().map(|count| *count as u64).collect();
        words.extend(self.probe);
        extend(&mut words, &self.rows, MAX_ROWS);
        extend(&mut words, &self.follows, MAX_FOLLOWS);
        extend(&mut words, &self.checks, MAX_SUMS);
        fits.then(|| words.iter().flat_map(|word| word.to_ne_bytes()).collect())
    }
}

/// Appends `rows`, filled up with zeros to `count`.
fn extend<const N: usize>(words: &mut Vec<u64>, rows: &[[u64; N]], count: usize) {
    let end = words.len() + count * N;
    words.extend(rows.iter().flatten());
    words.resize(end, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = include_str!("../bpf/table.h");

    /// How many u64 a struct of the header has.
    fn words(name: &str) -> usize {
        let body = TABLE.split_once(&format!("struct {name} {{")).expect("the struct").1;
        let body = body.split_once("};").expect("its end").0;
        let fields = body.lines().filter_map(|line| line.trim().strip_prefix("__u64 "));
        fields.map(|line| line.split_once(';').expect("a field").0.split(',').count()).sum()
    }

    #[test]
    fn rows_are_as_long_as_on_the_c_side() {
        assert_eq!(words("xsk_gen_row"), size_of::<Row>() / 8);
        assert_eq!(words("xsk_gen_follows"), size_of::<Follows>() / 8);
        assert_eq!(words("xsk_gen_sum"), size_of::<Check>() / 8);
        assert_eq!(words("xsk_gen_table"), 3 + 6);
        for (name, most) in [("MAX_ROWS", MAX_ROWS), ("MAX_FOLLOWS", MAX_FOLLOWS), ("MAX_SUMS", MAX_SUMS)] {
            assert!(TABLE.contains(&format!("#define XSK_GEN_{name} {most}\n")), "{name}");
        }
    }

    #[test]
    fn a_table_has_the_length_of_the_struct_whatever_it_holds() {
        let whole = 9 + MAX_ROWS * 11 + MAX_FOLLOWS * 3 + MAX_SUMS * 5;
        let table = Table { rows: vec![[1; 11]; 2], ..Table::default() };
        assert_eq!(table.to_bytes().map(|bytes| bytes.len()), Some(whole * 8));
        assert_eq!(Table { rows: vec![[1; 11]; MAX_ROWS + 1], ..table }.to_bytes(), None);
    }
}
