//! A slab: frames back to back in memory that is allocated once, and of each its length and time. Handed from thread to
//! thread as a whole, so that a lock is paid for by thousands of frames. Knows no file and no port.

use crate::units::Nanos;

/// Bytes of frames in a slab: many of any size, and little to wait for when one is filled slowly.
const SLAB_BYTES: usize = 256 * 1024;
/// Frames in a slab at the most: as many of the shortest as its bytes hold.
const SLAB_FRAMES: usize = SLAB_BYTES / 64;
/// Slabs of one file: 16 MiB, which is 13 ms of a disk that pauses at 10 Gbit/s.
pub(super) const SLABS: usize = 64;

/// Where a frame lies in a slab, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    from: u32,
    /// Bytes that the slab holds of it.
    pub len: u32,
    /// Bytes that it had on the wire, without FCS.
    pub wire_len: u32,
    /// Its time: when it is due, or when it arrived.
    pub at: Nanos,
}

/// Frames in a row.
#[derive(Debug)]
pub struct Slab {
    bytes: Box<[u8]>,
    used: usize,
    marks: Vec<Mark>,
    /// Set on the last slab of a replay: when it is over.
    pub end: Option<Nanos>,
}

impl Slab {
    /// An empty slab. Its memory has been written to, so that no later write waits for a page.
    #[must_use]
    pub fn new() -> Self {
        // Zeroes would be pages that the kernel has yet to give.
        let bytes = vec![0xFF; SLAB_BYTES].into_boxed_slice();
        Self { bytes, used: 0, marks: Vec::with_capacity(SLAB_FRAMES), end: None }
    }

    /// Adds a frame, with zeroes behind it up to `least` bytes; false when there is no room for it any more.
    #[must_use]
    pub fn push(&mut self, frame: &[u8], least: usize, wire_len: u32, at: Nanos) -> bool {
        let len = frame.len().max(least);
        if self.marks.len() == SLAB_FRAMES {
            return false;
        }
        let Some(place) = self.bytes.get_mut(self.used..self.used.saturating_add(len)) else { return false };
        let (head, padding) = place.split_at_mut(frame.len());
        head.copy_from_slice(frame);
        padding.fill(0);
        let (Ok(from), Ok(len)) = (u32::try_from(self.used), u32::try_from(len)) else { return false };
        self.marks.push(Mark { from, len, wire_len, at });
        self.used += len as usize;
        true
    }

    /// Frame number `n`.
    #[must_use]
    pub fn frame(&self, n: usize) -> Option<(Mark, &[u8])> {
        let mark = *self.marks.get(n)?;
        let from = mark.from as usize;
        Some((mark, self.bytes.get(from..from + mark.len as usize)?))
    }

    /// Frames in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Forgets its frames.
    pub fn clear(&mut self) {
        self.marks.clear();
        self.used = 0;
        self.end = None;
    }
}

impl Default for Slab {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_what_fits_and_gives_it_back() {
        let mut slab = Slab::new();
        assert!(slab.push(&[1, 2, 3], 5, 3, Nanos(7)) && slab.push(&[4], 0, 9, Nanos(8)));
        let (mark, bytes) = slab.frame(0).unwrap();
        assert_eq!((mark.wire_len, mark.at, bytes), (3, Nanos(7), &[1, 2, 3, 0, 0][..]));
        assert_eq!(slab.frame(1).unwrap().1, [4]);
        assert_eq!((slab.len(), slab.frame(2)), (2, None));
        slab.clear();
        assert!(slab.is_empty());
        while slab.push(&[0; 60], 0, 60, Nanos(0)) {}
        assert_eq!(slab.len(), SLAB_FRAMES);
        slab.clear();
        while slab.push(&[0; 1_514], 0, 1_514, Nanos(0)) {}
        assert_eq!(slab.len(), SLAB_BYTES / 1_514);
        assert!(!slab.push(&vec![0; SLAB_BYTES], 0, 0, Nanos(0)));
    }
}
