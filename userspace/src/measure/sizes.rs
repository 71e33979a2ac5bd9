//! How many frames of which length arrived. Knows no frame.

/// Lengths that are counted one by one, in bytes with FCS; longer ones count as the longest.
pub const MAX_LEN: usize = 16_384;
/// Lengths that are told one by one; of more, the classes are.
pub const MAX_ROWS: usize = 64;
/// Upper bounds of the classes (RFC 2819, etherStatsPkts), and above them the jumbo frames.
const CLASSES: [u32; 8] = [64, 127, 255, 511, 1023, 1518, 9018, MAX_LEN as u32];

/// Counts by length.
#[derive(Debug, Clone, Default)]
pub struct Sizes {
    /// By length in bytes, FCS included; empty once it is closed, or where nothing is counted.
    counts: Box<[u64]>,
    /// The same without the zeros, ascending, once it is closed.
    rows: Vec<(u32, u64)>,
}

impl Sizes {
    /// Nothing counted yet; counting allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { counts: vec![0; MAX_LEN + 1].into_boxed_slice(), rows: Vec::new() }
    }

    /// Counts a frame of so many bytes with FCS.
    #[inline]
    pub fn record(&mut self, with_fcs: usize) {
        if let Some(count) = self.counts.get_mut(with_fcs.min(MAX_LEN)) {
            *count += 1;
        }
    }

    /// Turns the table into its rows: the table of a run that is over would take 128 KiB for as long as the sink
    /// runs.
    pub fn close(&mut self) {
        let counted = (0u32..).zip(std::mem::take(&mut self.counts)).filter(|(_, count)| *count > 0);
        self.rows = counted.collect();
    }

    /// Adds what another worker counted; both are closed.
    pub fn merge(&mut self, other: &Self) {
        for (len, count) in &other.rows {
            match self.rows.binary_search_by_key(len, |(len, _)| *len) {
                Ok(at) => self.rows.get_mut(at).into_iter().for_each(|(_, sum)| *sum += count),
                Err(at) => self.rows.insert(at, (*len, *count)),
            }
        }
    }

    /// From, to, and frames: one length a row, or where there are many a class.
    #[must_use]
    pub fn rows(&self) -> Vec<(u32, u32, u64)> {
        if self.rows.len() <= MAX_ROWS {
            return self.rows.iter().map(|(len, count)| (*len, *len, *count)).collect();
        }
        let mut from = 0;
        let class = |to| {
            let within = self.rows.iter().filter(|(len, _)| (from..=to).contains(len));
            let row = (from, to, within.map(|(_, count)| count).sum());
            from = to + 1;
            row
        };
        CLASSES.into_iter().map(class).filter(|(_, _, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(lens: impl Iterator<Item = usize>) -> Sizes {
        let mut sizes = Sizes::new();
        lens.for_each(|len| sizes.record(len));
        sizes.close();
        sizes
    }

    #[test]
    fn few_lengths_are_told_one_by_one_and_many_by_class() {
        let mut few = counted([64, 1518, 64].into_iter());
        few.merge(&counted([594, 64].into_iter()));
        assert_eq!(few.rows(), [(64, 64, 3), (594, 594, 1), (1518, 1518, 1)]);
        let many = counted((64..=9018).chain([20_000])).rows();
        assert_eq!(many.iter().map(|row| row.2).sum::<u64>(), 9018 - 63 + 1);
        assert_eq!((many[0], many[1]), ((0, 64, 1), (65, 127, 63)));
        assert_eq!(many.last(), Some(&(9019, 16_384, 1)));
    }
}
