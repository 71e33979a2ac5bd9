//! Stacks and what an independent reader must find in them: name, headers (and further lines) of a stream file, and
//! fields of tshark's with their values. Where a field occurs several times, all its values stand, outermost first; `a|b` is
//! either, where versions of tshark differ.

/// One row.
pub struct Row {
    /// What it is about.
    pub name: &'static str,
    /// The headers behind Ethernet, as a stream file has them.
    pub layers: &'static str,
    /// Fields and values.
    pub fields: &'static [(&'static str, &'static str)],
}

/// A row.
pub const fn row(
    name: &'static str,
    layers: &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> Row {
    Row { name, layers, fields }
}

/// What tshark says of a checksum that equals its own computation.
pub const GOOD: &str = "1";
/// And of one that is not there.
const ABSENT: &str = "3";

/// Plain headers: addresses, IP and what it carries.
pub const PLAIN: &[Row] = &[
    row("ethernet", "", &[("eth.type", "0x88b5"), ("eth.dst", "02:00:00:00:00:02")]),
    row("raw", "{ raw = '0123' }", &[("eth.type", "0x88b6")]),
    row(
        "vlan",
        "{ vlan = { id = 4094, pcp = 7, dei = true } }, { ipv4 = {} }, { udp = {} }",
        &[("vlan.id", "4094"), ("vlan.priority", "7"), ("vlan.dei", "1"), ("udp.checksum.status", GOOD)],
    ),
    row("priority tag", "{ vlan = { pcp = 5 } }", &[("vlan.id", "0"), ("vlan.priority", "5")]),
    row(
        "qinq",
        "{ vlan = { id = 200 } }, { vlan = { id = 100 } }, { ipv4 = {} }, { udp = {} }",
        &[("eth.type", "0x88a8"), ("ieee8021ad.id", "200"), ("vlan.id", "100"), ("ip.checksum.status", GOOD)],
    ),
    row(
        "two tags of 802.1Q",
        "{ vlan = { id = 2, tpid = 0x8100 } }, { vlan = { id = 1 } }, { ipv6 = {} }",
        &[("vlan.id", "2,1"), ("ipv6.nxt", "253")],
    ),
    row("ipv4", "{ ipv4 = {} }", &[("ip.proto", "253"), ("ip.len", "46"), ("ip.flags.df", "1")]),
    row(
        "ipv4 fields",
        "{ ipv4 = { src = '192.0.2.1', dst = '203.0.113.7', dscp = 46, ecn = 3, id = 0x1234, \
        df = false, ttl = 7 } }, { udp = { src_port = 1, dst_port = 65535 } }",
        &[
            ("ip.src", "192.0.2.1"),
            ("ip.dst", "203.0.113.7"),
            ("ip.dsfield.dscp", "46"),
            ("ip.dsfield.ecn", "3"),
            ("ip.id", "0x1234"),
            ("ip.flags.df", "0"),
            ("ip.ttl", "7"),
            ("ip.checksum.status", GOOD),
            ("udp.srcport", "1"),
            ("udp.dstport", "65535"),
            ("udp.checksum.status", GOOD),
        ],
    ),
    row(
        "ipv4 options",
        "{ ipv4 = { options = '9404000001' } }, { udp = {} }",
        &[
            ("ip.hdr_len", "28"),
            ("ip.opt.ra", "0"),
            ("ip.checksum.status", GOOD),
            ("udp.checksum.status", GOOD),
        ],
    ),
    row(
        "ipv4 protocol",
        "{ ipv4 = { protocol = 254 } }",
        &[("ip.proto", "254"), ("ip.checksum.status", GOOD)],
    ),
    row(
        "first fragment",
        "{ ipv4 = { mf = true, id = 77 } }, { raw = '00' }",
        &[("ip.flags.mf", "1"), ("ip.flags.df", "0"), ("ip.frag_offset", "0")],
    ),
    row(
        "last fragment",
        "{ ipv4 = { fragment_offset = 8191, id = 78 } }, { raw = '00' }",
        &[("ip.flags.mf", "0"), ("ip.frag_offset", "8191|65528"), ("ip.checksum.status", GOOD)],
    ),
    row(
        "ipv6",
        "{ ipv6 = {} }, { udp = {} }",
        &[
            ("ipv6.src", "2001:2::1"),
            ("ipv6.dst", "2001:2:0:8000::1"),
            ("ipv6.plen", "26"),
            ("udp.checksum.status", GOOD),
        ],
    ),
    row(
        "ipv6 fields",
        "{ ipv6 = { src = 'fe80::1', dst = 'ff02::2', dscp = 10, ecn = 1, flow_label = 0xabcde, \
        hop_limit = 255 } }, { udp = {} }",
        &[
            ("ipv6.src", "fe80::1"),
            ("ipv6.dst", "ff02::2"),
            ("ipv6.tclass.dscp", "10"),
            ("ipv6.tclass.ecn", "1"),
            ("ipv6.flow", "0x0abcde"),
            ("ipv6.hlim", "255"),
            ("udp.checksum.status", GOOD),
        ],
    ),
    row(
        "udp without checksum",
        "{ ipv4 = {} }, { udp = { checksum = false } }",
        &[("udp.checksum.status", ABSENT), ("udp.length", "26")],
    ),
    row(
        "tcp",
        "{ ipv4 = {} }, { tcp = { flags = 'syn' } }",
        &[("tcp.flags", "0x0002"), ("tcp.hdr_len", "20"), ("tcp.checksum.status", GOOD)],
    ),
    row(
        "tcp fields",
        "{ ipv6 = {} }, { tcp = { src_port = 80, dst_port = 81, seq = 4294967295, ack = 7, \
        flags = 'psh,ack,ece,cwr,ns,urg', window = 1, urgent = 9 } }",
        &[
            ("tcp.srcport", "80"),
            ("tcp.dstport", "81"),
            ("tcp.seq_raw", "4294967295"),
            ("tcp.ack_raw", "7"),
            ("tcp.flags", "0x01f8"),
            ("tcp.window_size_value", "1"),
            ("tcp.urgent_pointer", "9"),
            ("tcp.checksum.status", GOOD),
        ],
    ),
    row(
        "tcp options",
        "{ ipv4 = {} }, { tcp = { flags = 'syn,ack', options = '020405b40303070101' } }",
        &[
            ("tcp.hdr_len", "32"),
            ("tcp.options.mss_val", "1460"),
            ("tcp.options.wscale.shift", "7"),
            ("tcp.checksum.status", GOOD),
        ],
    ),
    row(
        "icmp",
        "{ ipv4 = {} }, { icmp = { id = 0x1234, seq = 7 } }",
        &[
            ("ip.proto", "1"),
            ("icmp.type", "8"),
            ("icmp.ident", "4660|4660,13330"),
            ("icmp.seq", "7"),
            ("icmp.checksum.status", GOOD),
        ],
    ),
    row(
        "icmp reply",
        "{ ipv4 = {} }, { icmp = { type = 0, seq = 8 } }",
        &[("icmp.type", "0"), ("icmp.code", "0"), ("icmp.checksum.status", GOOD)],
    ),
    row(
        "icmpv6",
        "{ ipv6 = {} }, { icmpv6 = { id = 5, seq = 9 } }",
        &[
            ("ipv6.nxt", "58"),
            ("icmpv6.type", "128"),
            ("icmpv6.echo.identifier", "0x0005"),
            ("icmpv6.echo.sequence_number", "9"),
            ("icmpv6.checksum.status", GOOD),
        ],
    ),
    row(
        "arp",
        "{ arp = {} }",
        &[
            ("eth.type", "0x0806"),
            ("arp.opcode", "1"),
            ("arp.src.hw_mac", "02:00:00:00:00:01"),
            ("arp.src.proto_ipv4", "198.18.0.1"),
            ("arp.dst.hw_mac", "00:00:00:00:00:00"),
            ("arp.dst.proto_ipv4", "198.19.0.1"),
        ],
    ),
    row(
        "arp reply",
        "{ vlan = { id = 9 } }, { arp = { operation = 2, sender_mac = '02:00:00:00:00:0a', \
        sender_ip = '192.0.2.9', target_mac = '02:00:00:00:00:0b', target_ip = '192.0.2.8' } }",
        &[
            ("vlan.id", "9"),
            ("arp.opcode", "2"),
            ("arp.src.hw_mac", "02:00:00:00:00:0a"),
            ("arp.src.proto_ipv4", "192.0.2.9"),
            ("arp.dst.hw_mac", "02:00:00:00:00:0b"),
            ("arp.dst.proto_ipv4", "192.0.2.8"),
        ],
    ),
];
