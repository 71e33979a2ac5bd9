//! Modifiers, sizes and weights: what they do from frame to frame, computed here again and read by tshark.

use super::dissect::{Capture, FAULTS, fault};
use std::collections::BTreeSet;

/// Frames of each series.
const FRAMES: usize = 200;

/// A stream with one modifier: what stands around it, tshark's field, and the value of frame n.
type Series<'s> = (&'s str, &'s str, &'s str, Box<dyn Fn(u64) -> String>);

/// The n-th output of SplitMix64 (Steele, Lea, Flood 2014), stepwise as its authors have it.
fn split_mix(seed: u64, n: u64) -> u64 {
    let mut state = seed;
    let mut output = 0;
    for _ in 0..=n {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        output = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        output = (output ^ (output >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        output ^= output >> 31;
    }
    output
}

fn dotted(address: u64) -> String {
    std::net::Ipv4Addr::from(u32::try_from(address).unwrap()).to_string()
}

fn tagged() -> &'static str {
    "layers = [{ ethernet = {} }, { vlan = {} }, { ipv4 = {} }, { udp = {} }]"
}

fn all() -> Vec<Series<'static>> {
    const V6: &str = "layers = [{ ethernet = {} }, { mpls = {} }, { ipv6 = {} }, { tcp = {} }]";
    vec![
        ("", "field = 'udp.src_port', inc = { from = 65500, to = 65535, step = 3 }", "udp.srcport", {
            Box::new(|n| (65_500 + n % 12 * 3).to_string())
        }),
        ("", "field = 'ipv4.ttl', dec = { from = 64, to = 31, step = 2 }", "ip.ttl", {
            Box::new(|n| (64 - n % 17 * 2).to_string())
        }),
        (
            "",
            "field = 'ipv4.dst', random = { from = '198.19.0.0', to = '198.19.255.255', seed = 7 }",
            "ip.dst",
            { Box::new(|n| dotted(0xC613_0000 + split_mix(7, n) % 65_536)) },
        ),
        (
            "",
            "field = 'ipv4.src', random = { from = '0.0.0.1', to = '223.255.255.254', seed = 8 }",
            "ip.src",
            { Box::new(|n| dotted(1 + split_mix(8, n) % (0xDFFF_FFFE - 1 + 1))) },
        ),
        (tagged(), "field = 'vlan.id', list = [100, 200, 300]", "vlan.id", {
            Box::new(|n| (100 + n % 3 * 100).to_string())
        }),
        (tagged(), "field = 'vlan.pcp', inc = { from = 0, to = 7 }", "vlan.priority", {
            Box::new(|n| (n % 8).to_string())
        }),
        ("flows = 4", "field = 'ipv4.id', list = [1, 2, 3, 4, 5, 6, 7, 8], per = 'flow'", "ip.id", {
            Box::new(|n| format!("0x{:04x}", n % 4 + 1))
        }),
        ("", "field = 'ipv4.dscp', set = 46", "ip.dsfield.dscp", Box::new(|_| "46".to_owned())),
        (
            "",
            "field = 'ethernet.src', inc = { from = '02:00:00:00:ff:fe', to = '02:00:00:01:00:02' }",
            "eth.src",
            {
                Box::new(|n| {
                    let low = 0xFFFE + n % 5;
                    format!("02:00:00:{:02x}:{:02x}:{:02x}", low >> 16, low >> 8 & 0xFF, low & 0xFF)
                })
            },
        ),
        (V6, "field = 'mpls.label', random = { from = 16, to = 1048575, seed = 9 }", "mpls.label", {
            Box::new(|n| (16 + split_mix(9, n) % 1_048_560).to_string())
        }),
        (
            V6,
            "field = 'ipv6.dst', inc = { from = '2001:db8::fffe', to = '2001:db8::1:2', step = 2 }",
            "ipv6.dst",
            { Box::new(|n| ["2001:db8::fffe", "2001:db8::1:0", "2001:db8::1:2"][n as usize % 3].to_owned()) },
        ),
        (V6, "field = 'ipv6.flow_label', dec = { from = 1048575, to = 0, step = 999 }", "ipv6.flow", {
            Box::new(|n| format!("0x{:06x}", 1_048_575 - n % 1_050 * 999))
        }),
        (V6, "field = 'tcp.flags', list = ['syn', 'syn,ack', 0x10]", "tcp.flags", {
            Box::new(|n| ["0x0002", "0x0012", "0x0010"][n as usize % 3].to_owned())
        }),
        ("flows = 50", "field = 'udp.dst_port', set = 53000", "udp.srcport", {
            Box::new(|n| (4_242 + n % 50 * 3).to_string())
        }),
    ]
}

