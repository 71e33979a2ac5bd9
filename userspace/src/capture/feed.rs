//! Reads a capture ahead of a sender, on a thread of its own: what can be sent goes into slabs with the time at which it
//! is due. A file of any size streams; a small one is kept after the first pass.

use super::fit::{Fit, LeftOut};
use super::reader::{CaptureError, Record, Records, link_name, words};
use super::reel::Reel;
use super::slab::{SLABS, Slab};
use crate::pace::{Timetable, Timing};
use crate::units::{FCS_BYTES, FrameSize, Nanos};
use std::fs::{self, File};
use std::io::{self, Seek};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes of frames that are kept for the passes behind the first: what a cache of the kernel would keep as well, and
/// needs no second parsing.
const KEPT_BYTES: usize = 64 << 20;
/// The same in frames, each of which also needs a note of its length and time.
const KEPT_FRAMES: usize = 1 << 20;

/// What is to be fed.
#[derive(Debug, Clone)]
pub struct Feeder {
    /// The capture.
    pub file: Arc<File>,
    /// By what its frames are timed.
    pub timing: Timing,
    /// What they must fit.
    pub fit: Fit,
    /// How often it is sent; 0 is without end.
    pub loops: u64,
    /// Frames to send; None without a limit.
    pub count: Option<u64>,
    /// Which queues they leave by.
    pub queues: Queues,
}

/// How the frames of a capture are spread over the queues of a sender.
#[derive(Debug, Clone, Copy)]
pub struct Queues {
    /// How many there are, at least 1.
    pub number: u16,
    /// What frames of one flow have in common: they leave by one queue, in their order.
    pub flow: fn(&[u8]) -> u64,
}

impl Queues {
    #[expect(clippy::cast_possible_truncation, reason = "a remainder of a u16")]
    fn of(self, frame: &[u8]) -> u16 {
        if self.number <= 1 { 0 } else { ((self.flow)(frame) % u64::from(self.number)) as u16 }
    }
}

/// What a capture turned out to hold. Records are those of one pass, as far as they were read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Frames that can be sent.
    pub frames: u64,
    /// Their bytes, with padding and FCS.
    pub bytes: u64,
    /// Whether that is all of it.
    pub whole: bool,
    /// Records cut by the capture's snap length.
    pub snapped: u64,
    /// Frames above the interface's MTU.
    pub above_mtu: u64,
    /// Frames above one chunk.
    pub above_chunk: u64,
    /// Frames that are none of Ethernet: of another link type, or without a whole header.
    pub foreign: u64,
    /// Frames whose time lies before that of the one in front of them.
    pub back: u64,
    /// Frames without a time.
    pub untimed: u64,
    /// Why reading ended early.
    pub broken: Option<CaptureError>,
}

impl Tally {
    /// Frames that were left out.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.snapped + self.above_mtu + self.above_chunk + self.foreign
    }

    fn leave_out(&mut self, reason: LeftOut) {
        match reason {
            LeftOut::Snapped => self.snapped += 1,
            LeftOut::AboveMtu => self.above_mtu += 1,
            LeftOut::AboveChunk => self.above_chunk += 1,
            LeftOut::Foreign | LeftOut::NoHeader => self.foreign += 1,
        }
    }
}

/// Opens a capture.
///
/// # Errors
/// What cannot be opened, or is no regular file.
pub fn open(path: &Path) -> Result<File, CaptureError> {
    let io = |error: io::Error| CaptureError::Io(words(&error));
    // Before it is opened, which waits where it is a pipe.
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(CaptureError::NoFile);
    }
    File::open(path).map_err(io)
}

/// Looks at a capture's header and first record.
///
/// # Errors
/// Why no frame of it can be sent, as far as those tell.
pub fn look(path: &Path) -> Result<(), CaptureError> {
    let mut records = Records::new(open(path)?)?;
    match records.next(|record| record.foreign)? {
        None => Err(CaptureError::NoFrame),
        Some(Some(link)) => Err(CaptureError::LinkType(link_name(link))),
        Some(None) => Ok(()),
    }
}

impl Feeder {
    /// Starts reading; gives what each queue sends.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub fn start(self) -> io::Result<(Vec<Reel>, JoinHandle<Tally>)> {
        let (outs, mut reels): (Vec<_>, Vec<_>) =
            (0..self.queues.number.max(1)).map(|_| Out::to_reel()).unzip();
        let read = move || {
            let (table, left) = (Timetable::new(self.timing), self.count);
            Reading { table, feeder: self, tally: Tally::default(), outs, left }.run()
        };
        let thread = thread::Builder::new().name("capture".to_owned()).spawn(read)?;
        if let [only] = reels.as_mut_slice() {
            only.prime();
        }
        Ok((reels, thread))
    }
}

/// Where the frames of one queue go: slab by slab to its sender.
struct Out {
    slab: Option<Slab>,
    empty: Receiver<Slab>,
    full: SyncSender<Slab>,
}

impl Out {
    /// One with every slab, and the reel that its frames come out of.
    fn to_reel() -> (Self, Reel) {
        // No send on either of them ever waits: there are no more slabs.
        let (full, filled) = sync_channel(SLABS);
        let (used, empty) = sync_channel(SLABS);
        (0..SLABS).for_each(|_| drop(used.try_send(Slab::new())));
        (Self { slab: None, empty, full }, Reel::new(filled, used))
    }

