//! The transmit port: chunks are lent to the source, submitted, kicked, and taken back on completion.

use super::errno::after_kick;
use super::open::{Opened, SocketSpec};
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
    _rx: RxQueue,
    _fill: FillQueue,
    umem: Umem,
    free: Vec<FrameDesc>,
    staged: Vec<FrameDesc>,
    returned: Vec<FrameDesc>,
    in_flight: usize,
    spec: SocketSpec,
}

impl XskTx {
    pub(super) fn new(opened: Opened) -> Self {
        let Opened { umem, chunks, tx, rx, fill, completions, spec } = opened;
        Self {
            tx,
            completions,
            _rx: rx,
            _fill: fill,
            umem,
            staged: Vec::with_capacity(chunks.len()),
            // A call can take a ring full of completions.
            returned: vec![FrameDesc::default(); spec.ring as usize],
            free: chunks,
            in_flight: 0,
            spec,
        }
    }

    /// The socket's descriptor, for options and maps; owned by the port.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.tx.fd().as_raw_fd()
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
            return Err(PortError::Other {
                what: "building a frame",
                why: format!("{len} bytes do not fit a chunk"),
            });
        }
        source.write(slot, buf);
        self.staged.push(desc);
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "chunks are numbered by u32")]
fn slot_of(desc: &FrameDesc, chunk_bytes: u32) -> Slot {
    Slot((desc.addr() / chunk_bytes as usize) as u32)
}

impl TxPort for XskTx {
    fn send(&mut self, max: usize, source: &mut impl Source) -> Result<usize, PortError> {
        let wanted = max.min(self.free.len());
        let room = self.tx.nb_free(u32::try_from(wanted).unwrap_or(u32::MAX)) as usize;
        self.staged.clear();
        for _ in 0..wanted.min(room) {
            let Some(len) = source.next_len() else { break };
            self.stage(len, source)?;
        }
        // SAFETY: every staged descriptor names a chunk of this socket's UMEM that was on the free list, and is
        // forgotten here once the kernel has it.
        let sent = unsafe { self.tx.produce(&self.staged) };
        self.in_flight += sent;
        // `produce` takes all or nothing, and `nb_free` has promised the room.
        if sent < self.staged.len() {
            return Err(PortError::Other {
                what: "the transmit ring",
                why: "it has less room than it said".into(),
            });
        }
        Ok(sent)
    }

    fn kick(&mut self) -> Result<(), PortError> {
        let asked = !self.spec.need_wakeup || self.tx.needs_wakeup();
        if asked && self.ring_holds_frames() { after_kick(xdp_socket::kick_tx(self.fd())) } else { Ok(()) }
    }

    fn reclaim(&mut self, mut done: impl FnMut(Done)) -> usize {
        // SAFETY: `returned` is only read below, and each address that the kernel completes is one of this UMEM.
        let n = unsafe { self.completions.consume(&mut self.returned) };
        for desc in self.returned.iter().take(n) {
            done(Done { slot: slot_of(desc, self.spec.chunk_bytes) });
            self.free.push(*desc);
        }
        self.in_flight = self.in_flight.saturating_sub(n);
        n
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn invalid(&self) -> u64 {
        self.tx.fd().xdp_statistics().map_or(0, |s| s.tx_invalid_descs())
    }
}
