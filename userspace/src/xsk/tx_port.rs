//! The transmit port: chunks are lent to the source, submitted, kicked, and taken back on completion. A frame of several
//! chunks is written in one piece and copied into them.

use super::chunk_holds;
use super::errno::after_kick;
use super::open::{Opened, SocketSpec};
use super::parts::{CONTINUED, Ends, parts};
use crate::port::{Done, PortError, Slot, Source, TxPort};
use crate::sys::xdp_socket;
use std::os::fd::{AsRawFd, RawFd};
use xsk_rs::umem::frame::FrameDesc;
use xsk_rs::{CompQueue, FillQueue, RxQueue, TxQueue, Umem};

/// Transmit side of one AF_XDP socket.
pub struct XskTx {
    // The rings are declared before the memory that they describe; xsk-rs keeps both alive until the last is dropped.
    tx: TxQueue,
    completions: CompQueue,
    /// The other side, where nobody else has it.
    _other: Option<(RxQueue, FillQueue)>,
    umem: Umem,
    free: Vec<FrameDesc>,
    staged: Vec<FrameDesc>,
    returned: Vec<FrameDesc>,
    /// Frames under way.
    in_flight: usize,
    /// What frames of several chunks need; None where every frame has one.
    several: Option<Several>,
    spec: SocketSpec,
}

/// Where frames of several chunks are written, and which chunks end them.
struct Several {
    scratch: Vec<u8>,
    /// The slot that `scratch` is: behind those of the chunks.
    slot: Slot,
    ends: Ends,
    /// Chunks that the longest frame takes, and bytes that each holds.
    chunks: usize,
    room: usize,
}

impl Several {
    fn new(spec: &SocketSpec) -> Self {
        Self {
            scratch: vec![0; spec.longest_frame as usize],
            slot: Slot(spec.chunks),
            ends: Ends::new(spec.chunks as usize),
            chunks: spec.chunks_a_frame() as usize,
            room: chunk_holds(spec.chunk_bytes) as usize,
        }
    }
}

impl XskTx {
    pub(super) fn new(opened: Opened) -> Self {
        let Opened { umem, chunks, tx, rx, fill, completions, spec } = opened;
        Self::of(umem, chunks, (tx, completions), Some((rx, fill)), spec)
    }

    /// The transmit side that sends from `chunks`.
    pub(super) fn of(
        umem: Umem,
        chunks: Vec<FrameDesc>,
        (tx, completions): (TxQueue, CompQueue),
        other: Option<(RxQueue, FillQueue)>,
        spec: SocketSpec,
    ) -> Self {
        Self {
            tx,
            completions,
            _other: other,
            umem,
            staged: Vec::with_capacity(chunks.len()),
            // A call can take a ring full of completions.
            returned: vec![FrameDesc::default(); spec.ring as usize],
            free: chunks,
            in_flight: 0,
            several: spec.multi_buffer().then(|| Several::new(&spec)),
            spec,
        }
    }

    /// The socket's descriptor, for options and maps; owned by the port.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.tx.fd().as_raw_fd()
    }

    /// Slots are numbered below this.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.several.as_ref().map_or(self.spec.chunks, |several| several.slot.0 + 1)
    }

    /// Descriptors that a frame takes at the most.
    #[must_use]
    pub fn chunks_a_frame(&self) -> u32 {
        self.spec.chunks_a_frame()
    }

    /// Whether entries of the ring wait for the kernel to read them.
    fn ring_holds_frames(&mut self) -> bool {
        self.tx.nb_free_exact() < self.spec.ring
    }

    /// Lends one chunk to the source and stages its descriptor.
    fn stage(&mut self, len: usize, source: &mut impl Source) -> Result<(), PortError> {
        let Some(mut desc) = self.free.pop() else { return Ok(()) };
        let slot = slot_of(&desc, self.spec.chunk_bytes);
        // SAFETY: the descriptor came from this UMEM's own free list, so neither the kernel nor another descriptor
        // refers to its chunk until it is submitted.
        let mut data = unsafe { self.umem.data_mut(&mut desc) };
        data.cursor().set_pos(len);
        let buf = data.contents_mut();
        if buf.len() != len {
            self.free.push(desc);
            return Err(unfit(len, "a chunk"));
        }
        source.write(slot, buf);
        self.staged.push(desc);
        Ok(())
    }

    /// Stages frames of one chunk each; returns how many.
    fn stage_single(&mut self, max: usize, source: &mut impl Source) -> Result<usize, PortError> {
        let wanted = max.min(self.free.len());
        let room = self.tx.nb_free(u32::try_from(wanted).unwrap_or(u32::MAX)) as usize;
        for _ in 0..wanted.min(room) {
            let Some(len) = source.next_len() else { break };
            self.stage(len, source)?;
        }
        Ok(self.staged.len())
    }

    /// Stages frames of several chunks; returns how many. The source is asked only for what has room as a whole, whatever
    /// its length.
    fn stage_several(&mut self, max: usize, source: &mut impl Source) -> Result<usize, PortError> {
        let Some(chunks) = self.several.as_ref().map(|several| several.chunks) else { return Ok(0) };
        let wanted = max.min(self.free.len() / chunks);
        let room = self.tx.nb_free(u32::try_from(wanted * chunks).unwrap_or(u32::MAX)) as usize;
        for staged in 0..wanted.min(room / chunks) {
            let Some(len) = source.next_len() else { return Ok(staged) };
            self.scatter(len, source)?;
        }
        Ok(wanted.min(room / chunks))
    }

    /// Lends the scratch to the source, and stages what was written in as many chunks as it takes.
    fn scatter(&mut self, len: usize, source: &mut impl Source) -> Result<(), PortError> {
        let Self { several: Some(several), free, staged, umem, spec, .. } = self else { return Ok(()) };
        let Some(frame) = several.scratch.get_mut(..len).filter(|frame| !frame.is_empty()) else {
            return Err(unfit(len, "the socket's longest frame"));
        };
        source.write(several.slot, frame);
        for (part, continued) in parts(len, several.room) {
            let (Some(bytes), Some(mut desc)) = (frame.get(part), free.pop()) else {
                return Err(unfit(len, "the free chunks"));
            };
            several.ends.note(chunk_of(&desc, spec.chunk_bytes), !continued);
            desc.set_options(if continued { CONTINUED } else { 0 });
            // SAFETY: the descriptor came from this UMEM's own free list, so neither the kernel nor another
            // descriptor refers to its chunk until it is submitted.
            let mut data = unsafe { umem.data_mut(&mut desc) };
            data.cursor().set_pos(bytes.len());
            let place = data.contents_mut();
            if place.len() != bytes.len() {
                return Err(unfit(bytes.len(), "a chunk"));
            }
            place.copy_from_slice(bytes);
            if !continued {
                source.travels_as(slot_of(&desc, spec.chunk_bytes));
            }
            staged.push(desc);
        }
        Ok(())
    }
}

