//! The receive side: what a frame is, or why it does not count. Pure, and takes any bytes. Knows no run, no
//! sequence and no counter.

use super::Reason;
use super::checksum;
use super::headers::{Headers, Net, PLAIN_V4, is_plain_v4, locate};
use super::probe::{self, Probe, Way};
use super::shape::Shape;
use super::shaped;
use super::wire::{get_u16, ipv4, ipv6, udp};
use std::sync::Arc;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inspected<'a> {
    /// A numbered frame of a stream.
    Probe {
        /// What it says about itself.
        probe: Probe,
        /// Its first byte in the frame.
        at: usize,
    },
    /// A control frame; `body` goes to [`super::control::decode`].
    Control {
        /// Its run, running number and time.
        probe: Probe,
        /// The message.
        body: &'a [u8],
    },
    /// Neither.
    Rejected(Reason),
}

/// What to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspector {
    /// UDP destination port of our frames; None when they are plain Ethernet only.
    pub udp_port: Option<u16>,
    /// Whether checksums are computed. Lengths are always checked.
    pub verify: bool,
    /// Stacks that our frames come in besides the plain ones; asked in turn, once a frame is not a plain one of ours.
    pub shapes: Arc<[Shape]>,
    /// Which way they go.
    pub way: Way,
}

impl Inspector {
    /// Looks for plain frames only.
    #[must_use]
    pub fn plain(udp_port: Option<u16>, verify: bool) -> Self {
        Self { udp_port, verify, shapes: Arc::default(), way: Way::Forth }
    }

    /// Looks at one frame, given from its destination MAC on and without FCS.
    ///
    /// The UDP checksum covers the whole datagram. Zero over IPv4 says that the sender computed none (RFC
    /// 768). A plain Ethernet frame has no checksum but its FCS.
    #[inline]
    #[must_use]
    pub fn inspect<'a>(&self, bytes: &'a [u8]) -> Inspected<'a> {
        match self.read(bytes) {
            Ok((probe, at, _)) if !probe.stream.is_control() => Inspected::Probe { probe, at },
            Ok((probe, _, payload)) => match body(payload) {
                Some(body) => Inspected::Control { probe, body },
                None => Inspected::Rejected(Reason::Truncated),
            },
            Err(reason) => Inspected::Rejected(reason),
        }
    }

    /// The probe, its first byte, and all from it to the end of the datagram.
    #[inline]
    fn read<'a>(&self, bytes: &'a [u8]) -> Result<(Probe, usize, &'a [u8]), Reason> {
        // Both ways run the same code; the compiler makes one copy of it for the constant offsets of most
        // frames.
        if self.way == Way::Forth && self.udp_port.is_some_and(|port| is_plain_v4(bytes, port)) {
            return self.read_behind(bytes, PLAIN_V4);
        }
        match locate(bytes, self.udp_port, self.way) {
            Some(headers) => self.read_behind(bytes, headers),
            None => self.read_shape(bytes),
        }
    }

    /// A frame of some shape, out of the way of plain ones; all behind its headers, which is never looked at: it is no control frame.
    #[inline(never)]
    fn read_shape<'a>(&self, bytes: &'a [u8]) -> Result<(Probe, usize, &'a [u8]), Reason> {
        let shape = shaped::find(&self.shapes, bytes, self.way).ok_or(Reason::NotOurs)?;
        let probe = shaped::read(shape, bytes, self.way, self.verify)?;
        Ok((probe, shape.probe, &[][..]))
    }

    #[inline(always)]
    fn read_behind<'a>(&self, bytes: &'a [u8], headers: Headers) -> Result<(Probe, usize, &'a [u8]), Reason> {
        let end = end_of(bytes, &headers)?;
        let payload = bytes.get(headers.probe..end).ok_or(Reason::Truncated)?;
        let probe = Probe::read_going(payload, self.way).ok_or(Reason::Truncated)?;
        if self.verify {
            verify(bytes, &headers, end)?;
        }
        Ok((probe, headers.probe, payload))
    }
}

/// One past the last byte that belongs to the frame's datagram; what follows is Ethernet padding.
///
/// UDP may say less than IP (RFC 9868 makes use of it), but our frames never do, and accepting it would let a
/// flipped bit in the length hide bytes from the checksum.
#[inline(always)]
fn end_of(bytes: &[u8], headers: &Headers) -> Result<usize, Reason> {
    let Some(header) = headers.udp() else { return Ok(bytes.len()) };
    let length_at = |at| get_u16(bytes, at).map(usize::from).ok_or(Reason::Truncated);
    let end = match headers.net {
        Net::V4 => headers.l3 + length_at(headers.l3 + ipv4::TOTAL_LEN)?,
        _ => headers.l3 + ipv6::LEN + length_at(headers.l3 + ipv6::PAYLOAD_LEN)?,
    };
    if header + length_at(header + udp::LENGTH)? != end {
        return Err(Reason::BadLength);
    }
    if end > bytes.len() { Err(Reason::Truncated) } else { Ok(end) }
}

