//! AF_XDP sockets over xsk-rs: packet memory, the four rings, and the ports over them. Descriptors never leave this
//! room. It knows no frame format, no run and no Report.
//!
//! Source for the behaviour relied on: the kernel's `Documentation/networking/af_xdp.rst` and `net/xdp/xsk.c`.
#![allow(
    unsafe_code,
    reason = "xsk-rs' rings and packet memory are unsafe to touch; each block names its invariant"
)]

mod errno;
mod open;
mod rx_port;
mod tx_port;

pub use open::{BindMode, OpenError, Opened, SocketSpec, open};
pub use rx_port::XskRx;
pub use tx_port::XskTx;

/// Bytes in front of the packet in each chunk: the kernel's XDP_PACKET_HEADROOM (`include/uapi/linux/bpf.h`).
pub const XDP_HEADROOM_BYTES: u32 = 256;
/// The smallest chunk that the kernel accepts (`net/xdp/xdp_umem.c`).
pub const MIN_CHUNK_BYTES: u32 = 2048;
/// The largest chunk that an aligned UMEM may have: one page of 4 KiB.
pub const MAX_CHUNK_BYTES: u32 = 4096;

/// The smallest chunk that holds a frame of `frame_bytes` (without FCS), or None when none does.
#[must_use]
pub fn chunk_for(frame_bytes: u32) -> Option<u32> {
    let needed = frame_bytes.checked_add(XDP_HEADROOM_BYTES)?;
    [MIN_CHUNK_BYTES, MAX_CHUNK_BYTES].into_iter().find(|chunk| *chunk >= needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_chunk_that_holds_frame_and_headroom() {
        assert_eq!(chunk_for(60), Some(2048));
        assert_eq!(chunk_for(1792), Some(2048));
        assert_eq!(chunk_for(1793), Some(4096));
        assert_eq!(chunk_for(3840), Some(4096));
        assert_eq!(chunk_for(3841), None);
        assert_eq!(chunk_for(u32::MAX), None);
    }
}
