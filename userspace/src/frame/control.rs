//! Control frames: what sender and sink tell each other beside the stream. Knows the message and its bytes,
//! not when one is due nor what to do about it.
//!
//! A control frame has the same headers as the data, so that it is recognised by the same rule; its probe's
//! stream is 0xFFFF and its number runs. Behind the probe: the message's length (u16) and the message, a JSON
//! object with `v` (version) and `kind`. A reader takes unknown fields for none of its business and refuses
//! unknown versions.

use super::addresses::Addresses;
use super::probe::{self, Probe, StreamId};
use super::spacing::Spacing;
use super::{FrameError, Stack, Template, plausible};
use crate::units::{FCS_BYTES, FrameSize, Nanos};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Bytes behind the Ethernet header and its tags at the most: the MTU that every Ethernet has (RFC 894).
pub const MAX_BYTES: usize = 1500;
/// Version of the messages.
pub const VERSION: u32 = 1;

/// What a control frame says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Control {
    /// A run begins; this is what is offered.
    Start(Start),
    /// A run has ended; this is what was sent.
    End(End),
    /// Is a sink there?
    Hello(Hello),
    /// Here is one.
    Here(Here),
    /// The END of the run has been heard whole; a reader that does not know this kind counts it as control.
    Heard,
    /// Nothing: switches learn from it behind which port the sink is.
    Learn,
}

/// What a sender offers: every effective option, so that the sink's Report can be repeated as well. The run's
/// tag is in the probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Name of the run, the same in both Reports.
    pub id: String,
    /// Wall-clock start, ns since 1970.
    pub started_unix_ns: u64,
    /// Ethernet frame length with FCS; None where lengths vary.
    pub size_bytes: Option<u32>,
    /// The mean length, as the streams' weights mix them.
    pub mean_bytes: f64,
    /// Frames a second over all spaces, of a plan in the mean; None for as many as possible.
    pub rate_pps: Option<f64>,
    /// How they follow each other.
    #[serde(flatten)]
    pub spacing: Spacing,
    /// Frames to send over all spaces; None without a limit.
    pub count: Option<u64>,
    /// How long to send; None without a limit.
    pub duration_ns: Option<u64>,
    /// Flows over all workers, stream by stream; there is at least one stream.
    pub flows: Vec<u32>,
    /// Sequence spaces, numbered from 0: of each worker one a stream.
    pub spaces: u16,
    /// Bytes in front of the outermost IP header; None where it differs, or there is none.
    pub l3_offset: Option<u16>,
    /// Seed of everything random.
    pub seed: u64,
    /// Frames a turn at the most.
    pub batch: u32,
    /// Whether UDP checksums are computed.
    pub verify: bool,
    /// The headers of the first flow.
    #[serde(flatten)]
    pub addresses: Addresses,
}

/// What a sender has sent, in as many parts as its spaces need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Which part, from 0.
    pub part: u16,
    /// How many parts there are.
    pub parts: u16,
    /// Totals of some spaces; each space is in one part.
    pub spaces: Vec<SpaceTotal>,
    /// Frames that the sender's device dropped after it completed them; None where no counter tells.
    pub device_drops: Option<u64>,
    /// The sending window.
    pub duration_ns: u64,
    /// How long ago the sender first announced the run, when it said this: who has listened for longer has
    /// missed nothing, even where it heard no START. None from a sender that does not tell.
    #[serde(default)]
    pub age_ns: Option<u64>,
    /// Frames that were due and not sent, over all spaces. None from a sender that does not tell.
    #[serde(default)]
    pub shortfall: Option<u64>,
}

/// Total of one sequence space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceTotal {
    /// The space's number.
    pub space: u16,
    /// Frames written.
    pub built: u64,
    /// Frames that the driver gave back as done.
    pub completed: u64,
}

/// Is a sink there?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The headers that the question came with, so that the answer can go the same way back.
    #[serde(flatten)]
    pub addresses: Addresses,
}

/// Here is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Here {
    /// MAC to send to.
    pub mac: String,
    /// IP to send to; None when the interface has none.
    pub ip: Option<String>,
    /// Receive queues that are served.
    pub queues: u32,
    /// Host name.
    pub host: String,
}

/// Why a control frame's message cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ControlError {
    /// Not a message at all, or one of an unknown kind.
    #[error("not a control message: {0}")]
    Malformed(String),
    /// From a program that speaks another version.
    #[error("a control message of version {got}; this program speaks {VERSION}")]
    Version {
        /// The version that it is of.
        got: u32,
    },
}