    /// Adds a frame; breaks when the sender is gone.
    fn put(&mut self, frame: &[u8], at: Nanos) -> ControlFlow<()> {
        let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        loop {
            let slab = self.open()?;
            if slab.push(frame, FrameSize::MIN.in_memory(), wire_len, at) {
                break;
            }
            // A frame that a chunk holds fits any empty slab.
            if slab.is_empty() {
                return ControlFlow::Continue(());
            }
            self.hand_over()?;
        }
        ControlFlow::Continue(())
    }

    /// The slab that is being filled. Waits for one; breaks when the sender is gone.
    fn open(&mut self) -> ControlFlow<(), &mut Slab> {
        if self.slab.is_none() {
            let Ok(mut slab) = self.empty.recv() else { return ControlFlow::Break(()) };
            slab.clear();
            self.slab = Some(slab);
        }
        match &mut self.slab {
            Some(slab) => ControlFlow::Continue(slab),
            None => ControlFlow::Break(()),
        }
    }

    fn hand_over(&mut self) -> ControlFlow<()> {
        match self.slab.take().map(|slab| self.full.send(slab)) {
            Some(Err(_)) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Says when the replay is over.
    fn finish(&mut self, end: Nanos) {
        if let ControlFlow::Continue(slab) = self.open() {
            slab.end = Some(end);
            // A sender that is gone needs no end.
            let _ = self.hand_over();
        }
    }
}

/// Frames that are kept: their bytes back to back, and of each its length, time and queue.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    notes: Vec<(usize, Option<Nanos>, u16)>,
}

/// The thread's state.
struct Reading {
    feeder: Feeder,
    table: Timetable,
    tally: Tally,
    outs: Vec<Out>,
    /// Frames that are still to be sent; None without a limit.
    left: Option<u64>,
}

impl Reading {
    fn run(mut self) -> Tally {
        let mut kept = (self.feeder.loops != 1).then(Kept::default);
        let mut passes = 1;
        let mut flow = self.first_pass(&mut kept);
        while flow.is_continue() && self.tally.frames > 0 && passes != self.feeder.loops {
            self.table.again();
            flow = match &kept {
                Some(kept) => self.pass_from_memory(kept),
                None => self.pass_from_file(|reading, record| {
                    let queue = reading.feeder.queues.of(&record.bytes);
                    reading.send(&record.bytes, record.at, queue)
                }),
            };
            passes += 1;
        }
        let end = self.table.end();
        self.outs.iter_mut().for_each(|out| out.finish(end));
        self.tally
    }

    /// Reads, judges and counts every record.
    fn first_pass(&mut self, kept: &mut Option<Kept>) -> ControlFlow<()> {
        let flow = self.pass_from_file(|reading, record| {
            let len = record.bytes.len().max(FrameSize::MIN.in_memory());
            let queue = reading.feeder.queues.of(&record.bytes);
            reading.tally.frames += 1;
            reading.tally.bytes += len as u64 + u64::from(FCS_BYTES);
            if let Some(some) = kept {
                some.bytes.extend_from_slice(&record.bytes);
                some.notes.push((record.bytes.len(), record.at, queue));
                if some.bytes.len() > KEPT_BYTES || some.notes.len() > KEPT_FRAMES {
                    *kept = None;
                }
            }
            reading.send(&record.bytes, record.at, queue)
        });
        (self.tally.back, self.tally.untimed) = (self.table.back(), self.table.untimed());
        self.tally.whole = flow.is_continue();
        flow
    }

    /// Shows every record that can be sent to `visit`. A file that breaks off is sent up to there.
    fn pass_from_file(
        &mut self,
        mut visit: impl FnMut(&mut Self, &Record<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let first = self.tally.frames == 0;
        let file = Arc::clone(&self.feeder.file);
        let rewound = (&*file).rewind().map_err(|error| CaptureError::Io(words(&error)));
        let mut records = match rewound.and_then(|()| Records::new(file)) {
            Ok(records) => records,
            Err(error) => {
                self.tally.broken = Some(error);
                return ControlFlow::Break(());
            }
        };
        loop {
            let shown = records.next(|record| match self.feeder.fit.check(&record) {
                Ok(()) => visit(self, &record),
                Err(reason) if first => {
                    self.tally.leave_out(reason);
                    ControlFlow::Continue(())
                }
                Err(_) => ControlFlow::Continue(()),
            });
            match shown {
                Ok(Some(flow)) => flow?,
                Ok(None) => return ControlFlow::Continue(()),
                Err(error) => {
                    self.tally.broken = Some(error);
                    return ControlFlow::Continue(());
                }
            }
        }
    }

    fn pass_from_memory(&mut self, kept: &Kept) -> ControlFlow<()> {
        let mut rest = kept.bytes.as_slice();
        for (len, at, queue) in &kept.notes {
            let (frame, behind) = rest.split_at_checked(*len).unwrap_or((rest, &[]));
            self.send(frame, *at, *queue)?;
            rest = behind;
        }
        ControlFlow::Continue(())
    }

    /// Gives a frame to its queue; breaks when no more is wanted.
    fn send(&mut self, frame: &[u8], at: Option<Nanos>, queue: u16) -> ControlFlow<()> {
        let len = u32::try_from(frame.len().max(FrameSize::MIN.in_memory())).unwrap_or(u32::MAX);
        let due = self.table.due(at, len.saturating_add(FCS_BYTES));
        if let Some(out) = self.outs.get_mut(usize::from(queue)) {
            out.put(frame, due)?;
        }
        self.left = self.left.map(|left| left.saturating_sub(1));
        if self.left == Some(0) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests;
