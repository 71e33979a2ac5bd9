//! What a stream file means.

use super::*;
use crate::frame::formula::{Formula, Modifier, Per};
use crate::frame::layer::{Gre, GtpU, Mpls, Tcp, Vlan, Vxlan};

fn read(text: &str) -> StreamSet {
    read_streams("t.toml", text, None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The only stream with these lines.
fn one(lines: &str) -> StreamPlan {
    read(&format!("[[stream]]\n{lines}")).streams()[0].clone()
}

fn modifier(line: &str) -> Modifier {
    one(&format!("modify = [{{ {line} }}]")).modifiers[0].clone()
}

fn size(bytes: u32) -> FrameSize {
    FrameSize::new(bytes).unwrap()
}

#[test]
fn a_whole_file() {
    let set = read(
        r#"
        seed = 5
        [[stream]]
        name = "web"
        weight = 3
        size = 128
        flows = 256
        layers = [ { ethernet = {} }, { vlan = { id = 100, pcp = 3 } },
                   { ipv4 = { dst = "198.19.0.1", dscp = 46 } }, { udp = { dst_port = 9 } } ]
        modify = [
          { field = "udp.src_port", inc = { from = 1024, to = 65535, step = 1 } },
          { field = "ipv4.ttl", dec = { from = 64, to = 32 } },
          { field = "ipv4.dst", random = { from = "198.19.0.0", to = "198.19.255.255", seed = 7 } },
          { field = "vlan.id", list = [100, 200, 300], per = "flow" },
          { field = "vlan.pcp", set = 7 },
        ]
        [[stream]]
        "#,
    );
    let [web, plain] = set.streams() else { panic!("{set:?}") };
    assert_eq!((web.name.as_str(), web.weight, web.flows), ("web", 3, 256));
    assert_eq!((&web.sizes, web.numbered()), (&Sizes::Fixed(size(128)), true));
    assert_eq!(web.layers[1], Layer::Vlan(Vlan { id: 100, pcp: 3, ..Vlan::default() }));
    let formulas: Vec<&Formula> = web.modifiers.iter().map(|m| &m.formula).collect();
    assert_eq!(formulas[0], &Formula::Step { base: 1024, step: 1, count: 64_512 });
    assert_eq!(formulas[1], &Formula::Step { base: 64, step: u64::MAX, count: 33 });
    assert_eq!(formulas[2], &Formula::Random { seed: 7, low: 0xC613_0000, span: 65_536 });
    assert_eq!(formulas[3], &Formula::List(vec![100, 200, 300]));
    assert_eq!((formulas[4], web.modifiers[3].per), (&Formula::Constant(7), Per::Flow));
    assert_eq!((plain.name.as_str(), plain.weight, plain.flows), ("stream-2", 1, 1));
    assert_eq!((&plain.sizes, plain.layers.len()), (&Sizes::Fixed(size(64)), 3));
}

#[test]
fn the_default_size_is_the_least_that_holds_the_probe() {
    let size_of = |layers: &str| one(&format!("layers = [{{ ethernet = {{}} }}{layers}]")).sizes;
    assert_eq!(size_of(""), Sizes::Fixed(size(64)));
    assert_eq!(size_of(", { vlan = {} }, { ipv4 = {} }, { udp = {} }"), Sizes::Fixed(size(68)));
    let vxlan =
        ", { ipv4 = {} }, { udp = {} }, { vxlan = {} }, { ethernet = {} }, { ipv6 = {} }, { tcp = {} }";
    assert_eq!(size_of(vxlan), Sizes::Fixed(size(14 + 20 + 8 + 8 + 14 + 40 + 20 + 18 + 4)));
}

#[test]
fn sizes_in_every_form() {
    let sizes = |text: &str| one(&format!("size = {text}")).sizes;
    assert_eq!(sizes("[64, 128]"), Sizes::Pattern(vec![size(64), size(128)]));
    let weighted = sizes("[{ size = 64, weight = 2 }, { size = 594 }]");
    assert_eq!(weighted, Sizes::Pattern(vec![size(64), size(594), size(64)]));
    assert!(matches!(sizes("\"imix\""), Sizes::Pattern(sizes) if sizes.len() == 12));
    assert_eq!(sizes("\"imix:az\"\nz = 9018"), Sizes::Pattern(vec![size(64), size(9018)]));
    let (from, to) = (size(64), size(1518));
    assert_eq!(sizes("{ from = 64, to = 1518, step = 64 }"), Sizes::Sweep { from, to, step: 64 });
    assert_eq!(sizes("{ from = 64, to = 1518, random = 7 }"), Sizes::Uniform { from, to, seed: 7 });
    assert!(matches!(sizes("\"64-1518\""), Sizes::Uniform { seed, .. } if seed != 0));
}

#[test]
fn a_frame_without_room_for_the_probe_is_unnumbered_and_taken() {
    let vlan = "layers = [{ ethernet = {} }, { vlan = {} }, { ipv4 = {} }, { udp = {} }]\nsize = [64, 68]";
    assert!(!one(vlan).numbered());
}

#[test]
fn values_are_in_the_notation_of_their_field() {
    assert_eq!(
        modifier("field = \"ethernet.dst\", set = \"02:00:00:00:00:ff\"").formula,
        Formula::Constant(0x0200_0000_00FF)
    );
    let flags = one("layers = [{ ethernet = {} }, { ipv4 = {} }, { tcp = { flags = \"syn\" } }]\n\
                     modify = [{ field = \"tcp.flags\", list = [\"syn,ack\", 0x10] }]");
    assert_eq!(flags.modifiers[0].formula, Formula::List(vec![0x12, 0x10]));
    assert!(matches!(&flags.layers[2], Layer::Tcp(Tcp { flags: 2, .. })));
    let most = modifier("field = \"udp.src_port\", random = { from = 0, to = 0xffff }").formula;
    assert!(matches!(most, Formula::Random { low: 0, span: 65_536, .. }));
}

#[test]
fn the_high_half_of_an_address_that_varies_goes_into_its_header() {
    let stream = one(
        "layers = [{ ethernet = {} }, { ipv6 = { src = \"2001:db8::9\" } }, { gre = {} }, { ipv6 = {} }, { udp = {} }]\n\
         modify = [{ field = \"ipv6[2].dst\", inc = { from = \"2001:db8:7::1\", to = \"2001:db8:7::ff\" } }]",
    );
    let address = |at: usize| match &stream.layers[at] {
        Layer::Ipv6(header) => (header.src, header.dst),
        other => panic!("{other:?}"),
    };
    assert_eq!(address(1), (Some("2001:db8::9".parse().unwrap()), None));
    assert_eq!(address(3), (None, Some("2001:db8:7::".parse().unwrap())));
    assert_eq!(stream.modifiers[0].formula, Formula::Step { base: 1, step: 1, count: 255 });
}

#[test]
fn every_header_is_read() {
    let stream = one(
        "layers = [{ ethernet = { dst = \"02:00:00:00:00:09\", ether_type = 0x8847 } }, { mpls = { label = 16, tc = 1, ttl = 2 } },\
         { ipv4 = { options = \"01010101\", mf = true } }, { gre = { key = 1, seq = 2, checksum = true } },\
         { ipv6 = { flow_label = 5 } }, { udp = { checksum = false } }, { gtpu = { teid = 7, seq = 8 } },\
         { ipv4 = {} }, { udp = {} }, { vxlan = { vni = 77 } }, { ethernet = {} }, { raw = \"00Ff\" }]",
    );
    assert_eq!(stream.layers[1], Layer::Mpls(Mpls { label: 16, tc: 1, ttl: 2 }));
    assert!(matches!(&stream.layers[2], Layer::Ipv4(ip) if ip.mf && !ip.df && ip.options == [1; 4]));
    assert_eq!(
        stream.layers[3],
        Layer::Gre(Gre { checksum: true, key: Some(1), seq: Some(2), protocol: None })
    );
    assert_eq!(stream.layers[6], Layer::GtpU(GtpU { teid: 7, seq: Some(8) }));
    assert_eq!(stream.layers[9], Layer::Vxlan(Vxlan { vni: 77 }));
    assert_eq!(stream.layers[11], Layer::Raw(vec![0, 255]));
}

#[test]
fn series_differ_by_field_and_stream_and_are_the_same_each_time() {
    let text = "seed = 9\n[[stream]]\nmodify = [{ field = \"ipv4.src\", random = { from = \"0.0.0.0\", to = \"255.255.255.255\" } },\n\
                { field = \"udp.src_port\", random = { from = 0, to = 65535 } }]\n[[stream]]\n\
                modify = [{ field = \"ipv4.src\", random = { from = \"0.0.0.0\", to = \"255.255.255.255\" } }]";
    let seeds = |set: &StreamSet| -> Vec<u64> {
        let modifiers = set.streams().iter().flat_map(|stream| &stream.modifiers);
        modifiers
            .map(|m| if let Formula::Random { seed, .. } = m.formula { seed } else { panic!() })
            .collect()
    };
    let own = seeds(&read(text));
    assert!(own[0] != own[1] && own[0] != own[2] && own[1] != own[2]);
    assert_eq!(seeds(&read(text)), own);
    let other = read_streams("t.toml", text, Some(10)).unwrap();
    assert!(seeds(&other).iter().all(|seed| !own.contains(seed)));
    assert_eq!(seeds(&read_streams("t.toml", text, Some(9)).unwrap()), own);
    assert_eq!((read(text).seed(), other.seed()), (9, 10));
}

#[test]
fn sixty_four_streams_are_taken() {
    assert_eq!(read(&"[[stream]]\n".repeat(64)).streams().len(), 64);
}
