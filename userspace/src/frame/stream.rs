//! One sequence space of numbered frames: which bytes frame k has, and how few of them to write. Knows no
//! buffer management, no pace and no clock.
//!
//! Frame k is a pure function of (specification, k, time, phase): what a buffer held before, or which frames
//! were written before, changes nothing. So frames may be lost, resent or built out of order, or by a program
//! inside the kernel, and are the same.

use super::headers::{Headers, Net};
use super::modifier::{flow_modifiers, index_of};
use super::patch::{Patch, Shares};
use super::probe::{self, Probe, StreamId};
use super::wire::{ipv4, put, udp};
use super::{FrameError, Stack, Template, checksum};
use crate::units::{FrameSize, Nanos};

/// What a stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSpec {
    /// Headers; addresses and source port are those of flow 0.
    pub stack: Stack,
    /// Frame length.
    pub size: FrameSize,
    /// Flows over all spaces, see [`super::flow_of`].
    pub flows: u32,
    /// Number of this sequence space.
    pub space: u16,
    /// How many sequence spaces share the flows.
    pub spaces: u16,
    /// Tag of the run.
    pub run: u16,
    /// Name of the clock that times are read from.
    pub clock: u16,
    /// Whether UDP checksums are computed. Without it the field is 0, "no checksum", over IPv4 (RFC 768);
    /// over IPv6 it is computed all the same, since receivers must discard 0 there (RFC 8200, section 8.1).
    /// The probe is always written: frames are recognised and counted by it.
    pub verify: bool,
}

/// A stream ready to send.
#[derive(Debug, Clone)]
pub struct Stream {
    template: Template,
    patches: Vec<Patch>,
    /// The probe of each frame, but for number, time and phase.
    probe: Probe,
    spaces: u16,
    ip: Option<Check>,
    udp: Option<Check>,
}

/// A checksum field that follows the frame.
#[derive(Debug, Clone, Copy)]
struct Check {
    at: usize,
    /// Sum of what is the same in each frame; what differs counts as zero in it.
    constant: u64,
}

impl Stream {
    /// Prepares a stream.
    ///
    /// # Errors Headers and size that do not go together, flows that cannot be had, or a space that is not
    /// one of `spaces`.
    pub fn new(spec: StreamSpec) -> Result<Self, FrameError> {
        let StreamSpec { stack, size, flows, space, spaces, run, clock, verify } = spec;
        if space >= spaces || spaces > probe::MAX_SPACES {
            return Err(FrameError::Space { space, spaces });
        }
        let probe = Probe { run, stream: StreamId::new(space, false), seq: 0, clock, sent: 0 };
        let mut template = Template::new(&stack, size)?;
        let headers = template.headers();
        let patches: Vec<_> =
            flow_modifiers(&stack, flows)?.into_iter().map(|m| Patch::new(m, &headers)).collect();
        put_probe(&probe, headers.probe, template.bytes_mut());
        patches.iter().for_each(|patch| patch.clear(template.bytes_mut()));
        template.seal();
        let ip = patches.iter().any(Patch::in_ip).then(|| ip_check(&mut template));
        let udp = udp_check(&mut template).filter(|_| verify || headers.net == Net::V6);
        Ok(Self { template, patches, probe, spaces, ip, udp })
    }

    /// Bytes of each frame, without FCS.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no frame is empty")]
    pub fn len(&self) -> usize {
        self.template.bytes().len()
    }

    /// Where the headers of each frame lie.
    #[must_use]
    pub fn headers(&self) -> Headers {
        self.template.headers()
    }

    /// Makes the first [`Stream::len`] bytes of `buf` frame `seq` of this stream: sent at `sent`, in the
    /// measured phase or the warm-up. `buf` must be that long; of `seq` the low 32 bits travel.
    ///
    /// With `fresh` everything is written. Without it, `buf` must hold any frame of this very stream, and
    /// only what may differ is written: flow fields, probe, checksums.
    #[inline]
    pub fn write(&self, fresh: bool, seq: u64, sent: Nanos, measured: bool, buf: &mut [u8]) {
        debug_assert!(buf.len() >= self.len(), "the buffer is shorter than the frame");
        if fresh && let Some(frame) = buf.get_mut(..self.len()) {
            frame.copy_from_slice(self.template.bytes());
        }
        let index = index_of(self.probe.stream.space(), seq, self.spaces);
        let mut sums = Shares::default();
        for patch in &self.patches {
            let share = patch.write(index, buf);
            sums.ip += share.ip;
            sums.udp += share.udp;
        }
        let stream = StreamId::new(self.probe.stream.space(), measured);
        let probe = Probe { stream, seq: seq as u32, sent: sent.0, ..self.probe };
        put_probe(&probe, self.template.headers().probe, buf);
        if let Some(check) = self.ip {
            put(buf, check.at, checksum::field(check.constant + sums.ip).to_be_bytes());
        }
        if let Some(check) = self.udp {
            let sum = check.constant + sums.udp + probe.variable_sum();
            put(buf, check.at, checksum::udp_field(sum).to_be_bytes());
        }
    }
}

#[inline]
fn put_probe(probe: &Probe, at: usize, frame: &mut [u8]) {
    let mut bytes = [0; probe::LEN];
    probe.write(&mut bytes);
    put(frame, at, bytes);
}

