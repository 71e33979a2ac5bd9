//! Streams of any headers, lengths and modifiers, against the plain meaning of each: every field is read back bit by
//! bit and compared with its formula, every checksum is added up anew, every length is counted.

use super::{Held, Place, Stream, StreamSpec};
use crate::frame::flow::index_of;
use crate::frame::formula::{Formula, Modifier, Per};
use crate::frame::layer::*;
use crate::frame::layout::{Defaults, Layout, compile};
use crate::frame::probe::{self, Probe};
use crate::frame::reference;
use crate::frame::sizes::{Lengths, Sizes};
use crate::units::{FrameSize, Nanos};
use proptest::prelude::*;

fn ethernet() -> Layer {
    Layer::Ethernet(Ethernet::default())
}

fn ipv4() -> Layer {
    Layer::Ipv4(Ipv4::default())
}

fn ipv6() -> Layer {
    Layer::Ipv6(Ipv6::default())
}

fn udp() -> Layer {
    Layer::Udp(Udp::default())
}

fn tcp() -> Layer {
    Layer::Tcp(Tcp { flags: 2, options: vec![2, 4, 5, 0xB4], ..Tcp::default() })
}

fn tag(id: u16) -> Layer {
    Layer::Vlan(Vlan { id, pcp: 5, ..Vlan::default() })
}

fn label(label: u32) -> Layer {
    Layer::Mpls(Mpls { label, ..Mpls::default() })
}

/// One stack of every kind, and tunnels in tunnels.
fn stacks() -> Vec<Vec<Layer>> {
    let gre = |checksum, key| Layer::Gre(Gre { checksum, key, seq: key, protocol: None });
    let vxlan = || Layer::Vxlan(Vxlan { vni: 42 });
    let summed = || Layer::Udp(Udp { checksum: Some(true), ..Udp::default() });
    let options = Layer::Ipv4(Ipv4 { options: vec![1; 5], ..Ipv4::default() });
    vec![
        vec![ethernet(), ipv4(), udp()],
        vec![ethernet(), ipv6(), tcp()],
        vec![ethernet(), tag(7), tag(8), options, tcp()],
        vec![ethernet(), label(16), label(17), ipv4(), Layer::Icmp(Echo::default())],
        vec![ethernet(), ipv6(), Layer::Icmpv6(Echo { id: 3, ..Echo::default() })],
        vec![ethernet(), Layer::Arp(Arp::default())],
        vec![ethernet(), ipv4(), summed(), vxlan(), ethernet(), ipv4(), tcp()],
        vec![ethernet(), ipv6(), udp(), vxlan(), ethernet(), tag(9), ipv6(), udp()],
        vec![ethernet(), ipv4(), udp(), vxlan(), ethernet(), Layer::Arp(Arp::default())],
        vec![ethernet(), ipv4(), gre(true, Some(1)), ipv4(), gre(true, None), ipv6(), udp()],
        vec![ethernet(), ipv4(), udp(), Layer::GtpU(GtpU { teid: 9, seq: Some(2) }), ipv4(), udp()],
        vec![
            ethernet(),
            ipv4(),
            summed(),
            vxlan(),
            ethernet(),
            ipv4(),
            summed(),
            vxlan(),
            ethernet(),
            ipv4(),
            udp(),
        ],
        vec![ethernet(), ipv4(), ipv6(), udp(), Layer::Raw(vec![1, 2, 3])],
        vec![ethernet(), Layer::Raw(vec![9; 7])],
    ]
}

/// The bits of a field, its low 64 where it has more.
fn read(frame: &[u8], bit: usize, bits: usize) -> u64 {
    let at = |bit: usize| u64::from(frame[bit / 8] >> (7 - bit % 8) & 1);
    (bit..bit + bits).fold(0, |value, bit| value << 1 | at(bit))
}

fn any_formula() -> impl Strategy<Value = (Formula, Per)> {
    let list = prop::collection::vec(any::<u64>(), 1..5).prop_map(Formula::List);
    let step = any::<(u64, u64)>().prop_flat_map(|(base, step)| {
        prop_oneof![Just(0), 1u64..70_000].prop_map(move |count| Formula::Step { base, step, count })
    });
    let random = (any::<u64>(), any::<u64>(), prop_oneof![Just(0), 1u64..1 << 40])
        .prop_map(|(seed, low, span)| Formula::Random { seed, low, span });
    let formula = prop_oneof![any::<u64>().prop_map(Formula::Constant), step, list, random];
    (formula, prop_oneof![Just(Per::Frame), Just(Per::Flow)])
}

