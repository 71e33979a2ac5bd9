//! The seam: how the engines send and receive frames without knowing what carries them. Bytes cross it,
//! descriptors never do.

pub mod relay;

use crate::units::Nanos;
use thiserror::Error;

/// Index of a stable chunk of the sender's memory: the same slot always means the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot(pub u32);

/// Why a port could not go on. Errors of the kernel are mapped to these once, inside the port.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PortError {
    /// The interface is administratively down or without carrier; it may come back.
    #[error("the link is down")]
    LinkDown,
    /// The interface was removed or the socket lost its device; nothing more will come.
    #[error("the interface is gone")]
    Gone,
    /// The link is up and the driver completes nothing.
    #[error("the driver completed nothing for {} s", .0.as_secs_f64())]
    Stalled(Nanos),
    /// Anything else, in words; `what` names the operation.
    #[error("{what}: {why}")]
    Other {
        /// The operation that failed.
        what: &'static str,
        /// The kernel's reason, in words.
        why: String,
    },
}

/// What became of one submitted frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The slot that the frame was written into, or that it travelled as.
    pub slot: Slot,
}

/// What to send next: the port asks, the source answers and writes.
pub trait Source {
    /// Length in bytes (without FCS) of the next frame, or None when nothing is left to send.
    fn next_len(&mut self) -> Option<usize>;
    /// Writes the next frame into `buf`, which is exactly as long as `next_len` said. `buf` still holds what was
    /// last written to `slot`, so only what changed needs to be written.
    fn write(&mut self, slot: Slot, buf: &mut [u8]);
    /// The frame that was just written into a slot from which it is copied travels as another one: [`Done`] will name
    /// that.
    fn travels_as(&mut self, _slot: Slot) {}
}

/// Where frames leave.
pub trait TxPort {
    /// Submits up to `max` frames asked of `source`; returns how many. Fewer means that chunks or ring entries
    /// ran out, or that the source did.
    fn send(&mut self, max: usize, source: &mut impl Source) -> Result<usize, PortError>;
    /// Tells the driver to look at the ring, if it needs to be told.
    fn kick(&mut self) -> Result<(), PortError>;
    /// Takes completions back; `done` is called for each. Returns how many.
    fn reclaim(&mut self, done: impl FnMut(Done)) -> usize;
    /// How many frames could be submitted now, whatever their length.
    fn room(&mut self) -> usize;
    /// Frames submitted and not completed; on kernels that keep descriptors that they refuse, those as well.
    fn in_flight(&self) -> usize;
    /// Descriptors that the kernel refused as invalid so far.
    fn invalid(&self) -> u64;
}

/// One received frame, lent for the length of a call.
#[derive(Debug, Clone, Copy)]
pub struct RxFrame<'a> {
    /// The bytes from the first of the destination MAC on, without FCS.
    pub bytes: &'a [u8],
    /// Length on the wire without FCS; more than `bytes.len()` when the port delivers a prefix only.
    pub wire_len: usize,
    /// When the XDP program saw it (CLOCK_MONOTONIC), where known.
    pub xdp_ns: Option<u64>,
    /// When the NIC received it, where known.
    pub nic_ns: Option<u64>,
}

/// Frames that a receive port's carrier dropped so far, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RxDrops {
    /// No chunk to put the frame in, or the frame did not fit one.
    pub dropped: u64,
    /// No entry left in the receive ring.
    pub ring_full: u64,
    /// Times the fill ring was found empty: the cause of (part of) `dropped`, not further frames.
    pub fill_ring_empty: u64,
}

impl RxDrops {
    /// Frames dropped in all.
    #[must_use]
    pub fn frames(self) -> u64 {
        self.dropped.saturating_add(self.ring_full)
    }

    /// What was added since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            dropped: self.dropped.saturating_sub(before.dropped),
            ring_full: self.ring_full.saturating_sub(before.ring_full),
            fill_ring_empty: self.fill_ring_empty.saturating_sub(before.fill_ring_empty),
        }
    }

    /// The sum of two ports.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            dropped: self.dropped + other.dropped,
            ring_full: self.ring_full + other.ring_full,
            fill_ring_empty: self.fill_ring_empty + other.fill_ring_empty,
        }
    }
}

/// Where frames arrive.
pub trait RxPort {
    /// Visits up to `max` frames that have arrived, and gives their chunks back; returns how many.
    fn recv(&mut self, max: usize, visit: impl FnMut(RxFrame<'_>)) -> Result<usize, PortError>;
    /// What was dropped in front of this port so far; None when it cannot be read.
    fn drops(&self) -> Option<RxDrops>;
}

/// What becomes of a received frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forward {
    /// It leaves again, as it lies there now.
    Send,
    /// It ends here.
    Drop,
}

/// Where frames arrive and leave again, each in the memory that it came in.
pub trait EchoPort {
    /// Lends up to `max` frames that have arrived to `edit`, which also hears whether there is room for one more to
    /// leave; without room none does. Returns how many arrived.
    fn turn(&mut self, max: usize, edit: impl FnMut(&mut [u8], bool) -> Forward) -> Result<usize, PortError>;
    /// Tells the driver to look at the rings, if it needs to be told.
    fn kick(&mut self) -> Result<(), PortError>;
    /// Takes back what has left; returns how many frames.
    fn reclaim(&mut self) -> Result<usize, PortError>;
    /// Frames given to the driver that have not come back.
    fn in_flight(&self) -> usize;
    /// What was dropped in front of this port so far; None when it cannot be read.
    fn drops(&self) -> Option<RxDrops>;
}