#[inline(always)]
fn verify(bytes: &[u8], headers: &Headers, end: usize) -> Result<(), Reason> {
    let Some(header) = headers.udp() else { return Ok(()) };
    let part = |range: std::ops::Range<usize>| bytes.get(range).ok_or(Reason::Truncated);
    if headers.net == Net::V4 && !checksum::holds(checksum::sum(part(headers.ip())?)) {
        return Err(Reason::IpChecksum);
    }
    let unchecked = get_u16(bytes, header + udp::CHECKSUM) == Some(0);
    if unchecked && headers.net == Net::V4 {
        return Ok(());
    }
    let sum = checksum::datagram_sum(part(headers.addresses())?, part(header..end)?);
    if unchecked || !checksum::holds(sum) { Err(Reason::UdpChecksum) } else { Ok(()) }
}

/// The message behind a control frame's probe: a u16 of length, and as many bytes.
fn body(payload: &[u8]) -> Option<&[u8]> {
    let len = usize::from(get_u16(payload, probe::LEN)?);
    payload.get(probe::LEN + 2..)?.get(..len)
}

#[cfg(test)]
mod tests {
    use super::super::reference::PlainSpec;
    use super::super::reference::{any_spec, any_stack, frame, v4_spec, v4_stack, v6_stack};
    use super::super::{Control, Here, L3, Stack, control};
    use super::*;
    use crate::units::Nanos;
    use proptest::prelude::*;

    fn inspector(stack: &Stack) -> Inspector {
        Inspector::plain(stack.dst_port(), true)
    }

