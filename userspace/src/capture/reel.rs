//! The sender's end of a replay: frames in their order, each with the time at which it is due. Taking one allocates
//! nothing, waits for nothing and reads no file.

use super::slab::Slab;
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A frame of so many bytes in memory, due so long after the first.
    Frame(usize, Nanos),
    /// Nothing yet: whoever reads the file is behind.
    Waiting,
    /// Nothing any more; the last frame's slot is over so long after the first frame.
    Over(Nanos),
}

/// Frames of a replay, as they are read ahead by a [`super::Feeder`].
#[derive(Debug)]
pub struct Reel {
    slab: Option<Slab>,
    /// The next frame in it.
    next: usize,
    end: Option<Nanos>,
    full: Receiver<Slab>,
    empty: SyncSender<Slab>,
}

impl Reel {
    /// A reel whose slabs come by `full` and go back by `empty`.
    pub(super) const fn new(full: Receiver<Slab>, empty: SyncSender<Slab>) -> Self {
        Self { slab: None, next: 0, end: None, full, empty }
    }

    /// Waits for the first slab, so that a run does not begin behind its own schedule. Only where no other reel must
    /// be emptied meanwhile: whoever fills them waits for any that is full.
    pub fn prime(&mut self) {
        if self.slab.is_none() {
            self.slab = self.full.recv().ok();
        }
    }

    /// What comes next.
    pub fn peek(&mut self) -> Next {
        loop {
            if let Some((mark, _)) = self.slab.as_ref().and_then(|slab| slab.frame(self.next)) {
                return Next::Frame(mark.len as usize, mark.at);
            }
            if let Some(end) = self.end {
                return Next::Over(end);
            }
            self.turn_over();
            match self.full.try_recv() {
                Ok(slab) => self.slab = Some(slab),
                Err(TryRecvError::Empty) if self.end.is_none() => return Next::Waiting,
                // After the end nothing comes; before it, the reader is gone, and says itself why.
                Err(_) => self.end = Some(self.end.unwrap_or_default()),
            }
        }
    }

    /// Gives the slab back that is used up.
    fn turn_over(&mut self) {
        if let Some(used) = self.slab.take() {
            self.next = 0;
            self.end = used.end;
            // Who fills it may have ended.
            let _ = self.empty.try_send(used);
        }
    }

    /// Copies the next frame into `buf`, which is as long as [`Reel::peek`] said.
    pub fn take(&mut self, buf: &mut [u8]) {
        if let Some((_, bytes)) = self.slab.as_ref().and_then(|slab| slab.frame(self.next))
            && bytes.len() == buf.len()
        {
            buf.copy_from_slice(bytes);
        }
        self.next += 1;
    }
}
