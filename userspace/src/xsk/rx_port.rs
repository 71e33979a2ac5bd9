//! The receive port: frames are lent where they lie, those of several chunks put together first, and their chunks go
//! straight back to the fill ring.

use super::echo_port::{Pieces, XskEcho};
use super::errno::after_kick;
use super::open::{OpenError, Opened, SocketSpec};
use super::parts::Gather;
use crate::port::{PortError, RxDrops, RxFrame, RxPort};
use crate::sys::xdp_socket;
use std::os::fd::{AsRawFd, RawFd};
use xdp_prog::Stamp;
use xsk_rs::umem::frame::FrameDesc;
use xsk_rs::{CompQueue, FillQueue, RxQueue, TxQueue, Umem};

/// Receive side of one AF_XDP socket, which holds what else there is of it: see [`XskRx`] and [`XskBack`].
pub struct Receive<O> {
    rx: RxQueue,
    fill: FillQueue,
    other: O,
    umem: Umem,
    descs: Vec<FrameDesc>,
    /// Where frames of several chunks are put together; None where every frame has one.
    gather: Option<Gather>,
    /// Set by [`XskRx::busy_polling`]: the socket drives the NIC's polling itself.
    busy_poll: bool,
    /// Set by [`XskRx::stamped`]: what is added to a stamp.
    stamped: Option<i64>,
    spec: SocketSpec,
}

/// The receive side of a socket that nobody sends through.
pub type XskRx = Receive<(TxQueue, CompQueue)>;

/// The receive side of a socket whose transmit side is another port.
pub type XskBack = Receive<()>;

impl XskRx {
    pub(super) fn new(opened: Opened) -> Result<Self, OpenError> {
        let Opened { umem, chunks, tx, rx, fill, completions, spec } = opened;
        Self::of(umem, &chunks, (rx, fill), (tx, completions), spec)
    }

    /// The same socket as a port that sends received chunks back. Frames of several chunks must not come.
    #[must_use]
    pub fn into_echo(self) -> XskEcho {
        let Self { rx, fill, other: (tx, completions), umem, busy_poll, spec, .. } = self;
        XskEcho::new(Pieces { rx, fill, tx, completions, umem, busy_poll, spec })
    }
}

impl<O> Receive<O> {
    /// The receive side that receives into `chunks`.
    pub(super) fn of(
        umem: Umem,
        chunks: &[FrameDesc],
        (rx, mut fill): (RxQueue, FillQueue),
        other: O,
        spec: SocketSpec,
    ) -> Result<Self, OpenError> {
        // SAFETY: the chunks are of this UMEM, made for it just now, and given to no other ring or port.
        let given = unsafe { fill.produce(chunks) };
        if given < chunks.len() {
            return Err(OpenError::Refused {
                what: "filling the ring",
                why: "it does not hold every chunk".into(),
            });
        }
        // A call can visit a ring full of frames.
        let descs = vec![FrameDesc::default(); spec.ring as usize];
        let gather = spec.multi_buffer().then(|| Gather::new(spec.longest_frame as usize));
        let (busy_poll, stamped) = (false, None);
        Ok(Self { rx, fill, other, umem, descs, gather, busy_poll, stamped, spec })
    }

    /// The socket's descriptor, for options and maps; owned by the port.
    #[must_use]
    pub fn fd(&self) -> RawFd {
        self.rx.fd().as_raw_fd()
    }

    /// Makes every empty `recv` drive the NIC's polling, as a socket with SO_PREFER_BUSY_POLL must.
    pub fn busy_polling(&mut self, on: bool) {
        self.busy_poll = on;
    }

    /// Says that each frame has a [`Stamp`] in front of it, which is taken off; Some(ns) is added to its time, and leads from
    /// the kernel's clock to CLOCK_MONOTONIC of this time namespace.
    pub fn stamped(&mut self, offset_ns: Option<i64>) {
        self.stamped = offset_ns;
    }

