//! Stacks with labels and tunnels, and what an independent reader must find in them.

use super::table::{GOOD, Row, row};

/// Labels and tunnels.
pub const TUNNELS: &[Row] = &[
    row(
        "mpls",
        "{ mpls = { label = 1048575, tc = 7, ttl = 1 } }, { ipv4 = {} }, { udp = {} }",
        &[
            ("eth.type", "0x8847"),
            ("mpls.label", "1048575"),
            ("mpls.exp", "7"),
            ("mpls.bottom", "1"),
            ("mpls.ttl", "1"),
            ("udp.checksum.status", GOOD),
        ],
    ),
    row(
        "mpls stack",
        "{ mpls = { label = 16 } }, { mpls = { label = 17 } }, { mpls = { label = 18 } }, \
        { ipv6 = {} }, { tcp = {} }",
        &[("mpls.label", "16,17,18"), ("mpls.bottom", "0,0,1"), ("tcp.checksum.status", GOOD)],
    ),
    row(
        "qinq and mpls",
        "{ vlan = { id = 2 } }, { vlan = { id = 1 } }, { mpls = { label = 99 } }, \
        { ipv4 = {} }, { udp = {} }",
        &[("ieee8021ad.id", "2"), ("vlan.id", "1"), ("mpls.label", "99"), ("ip.checksum.status", GOOD)],
    ),
    row(
        "vxlan",
        "{ ipv4 = {} }, { udp = {} }, { vxlan = { vni = 16777215 } }, { ethernet = {} }, \
        { ipv4 = { dst = '192.0.2.2' } }, { udp = {} }",
        &[
            ("udp.dstport", "4789,9"),
            ("udp.checksum.status", "3,1"),
            ("vxlan.vni", "16777215"),
            ("vxlan.flags", "0x0800"),
            ("eth.dst", "02:00:00:00:00:02,02:00:00:00:01:02"),
            ("ip.dst", "198.19.0.1,192.0.2.2"),
            ("ip.checksum.status", "1,1"),
            ("ip.len", "96,46"),
        ],
    ),
    row(
        "vxlan over ipv6",
        "{ ipv6 = {} }, { udp = {} }, { vxlan = { vni = 5 } }, { ethernet = {} }, \
        { vlan = { id = 7 } }, { ipv6 = {} }, { tcp = { flags = 'ack' } }",
        &[
            ("udp.checksum.status", GOOD),
            ("vxlan.vni", "5"),
            ("vlan.id", "7"),
            ("ipv6.plen", "112,38"),
            ("tcp.checksum.status", GOOD),
        ],
    ),
    row(
        "vxlan with a checksum",
        "{ ipv4 = {} }, { udp = { checksum = true, src_port = 55555 } }, { vxlan = {} }, \
        { ethernet = { dst = '02:00:00:00:00:77' } }, { ipv4 = {} }, { icmp = { seq = 3 } }",
        &[
            ("udp.srcport", "55555"),
            ("udp.checksum.status", GOOD),
            ("eth.dst", "02:00:00:00:00:02,02:00:00:00:00:77"),
            ("icmp.checksum.status", GOOD),
        ],
    ),
    row(
        "vxlan with arp",
        "{ ipv4 = {} }, { udp = {} }, { vxlan = { vni = 1 } }, { ethernet = {} }, { arp = {} }",
        &[("vxlan.vni", "1"), ("arp.src.hw_mac", "02:00:00:00:01:01")],
    ),
    row(
        "gre",
        "{ ipv4 = {} }, { gre = {} }, { ipv4 = { ttl = 9 } }, { udp = {} }",
        &[
            ("ip.proto", "47,17"),
            ("gre.proto", "0x0800"),
            ("ip.ttl", "64,9"),
            ("ip.checksum.status", "1,1"),
            ("udp.checksum.status", GOOD),
        ],
    ),
    row(
        "gre with a key",
        "{ ipv4 = {} }, { gre = { key = 0xdeadbeef } }, { ipv6 = {} }, { udp = {} }",
        &[("gre.key", "0xdeadbeef"), ("gre.proto", "0x86dd"), ("gre.flags.key", "1")],
    ),
    row(
        "gre with a number",
        "{ ipv6 = {} }, { gre = { seq = 4294967295 } }, { ipv4 = {} }, { tcp = {} }",
        &[
            ("gre.sequence_number", "4294967295"),
            ("gre.flags.sequence_number", "1"),
            ("tcp.checksum.status", GOOD),
        ],
    ),
    row(
        "gre with everything",
        "{ ipv4 = {} }, { gre = { checksum = true, key = 1, seq = 2 } }, { ipv4 = {} }, \
        { udp = {} }",
        &[
            ("gre.flags.checksum", "1"),
            ("gre.checksum.status", GOOD),
            ("gre.key", "0x00000001"),
            ("gre.sequence_number", "2"),
            ("udp.checksum.status", GOOD),
        ],
    ),
    row(
        "gre bridging",
        "{ ipv4 = {} }, { gre = { key = 3 } }, { ethernet = {} }, { vlan = { id = 3 } }, \
        { ipv4 = {} }, { udp = {} }",
        &[("gre.proto", "0x6558"), ("vlan.id", "3"), ("udp.checksum.status", GOOD)],
    ),
    row(
        "mpls in gre",
        "{ ipv4 = {} }, { gre = {} }, { mpls = { label = 44 } }, { ipv4 = {} }, { udp = {} }",
        &[("gre.proto", "0x8847"), ("mpls.label", "44"), ("ip.checksum.status", "1,1")],
    ),
    row(
        "gtpu",
        "{ ipv4 = {} }, { udp = {} }, { gtpu = { teid = 0xcafe0001 } }, { ipv4 = {} }, { udp = {} }",
        &[
            ("udp.dstport", "2152,9"),
            ("gtp.message", "0xff"),
            ("gtp.teid", "0xcafe0001"),
            ("gtp.length", "46"),
            ("udp.checksum.status", "1,1"),
        ],
    ),
    row(
        "gtpu with a number",
        "{ vlan = { id = 5 } }, { ipv6 = {} }, { udp = {} }, { gtpu = { teid = 1, seq = 65535 } }, \
        { ipv6 = {} }, { icmpv6 = { seq = 2 } }",
        &[
            ("gtp.flags.s", "1"),
            ("gtp.seq_number", "0xffff"),
            ("gtp.length", "70"),
            ("icmpv6.checksum.status", GOOD),
        ],
    ),
    row(
        "ip in ip",
        "{ ipv4 = {} }, { ipv4 = {} }, { tcp = { flags = 'fin' } }",
        &[("ip.proto", "4,6"), ("ip.checksum.status", "1,1"), ("tcp.flags", "0x0001")],
    ),
    row(
        "6in4",
        "{ ipv4 = {} }, { ipv6 = {} }, { udp = {} }",
        &[("ip.proto", "41"), ("ipv6.plen", "26"), ("udp.checksum.status", GOOD)],
    ),
    row(
        "4in6",
        "{ ipv6 = {} }, { ipv4 = {} }, { icmp = { seq = 5 } }",
        &[("ipv6.nxt", "4"), ("icmp.checksum.status", GOOD)],
    ),
    row(
        "three tunnels",
        "{ ipv4 = {} }, { gre = { checksum = true } }, { ipv4 = {} }, { udp = { checksum = true } }, \
        { vxlan = { vni = 2 } }, { ethernet = {} }, { ipv6 = {} }, { udp = {} }, { gtpu = { teid = 2 } }, \
        { ipv4 = {} }, { tcp = {} }",
        &[
            ("gre.checksum.status", GOOD),
            ("udp.checksum.status", "1,1"),
            ("ip.checksum.status", "1,1,1"),
            ("tcp.checksum.status", GOOD),
            ("gtp.teid", "0x00000002"),
        ],
    ),
    row(
        "mpls in ip",
        "{ ipv4 = {} }, { mpls = { label = 31 } }, { ipv4 = {} }, { udp = {} }",
        &[("ip.proto", "137,17"), ("mpls.label", "31"), ("udp.checksum.status", GOOD)],
    ),
];
