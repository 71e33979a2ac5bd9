//! AF_XDP sockets over xsk-rs: packet memory, the four rings, and the ports over them. Descriptors never leave this
//! room. It knows no frame format, no run and no Report.
//!
//! Source for the behaviour relied on: the kernel's `Documentation/networking/af_xdp.rst` and `net/xdp/xsk.c`.
#![allow(
    unsafe_code,
    reason = "xsk-rs' rings and packet memory are unsafe to touch; each block names its invariant"
)]

mod echo_port;
mod errno;
mod open;
mod parts;
mod rx_port;
mod tx_port;

pub use echo_port::XskEcho;
pub use open::{BindMode, OpenError, Opened, SocketSpec, open};
pub use rx_port::{XskBack, XskRx};
pub use tx_port::XskTx;

use crate::units::CHUNK_HOLDS_BYTES;

/// Bytes in front of the packet in each chunk: the kernel's XDP_PACKET_HEADROOM (`include/uapi/linux/bpf.h`).
pub const XDP_HEADROOM_BYTES: u32 = 256;
/// The smallest chunk that the kernel accepts (`net/xdp/xdp_umem.c`).
pub const MIN_CHUNK_BYTES: u32 = 2048;
/// The largest chunk that an aligned UMEM may have: one page of 4 KiB.
pub const MAX_CHUNK_BYTES: u32 = 4096;

// What users are told of a frame's size rests on the same figure.
const _: () = assert!(CHUNK_HOLDS_BYTES == MAX_CHUNK_BYTES - XDP_HEADROOM_BYTES);

/// Bytes of a frame that a chunk of `chunk_bytes` holds.
#[must_use]
pub const fn chunk_holds(chunk_bytes: u32) -> u32 {
    chunk_bytes.saturating_sub(XDP_HEADROOM_BYTES)
}

/// The smallest chunk that holds a frame of `frame_bytes` (without FCS); the largest where none does, of which the
/// frame then takes several.
#[must_use]
pub fn chunk_for(frame_bytes: u32) -> u32 {
    let holds = |chunk: &u32| chunk_holds(*chunk) >= frame_bytes;
    [MIN_CHUNK_BYTES, MAX_CHUNK_BYTES].into_iter().find(holds).unwrap_or(MAX_CHUNK_BYTES)
}

/// Chunks of `chunk_bytes` that a frame of `frame_bytes` (without FCS) takes; one at the least.
#[must_use]
pub fn chunks_for(frame_bytes: u32, chunk_bytes: u32) -> u32 {
    frame_bytes.div_ceil(chunk_holds(chunk_bytes).max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::FrameSize;

    /// Fragments of one packet, beside its head: the smallest that a kernel can be built with
    /// (CONFIG_MAX_SKB_FRAGS, `net/Kconfig`).
    const MAX_SKB_FRAGS: u32 = 17;

    #[test]
    fn the_smallest_chunk_that_holds_frame_and_headroom() {
        assert_eq!(chunk_for(60), 2048);
        assert_eq!(chunk_for(1792), 2048);
        assert_eq!(chunk_for(1793), 4096);
        assert_eq!(chunk_for(3840), 4096);
        assert_eq!((chunk_for(3841), chunk_for(u32::MAX)), (4096, 4096));
    }

    #[test]
    fn chunks_of_a_frame() {
        assert_eq!((chunks_for(0, 2048), chunks_for(60, 2048), chunks_for(1793, 2048)), (1, 1, 2));
        assert_eq!((chunks_for(3840, 4096), chunks_for(3841, 4096), chunks_for(9014, 4096)), (1, 2, 3));
        assert_eq!(chunks_for(u32::MAX, 0), u32::MAX);
    }

    #[test]
    fn the_longest_frame_takes_fewer_chunks_than_the_kernel_puts_into_one_packet() {
        assert!(FrameSize::MAX.chunks() <= MAX_SKB_FRAGS);
    }
}
