//! Which numbers of one sequence space a receive worker has seen, once or again, in order or not. Knows no
//! frame and no clock, and not how many were sent: loss is derived at the end, by whoever knows the totals.
//!
//! Receive-side scaling spreads a space over all workers, so a worker sees a subsequence. What it counts adds
//! up: two copies of a frame belong to one flow and reach one worker, and order is judged inside a flow.

/// Sequence numbers back from the highest within which every verdict is exact: a tenth of a second at 650
/// kpps and 4 ms at the line rate of 10 Gbit/s, for 8 KiB.
pub const WINDOW: u64 = 65_536;
/// Flows whose order is followed one by one, at 8 bytes each.
pub const MAX_FLOWS: u32 = 65_536;

const WORD_BITS: u64 = 64;
const WORDS: usize = (WINDOW / WORD_BITS) as usize;
/// Where the first number is placed, so that an older one from before a wrap can still follow it.
const FIRST_ERA: u64 = 1 << 32;

/// What a frame is to the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// For the first time.
    Unique {
        /// After a later one of its flow (RFC 4737, section 3.3).
        reordered: bool,
    },
    /// Again.
    Duplicate,
    /// Too old to tell which.
    Late,
}

/// What a worker counted, or several together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SequenceCounts {
    /// Distinct numbers.
    pub unique: u64,
    /// Numbers seen again.
    pub duplicate: u64,
    /// Numbers older than the window.
    pub late: u64,
    /// Unique ones that came after a later one of their flow.
    pub reordered: u64,
    /// The highest number, extended over wraps of the 32 bits on the wire; None before the first frame.
    pub highest: Option<u64>,
}

impl SequenceCounts {
    /// Adds what another worker counted in the same sequence space.
    pub fn merge(&mut self, other: &Self) {
        self.unique += other.unique;
        self.duplicate += other.duplicate;
        self.late += other.late;
        self.reordered += other.reordered;
        self.highest = self.highest.max(other.highest);
    }

    /// Frames seen: unique, duplicate and late.
    #[must_use]
    pub fn probes(&self) -> u64 {
        self.unique + self.duplicate + self.late
    }
}

/// The books of one sequence space, as one worker sees it.
#[derive(Debug, Clone)]
pub struct SequenceBooks {
    /// A bit for each of the last [`WINDOW`] numbers, at its number modulo [`WINDOW`].
    seen: Box<[u64; WORDS]>,
    /// One past the highest number; 0 before the first.
    next: u64,
    /// One past the highest number of each flow; 0 before its first.
    flow_next: Box<[u64]>,
    /// Number of a frame over all spaces is number × spaces + space.
    spaces: u64,
    space: u64,
    per_flow: bool,
    counts: SequenceCounts,
    /// The last number that leapt over the window and is not believed yet.
    leapt: Option<u64>,
}

impl SequenceBooks {
    /// Books of space `space` of `spaces`, whose frames walk `flows` flows: frame seq belongs to flow (seq ×
    /// spaces + space) mod flows. Above [`MAX_FLOWS`], order is judged over the space as a whole. Zeros count
    /// as 1.
    #[must_use]
    pub fn new(flows: u32, spaces: u16, space: u16) -> Self {
        let per_flow = flows <= MAX_FLOWS;
        let followed = if per_flow { flows.max(1) } else { 1 };
        Self {
            seen: Box::new([0; WORDS]),
            next: 0,
            flow_next: vec![0; followed as usize].into_boxed_slice(),
            spaces: u64::from(spaces.max(1)),
            space: u64::from(space),
            per_flow,
            counts: SequenceCounts::default(),
            leapt: None,
        }
    }

