//! Random sinks, shapes and frames for the recognition tests, and what a sink should take, said in the plainest code.
//! Knows no program and no inspector.

#[path = "../xdp_verdicts/frames.rs"]
pub mod frames;

use frames::{C_TAG, PORT, S_TAG, ethernet, stacks_of_ours};
use macaddr::MacAddr6;
use proptest::prelude::*;
use proptest::sample::Index;
use xsk_gen::frame::layout::HalfCheck;
use xsk_gen::frame::probe::{self, Way};
use xsk_gen::frame::{Shape, swap};
use xsk_gen::xdp::{self, RxOptions};

/// A sink, as its configuration says it.
#[derive(Debug, Clone)]
pub struct Sink {
    pub udp_port: Option<u16>,
    pub vlan: Option<u16>,
    pub ether_type: Option<u16>,
    pub any: bool,
    pub count_only: bool,
    pub shapes: Vec<Shape>,
    pub way: Way,
}

impl Sink {
    /// Frames of ours in plain stacks.
    pub const PLAIN: Self = Self {
        udp_port: Some(PORT),
        vlan: None,
        ether_type: None,
        any: false,
        count_only: false,
        shapes: Vec::new(),
        way: Way::Forth,
    };

    pub fn options(&self) -> RxOptions {
        RxOptions {
            udp_port: self.udp_port,
            shapes: self.shapes.iter().map(told).collect(),
            vlan: self.vlan,
            ether_type: self.ether_type,
            any: self.any,
            count_only: self.count_only,
            stamp: false,
            back: self.way == Way::Back,
            queues: 4,
        }
    }

    /// Whether frames with this outermost tag come into question at all.
    pub fn is_in_vlan(&self, frame: &[u8]) -> bool {
        let tagged = frame.len() >= 18 && is_tag(half(frame, 12));
        self.vlan.is_none_or(|vlan| tagged && half(frame, 14) & 0x0FFF == vlan)
    }

    /// Whether the frame was asked for, if it is none of ours.
    pub fn wants(&self, frame: &[u8]) -> bool {
        let Some((ether_type, at)) = behind_tags(frame) else { return self.any };
        let icmpv6 = ether_type == 0x86DD && frame.len() > at + 40 && frame[at + 6] == 58;
        let neighbours = ether_type == 0x0806 || icmpv6 && (133..=137).contains(&frame[at + 40]);
        if self.any { !neighbours } else { self.ether_type == Some(ether_type) }
    }
}

fn told(shape: &Shape) -> xdp::Shape {
    let number = |at: usize| u16::try_from(at).unwrap();
    let check = |check: &HalfCheck| xdp::Check { at: number(check.at), mask: check.mask, value: check.value };
    xdp::Shape { checks: shape.checks.iter().map(check).collect(), probe: number(shape.probe) }
}

fn half(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

const fn is_tag(ether_type: u16) -> bool {
    ether_type == C_TAG || ether_type == S_TAG
}

/// The type behind two tags at the most, and where what it names begins; None when a tag is cut.
fn behind_tags(frame: &[u8]) -> Option<(u16, usize)> {
    let mut at = 12;
    for _ in 0..2 {
        if !is_tag(half(frame, at)) {
            break;
        }
        at += 4;
        if frame.len() < at + 2 {
            return None;
        }
    }
    Some((half(frame, at), at + 2))
}

/// Offsets within headers, around the end of what a shape may reach, and far beyond.
fn any_offset() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0..80_usize, 1 => 500..520_usize, 1 => 0..65_536_usize]
}

fn any_check() -> impl Strategy<Value = HalfCheck> {
    let mask = prop_oneof![Just(u16::MAX), any::<u16>(), Just(0)];
    (any_offset(), mask, any::<u16>()).prop_map(|(at, mask, value)| HalfCheck {
        at,
        mask,
        // Also values that the mask does not allow: they never hold.
        value: if value % 8 == 0 { value } else { value & mask },
    })
}

/// Any shape, malformed ones and ones of too many checks included.
pub fn any_shape() -> impl Strategy<Value = Shape> {
    let checks = prop_oneof![4 => 0..4_usize, 1 => 15..25_usize];
    (checks.prop_flat_map(|n| prop::collection::vec(any_check(), n)), any_offset())
        .prop_map(|(checks, probe)| Shape { checks, probe, sums: Vec::new(), end: None })
}

