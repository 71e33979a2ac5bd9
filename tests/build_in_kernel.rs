//! A program inside the kernel makes the same frames as the sender in userspace from the same tables, byte for byte:
//! so that a stream is data, whoever sends it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use libbpf_rs::{MapCore, MapFlags, Object, ObjectBuilder, ProgramInput};
use support::require_root;
use xdp_prog::table::{LISTS_MAP, PROGRAM, WHICH_MAP};
use xsk_gen::frame::flow::index_of;
use xsk_gen::frame::formula::{Formula, Modifier, Per};
use xsk_gen::frame::layer::{Arp, Echo, Ethernet, Gre, GtpU, Ipv4, Ipv6, Layer, Mpls, Tcp, Udp, Vlan, Vxlan};
use xsk_gen::frame::layout::Defaults;
use xsk_gen::frame::sizes::Sizes;
use xsk_gen::frame::{Held, Place, Stream, StreamSpec};
use xsk_gen::units::{FrameSize, Nanos};

/// What the program returns when it has made the frame.
const XDP_TX: u32 = 3;
const WORKER: Place = Place { worker: 1, workers: 3, stream: 2, streams: 5 };
const FLOWS: u32 = 7;

/// The program in the kernel, for one stream.
struct Builder {
    object: Object,
    template: Vec<u8>,
}

impl Builder {
    fn load(stream: &Stream) -> Self {
        let (table, template) = stream.table();
        let mut open = ObjectBuilder::default().open_memory(xdp_prog::build_object()).unwrap();
        for mut map in open.maps_mut() {
            let name = map.name().to_string_lossy().into_owned();
            if name.ends_with(".rodata") {
                map.set_initial_value(&table.to_bytes().expect("few enough rows")).unwrap();
            } else if name == LISTS_MAP {
                map.set_max_entries(table.lists.len().max(1) as u32).unwrap();
            }
        }
        let object = open.load().unwrap();
        let lists = object.maps().find(|map| map.name() == LISTS_MAP).unwrap();
        for (at, value) in (0u32..).zip(&table.lists) {
            lists.update(&at.to_ne_bytes(), &value.to_ne_bytes(), MapFlags::ANY).unwrap();
        }
        Self { object, template: template.to_vec() }
    }

    /// The frame that the program makes of `frame`.
    fn make(&mut self, seq: u64, sent: u64, measured: bool, mut frame: Vec<u8>) -> Vec<u8> {
        let index = index_of(WORKER.worker, seq, WORKER.workers);
        let which = [seq, index, index % u64::from(FLOWS), sent, measured.into()];
        let bytes: Vec<u8> = which.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let map = self.object.maps().find(|map| map.name() == WHICH_MAP).unwrap();
        map.update(&0u32.to_ne_bytes(), &bytes, MapFlags::ANY).unwrap();
        let program = self.object.progs_mut().find(|program| program.name() == PROGRAM).unwrap();
        let mut out = vec![0; frame.len()];
        let input =
            ProgramInput { data_in: Some(&frame), data_out: Some(&mut out), ..ProgramInput::default() };
        assert_eq!(program.test_run(input).unwrap().return_value, XDP_TX);
        frame.copy_from_slice(&out);
        frame
    }
}

fn modifier(field: &str, per: Per, formula: Formula) -> Modifier {
    Modifier { field: field.to_owned(), formula, per }
}

/// Every kind of formula, on a field of each width that the stack has.
fn modifiers(fields: &[&str]) -> Vec<Modifier> {
    let kinds = [
        (Per::Frame, Formula::Step { base: 1024, step: 3, count: 1000 }),
        (Per::Frame, Formula::Random { seed: 7, low: 100, span: 9000 }),
        (Per::Flow, Formula::List(vec![5, 1 << 40, 77])),
        (Per::Frame, Formula::Step { base: 64, step: u64::MAX, count: 33 }),
        (Per::Flow, Formula::Random { seed: 1, low: 0, span: 0 }),
        (Per::Frame, Formula::Constant(3)),
    ];
    let each = fields.iter().zip(kinds.into_iter().cycle());
    each.map(|(field, (per, formula))| modifier(field, per, formula)).collect()
}