    /// Whether order is judged inside each flow; else frames of different flows that overtake each other
    /// count as reordered.
    #[must_use]
    pub fn per_flow(&self) -> bool {
        self.per_flow
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> SequenceCounts {
        SequenceCounts {
            highest: self.next.checked_sub(1).map(|at| at.saturating_sub(FIRST_ERA)),
            ..self.counts
        }
    }

    /// A frame with this number has arrived. The first may have any; from then on a number means the one
    /// nearest to the highest, so that a jump of 2^31 or more counts as back. A jump ahead over the window is
    /// doubted until a second one confirms it.
    #[inline]
    pub fn see(&mut self, seq32: u32) -> Seen {
        let at = self.extend(seq32);
        if at >= self.next.saturating_add(WINDOW) && self.next > 0 { self.leap(at) } else { self.place(at) }
    }

    /// Books a number that is where it seems to be.
    #[inline]
    fn place(&mut self, at: u64) -> Seen {
        let seen = if at >= self.next {
            self.advance_to(at);
            Seen::Unique { reordered: self.follow_flow(at) }
        } else if self.next - at > WINDOW {
            Seen::Late
        } else if self.mark(at) {
            Seen::Duplicate
        } else {
            Seen::Unique { reordered: self.follow_flow(at) }
        };
        self.count(seen);
        seen
    }

    /// A number that leaps over the whole window is followed once another one near it has leapt too (RFC
    /// 3550, A.1, does the same). A single one is of a frame whose bytes have changed, and following it would
    /// make all later ones late; until then it counts as late itself.
    #[cold]
    fn leap(&mut self, at: u64) -> Seen {
        match self.leapt.replace(at) {
            Some(first) if first != at && first.abs_diff(at) < WINDOW => {
                self.leapt = None;
                self.counts.late -= 1;
                self.place(first);
                self.place(at)
            }
            _ => {
                self.count(Seen::Late);
                Seen::Late
            }
        }
    }

    /// Where the number lies on a line without wraps.
    #[inline]
    fn extend(&self, seq32: u32) -> u64 {
        match self.next.checked_sub(1) {
            None => FIRST_ERA + u64::from(seq32),
            Some(highest) => {
                let ahead = seq32.wrapping_sub(highest as u32).cast_signed();
                highest.saturating_add_signed(i64::from(ahead))
            }
        }
    }

    /// Moves the window so that `at` is its highest number, seen.
    #[inline]
    fn advance_to(&mut self, at: u64) {
        if at - self.next >= WINDOW {
            self.seen.fill(0);
        } else {
            self.forget(self.next, at);
        }
        self.mark(at);
        self.next = at + 1;
    }

    /// Clears the bits of `from..to`, a window's length at most.
    #[inline]
    fn forget(&mut self, mut from: u64, to: u64) {
        while from < to {
            let bit = from % WORD_BITS;
            let bits = (WORD_BITS - bit).min(to - from);
            *self.word(from) &= !(u64::MAX >> (WORD_BITS - bits) << bit);
            from += bits;
        }
    }

    /// Marks `at` as seen, and says whether it was.
    #[inline]
    fn mark(&mut self, at: u64) -> bool {
        let bit = 1 << (at % WORD_BITS);
        let word = self.word(at);
        let was = *word & bit != 0;
        *word |= bit;
        was
    }

    #[inline]
    fn word(&mut self, at: u64) -> &mut u64 {
        // The remainder keeps the index inside the table, and the compiler knows.
        &mut self.seen[(at / WORD_BITS) as usize % WORDS]
    }

    /// Notes a first arrival in its flow, and says whether a later one came before.
    ///
    /// Numbers are placed some multiple of 2^32 away from the sender's own count, by the same for all: flows
    /// are renamed by a rotation, and frames of one flow stay together.
    #[inline]
    fn follow_flow(&mut self, at: u64) -> bool {
        let index = at.wrapping_mul(self.spaces).wrapping_add(self.space);
        let flow = index % self.flow_next.len() as u64;
        let Some(next) = self.flow_next.get_mut(flow as usize) else { return false };
        let reordered = at < *next;
        *next = (*next).max(at + 1);
        reordered
    }

    #[inline]
    fn count(&mut self, seen: Seen) {
        match seen {
            Seen::Unique { reordered } => {
                self.counts.unique += 1;
                self.counts.reordered += u64::from(reordered);
            }
            Seen::Duplicate => self.counts.duplicate += 1,
            Seen::Late => self.counts.late += 1,
        }
    }
}

#[cfg(test)]
mod tests;