/// The IPv4 header checksum, from here on written per frame.
fn ip_check(template: &mut Template) -> Check {
    Check { at: template.headers().l3 + ipv4::CHECKSUM, constant: template.ip_sum_without_field() }
}

/// The UDP checksum, from here on written per frame, and zero where it is not; None without UDP.
fn udp_check(template: &mut Template) -> Option<Check> {
    let header = template.headers().udp()?;
    Some(Check { at: header + udp::CHECKSUM, constant: template.udp_sum_without_field() })
}

#[cfg(test)]
mod tests {
    use super::super::reference::{self, any_spec};
    use super::*;
    use proptest::prelude::*;

    /// Frame `seq` in a buffer of its own.
    fn fresh(stream: &Stream, seq: u64, sent: u64, measured: bool) -> Vec<u8> {
        let mut buf = vec![0xAA; stream.len()];
        stream.write(true, seq, Nanos(sent), measured, &mut buf);
        buf
    }

    #[test]
    fn the_smallest_ipv4_frame_byte_by_byte() {
        let spec = StreamSpec {
            stack: reference::v4_stack(),
            size: FrameSize::MIN,
            flows: 1,
            space: 0,
            spaces: 1,
            run: 0x0102,
            clock: 0x0304,
            verify: true,
        };
        let frame = fresh(&Stream::new(spec).unwrap(), 5, 6, true);
        #[rustfmt::skip]
        let expected = [
            0x02, 0, 0, 0, 0, 2,  0x02, 0, 0, 0, 0, 1,  0x08, 0x00,
            // IPv4: 46 bytes, don't fragment, 64 hops, UDP, 198.18.0.1 to 198.19.0.1; its checksum is the
            // complement of 4500 + 002e + 4000 + 4011 + c612 + 0001 + c613 + 0001 = 25166, folded 5168
            0x45, 0, 0, 46,  0, 0, 0x40, 0,  64, 17, 0xAE, 0x97,  198, 18, 0, 1,  198, 19, 0, 1,
            // UDP 1024 to 9, 26 bytes; the complement of c612 + 1 + c613 + 1 + 11 + 1a (pseudo-header)
            // + 400 + 9 + 1a + 5847 + 102 + 8000 + 5 + 304 + 6 = 26ccd, folded 6ccf
            0x04, 0x00, 0, 9, 0, 26, 0x93, 0x30,
            0x58, 0x47, 1, 2, 0x80, 0, 0, 0, 0, 5, 3, 4, 0, 0, 0, 0, 0, 6,
        ];
        assert_eq!(frame, expected);
    }

    #[test]
    fn a_checksum_that_comes_out_zero_is_sent_as_all_ones() {
        let spec = StreamSpec { size: FrameSize::MIN, ..reference::v4_spec() };
        let stream = Stream::new(spec).unwrap();
        let at = stream.headers().udp().unwrap() + udp::CHECKSUM;
        let zeros: Vec<_> = (0..0x1_0000).map(|seq| fresh(&stream, seq, 0, false)).collect();
        assert!(zeros.iter().all(|frame| frame[at..at + 2] != [0, 0]));
        assert!(zeros.iter().any(|frame| frame[at..at + 2] == [0xFF, 0xFF]));
    }

    #[test]
    fn spaces_that_the_probe_cannot_name_are_refused() {
        let with = |space, spaces| Stream::new(StreamSpec { space, spaces, ..reference::v4_spec() }).err();
        assert_eq!(with(0, 0), Some(FrameError::Space { space: 0, spaces: 0 }));
        assert_eq!(with(3, 3), Some(FrameError::Space { space: 3, spaces: 3 }));
        assert_eq!(with(0, 0x8000), Some(FrameError::Space { space: 0, spaces: 0x8000 }));
        assert_eq!(with(0x7FFE, 0x7FFF), None);
    }

    #[test]
    fn writing_a_frame_allocates_nothing() {
        let stream = Stream::new(StreamSpec { flows: 8, ..reference::v4_spec() }).unwrap();
        let mut buf = vec![0; stream.len()];
        let info = allocation_counter::measure(|| {
            for seq in 0..100 {
                stream.write(seq == 0, seq, Nanos(seq), true, &mut buf);
            }
        });
        assert_eq!(info.count_total, 0);
    }

    proptest! {
        #[test]
        fn a_frame_is_the_one_built_from_scratch(
            spec in any_spec(), seq: u64, sent: u64, measured: bool,
        ) {
            let frame = fresh(&Stream::new(spec.clone()).unwrap(), seq, sent, measured);
            prop_assert_eq!(frame, reference::frame(&spec, seq, sent, measured));
        }

        #[test]
        fn another_parser_finds_every_checksum_right(
            spec in any_spec(), seq: u64, sent: u64, measured: bool,
        ) {
            let frame = fresh(&Stream::new(spec.clone()).unwrap(), seq, sent, measured);
            reference::check_with_etherparse(&spec, &frame);
        }

        #[test]
        fn writing_over_any_frame_of_the_stream_equals_writing_afresh(
            spec in any_spec(),
            frames in prop::collection::vec((any::<u64>(), any::<u64>(), any::<bool>()), 1..8),
        ) {
            let stream = Stream::new(spec).unwrap();
            let mut used = fresh(&stream, 0, 0, false);
            for (seq, sent, measured) in frames {
                stream.write(false, seq, Nanos(sent), measured, &mut used);
                prop_assert_eq!(&used, &fresh(&stream, seq, sent, measured));
            }
        }
    }
}
