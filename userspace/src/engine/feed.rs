//! The streams of one sending worker as a source: whose turn it is, how long the frame is, and how little of a
//! chunk must be written. Knows no port and no pace.

use crate::frame::{Held, Stream};
use crate::port::{Done, Slot, Source};
use crate::units::{FCS_BYTES, Nanos};

/// Of no stream yet.
const NOBODY: u16 = u16::MAX;

/// Numbers the frames of several streams, which take turns in a pattern.
pub struct Feed {
    lanes: Vec<Lane>,
    /// Whose turn it is at each place; never empty.
    pattern: Box<[u16]>,
    at: usize,
    /// What was written last: whose it is, and how long.
    last: (u16, u32),
    chunks: Vec<Chunk>,
    now: Nanos,
}

/// One stream and its books.
struct Lane {
    stream: Stream,
    books: LaneBooks,
}

/// What became of the frames of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LaneBooks {
    /// Frames written.
    pub built: u64,
    /// Frames given back.
    pub completed: u64,
    /// Their bytes, FCS included.
    pub completed_bytes: u64,
    /// Whether they carry a probe.
    pub numbered: bool,
}

/// What a chunk holds.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    lane: u16,
    /// Length of the frame in it.
    len: u32,
    /// Bytes from the first on in which the lane's prefix stands, and up to which everything behind it is zero.
    prefix: u32,
    zeroed: u32,
}

impl Feed {
    /// A feed of `streams`, by the order in which `pattern` names them, over chunks numbered below `slots`.
    pub fn new(mut streams: Vec<Stream>, pattern: Vec<u16>, slots: u32) -> Self {
        let longest = streams.iter().map(Stream::prefix_len).max().unwrap_or(0);
        streams.iter_mut().for_each(|stream| stream.pad(longest));
        let lane = |stream: Stream| {
            let books = LaneBooks { numbered: stream.numbered(), ..LaneBooks::default() };
            Lane { stream, books }
        };
        let pattern = if pattern.is_empty() { vec![0] } else { pattern };
        Self {
            lanes: streams.into_iter().map(lane).collect(),
            pattern: pattern.into_boxed_slice(),
            at: 0,
            last: (NOBODY, 0),
            chunks: vec![Chunk { lane: NOBODY, len: 0, prefix: 0, zeroed: 0 }; slots as usize],
            now: Nanos(0),
        }
    }

    /// Frames are stamped with this time from here on.
    pub fn set_now(&mut self, now: Nanos) {
        self.now = now;
    }

    /// Books a frame that the driver gave back.
    #[inline]
    pub fn done(&mut self, done: Done) -> u64 {
        let Some(chunk) = self.chunks.get(done.slot.0 as usize) else { return 0 };
        let bytes = u64::from(chunk.len) + u64::from(FCS_BYTES);
        if let Some(lane) = self.lanes.get_mut(usize::from(chunk.lane)) {
            lane.books.completed += 1;
            lane.books.completed_bytes += bytes;
        }
        bytes
    }

    /// The books of each stream.
    pub fn books(&self) -> impl Iterator<Item = LaneBooks> {
        self.lanes.iter().map(|lane| lane.books)
    }

    /// Whose turn it is.
    #[inline]
    fn turn(&self) -> u16 {
        self.pattern.get(self.at).copied().unwrap_or(0)
    }
}

impl Chunk {
    /// What the chunk holds for a frame of `len` bytes of a lane whose prefix is so long, which is written now.
    #[inline]
    fn take(&mut self, lane: u16, len: u32, prefix_len: u32) -> Held {
        let same = self.lane == lane;
        (self.lane, self.len) = (lane, len);
        if len > self.zeroed {
            (self.prefix, self.zeroed) = (len.min(prefix_len), len);
            return Held::Nothing;
        }
        if same && self.prefix >= len.min(prefix_len) {
            return Held::Same;
        }
        self.prefix = len.min(prefix_len);
        Held::Other
    }
}

impl Source for Feed {
    #[inline]
    fn next_len(&mut self) -> Option<usize> {
        let lane = self.lanes.get(usize::from(self.turn()))?;
        Some(lane.stream.len_of(lane.books.built))
    }

    #[inline]
    fn write(&mut self, slot: Slot, buf: &mut [u8]) {
        let turn = self.turn();
        self.at = if self.at + 1 < self.pattern.len() { self.at + 1 } else { 0 };
        let Some(lane) = self.lanes.get_mut(usize::from(turn)) else { return };
        let held = match self.chunks.get_mut(slot.0 as usize) {
            Some(chunk) => chunk.take(turn, buf.len() as u32, lane.stream.prefix_len() as u32),
            None => Held::Nothing,
        };
        lane.stream.write(held, lane.books.built, self.now, true, buf);
        lane.books.built += 1;
        self.last = (turn, buf.len() as u32);
    }

    fn travels_as(&mut self, slot: Slot) {
        let (lane, len) = self.last;
        if let Some(chunk) = self.chunks.get_mut(slot.0 as usize) {
            // What its bytes are is not known: nothing is written into it directly.
            *chunk = Chunk { lane, len, prefix: 0, zeroed: 0 };
        }
    }
}