    /// Gives the first `n` chunks of `descs` back and wakes the driver where it waits for them.
    fn give_back(&mut self, n: usize) -> Result<(), PortError> {
        let Some(used) = self.descs.get(..n) else { return Ok(()) };
        // SAFETY: these descriptors were received just now from this socket, and the frames' borrows have ended.
        let given = unsafe { self.fill.produce(used) };
        if given < n {
            return Err(PortError::Other {
                what: "the fill ring",
                why: "it has no room for a chunk of its own".into(),
            });
        }
        let asleep = self.spec.need_wakeup && self.fill.needs_wakeup();
        if asleep || (self.busy_poll && n == 0) { after_kick(xdp_socket::kick_rx(self.fd())) } else { Ok(()) }
    }

    /// As [`RxPort::recv`], where frames may have several chunks: more descriptors are taken until there are `max` frames or
    /// no descriptor is left. What has come of a frame is kept for the next call.
    fn recv_gathered(&mut self, max: usize, visit: &mut impl FnMut(RxFrame<'_>)) -> Result<usize, PortError> {
        let mut frames = 0;
        loop {
            let Self { descs, rx, umem, gather: Some(gather), stamped, .. } = self else { return Ok(0) };
            let asked = (max - frames).min(descs.len());
            let Some(descs) = descs.get_mut(..asked) else { return Ok(frames) };
            // SAFETY: the descriptors are overwritten with what the kernel received into this UMEM, and leave this
            // port only as the chunks that `give_back` returns.
            let n = unsafe { rx.consume(descs) };
            for desc in descs.iter().take(n) {
                // SAFETY: the kernel has handed this chunk over and does not write to it before it is given back below.
                let data = unsafe { umem.data(desc) };
                if let Some(bytes) = gather.add(data.contents(), desc.has_more_frames()) {
                    visit(frame(bytes, *stamped));
                    frames += 1;
                }
            }
            self.give_back(n)?;
            if n < asked || frames >= max {
                return Ok(frames);
            }
        }
    }
}

/// The frame within `bytes`, with the times that stand in front of it.
#[inline]
fn frame(bytes: &[u8], stamped: Option<i64>) -> RxFrame<'_> {
    let Some((offset_ns, (stamp, bytes))) = stamped.zip(Stamp::split(bytes)) else {
        return RxFrame { bytes, wire_len: bytes.len(), xdp_ns: None, nic_ns: None };
    };
    let xdp_ns = Some(stamp.xdp_ns.wrapping_add_signed(offset_ns));
    RxFrame { bytes, wire_len: bytes.len(), xdp_ns, nic_ns: stamp.nic_ns }
}

impl<O> RxPort for Receive<O> {
    fn recv(&mut self, max: usize, mut visit: impl FnMut(RxFrame<'_>)) -> Result<usize, PortError> {
        if self.gather.is_some() {
            return self.recv_gathered(max, &mut visit);
        }
        let max = max.min(self.descs.len());
        let Some(descs) = self.descs.get_mut(..max) else { return Ok(0) };
        // SAFETY: the descriptors are overwritten with what the kernel received into this UMEM, and leave this port
        // only as the chunks that `give_back` returns.
        let n = unsafe { self.rx.consume(descs) };
        for desc in descs.iter().take(n) {
            // SAFETY: the kernel has handed this chunk over and does not write to it before it is given back below.
            let data = unsafe { self.umem.data(desc) };
            visit(frame(data.contents(), self.stamped));
        }
        self.give_back(n)?;
        Ok(n)
    }

    fn drops(&self) -> Option<RxDrops> {
        let stats = self.rx.fd().xdp_statistics().ok()?;
        let too_long = self.gather.as_ref().map_or(0, Gather::too_long);
        Some(RxDrops {
            dropped: stats.rx_dropped() + too_long,
            ring_full: stats.rx_ring_full(),
            fill_ring_empty: stats.rx_fill_ring_empty_descs(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_taken_off_only_where_there_is_one() {
        let bytes = [&1_000_u64.to_ne_bytes()[..], &5_u64.to_ne_bytes(), &[7; 60]].concat();
        let stamped = frame(&bytes, Some(-200));
        assert_eq!((stamped.xdp_ns, stamped.nic_ns), (Some(800), Some(5)));
        assert_eq!((stamped.bytes, stamped.wire_len), (&[7; 60][..], 60));
        let bare = frame(&bytes, None);
        assert_eq!((bare.bytes, bare.wire_len, bare.xdp_ns, bare.nic_ns), (&bytes[..], 76, None, None));
    }
}