fn any_sizes(least: u32) -> impl Strategy<Value = Sizes> {
    let size = move || (0u32..300).prop_map(move |more| FrameSize::new(least.max(64) + more).unwrap());
    let bounds = move || (size(), size()).prop_map(|(a, b)| (a.min(b), a.max(b)));
    prop_oneof![
        size().prop_map(Sizes::Fixed),
        prop::collection::vec(size(), 1..6).prop_map(Sizes::Pattern),
        (bounds(), 1u32..40).prop_map(|((from, to), step)| Sizes::Sweep { from, to, step }),
        (bounds(), any::<u64>()).prop_map(|((from, to), seed)| Sizes::Uniform { from, to, seed }),
    ]
}

/// A stream, its layout, and its modifiers: no two of one field, and none of a length or checksum.
fn any_stream() -> impl Strategy<Value = (StreamSpec, Layout)> {
    let stack = prop::sample::select(stacks());
    let places = (0u16..3, 1u16..4, any::<[u16; 2]>(), 1u32..300);
    (stack, places, any::<bool>())
        .prop_flat_map(|(layers, place, probed)| {
            let layout = compile(&layers, &Defaults::BENCHMARK).unwrap();
            let least = layout.probe() + if probed { probe::LEN } else { 0 } + 4;
            let fields: Vec<String> = changeable(&layout);
            let chosen = prop::sample::subsequence(fields.clone(), 0..=fields.len().min(5));
            let formulas = prop::collection::vec(any_formula(), 5);
            (Just((layers, place, layout)), any_sizes(least as u32), chosen, formulas)
        })
        .prop_map(|((layers, place, layout), sizes, chosen, formulas)| {
            let (worker, workers, [run, clock], flows) = place;
            let modifier = |(field, (formula, per))| Modifier { field, formula, per };
            let flows = if crate::frame::flow::possible(&layout) { flows } else { 1 };
            let spec = StreamSpec {
                layers,
                defaults: Defaults::BENCHMARK,
                modifiers: chosen.into_iter().zip(formulas).map(modifier).collect(),
                sizes,
                flows,
                place: Place { worker: worker % workers, workers, stream: 1, streams: 2 },
                run,
                clock,
                verify: true,
            };
            (spec, layout)
        })
}

fn changeable(layout: &Layout) -> Vec<String> {
    let taken = |bit: usize| {
        layout.lengths.iter().map(|l| l.at).chain(layout.sums.iter().map(|s| s.at)).any(|at| at * 8 == bit)
    };
    layout.fields.iter().filter(|f| !taken(f.bit)).map(|f| f.name.clone()).collect()
}

/// What must stand in each field of the frame.
fn check_fields(spec: &StreamSpec, layout: &Layout, seq: u64, frame: &[u8]) {
    let index = index_of(spec.place.worker, seq, spec.place.workers);
    let (flow, telling) =
        (index % u64::from(spec.flows), ["ipv4.src", "ipv6.src", "udp.src_port", "tcp.src_port"]);
    let follows = |bit: usize| layout.lengths.iter().find(|length| length.at * 8 == bit);
    for field in &layout.fields {
        let (bits, skipped) = (field.bits.min(64), field.bits.saturating_sub(64));
        let got = read(frame, field.bit + skipped, bits);
        let modifier = spec.modifiers.iter().find(|m| m.field == field.name);
        let cut = |value: u64| value & (u64::MAX >> (64 - bits));
        let plain = read(&layout.header, field.bit + skipped, bits);
        let expected = match (modifier, follows(field.bit)) {
            (Some(m), _) => cut(m.formula.value(if m.per == Per::Frame { index } else { flow })),
            (None, Some(length)) => (frame.len() - length.minus) as u64,
            (None, None) if layout.sums.iter().any(|sum| sum.at * 8 == field.bit) => continue,
            (None, None) if spec.flows > 1 && is_telling(layout, &telling, field.bit) => {
                // Every third port: no stack here has so high a one that the flows of a test would not fit.
                cut(plain.wrapping_add(flow * if bits == 16 { 3 } else { 1 }))
            }
            (None, None) => plain,
        };
        assert_eq!(got, expected, "{} of {:?}", field.name, spec.layers);
    }
}

/// Whether flows differ in this field: the outermost of its kind.
fn is_telling(layout: &Layout, names: &[&str], bit: usize) -> bool {
    let outermost =
        |pair: &[&str]| pair.iter().filter_map(|name| layout.field(name)).map(|field| field.bit).min();
    names.chunks(2).any(|pair| outermost(pair) == Some(bit))
}