#[cold]
fn unfit(len: usize, what: &str) -> PortError {
    PortError::Other { what: "building a frame", why: format!("{len} bytes do not fit {what}") }
}

fn chunk_of(desc: &FrameDesc, chunk_bytes: u32) -> usize {
    desc.addr() / chunk_bytes as usize
}

#[expect(clippy::cast_possible_truncation, reason = "chunks are numbered by u32")]
fn slot_of(desc: &FrameDesc, chunk_bytes: u32) -> Slot {
    Slot(chunk_of(desc, chunk_bytes) as u32)
}

impl TxPort for XskTx {
    fn send(&mut self, max: usize, source: &mut impl Source) -> Result<usize, PortError> {
        self.staged.clear();
        let frames = match self.several {
            None => self.stage_single(max, source)?,
            Some(_) => self.stage_several(max, source)?,
        };
        // SAFETY: every staged descriptor names a chunk of this socket's UMEM that was on the free list, and is
        // forgotten here once the kernel has it.
        let sent = unsafe { self.tx.produce(&self.staged) };
        // `produce` takes all or nothing, and `nb_free` has promised the room.
        if sent < self.staged.len() {
            return Err(PortError::Other {
                what: "the transmit ring",
                why: "it has less room than it said".into(),
            });
        }
        self.in_flight += frames;
        Ok(frames)
    }

    fn kick(&mut self) -> Result<(), PortError> {
        let asked = !self.spec.need_wakeup || self.tx.needs_wakeup();
        if asked && self.ring_holds_frames() { after_kick(xdp_socket::kick_tx(self.fd())) } else { Ok(()) }
    }

    fn reclaim(&mut self, mut done: impl FnMut(Done)) -> usize {
        // SAFETY: `returned` is only read below, and each address that the kernel completes is one of this UMEM.
        let n = unsafe { self.completions.consume(&mut self.returned) };
        let returned = self.returned.iter().take(n);
        let frames = match &mut self.several {
            None => {
                returned.for_each(|desc| {
                    done(Done { slot: slot_of(desc, self.spec.chunk_bytes) });
                    self.free.push(*desc);
                });
                n
            }
            // A frame has left when its last chunk has: the kernel and drivers complete in the order of the ring.
            Some(several) => {
                let ended = returned.filter(|desc| {
                    self.free.push(**desc);
                    several.ends.take(chunk_of(desc, self.spec.chunk_bytes))
                });
                ended.map(|desc| done(Done { slot: slot_of(desc, self.spec.chunk_bytes) })).count()
            }
        };
        self.in_flight = self.in_flight.saturating_sub(frames);
        frames
    }

    fn room(&mut self) -> usize {
        let chunks = self.several.as_ref().map_or(1, |several| several.chunks);
        let free = u32::try_from(self.free.len()).unwrap_or(u32::MAX);
        self.tx.nb_free(free).min(free) as usize / chunks
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn invalid(&self) -> u64 {
        self.tx.fd().xdp_statistics().map_or(0, |s| s.tx_invalid_descs())
    }
}
