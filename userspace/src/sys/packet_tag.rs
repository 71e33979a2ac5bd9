//! Putting a VLAN tag back where the wire had it: the kernel takes the outermost one out of each received frame and
//! hands it over beside it. Pure; knows no socket.

/// Bytes of one tag.
pub(super) const TAG_BYTES: usize = 4;
/// Where a tag stands: after the two MACs.
const AT_TAG: usize = 12;

/// A VLAN tag (IEEE 802.1Q).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VlanTag {
    /// Its EtherType: 0x8100 or 0x88A8.
    pub protocol: u16,
    /// Priority, drop eligibility and VLAN id.
    pub control: u16,
}

/// Inserts `tag` into the frame that fills the first `length` bytes of `buf`; the new length. What no longer fits is
/// cut off at the end; a frame without two MACs stays as it is.
pub(super) fn insert(buf: &mut [u8], length: usize, tag: VlanTag) -> usize {
    let tagged = (length + TAG_BYTES).min(buf.len());
    if length < AT_TAG || tagged < AT_TAG + TAG_BYTES {
        return length;
    }
    buf.copy_within(AT_TAG..tagged - TAG_BYTES, AT_TAG + TAG_BYTES);
    buf[AT_TAG..AT_TAG + 2].copy_from_slice(&tag.protocol.to_be_bytes());
    buf[AT_TAG + 2..AT_TAG + TAG_BYTES].copy_from_slice(&tag.control.to_be_bytes());
    tagged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_taken_out_is_put_back(
            frame in proptest::collection::vec(any::<u8>(), 16..200), room in 0usize..8,
        ) {
            let tag = VlanTag {
                protocol: u16::from_be_bytes([frame[12], frame[13]]),
                control: u16::from_be_bytes([frame[14], frame[15]]),
            };
            let mut buf = [&frame[..12], &frame[16..], &vec![0; TAG_BYTES + room]].concat();
            let length = insert(&mut buf, frame.len() - TAG_BYTES, tag);
            prop_assert_eq!(&buf[..length], &frame[..]);
        }

        #[test]
        fn any_buffer_is_safe(mut buf in proptest::collection::vec(any::<u8>(), 0..40), cut in 0usize..40) {
            let length = cut.min(buf.len());
            let room = buf.len();
            let tag = VlanTag { protocol: 0x8100, control: 5 };
            prop_assert!(insert(&mut buf, length, tag) <= room);
        }
    }
}
