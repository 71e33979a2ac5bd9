//! Length of an Ethernet frame, and which of its bytes are counted where.

/// Bytes of the frame check sequence, which the NIC adds and removes (IEEE 802.3).
pub const FCS_BYTES: u32 = 4;
/// Bytes that a frame takes on the wire beside itself: preamble 7, start delimiter 1, inter-frame gap 12.
pub const WIRE_OVERHEAD_BYTES: u32 = 20;
/// Bytes of a frame that one chunk of packet memory holds at the most: a page of 4,096, less the kernel's
/// XDP_PACKET_HEADROOM of 256 (`include/uapi/linux/bpf.h`).
pub const CHUNK_HOLDS_BYTES: u32 = 3_840;

/// Length of an Ethernet frame in bytes with its FCS (RFC 1242, RFC 2544), VLAN tags included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameSize(u32);

impl FrameSize {
    /// The shortest frame that Ethernet allows.
    pub const MIN: Self = Self(64);
    /// The longest that this tool builds: a jumbo frame of 16,000 bytes of payload with every header it knows.
    pub const MAX: Self = Self(16_384);

    /// A size with FCS, or None outside [`FrameSize::MIN`] to [`FrameSize::MAX`].
    #[must_use]
    pub const fn new(with_fcs: u32) -> Option<Self> {
        if with_fcs < Self::MIN.0 || with_fcs > Self::MAX.0 { None } else { Some(Self(with_fcs)) }
    }

    /// Bytes with FCS: what layer 2 rates and byte counts count.
    #[must_use]
    pub const fn with_fcs(self) -> u32 {
        self.0
    }

    /// Bytes in packet memory: without FCS.
    #[must_use]
    pub const fn in_memory(self) -> usize {
        (self.0 - FCS_BYTES) as usize
    }

    /// Chunks of packet memory that the frame takes.
    #[must_use]
    pub const fn chunks(self) -> u32 {
        (self.0 - FCS_BYTES).div_ceil(CHUNK_HOLDS_BYTES)
    }

    /// Bytes that the frame takes on the wire: what layer 1 rates count.
    #[must_use]
    pub const fn on_wire(self) -> u32 {
        self.0 + WIRE_OVERHEAD_BYTES
    }
}

/// The mean length of frames, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeanSize {
    /// How many frames; at least 1.
    pub frames: u64,
    /// Their bytes with FCS.
    pub bytes: u64,
}

impl From<FrameSize> for MeanSize {
    fn from(size: FrameSize) -> Self {
        Self { frames: 1, bytes: size.with_fcs().into() }
    }
}

impl MeanSize {
    /// The mean in bytes, FCS included.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub fn bytes_a_frame(self) -> f64 {
        self.bytes as f64 / self.frames.max(1) as f64
    }

    /// Bytes that the frames take on the wire.
    #[must_use]
    pub fn on_wire(self) -> u128 {
        u128::from(self.bytes) + u128::from(self.frames) * u128::from(WIRE_OVERHEAD_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_64_byte_frame_is_60_in_memory_and_84_on_the_wire() {
        let size = FrameSize::new(64).unwrap();
        assert_eq!((size.with_fcs(), size.in_memory(), size.on_wire()), (64, 60, 84));
    }

    #[test]
    fn a_frame_takes_another_chunk_when_its_last_is_full() {
        let chunks =
            [64, 3_844, 3_845, 7_684, 7_685, 9_018, 16_384].map(|n| FrameSize::new(n).unwrap().chunks());
        assert_eq!(chunks, [1, 1, 2, 2, 3, 3, 5]);
    }

    #[test]
    fn sizes_outside_ethernet_are_refused() {
        assert_eq!(FrameSize::new(63), None);
        assert_eq!(FrameSize::new(0), None);
        assert_eq!(FrameSize::new(16_385), None);
    }
}
