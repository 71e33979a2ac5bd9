//! The echoing port: a received chunk goes to the transmit ring of the same socket, and back to the fill ring once it has
//! left. Frames of several chunks have no place in it.

use super::errno::after_kick;
use super::open::SocketSpec;
use crate::port::{EchoPort, Forward, PortError, RxDrops};
use crate::sys::xdp_socket;
use std::os::fd::AsRawFd;
use xsk_rs::umem::frame::FrameDesc;
use xsk_rs::{CompQueue, FillQueue, RxQueue, TxQueue, Umem};

/// Both sides of one AF_XDP socket, over one packet memory.
pub struct XskEcho {
    rx: RxQueue,
    fill: FillQueue,
    tx: TxQueue,
    completions: CompQueue,
    umem: Umem,
    /// What was received in this turn, and of it what leaves and what stays.
    received: Vec<FrameDesc>,
    leaving: Vec<FrameDesc>,
    staying: Vec<FrameDesc>,
    returned: Vec<FrameDesc>,
    in_flight: usize,
    busy_poll: bool,
    spec: SocketSpec,
}

/// The pieces of a receive port, every chunk of which is on the fill ring or in the receive ring.
pub(super) struct Pieces {
    pub(super) rx: RxQueue,
    pub(super) fill: FillQueue,
    pub(super) tx: TxQueue,
    pub(super) completions: CompQueue,
    pub(super) umem: Umem,
    pub(super) busy_poll: bool,
    pub(super) spec: SocketSpec,
}

impl XskEcho {
    pub(super) fn new(pieces: Pieces) -> Self {
        let Pieces { rx, fill, tx, completions, umem, busy_poll, spec } = pieces;
        let ring = spec.ring as usize;
        Self {
            rx,
            fill,
            tx,
            completions,
            umem,
            received: vec![FrameDesc::default(); ring],
            leaving: Vec::with_capacity(ring),
            staying: Vec::with_capacity(ring),
            returned: vec![FrameDesc::default(); ring],
            in_flight: 0,
            busy_poll,
            spec,
        }
    }
}

#[cold]
fn no_room(what: &'static str) -> PortError {
    PortError::Other { what, why: "it has less room than it said".into() }
}

impl EchoPort for XskEcho {
    fn turn(
        &mut self,
        max: usize,
        mut edit: impl FnMut(&mut [u8], bool) -> Forward,
    ) -> Result<usize, PortError> {
        let max = max.min(self.received.len());
        let Some(received) = self.received.get_mut(..max) else { return Ok(0) };
        // SAFETY: the descriptors are overwritten with what the kernel received into this UMEM, and leave this port only
        // as the chunks that are given to one of its own rings below, each to exactly one.
        let n = unsafe { self.rx.consume(received) };
        if n == 0 {
            return Ok(0);
        }
        let room = self.tx.nb_free(u32::try_from(n).unwrap_or(u32::MAX)) as usize;
        self.leaving.clear();
        self.staying.clear();
        for desc in received.iter_mut().take(n) {
            // SAFETY: the kernel has handed this chunk over and does not touch it before it is given back below.
            let mut data = unsafe { self.umem.data_mut(desc) };
            let fits = self.leaving.len() < room;
            let verdict = edit(data.contents_mut(), fits);
            let to = if verdict == Forward::Send && fits { &mut self.leaving } else { &mut self.staying };
            to.push(*desc);
        }
        // SAFETY: these chunks were received just now from this socket, and the frames' borrows have ended.
        let (sent, given) = unsafe { (self.tx.produce(&self.leaving), self.fill.produce(&self.staying)) };
        if sent < self.leaving.len() {
            return Err(no_room("the transmit ring"));
        }
        if given < self.staying.len() {
            return Err(no_room("the fill ring"));
        }
        self.in_flight += sent;
        Ok(n)
    }

    fn kick(&mut self) -> Result<(), PortError> {
        let asked = !self.spec.need_wakeup || self.tx.needs_wakeup();
        if self.in_flight > 0 && asked && self.tx.nb_free_exact() < self.spec.ring {
            after_kick(xdp_socket::kick_tx(self.tx.fd().as_raw_fd()))?;
        }
        let asleep = self.spec.need_wakeup && self.fill.needs_wakeup();
        if asleep || self.busy_poll {
            after_kick(xdp_socket::kick_rx(self.rx.fd().as_raw_fd()))
        } else {
            Ok(())
        }
    }

    fn reclaim(&mut self) -> Result<usize, PortError> {
        if self.in_flight == 0 {
            return Ok(0);
        }
        // SAFETY: each address that the kernel completes is a chunk of this UMEM, which it has let go of.
        let n = unsafe { self.completions.consume(&mut self.returned) };
        let Some(returned) = self.returned.get(..n) else { return Ok(0) };
        // SAFETY: these chunks have left and are in no other ring.
        let given = unsafe { self.fill.produce(returned) };
        self.in_flight = self.in_flight.saturating_sub(n);
        if given < n { Err(no_room("the fill ring")) } else { Ok(n) }
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn drops(&self) -> Option<RxDrops> {
        let stats = self.rx.fd().xdp_statistics().ok()?;
        Some(RxDrops {
            dropped: stats.rx_dropped(),
            ring_full: stats.rx_ring_full(),
            fill_ring_empty: stats.rx_fill_ring_empty_descs(),
        })
    }
}