impl End {
    /// Spaces in one part: with every number at its longest they still fit [`MAX_BYTES`] over IPv6.
    pub const SPACES_A_PART: usize = 16;

    /// The parts that together tell the totals of `spaces`; at least one.
    #[must_use]
    pub fn split(spaces: &[SpaceTotal], device_drops: Option<u64>, duration_ns: u64) -> Vec<Self> {
        let part = |part, parts, spaces: &[SpaceTotal]| Self {
            part,
            parts,
            spaces: spaces.to_vec(),
            device_drops,
            duration_ns,
            age_ns: None,
            shortfall: None,
        };
        // At most 2^15 spaces, so the number of parts fits.
        let parts = spaces.len().div_ceil(Self::SPACES_A_PART).max(1) as u16;
        if spaces.is_empty() {
            return vec![part(0, 1, &[])];
        }
        (0..parts).zip(spaces.chunks(Self::SPACES_A_PART)).map(|(at, own)| part(at, parts, own)).collect()
    }
}

/// A message with its version, as on the wire.
#[derive(Serialize, Deserialize)]
struct Envelope<C> {
    v: u32,
    #[serde(flatten)]
    control: C,
}

/// The frame, without FCS and at least 60 bytes long, that says `control`. `number` counts control frames,
/// `sent` and `clock` are as in any probe.
///
/// # Errors
/// Headers that cannot be built; a message that is too long for the MTU of 1,500 bytes.
pub fn encode(
    stack: &Stack,
    run: u16,
    clock: u16,
    number: u32,
    sent: Nanos,
    control: &Control,
) -> Result<Vec<u8>, FrameError> {
    let body = serde_json::to_vec(&Envelope { v: VERSION, control })
        .map_err(|e| FrameError::Encode(e.to_string()))?;
    let payload = payload(&Probe { run, stream: StreamId::CONTROL, seq: number, clock, sent: sent.0 }, &body);
    let headers = stack.headers();
    let bytes = headers.probe - headers.l3 + payload.len();
    if bytes > MAX_BYTES {
        return Err(FrameError::ControlTooLarge { bytes });
    }
    let with_fcs = (headers.probe + payload.len()) as u32 + FCS_BYTES;
    let size = FrameSize::new(with_fcs).unwrap_or(FrameSize::MIN);
    let mut template = Template::new(stack, size)?;
    if let Some(room) = template.bytes_mut().get_mut(headers.probe..headers.probe + payload.len()) {
        room.copy_from_slice(&payload);
    }
    template.seal();
    Ok(template.into_bytes())
}

/// Probe, length and message.
fn payload(probe: &Probe, body: &[u8]) -> Vec<u8> {
    let mut header = [0; probe::LEN];
    probe.write(&mut header);
    // A body of 2^16 bytes is refused for its length right after.
    let len = u16::try_from(body.len()).unwrap_or(u16::MAX);
    [&header[..], &len.to_be_bytes(), body].concat()
}

/// The message of a control frame, as [`super::Inspected::Control`] gives it.
///
/// # Errors
/// Bytes that are no message of this version, or one that no sender writes.
pub fn decode(body: &[u8]) -> Result<Control, ControlError> {
    let malformed = |e: serde_json::Error| ControlError::Malformed(e.to_string());
    // The version first: what else a later one has need not be readable here.
    let envelope: Envelope<serde::de::IgnoredAny> = serde_json::from_slice(body).map_err(malformed)?;
    if envelope.v != VERSION {
        return Err(ControlError::Version { got: envelope.v });
    }
    let envelope: Envelope<Control> = serde_json::from_slice(body).map_err(malformed)?;
    plausible::check(envelope.control)
}

#[cfg(test)]
mod tests {
    use super::super::reference::{any_stack, v6_stack};
    use super::super::{Inspected, Inspector};
    use super::*;
    use proptest::prelude::*;

    fn start() -> Start {
        Start {
            id: "3f2a-0007".to_owned(),
            started_unix_ns: u64::MAX,
            size_bytes: Some(64),
            mean_bytes: 64.0,
            rate_pps: Some(1.5e6),
            spacing: Spacing { plan: Some("1Mpps:1s".to_owned()), ..Spacing::default() },
            count: Some(u64::MAX),
            duration_ns: None,
            flows: vec![64],
            spaces: 4,
            l3_offset: Some(14),
            seed: u64::MAX,
            batch: 64,
            verify: true,
            addresses: Addresses::of(&v6_stack()),
        }
    }