fn cases() -> Vec<(Vec<Layer>, Vec<Modifier>)> {
    let ethernet = || Layer::Ethernet(Ethernet::default());
    let (ipv4, ipv6) = (|| Layer::Ipv4(Ipv4::default()), || Layer::Ipv6(Ipv6::default()));
    let udp = |checksum| Layer::Udp(Udp { checksum, ..Udp::default() });
    let tag = Layer::Vlan(Vlan { id: 7, ..Vlan::default() });
    let vxlan = Layer::Vxlan(Vxlan { vni: 42 });
    let gre = Layer::Gre(Gre { checksum: true, key: Some(1), seq: Some(2), protocol: None });
    let mpls = Layer::Mpls(Mpls::default());
    vec![
        (vec![ethernet(), ipv4(), udp(None)], vec![]),
        (
            vec![ethernet(), ipv4(), udp(None)],
            modifiers(&["ipv4.dst", "udp.dst_port", "ipv4.ttl", "ipv4.dscp", "ethernet.src", "ipv4.id"]),
        ),
        (
            vec![ethernet(), tag, ipv6(), Layer::Tcp(Tcp::default())],
            modifiers(&["ipv6.dst", "tcp.seq", "vlan.id", "ipv6.flow_label", "tcp.flags", "vlan.pcp"]),
        ),
        (
            vec![ethernet(), ipv4(), udp(Some(true)), vxlan, ethernet(), ipv4(), udp(None)],
            modifiers(&["vxlan.vni", "ipv4[2].src", "udp[2].src_port", "ethernet[2].dst", "ipv4.src"]),
        ),
        (
            vec![ethernet(), ipv4(), gre, ipv4(), Layer::Icmp(Echo::default())],
            modifiers(&["gre.key", "icmp.seq", "gre.seq", "ipv4[2].ttl"]),
        ),
        (
            vec![ethernet(), mpls, ipv6(), udp(None), Layer::GtpU(GtpU { teid: 1, seq: Some(1) }), ipv4()],
            modifiers(&["mpls.label", "gtpu.teid", "mpls.ttl", "gtpu.seq"]),
        ),
        (vec![ethernet(), Layer::Arp(Arp::default())], modifiers(&["arp.sender_ip", "arp.sender_mac"])),
        (
            vec![ethernet(), ipv4(), udp(None), Layer::Raw(vec![1, 2, 3])],
            modifiers(&["raw.bytes", "udp.src_port"]),
        ),
    ]
}

fn sizes() -> [Sizes; 2] {
    let size = |bytes| FrameSize::new(bytes).unwrap();
    [Sizes::Fixed(size(200)), Sizes::Pattern(vec![size(180), size(1518), size(301)])]
}

fn written(stream: &Stream, seq: u64, sent: u64, measured: bool) -> Vec<u8> {
    let mut frame = vec![0; stream.len_of(seq)];
    stream.write(Held::Nothing, seq, Nanos(sent), measured, &mut frame);
    frame
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_kernel_makes_the_same_frames_from_the_same_tables() {
    if !require_root() {
        return;
    }
    for (layers, modifiers) in cases() {
        for sizes in sizes() {
            let (layers, modifiers) = (layers.clone(), modifiers.clone());
            let arp = layers.iter().any(|layer| matches!(layer, Layer::Arp(_)));
            let spec = StreamSpec {
                layers,
                defaults: Defaults::BENCHMARK,
                modifiers,
                sizes,
                flows: if arp { 1 } else { FLOWS },
                place: WORKER,
                run: 0x1234,
                clock: 9,
                verify: true,
            };
            let stream = Stream::new(&spec).unwrap();
            check(&spec, &stream);
        }
    }
}

/// From the template, and over the frame made before: what a recycled page holds.
fn check(spec: &StreamSpec, stream: &Stream) {
    let mut builder = Builder::load(stream);
    for (seq, sent) in [(0, 0), (1, 5), (41, 1 << 47), (70_000, 3), (u64::from(u32::MAX) + 9, u64::MAX)] {
        let expected = written(stream, seq, sent, seq % 2 == 1);
        let mut template = builder.template.clone();
        template.resize(expected.len(), 0);
        let other = written(stream, seq + 3, 8, false);
        assert_eq!(builder.make(seq, sent, seq % 2 == 1, template), expected, "frame {seq} of {spec:?}");
        if other.len() == expected.len() {
            assert_eq!(builder.make(seq, sent, seq % 2 == 1, other), expected, "frame {seq} of {spec:?}");
        }
    }
}