#[test]
#[ignore = "needs tshark: scripts/test.sh"]
fn each_modifier_is_its_series() {
    let series = all();
    let stream =
        |(around, modifier, ..): &Series<'_>| format!("[[stream]]\n{around}\nmodify = [{{ {modifier} }}]\n");
    let capture = Capture::of(&series.iter().map(stream).collect::<String>(), series.len() * FRAMES);
    let status = ["ip.checksum.status", "udp.checksum.status", "tcp.checksum.status"];
    // A field that is asked for twice is given once.
    let asked: BTreeSet<&str> = series.iter().map(|(_, _, field, _)| *field).collect();
    let fields: Vec<&str> = FAULTS.into_iter().chain(status).chain(asked).collect();
    let frames = capture.read(&fields);
    assert_eq!(frames.len(), series.len() * FRAMES);
    for (number, frame) in frames.iter().enumerate() {
        let n = number / series.len();
        let (_, modifier, field, value) = &series[number % series.len()];
        assert_eq!(fault(frame), None, "{modifier}");
        assert!(
            frame[3..6].iter().all(|status| matches!(status.as_str(), "" | "1")),
            "{modifier}: {frame:?}"
        );
        let at = fields.iter().position(|other| other == field).unwrap();
        assert_eq!(frame[at], value(n as u64), "{modifier}, frame {n}");
    }
}

#[test]
#[ignore = "needs tshark: scripts/test.sh"]
fn each_kind_of_size_is_its_series() {
    type Size<'s> = (&'s str, Box<dyn Fn(u64) -> u64>);
    let imix = |n: u64| [64, 594, 64, 64, 594, 64, 1518, 64, 594, 64, 594, 64][n as usize % 12];
    let sizes: Vec<Size<'_>> = vec![
        ("size = 128", Box::new(|_| 128)),
        ("size = 'imix'", Box::new(imix)),
        ("size = [64, 1518, 70]", Box::new(|n| [64, 1518, 70][n as usize % 3])),
        ("size = 'imix:adz'\nz = 9018", Box::new(|n| [64, 512, 9018][n as usize % 3])),
        ("size = { from = 64, to = 130, step = 33 }", Box::new(|n| 64 + n % 3 * 33)),
        ("size = { from = 64, to = 1518, random = 5 }", Box::new(|n| 64 + split_mix(5, n) % 1_455)),
        ("size = [{ size = 64, weight = 2 }, { size = 100, weight = 2 }]", Box::new(|n| 64 + n % 2 * 36)),
    ];
    let text: String = sizes.iter().map(|(lines, _)| format!("[[stream]]\n{lines}\n")).collect();
    let fields =
        ["_ws.malformed", "frame.len", "ip.checksum.status", "udp.checksum.status", "ip.len", "udp.length"];
    for (number, frame) in Capture::of(&text, sizes.len() * FRAMES).read(&fields).iter().enumerate() {
        let (lines, size) = &sizes[number % sizes.len()];
        let length = size((number / sizes.len()) as u64) - 4;
        let expected =
            ["", &length.to_string(), "1", "1", &(length - 14).to_string(), &(length - 34).to_string()];
        assert_eq!(frame[..], expected, "{lines}, frame {}", number / sizes.len());
    }
}

#[test]
#[ignore = "needs tshark: scripts/test.sh"]
fn streams_take_turns_by_weight_and_are_numbered_each_for_itself() {
    let text = "[[stream]]\nweight = 3\n[[stream]]\nlayers = [{ ethernet = {} }, { ipv6 = {} }, { udp = {} }]\n\
                [[stream]]\nweight = 0\n[[stream]]\nweight = 2\nsize = 64\n\
                layers = [{ ethernet = {} }, { vlan = {} }, { ipv4 = {} }, { udp = {} }]";
    let frames = Capture::of(text, 6 * FRAMES).read(&["eth.type", "udp.payload"]);
    let of = |ether_type: &str| -> Vec<&String> {
        frames.iter().filter(|frame| frame[0] == ether_type).map(|frame| &frame[1]).collect()
    };
    let (v4, v6, tagged) = (of("0x0800"), of("0x86dd"), of("0x8100"));
    assert_eq!((v4.len(), v6.len(), tagged.len()), (3 * FRAMES, FRAMES, 2 * FRAMES));
    // Magic, run 0, measured phase and stream, number; then clock and time, all zero.
    let probe =
        |stream: u16, number: usize| format!("58470000{:04x}{number:08x}{}", 0x8000 | stream, "0".repeat(16));
    assert!(v4.iter().enumerate().all(|(n, payload)| **payload == probe(0, n)), "{}", v4[1]);
    assert!(v6.iter().enumerate().all(|(n, payload)| **payload == probe(1, n)), "{}", v6[1]);
    assert!(tagged.iter().all(|payload| payload.chars().all(|digit| digit == '0')), "no room for a probe");
}