    fn totals(count: u16) -> Vec<SpaceTotal> {
        (0..count).map(|space| SpaceTotal { space, built: u64::MAX, completed: u64::MAX }).collect()
    }

    fn here() -> Here {
        Here { mac: "02:00:00:00:00:02".to_owned(), ip: None, queues: 4, host: "sink".to_owned() }
    }

    fn any_control() -> impl Strategy<Value = Control> {
        prop_oneof![
            Just(Control::Start(start())),
            (0u16..17).prop_map(|n| Control::End(End::split(&totals(n), Some(1), 2).remove(0))),
            any_stack().prop_map(|stack| Control::Hello(Hello { addresses: Addresses::of(&stack) })),
            Just(Control::Here(here())),
            Just(Control::Heard),
            Just(Control::Learn),
        ]
    }

    fn body_of(stack: &Stack, control: &Control) -> Vec<u8> {
        let frame = encode(stack, 1, 2, 3, Nanos(4), control).unwrap();
        let inspector = Inspector::plain(stack.dst_port(), true);
        match inspector.inspect(&frame) {
            Inspected::Control { body, .. } => body.to_vec(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_message_is_a_flat_object_with_version_and_kind() {
        let body = body_of(&v6_stack(), &Control::Learn);
        assert_eq!(String::from_utf8(body).unwrap(), r#"{"v":1,"kind":"learn"}"#);
        let body = body_of(&v6_stack(), &Control::Here(here()));
        let json: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(json["kind"], "here");
        assert_eq!(json["queues"], 4);
    }

    #[test]
    fn fields_of_later_programs_are_ignored_and_later_versions_refused() {
        assert_eq!(decode(br#"{"v":1,"kind":"learn","mood":"good"}"#), Ok(Control::Learn));
        assert_eq!(decode(br#"{"v":2,"kind":[]}"#), Err(ControlError::Version { got: 2 }));
        assert!(matches!(decode(br#"{"v":1,"kind":"dance"}"#), Err(ControlError::Malformed(_))));
        assert!(matches!(decode(b"\xFF"), Err(ControlError::Malformed(_))));
    }

    #[test]
    fn the_longest_end_of_any_number_of_spaces_fits_and_loses_none() {
        let stack = Stack { vlans: vec![4094, 4094], ..v6_stack() };
        for count in [0, 1, 16, 17, 64, 0x7FFF] {
            let parts = End::split(&totals(count), Some(u64::MAX), u64::MAX);
            for (at, part) in parts.iter().enumerate() {
                assert_eq!((usize::from(part.part), usize::from(part.parts)), (at, parts.len()));
            }
            let told = Some(u64::MAX);
            let longest = End { age_ns: told, shortfall: told, ..parts.last().unwrap().clone() };
            let frame = encode(&stack, 1, 2, 3, Nanos(4), &Control::End(longest)).unwrap();
            assert!(frame.len() <= MAX_BYTES + 14 + 8);
            let all: Vec<_> = parts.into_iter().flat_map(|part| part.spaces).collect();
            assert_eq!(all, totals(count));
        }
    }

    #[test]
    fn a_message_above_the_mtu_is_refused() {
        let here = Here { host: "h".repeat(1500), ..here() };
        let error = encode(&v6_stack(), 1, 2, 3, Nanos(4), &Control::Here(here));
        assert!(matches!(error, Err(FrameError::ControlTooLarge { bytes: 1501.. })));
    }

    proptest! {
        #[test]
        fn a_message_survives_the_wire(
            stack in any_stack(), run: u16, clock: u16, number: u32, control in any_control(),
        ) {
            let frame = encode(&stack, run, clock, number, Nanos(5), &control).unwrap();
            prop_assert!(frame.len() >= 60);
            let inspector = Inspector::plain(stack.dst_port(), true);
            let Inspected::Control { probe, body } = inspector.inspect(&frame) else { panic!("not control") };
            prop_assert_eq!((probe.run, probe.clock, probe.seq, probe.sent), (run, clock, number, 5));
            prop_assert_eq!(decode(body), Ok(control));
        }

        #[test]
        fn any_bytes_are_decoded_without_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&body);
        }
    }
}
