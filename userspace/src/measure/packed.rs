//! A histogram that will record no more, in a few bytes a cell: a sink that runs for months keeps those of a thousand runs.

/// Times of a run that is over: only the cells of the table that hold something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedLatency {
    /// Of each cell its value's distance from that of the cell before, and its samples, as LEB128.
    bytes: Vec<u8>,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) sum: u128,
    pub(super) overflow: u64,
}

impl Default for PackedLatency {
    fn default() -> Self {
        Self { bytes: Vec::new(), min: u64::MAX, max: 0, sum: 0, overflow: 0 }
    }
}

impl PackedLatency {
    /// Of these cells: each one's value in ns, ascending, and its samples.
    pub(super) fn of(cells: impl Iterator<Item = (u64, u64)>) -> Self {
        let (mut bytes, mut last) = (Vec::new(), 0);
        for (value, samples) in cells {
            put(&mut bytes, value - last);
            put(&mut bytes, samples);
            last = value;
        }
        bytes.shrink_to_fit();
        Self { bytes, ..Self::default() }
    }

    /// The cells.
    pub(super) fn cells(&self) -> impl Iterator<Item = (u64, u64)> {
        let (mut bytes, mut last) = (self.bytes.iter(), 0);
        std::iter::from_fn(move || {
            last += take(&mut bytes)?;
            Some((last, take(&mut bytes)?))
        })
    }
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
fn put(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

/// The number at the front; None behind the last.
fn take<'b>(bytes: &mut impl Iterator<Item = &'b u8>) -> Option<u64> {
    let mut n = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = bytes.next()?;
        n |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn neighbouring_cells_of_few_samples_take_two_bytes() {
        let packed = PackedLatency::of((0..100).map(|n| (n, 1)));
        assert_eq!(packed.bytes.len(), 200);
    }

    proptest! {
        #[test]
        fn any_cells_come_out_as_they_went_in(cells: BTreeMap<u64, u64>) {
            let packed = PackedLatency::of(cells.iter().map(|(value, n)| (*value, *n)));
            prop_assert_eq!(packed.cells().collect::<BTreeMap<_, _>>(), cells);
        }
    }
}