/// Every checksum, added up from the bytes of the frame.
fn check_sums(layout: &Layout, frame: &[u8]) {
    for sum in &layout.sums {
        let mut covered = frame[sum.from..sum.to.unwrap_or(frame.len())].to_vec();
        if covered.len() % 2 == 1 {
            covered.push(0);
        }
        if let Some(pseudo) = &sum.pseudo {
            covered.extend(&frame[pseudo.addresses.clone()]);
            covered.extend([0, pseudo.protocol]);
            covered.extend(((frame.len() - sum.from) as u16).to_be_bytes());
        }
        assert_eq!(reference::sum(&covered), 0xFFFF, "the checksum at {}", sum.at);
        assert!(!sum.never_zero || read(frame, sum.at * 8, 16) != 0);
    }
}

fn written(stream: &Stream, seq: u64) -> Vec<u8> {
    let mut frame = vec![0x5A; stream.len_of(seq)];
    stream.write(Held::Nothing, seq, Nanos(77), true, &mut frame);
    frame
}

proptest! {
    #[test]
    fn every_field_follows_its_formula_and_every_checksum_holds(
        (spec, layout) in any_stream(), seqs in prop::collection::vec(any::<u64>(), 1..6),
    ) {
        let stream = Stream::new(&spec).unwrap();
        let lengths = Lengths::of(&spec.sizes);
        for seq in seqs {
            let frame = written(&stream, seq);
            prop_assert_eq!(frame.len(), lengths.at(seq));
            check_fields(&spec, &layout, seq, &frame);
            check_sums(&layout, &frame);
            let read = Probe::read(&frame[layout.probe()..]);
            prop_assert_eq!(read.is_some(), stream.numbered());
            let expected = (spec.run, spec.place.space().unwrap(), seq as u32, spec.clock, 77);
            let got = read.map(|p| (p.run, p.stream.space(), p.seq, p.clock, p.sent));
            prop_assert!(got.is_none_or(|got| got == expected));
            let rest = layout.probe() + if stream.numbered() { probe::LEN } else { 0 };
            prop_assert!(frame[rest..].iter().all(|byte| *byte == 0));
        }
    }

    /// Two streams take turns in one buffer, as in a sender's chunk.
    #[test]
    fn what_a_buffer_held_changes_nothing(
        first in any_stream(), second in any_stream(), turns in prop::collection::vec(any::<(bool, u64)>(), 1..12),
    ) {
        let mut streams = [Stream::new(&first.0).unwrap(), Stream::new(&second.0).unwrap()];
        let longest = streams.iter().map(Stream::prefix_len).max().unwrap();
        streams.iter_mut().for_each(|stream| stream.pad(longest));
        let mut chunk = vec![0; 1024];
        let mut held: Option<(bool, usize)> = None;
        for (which, seq) in turns {
            let stream = &streams[usize::from(which)];
            let len = stream.len_of(seq);
            let same = held.is_some_and(|(of, len_held)| of == which && len_held >= len.min(stream.prefix_len()));
            stream.write(if same { Held::Same } else { Held::Other }, seq, Nanos(77), true, &mut chunk[..len]);
            held = Some((which, len));
            prop_assert_eq!(&chunk[..len], written(stream, seq));
        }
    }
}

#[test]
fn a_checksum_that_is_set_is_wrong_on_purpose() {
    let modifiers = vec![Modifier {
        field: "udp.checksum".to_owned(),
        formula: Formula::Constant(0xBEEF),
        per: Per::Frame,
    }];
    let spec = StreamSpec { modifiers, ..reference::v4_spec().spec() };
    let frame = written(&Stream::new(&spec).unwrap(), 1);
    assert_eq!(read(&frame, 40 * 8, 16), 0xBEEF);
}

#[test]
fn fields_that_are_not_there_or_twice_are_refused() {
    let with = |fields: &[&str]| {
        let modifier = |field: &&str| Modifier {
            field: (*field).to_owned(),
            formula: Formula::Constant(1),
            per: Per::Frame,
        };
        let spec =
            StreamSpec { modifiers: fields.iter().map(modifier).collect(), ..reference::v4_spec().spec() };
        Stream::new(&spec).err().map(|error| error.to_string())
    };
    assert_eq!(with(&["tcp.seq"]).unwrap(), "the stack has no field tcp.seq");
    assert_eq!(with(&["ipv4.ttl", "ipv4[1].ttl"]).unwrap(), "ipv4[1].ttl is set twice");
    assert_eq!(with(&["ipv4.ttl", "ipv4.dscp"]), None);
}
