//! Frames longer than a chunk: cut into parts, put together again, and which chunk ends one. Works on plain memory;
//! knows no ring and no descriptor.

use std::ops::Range;

/// The option of a descriptor that says that the frame goes on in the next one: XDP_PKT_CONTD of
/// `include/uapi/linux/if_xdp.h`, Linux 6.6.
pub(super) const CONTINUED: u32 = 1;

/// The parts of a frame of `len` bytes in chunks that hold `room`, in order, and whether another one follows. All but the
/// last are full.
pub(super) fn parts(len: usize, room: usize) -> impl Iterator<Item = (Range<usize>, bool)> {
    (0..len).step_by(room.max(1)).map(move |from| {
        let to = from.saturating_add(room).min(len);
        (from..to, to < len)
    })
}

/// Which chunks hold the end of a frame under way: completions come one a chunk, and frames are what is counted.
#[derive(Debug)]
pub(super) struct Ends(Vec<bool>);

impl Ends {
    /// Of so many chunks, none of which is under way.
    pub(super) fn new(chunks: usize) -> Self {
        Self(vec![false; chunks])
    }

    /// Notes of a chunk that is submitted whether a frame ends in it.
    pub(super) fn note(&mut self, chunk: usize, ends: bool) {
        if let Some(end) = self.0.get_mut(chunk) {
            *end = ends;
        }
    }

    /// Whether a frame ends in a chunk that has come back; it does so once.
    pub(super) fn take(&mut self, chunk: usize) -> bool {
        self.0.get_mut(chunk).is_some_and(std::mem::take)
    }
}

/// Puts the parts of a frame together. What has come of a frame is kept until its last part comes.
#[derive(Debug)]
pub(super) struct Gather {
    buf: Vec<u8>,
    /// Bytes of the frame so far, those beyond the buffer included.
    filled: usize,
    too_long: u64,
}

impl Gather {
    /// For frames of up to `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self { buf: vec![0; longest], filled: 0, too_long: 0 }
    }

    /// Takes the next part; gives the whole frame when none follows. A frame of one part stays where it lies; one that is
    /// longer than the buffer is counted and not given.
    #[inline]
    pub(super) fn add<'a>(&'a mut self, part: &'a [u8], continued: bool) -> Option<&'a [u8]> {
        if !continued && self.filled == 0 {
            return Some(part);
        }
        let to = self.filled.saturating_add(part.len());
        if let Some(place) = self.buf.get_mut(self.filled..to) {
            place.copy_from_slice(part);
        }
        self.filled = to;
        if continued {
            return None;
        }
        self.filled = 0;
        let whole = self.buf.get(..to);
        self.too_long += u64::from(whole.is_none());
        whole
    }

    /// Frames that were longer than the buffer so far.
    pub(super) fn too_long(&self) -> u64 {
        self.too_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROOM: usize = 3_840;

    fn all(len: usize) -> Vec<(Range<usize>, bool)> {
        parts(len, ROOM).collect()
    }

    #[test]
    fn all_but_the_last_part_are_full() {
        assert_eq!(all(60), [(0..60, false)]);
        assert_eq!(all(3_840), [(0..3_840, false)]);
        assert_eq!(all(3_841), [(0..3_840, true), (3_840..3_841, false)]);
        assert_eq!(all(7_681).len(), 3);
        assert_eq!(all(0), []);
    }

    #[test]
    fn a_frame_is_counted_once_and_with_the_chunk_that_ends_it() {
        let mut ends = Ends::new(4);
        // Two frames: chunks 3 and 0, and chunk 2.
        [(3, false), (0, true), (2, true)].into_iter().for_each(|(chunk, end)| ends.note(chunk, end));
        assert_eq!([3, 0, 2, 0].map(|chunk| ends.take(chunk)), [false, true, true, false]);
        // The chunk that ended a frame begins the next one.
        [(0, false), (1, true)].into_iter().for_each(|(chunk, end)| ends.note(chunk, end));
        assert_eq!([0, 1, 9].map(|chunk| ends.take(chunk)), [false, true, false]);
    }

    #[test]
    fn a_frame_longer_than_the_buffer_is_counted_and_the_next_one_is_whole() {
        let mut gather = Gather::new(5);
        assert_eq!(gather.add(&[1, 2, 3], true), None);
        assert_eq!(gather.add(&[4, 5], true), None);
        assert_eq!(gather.add(&[6], true), None);
        assert_eq!(gather.add(&[], false), None);
        assert_eq!(gather.too_long(), 1);
        assert_eq!(gather.add(&[7, 8], true), None);
        assert_eq!(gather.add(&[9], false), Some(&[7, 8, 9][..]));
        assert_eq!(gather.add(&[1; 9], false), Some(&[1; 9][..]), "it is whole as it lies");
        assert_eq!(gather.too_long(), 1);
    }

    proptest! {
        #[test]
        fn what_is_cut_is_put_together_again(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 1..20), room in 1usize..20,
        ) {
            let mut gather = Gather::new(40);
            for frame in &frames {
                let mut whole = None;
                for (range, continued) in parts(frame.len(), room) {
                    prop_assert!(whole.is_none() && range.len() <= room);
                    whole = gather.add(&frame[range], continued).map(<[u8]>::to_vec);
                    prop_assert_eq!(whole.is_none(), continued);
                }
                prop_assert_eq!(whole.as_ref(), Some(frame));
            }
            prop_assert_eq!(gather.too_long(), 0);
        }
    }
}
