//! Which records of a capture can be sent as they are, and why not the others. Knows no file and no interface, only their
//! limits.

use super::reader::Record;

/// Destination, source and EtherType.
const HEADER_BYTES: usize = 14;
/// A VLAN tag, which lies outside the MTU when it is the outermost (`is_skb_forwardable`, and drivers likewise).
const TAG_BYTES: u32 = 4;
/// EtherTypes of a VLAN tag: IEEE 802.1Q, 802.1ad.
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xA8]];

/// What a frame must fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// Bytes behind the Ethernet header that the interface sends.
    pub mtu: u32,
    /// Bytes of a frame that one chunk holds.
    pub chunk: u32,
}

/// Why a record is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// Less of it was captured than was on the wire.
    Snapped,
    /// Above the interface's MTU.
    AboveMtu,
    /// Above one chunk of packet memory.
    AboveChunk,
    /// Of another link type.
    Foreign,
    /// Without a whole Ethernet header.
    NoHeader,
}

impl Fit {
    /// Whether the record can be sent.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, record: &Record<'_>) -> Result<(), LeftOut> {
        let bytes = &record.bytes;
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        if record.foreign.is_some() {
            return Err(LeftOut::Foreign);
        }
        if len < record.wire_len {
            return Err(LeftOut::Snapped);
        }
        if bytes.len() < HEADER_BYTES {
            return Err(LeftOut::NoHeader);
        }
        let tagged = bytes.get(12..14).is_some_and(|ether_type| TAGS.iter().any(|tag| tag == ether_type));
        let header = HEADER_BYTES as u32 + if tagged { TAG_BYTES } else { 0 };
        if len - header.min(len) > self.mtu {
            return Err(LeftOut::AboveMtu);
        }
        if len > self.chunk { Err(LeftOut::AboveChunk) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::DataLink;
    use std::borrow::Cow;

    #[test]
    fn each_reason_has_its_limit() {
        let fit = Fit { mtu: 1_500, chunk: 3_840 };
        let check = |fit: Fit, len: usize, more: u32, tag: u8, foreign: Option<DataLink>| {
            let mut bytes = vec![0; len];
            if tag > 0 {
                bytes[12] = tag;
            }
            let wire_len = u32::try_from(len).unwrap() + more;
            fit.check(&Record { bytes: Cow::Owned(bytes), wire_len, at: None, foreign })
        };
        assert_eq!(check(fit, 1_514, 0, 0x08, None), Ok(()));
        assert_eq!(check(fit, 1_515, 0, 0x08, None), Err(LeftOut::AboveMtu));
        assert_eq!(check(fit, 1_518, 0, 0x81, None), Ok(()));
        assert_eq!(check(fit, 1_519, 0, 0x81, None), Err(LeftOut::AboveMtu));
        assert_eq!(check(Fit { mtu: 9_000, ..fit }, 3_840, 0, 0, None), Ok(()));
        assert_eq!(check(Fit { mtu: 9_000, ..fit }, 3_841, 0, 0, None), Err(LeftOut::AboveChunk));
        assert_eq!(check(fit, 60, 1, 0, None), Err(LeftOut::Snapped));
        assert_eq!(check(fit, 13, 0, 0, None), Err(LeftOut::NoHeader));
        assert_eq!(check(fit, 60, 0, 0, Some(DataLink::RAW)), Err(LeftOut::Foreign));
    }
}