/// Frames of every plain stack of ours, tags with some id, what hosts say to each other, and bytes from nowhere.
fn any_base() -> impl Strategy<Value = Vec<u8>> {
    let stream = prop_oneof![Just(0xFFFE_u16), Just(0xFFFF), any::<u16>()];
    let ours = (stream, any::<Index>(), 0..3_u8).prop_map(|(stream, index, vlan)| {
        let mut frame = index.get(&stacks_of_ours(stream)).clone();
        if is_tag(half(&frame, 12)) {
            frame[15] = vlan;
        }
        frame
    });
    let icmpv6 =
        |kind: u8| [&[0x60, 0, 0, 0, 0, 8, 58, 255][..], &[0; 32], &[kind, 0, 0, 0, 0, 0, 0, 0]].concat();
    let hosts = vec![
        ethernet(&[], 0x0806, &[0; 28]),
        ethernet(&[C_TAG], 0x0806, &[0; 28]),
        ethernet(&[C_TAG; 3], 0x0806, &[0; 28]),
        ethernet(&[], 0x86DD, &icmpv6(135)),
        ethernet(&[S_TAG, C_TAG], 0x86DD, &icmpv6(137)),
        ethernet(&[], 0x86DD, &icmpv6(128)),
        ethernet(&[], 0x88CC, &[0; 60]),
    ];
    let nowhere = prop::collection::vec(any::<u8>(), 14..200);
    prop_oneof![5 => ours, 2 => prop::sample::select(hosts), 1 => nowhere]
}

/// The same frame as a reflector sends it back, where it has a probe.
fn turned_round(mut frame: Vec<u8>) -> Vec<u8> {
    if let Some(at) = frame.windows(2).position(|pair| pair == [0x58, 0x47]) {
        swap(&mut frame, MacAddr6::nil());
        probe::turn(&mut frame[at..]);
    }
    frame
}

/// A frame made to have `shape`, as far as its bytes can.
fn shaped(mut frame: Vec<u8>, shape: &Shape, stream: u16, turned: bool) -> Vec<u8> {
    let furthest = shape.checks.iter().map(|check| check.at).chain([shape.probe]).max().unwrap_or(0);
    // Beyond the limits of headers, and not as far as a frame could never reach.
    frame.resize(frame.len().max(furthest.min(600) + 18), 0xA5);
    if let Some(place) = frame.get_mut(shape.probe..shape.probe + 18) {
        place.copy_from_slice(&frames::probe(stream));
        if turned {
            probe::turn(place);
        }
    }
    for check in &shape.checks {
        if let Some([high, low]) = frame.get_mut(check.at..check.at + 2) {
            *high = *high & !(check.mask >> 8) as u8 | (check.value >> 8) as u8;
            *low = *low & !(check.mask & 0xFF) as u8 | (check.value & 0xFF) as u8;
        }
    }
    frame
}

/// A frame, often of one of `shapes`, often with bytes changed, or cut, or with more behind it.
fn any_frame(shapes: Vec<Shape>, way: Way) -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<Index>(), any::<u8>()), 0..4);
    let tail = prop_oneof![3 => Just(40), 1 => 0..80_usize];
    let stream = prop_oneof![8 => Just(7_u16), 1 => Just(0xFFFF)];
    // Some go the way that is not looked for.
    let turned = prop_oneof![4 => Just(way == Way::Back), 1 => any::<bool>()];
    (any_base(), any::<Index>(), any::<bool>(), stream, changes, tail, turned).prop_map(
        move |(base, index, fit, stream, changes, tail, turned)| {
            let base = if turned { turned_round(base) } else { base };
            let mut frame = match shapes.as_slice() {
                [] => base,
                _ if !fit => base,
                shapes => shaped(base, index.get(shapes), stream, turned),
            };
            // Every other frame stays as it is.
            changes
                .iter()
                .skip(changes.len() % 2)
                .for_each(|(index, byte)| *index.get_mut(&mut frame) = *byte);
            let len = frame.len();
            frame.resize((len + tail).saturating_sub(40).max(14), 0);
            frame
        },
    )
}

/// A sink and frames that come to it.
pub fn any_case() -> impl Strategy<Value = (Sink, Vec<Vec<u8>>)> {
    let port = prop_oneof![3 => Just(Some(PORT)), 1 => Just(None)];
    let vlan = prop_oneof![3 => Just(None), 1 => (0..3_u16).prop_map(Some)];
    let types = vec![0x0800, 0x0806, 0x86DD, 0x88B5, 0x88CC];
    let ether_type = prop::option::of(prop::sample::select(types));
    let shapes = prop_oneof![1 => 0..1_usize, 3 => 1..5_usize];
    let shapes = shapes.prop_flat_map(|n| prop::collection::vec(any_shape(), n));
    let take_any = prop_oneof![3 => Just(false), 1 => Just(true)];
    let way = prop_oneof![2 => Just(Way::Forth), 1 => Just(Way::Back)];
    (port, vlan, ether_type, take_any, any::<bool>(), shapes, way).prop_flat_map(
        |(udp_port, vlan, ether_type, any, count_only, shapes, way)| {
            let frames = prop::collection::vec(any_frame(shapes.clone(), way), 40);
            let sink = Sink { udp_port, vlan, ether_type, any, count_only, shapes, way };
            frames.prop_map(move |frames| (sink.clone(), frames))
        },
    )
}
