//! A bounded queue of frames whose memory is taken once.

/// Frames in order, at most as many as it was made for.
pub(super) struct FrameQueue {
    places: Vec<Vec<u8>>,
    head: usize,
    len: usize,
    dropped: u64,
}

impl FrameQueue {
    /// A queue of `depth` frames of up to `bytes` bytes each.
    pub(super) fn new(depth: usize, bytes: usize) -> Self {
        Self { places: (0..depth).map(|_| Vec::with_capacity(bytes)).collect(), head: 0, len: 0, dropped: 0 }
    }

    /// Takes a frame in; false, and counted, when there is no place.
    pub(super) fn push(&mut self, frame: &[u8]) -> bool {
        if self.len == self.places.len() {
            self.dropped += 1;
            return false;
        }
        let at = (self.head + self.len) % self.places.len();
        if let Some(place) = self.places.get_mut(at) {
            place.clear();
            place.extend_from_slice(frame);
        }
        self.len += 1;
        true
    }

    /// Moves the oldest frame into `frame`; false when there is none.
    pub(super) fn pop_into(&mut self, frame: &mut Vec<u8>) -> bool {
        if self.len == 0 {
            return false;
        }
        if let Some(place) = self.places.get_mut(self.head) {
            std::mem::swap(place, frame);
        }
        self.head = (self.head + 1) % self.places.len();
        self.len -= 1;
        true
    }

    /// Frames that found no place so far.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}
