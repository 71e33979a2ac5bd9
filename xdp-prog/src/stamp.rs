//! The times in front of a frame that the XDP program sent to a socket: `struct xsk_gen_stamp`. Knows no socket.

/// When a frame came. Its absence cannot be told from its bytes: who loaded the program knows whether it stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// When the program saw it: CLOCK_MONOTONIC of the initial time namespace in ns.
    pub xdp_ns: u64,
    /// When the NIC received it, in ns; None where it is not known.
    pub nic_ns: Option<u64>,
}

impl Stamp {
    /// Length in bytes.
    pub const BYTES: usize = 16;

    /// The stamp in front of a frame, and the frame; None of fewer bytes than a stamp has.
    #[inline]
    #[must_use]
    pub fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (xdp, rest) = bytes.split_first_chunk()?;
        let (nic, frame) = rest.split_first_chunk()?;
        let nic_ns = Some(u64::from_ne_bytes(*nic)).filter(|ns| *ns > 0);
        Some((Self { xdp_ns: u64::from_ne_bytes(*xdp), nic_ns }, frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_begins_behind_two_numbers() {
        let bytes = [&7_u64.to_ne_bytes()[..], &0_u64.to_ne_bytes(), &[1, 2, 3]].concat();
        assert_eq!(Stamp::split(&bytes), Some((Stamp { xdp_ns: 7, nic_ns: None }, &[1, 2, 3][..])));
        let bytes = [7_u64.to_ne_bytes(), 9_u64.to_ne_bytes()].concat();
        assert_eq!(Stamp::split(&bytes), Some((Stamp { xdp_ns: 7, nic_ns: Some(9) }, &[][..])));
        assert_eq!(Stamp::split(&bytes[..15]), None);
    }
}