    fn probe_of<'a>(inspected: Inspected<'a>) -> Probe {
        match inspected {
            Inspected::Probe { probe, .. } => probe,
            other => panic!("{other:?}"),
        }
    }

    fn control_frame(stack: &Stack) -> Vec<u8> {
        let here = Here { mac: "m".to_owned(), ip: None, queues: 3, host: "a host".to_owned() };
        control::encode(stack, 1, 2, 3, Nanos(4), &Control::Here(here)).unwrap()
    }

    /// A valid IPv4 frame whose header has `words` words of options.
    fn with_options(words: u8) -> Vec<u8> {
        let mut bytes = frame(&v4_spec(), 1, 2, true);
        bytes.splice(34..34, vec![1; usize::from(words) * 4]); // no-operation options
        bytes[14] += words;
        bytes[17] += words * 4;
        rewrite_ip_checksum(&mut bytes);
        bytes
    }

    fn rewrite_ip_checksum(bytes: &mut [u8]) {
        let end = 14 + usize::from(bytes[14] & 0xF) * 4;
        bytes[24..26].fill(0);
        let check = checksum::field(checksum::sum(&bytes[14..end]));
        bytes[24..26].copy_from_slice(&check.to_be_bytes());
    }

    #[test]
    fn options_are_looked_behind_and_fragments_are_not_ours() {
        let inspector = inspector(&v4_stack());
        for words in 0..=10 {
            assert_eq!(probe_of(inspector.inspect(&with_options(words))).seq, 1);
        }
        for fragment in [0x2000u16, 0x0001, 0x1FFF] {
            let mut bytes = frame(&v4_spec(), 1, 2, true);
            bytes[20..22].copy_from_slice(&fragment.to_be_bytes());
            rewrite_ip_checksum(&mut bytes);
            assert_eq!(inspector.inspect(&bytes), Inspected::Rejected(Reason::NotOurs));
        }
    }

    #[test]
    fn three_tags_another_port_and_another_protocol_are_not_ours() {
        let not_ours = Inspected::Rejected(Reason::NotOurs);
        let inspector = inspector(&v4_stack());
        let bytes = frame(&v4_spec(), 1, 2, true);
        for count in 0..=3 {
            let mut tagged = bytes.clone();
            for tpid in [0x81, 0x88, 0x81].into_iter().take(count) {
                let tag = if tpid == 0x81 { [0x81, 0x00, 0, 5] } else { [0x88, 0xA8, 0, 5] };
                tagged.splice(12..12, tag);
            }
            assert_eq!(inspector.inspect(&tagged) == not_ours, count == 3);
        }
        let mut tcp = bytes.clone();
        tcp[23] = 6;
        assert_eq!(inspector.inspect(&tcp), not_ours);
        assert_eq!(Inspector { udp_port: Some(10), ..inspector.clone() }.inspect(&bytes), not_ours);
        assert_eq!(Inspector { udp_port: None, ..inspector }.inspect(&bytes), not_ours);
    }

    #[test]
    fn padding_behind_the_datagram_is_no_part_of_it() {
        for stack in [v4_stack(), v6_stack()] {
            let mut bytes = control_frame(&stack);
            let Inspected::Control { body, .. } = inspector(&stack).inspect(&bytes) else { panic!() };
            let body = body.to_vec();
            bytes.extend([0xAA; 13]);
            let Inspected::Control { body: padded, .. } = inspector(&stack).inspect(&bytes) else { panic!() };
            assert_eq!(padded, body);
        }
    }

    #[test]
    fn no_checksum_is_unchecked_over_ipv4_and_wrong_over_ipv6() {
        for (stack, expected) in [(v4_stack(), None), (v6_stack(), Some(Reason::UdpChecksum))] {
            let at = stack.headers().udp().unwrap() + udp::CHECKSUM;
            let mut bytes = frame(&PlainSpec { stack: stack.clone(), ..v4_spec() }, 1, 2, true);
            bytes[at..at + 2].fill(0);
            let got = match inspector(&stack).inspect(&bytes) {
                Inspected::Rejected(reason) => Some(reason),
                _ => None,
            };
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn without_verification_only_lengths_are_checked() {
        let lenient = Inspector { verify: false, ..inspector(&v4_stack()) };
        let mut bytes = frame(&v4_spec(), 1, 2, true);
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(probe_of(lenient.inspect(&bytes)).seq, 1);
        bytes.pop();
        assert_eq!(lenient.inspect(&bytes), Inspected::Rejected(Reason::Truncated));
    }

    proptest! {
        #[test]
        fn what_was_sent_is_what_is_read(spec in any_spec(), seq: u64, sent in 0u64..1 << 48, measured: bool) {
            let probe = probe_of(inspector(&spec.stack).inspect(&frame(&spec, seq, sent, measured)));
            prop_assert_eq!((probe.run, probe.clock, probe.seq), (spec.run, spec.clock, seq as u32));
            prop_assert_eq!((probe.stream.space(), probe.stream.measured()), (spec.space, measured));
            prop_assert_eq!(probe.sent, sent);
        }

        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200), verify: bool) {
            let _ = Inspector::plain(Some(9), verify).inspect(&bytes);
        }

        #[test]
        fn bytes_behind_a_known_header_are_taken(
            stack in any_stack(), at in 0usize..80, junk in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut bytes = control_frame(&stack);
            let at = at.min(bytes.len());
            let end = (at + junk.len()).min(bytes.len());
            bytes.splice(at..end, junk);
            let _ = inspector(&stack).inspect(&bytes);
        }

        #[test]
        fn a_truncated_frame_is_rejected_or_lost_padding_only(spec in any_spec()) {
            let whole = frame(&spec, 1, 2, true);
            for len in 0..whole.len() {
                match inspector(&spec.stack).inspect(&whole[..len]) {
                    Inspected::Rejected(Reason::NotOurs | Reason::Truncated) => {}
                    Inspected::Probe { .. } => prop_assert_eq!(spec.stack.l3, L3::Ethernet),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
        }

        /// Ones-complement sums find every single flipped bit. The one flip that passes turns a checksum of
        /// one set bit into "no checksum", and changes nothing that is read.
        #[test]
        fn a_flipped_bit_in_the_datagram_is_found(
            spec in any_spec().prop_filter("has a checksum", |spec| spec.stack.l3 != L3::Ethernet),
            seq: u64, bit: prop::sample::Index,
        ) {
            let spec = PlainSpec { verify: true, ..spec };
            let mut bytes = frame(&spec, seq, 2, true);
            let before = inspector(&spec.stack).inspect(&bytes);
            let before = probe_of(before);
            let header = spec.stack.headers().udp().unwrap();
            let bit = bit.index((bytes.len() - header) * 8);
            bytes[header + bit / 8] ^= 1 << (bit % 8);
            let check = get_u16(&bytes, header + udp::CHECKSUM);
            match inspector(&spec.stack).inspect(&bytes) {
                Inspected::Rejected(_) => {}
                accepted => {
                    prop_assert_eq!(check, Some(0));
                    prop_assert_eq!(probe_of(accepted), before);
                }
            }
        }

        #[test]
        fn a_flipped_bit_in_a_control_frame_is_found(bit: prop::sample::Index) {
            let mut bytes = control_frame(&v6_stack());
            let header = v6_stack().headers().udp().unwrap();
            let bit = bit.index((bytes.len() - header) * 8);
            bytes[header + bit / 8] ^= 1 << (bit % 8);
            let inspected = inspector(&v6_stack()).inspect(&bytes);
            prop_assert!(matches!(inspected, Inspected::Rejected(_)), "{:?}", inspected);
        }

        #[test]
        fn a_flipped_bit_in_the_ipv4_header_is_found(seq: u64, bit in 0usize..160) {
            let mut bytes = frame(&v4_spec(), seq, 2, true);
            bytes[14 + bit / 8] ^= 1 << (bit % 8);
            let inspected = inspector(&v4_stack()).inspect(&bytes);
            prop_assert!(matches!(inspected, Inspected::Rejected(_)), "{:?}", inspected);
        }
    }
}
