//! Usage errors of the real binary: exit code 2, the flag, what is wrong and what to type, all before any fact about
//! the machine. No case here has an interface that exists, and none has a privilege.
#![allow(clippy::unwrap_used, reason = "a failed test is a panic")]

use std::process::{Command, Output, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_xsk-gen");

/// Flags after `tx --iface` an interface that does not exist; the start of the message; a part of its remedy.
const TX: &[(&str, &str, &str)] = &[
    ("--size 0", "--size 0: the size includes the 4-byte FCS, and 64 is the shortest", "--size 64"),
    ("--size 59", "--size 59: the size includes the 4-byte FCS", "--size 64"),
    ("--size 60", "--size 60: the size includes the 4-byte FCS", "--size 64"),
    ("--size 63", "--size 63: the size includes the 4-byte FCS", "60 bytes in packet memory"),
    ("--size 16385", "--size 16385: the longest frame has 16,384 bytes", "--size 16384 at the most"),
    ("--size 18446744073709551616", "--size 18446744073709551616: the longest frame", "--size 16384"),
    ("--size 64.0", "--size 64.0: it is not a whole number", "--size 64"),
    ("--size -1", "--size -1: it is not a whole number", "--size 64"),
    ("--size big", "--size big: it is not a whole number", "--size 64"),
    ("--size 64 --vlan 100", "--size 64: Ethernet, a VLAN tag, IPv4 and UDP", "--size 68 or more"),
    ("--size 83 --dst-ip 2001:2::2", "--size 83: Ethernet, IPv6 and UDP", "--size 84 or more"),
    (
        "--size 91 --dst-ip 2001:2::2 --vlan 2,1",
        "--size 91: Ethernet, two VLAN tags, IPv6",
        "--size 92 or more",
    ),
    ("--size imix --ipv6", "--size imix: Ethernet, IPv6 and UDP", "--size 84 or more"),
    ("--size imix:k", "--size imix:k: there is no letter 'k' in RFC 6985", "imix:aabg"),
    ("--size imix:z", "--size imix:z: z stands for the MTU", "z = 9018 beside it in a stream file"),
    ("--size 128-64", "--size 128-64: the range 128 to 64 begins above its end", "64 to 128"),
    ("--size 64,63", "--size 64,63: the size includes the 4-byte FCS", "--size 64"),
    ("--size 64,", "--size 64,: it is not a whole number", "64-1518 (a range)"),
    (
        "--size 117 --vxlan 1 --vlan 1",
        "--size 117: Ethernet, a VLAN tag, IPv4, UDP, VXLAN",
        "--size 118 or more",
    ),
    ("--seed -1", "--seed -1: it is not a whole number", "--seed 7"),
    ("--ipv6 --src-ip 198.18.0.1", "--ipv6: 198.18.0.1 is an IPv4 address", "leave out --ipv6"),
    ("--tcp sin", "--tcp sin: there is no control bit 'sin'", "--tcp syn"),
    ("--vxlan 16777216", "--vxlan 16777216: network identifiers have 24 bits", "--vxlan 77"),
    ("--vxlan 1 --gre", "--gre: --vxlan is a tunnel already", "--stream"),
    ("--gtpu 4294967296", "--gtpu 4294967296: tunnel endpoint identifiers have 32 bits", "--gtpu 77"),
    ("--mpls 1048576", "--mpls 1048576: labels have 20 bits", "--mpls 16,17"),
    ("--mpls 1,2,3,4,5,6,7,8,9", "--mpls 1,2,3,4,5,6,7,8,9: 9 labels; at most 8", "--stream"),
    ("--dscp 64", "--dscp 64: codepoints have 6 bits", "--dscp 46"),
    ("--ttl 256", "--ttl 256: it has 8 bits", "--ttl 64"),
    ("--l2 --ipv6", "--ipv6: --l2 frames have no headers behind Ethernet", "leave out --l2"),
    ("--l2 --mpls 16", "--mpls: --l2 frames have no headers", "leave out --l2"),
    ("--l2 --dscp 1", "--dscp: --l2 frames have no headers", "leave out --l2"),
    ("--stream no-such.toml", "--stream no-such.toml: it cannot be read: No such file", "examples/"),
    ("--stream /dev/zero", "--stream /dev/zero: it is longer than 16 MiB", "a TOML file"),
    (
        "--stream no-such.toml --vlan 1",
        "--vlan: --stream says it in its file",
        "either --stream or this flag",
    ),
    ("--stream no-such.toml --size 64", "--size: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --flows 2", "--flows: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --l2", "--l2: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --ipv6", "--ipv6: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --tcp syn", "--tcp: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --vxlan 1", "--vxlan: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --mpls 16", "--mpls: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --gre", "--gre: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --gtpu 1", "--gtpu: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --dscp 1", "--dscp: --stream says it in its file", "either --stream"),
    ("--stream no-such.toml --ttl 1", "--ttl: --stream says it in its file", "either --stream"),
    ("--dry-run --output x.json", "--output: --dry-run sends nothing", "leave out --dry-run"),
    ("--dry-run --fail-if loss>0", "--fail-if: --dry-run sends nothing", "leave out --dry-run"),
    ("--rate 0pps", "--rate 0pps: a rate of 0 sends nothing", "1.5Mpps"),
    ("--rate 0", "--rate 0: ", "1.5Mpps"),
    ("--rate 0Gbps", "--rate 0Gbps: a rate of 0 sends nothing", "1.5Mpps"),
    ("--rate 0%", "--rate 0%: a rate of 0 sends nothing", "40%"),
    ("--rate -1pps", "--rate -1pps: it is not a rate", "1.5Mpps"),
    ("--rate 18446744073709551616pps", "--rate 18446744073709551616pps: it has more digits", "1.5Mpps"),
    ("--burst 0 --rate 1kpps", "--burst 0: a burst is of one frame at least", "--burst 32"),
    ("--burst 2", "--burst: as fast as it goes", "--rate 100kpps"),
    ("--arrivals poisson", "--arrivals: as fast as it goes", "--rate 100kpps"),
    ("--arrivals poisson --burst 2 --rate 1kpps", "--burst: Poisson arrivals come one by one", "--burst"),
    ("--plan 1kpps:1s --rate 1kpps", "--rate: --plan says the rates", "leave out --plan"),
    (
        "--plan 1kpps:1s,,2kpps:1s",
        "--plan 1kpps:1s,,2kpps:1s: one of its steps is empty",
        "ramp 2Mpps-5Mpps:30s",
    ),
    ("--plan 1kpps:1s:2s", "--plan 1kpps:1s:2s: in the step '1kpps:1s:2s' there are two times", "off:5s"),
    ("--plan off:1s", "--plan off:1s: it never sends anything", "off:5s"),
    ("--plan -1kpps:1s", "--plan -1kpps:1s: in the step '-1kpps:1s' '-1kpps' is no rate", "off:5s"),
    ("--rate 10", "--rate 10: it is not a rate", "10Gbps-l2"),
    ("--rate 10GBps", "--rate 10GBps: it is not a rate", "10Gbps-l2"),
    ("--rate 101%", "--rate 101%: a link carries 100 %", "40%"),
    ("--count 0", "--count 0: a run of no frames", "leave it out"),
    ("--count -1", "--count -1: it is not a whole number", "--count 1000000"),
    (
        "--count 18446744073709551616",
        "--count 18446744073709551616: it is too large; it takes 1 to 18,446,744,073,709,551,615",
        "--count 1000000",
    ),
    ("--count 1.5", "--count 1.5: it is not a whole number", "--count 1000000"),
    ("--duration 0", "--duration 0: a span of no length", "--duration 10"),
    ("--duration 0ms", "--duration 0ms: a span of no length", "leave it out"),
    ("--duration -1", "--duration -1: ", "500ms"),
    ("--duration 10M", "--duration 10M: it is not a number with one of the units", "2m (minutes)"),
    ("--duration 1w", "--duration 1w: ", "500ms"),
    ("--wait-link soon", "--wait-link soon: ", "500ms"),
    ("--settle -1", "--settle -1: ", "500ms"),
    ("--interval 0", "--interval 0: counters are published every 100 ms", "--interval 1"),
    ("--interval 10ms", "--interval 10ms: counters are published every 100 ms", "--quiet"),
    ("--batch 0", "--batch 0: ", "--batch 64"),
    ("--batch -1", "--batch -1: it is not a whole number", "--batch 64"),
    ("--batch 2049", "--batch 2049: the ring has 2048 entries", "--batch 2048 or less"),
    ("--batch 33 --frames 48", "--batch 33: the ring has 32 entries", "--batch 32 or less"),
    ("--batch 65 --ring 64", "--batch 65: the ring has 64 entries", "--batch 64 or less"),
    ("--ring 0", "--ring 0: ", "power of two"),
    ("--ring 3", "--ring 3: the kernel takes powers of two", "--ring 2 or --ring 4"),
    ("--ring 65537", "--ring 65537: longer rings do not fit", "power of two"),
    ("--ring 18446744073709551616", "--ring 18446744073709551616: it is too large", "power of two"),
    ("--ring -8", "--ring -8: it is not a whole number", "power of two"),
    ("--ring 1000", "--ring 1000: the kernel takes powers of two", "--ring 512 or --ring 1024"),
    ("--ring 131072", "--ring 131072: ", "power of two"),
    ("--frames 0", "--frames 0: ", "leave it out"),
    ("--frames 4194304", "--frames 4194304: ", "leave it out"),
    ("--ring 1024 --frames 512", "--frames 512: a ring of 1024 entries needs", "--frames 1024 or more"),
    ("--queues ,", "--queues ,: ", "0-3 or 0,2"),
    ("--queues 3-0", "--queues 3-0: the range 3-0 runs backwards", "0-3"),
    ("--queues 0,0", "--queues 0,0: 0 is named twice", "0-3"),
    ("--queues -1", "--queues -1: '-1' is neither a number nor a range", "0-3"),
    ("--cores 0-4294967295", "--cores 0-4294967295: 4294967295 is above", "0-3"),
    ("--queues 0 --cores 1,2", "--cores: 2 cores for 1 queue", "as many cores as queues"),
    ("--vlan 4095", "--vlan 4095: VLAN ids have 12 bits, and 4095 is reserved", "--vlan 100"),
    ("--vlan 3,2,1", "--vlan 3,2,1: a frame takes two tags", "--vlan 200,100"),
    ("--dst-mac 02:00:00:00:00:0g", "--dst-mac 02:00:00:00:00:0g: it is not a MAC address", "02:00:00"),
    ("--dst-mac 02:00:00:00:00:00:01", "--dst-mac 02:00:00:00:00:00:01: it is not a MAC address", "02:00:00"),
    ("--src-mac 00:00:00:00:00:00", "--src-mac 00:00:00:00:00:00: a frame comes from one station", "unicast"),
    ("--src-mac 02:00", "--src-mac 02:00: it is not a MAC address", "02:00:00"),
    ("--src-mac 01:00:5e:00:00:01", "--src-mac 01:00:5e:00:00:01: a frame comes from one station", "unicast"),
    ("--src-mac ff:ff:ff:ff:ff:ff", "--src-mac ff:ff:ff:ff:ff:ff: ", "unicast"),
    ("--dst-mac router", "--dst-mac router: it is not a MAC address", "02:00:00"),
    ("--src-ip 198.18.0.1/24", "--src-ip 198.18.0.1/24: it is not an IP address", "without a prefix length"),
    ("--dst-ip 256.1.1.1", "--dst-ip 256.1.1.1: it is not an IP address", "198.19.0.1"),
    ("--dst-ip 198.19.0", "--dst-ip 198.19.0: it is not an IP address", "198.19.0.1"),
    ("--dst-ip 2001:2:::1", "--dst-ip 2001:2:::1: it is not an IP address", "2001:2:0:8000::1"),
    ("--dst-ip router", "--dst-ip router: it is not an IP address", "198.19.0.1"),
    ("--src-ip 255.255.255.255", "--src-ip 255.255.255.255: a packet comes from one host", "unicast"),
    ("--src-ip ff02::1", "--src-ip ff02::1: a packet comes from one host", "unicast"),
    ("--src-ip 224.0.0.1", "--src-ip 224.0.0.1: a packet comes from one host", "unicast"),
    ("--src-ip ::1 --dst-ip 198.19.0.1", "--dst-ip 198.19.0.1: source ::1 is of the other family", "both"),
    ("--port 0", "--port 0: ", "9 (discard)"),
    ("--src-port 65536", "--src-port 65536: ", "a port such as"),
    ("--l2 --dst-ip 198.19.0.1", "--dst-ip: --l2 frames have neither IP nor UDP", "leave out --l2"),
    ("--l2 --port 9", "--port: --l2 frames have neither IP nor UDP", "leave out --l2"),
    ("--l2 --flows 2", "--flows 2: flows differ in IP address and port", "leave out --l2"),
    ("--resolve", "--resolve: it finds the MAC of a destination IP, and none is named", "--dst-ip"),
    (
        "--resolve --dst-ip 198.19.0.1 --dst-mac 02:00:00:00:00:00",
        "--dst-mac: --resolve finds the MAC of --dst-ip by itself",
        "leave out --resolve",
    ),
    ("--resolve --l2", "--l2: --resolve finds the MAC of --dst-ip by itself", "leave out --resolve"),
    ("--resolve --dst-ip 224.0.0.5", "--dst-ip 224.0.0.5: a group is no station", "01:00:5e:00:00:05"),
    ("--resolve --dst-ip ff02::2", "--dst-ip ff02::2: a group is no station", "33:33:00:00:00:02"),
    ("--resolve --dst-ip 0.0.0.0", "--dst-ip 0.0.0.0: the unspecified address", "--dst-ip"),
    ("--flows 0", "--flows 0: ", "--flows 1"),
    ("--flows 65537", "--flows 65537: ", "--flows 64"),
    ("--run-tag 65536", "--run-tag 65536: the tag has 16 bits", "--run-tag 7"),
    ("--fail-if loss", "--fail-if loss: it compares nothing", "'loss>=0.1%'"),
    ("--fail-if loss>0", "--fail-if loss>0: only a sink knows it", "--sink"),
    ("--fail-if rate<99%", "--fail-if rate<99%: a share of the rate asked for", "--rate"),
    ("--src-port 65533 --flows 10", "--flows 10: each flow has a source port", "--flows 3"),
    ("--fail-if speed<1", "--fail-if speed<1: there is no figure 'speed'", "reordered"),
    ("--fail-if rate<max", "--fail-if rate<max: its bound is neither", "'rate<99%'"),
    (
        "--pcap /no/such",
        "--pcap /no/such: it cannot be read: No such file or directory",
        "a file that is there",
    ),
    ("--pcap /", "--pcap /: it is no regular file", "a copy of it"),
    ("--pcap /dev/null", "--pcap /dev/null: it is no regular file", "a copy of it"),
    (
        "--pcap Cargo.toml",
        "--pcap Cargo.toml: it is neither a pcap nor a pcapng file",
        "tcpdump or Wireshark",
    ),
    ("--pcap f --size 64", "--size: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --flows 2", "--flows: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --vlan 5", "--vlan: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --l2", "--l2: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --no-verify", "--no-verify: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --run-tag 5", "--run-tag: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --dst-mac x", "--dst-mac: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --src-mac x", "--src-mac: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --src-ip x", "--src-ip: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --dst-ip x", "--dst-ip: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --port 9", "--port: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --src-port 9", "--src-port: --pcap sends frames as they were captured", "leave out --pcap"),
    ("--pcap f --sink v1", "--sink: frames of --pcap carry no numbers", "tcpdump"),
    ("--pcap f --cores 0,1", "--cores: a capture is sent by one queue", "--queues with as many"),
    ("--pcap f --pcap-speed 0", "--pcap-speed 0: at no speed nothing is sent", "--pcap-speed 2"),
    ("--pcap f --pcap-speed=-1", "--pcap-speed -1: it is not a decimal number", "--pcap-speed 2"),
    (
        "--pcap f --pcap-speed 2 --rate max",
        "--pcap-speed: --rate says already",
        "either --pcap-speed or --rate",
    ),
    ("--pcap f --loop -1", "--loop -1: it is not a whole number", "--loop 3"),
    ("--pcap f --rate fast", "--rate fast: it is not a rate", "1.5Mpps"),
    ("--pcap-speed 2", "--pcap-speed: it is a capture that it applies to", "--pcap FILE"),
    ("--loop 2", "--loop: it is a capture that it applies to", "--pcap FILE"),
    ("--sink no-such-if0", "--sink no-such-if0: a port does not receive what it sends", "--sink"),
];

/// The same after `rx --iface` an interface that does not exist.
const RX: &[(&str, &str, &str)] = &[
    (
        "--match tcp",
        "--match tcp: there is no such match",
        "--match 'udp port 9', l2, 'ethertype 0x0806' or any",
    ),
    ("--match vlan", "--match vlan: there is no such match", "'vlan 100' alone or in front of one of them"),
    ("--match l2 --port 9", "--port: --match says already", "either --port or --match"),
    ("--count 0", "--count 0: a run of no frames", "leave it out"),
    ("--count 18446744073709551616", "--count 18446744073709551616: it is too large", "leave it out"),
    ("--ring 3000", "--ring 3000: the kernel takes powers of two", "--ring 2048 or --ring 4096"),
    ("--count-only --ring 64", "--ring: --count-only opens no socket", "leave out --count-only"),
    ("--count-only --frames 64", "--frames: --count-only opens no socket", "leave out --count-only"),
    ("--count-only --hugepages", "--hugepages: --count-only opens no socket", "leave out --count-only"),
    ("--count-only --busy-poll", "--busy-poll: --count-only opens no socket", "leave out --count-only"),
    ("--count-only --timestamps xdp", "--timestamps: --count-only opens no socket", "leave out --count-only"),
    (
        "--timestamps nic --xdp-mode generic",
        "--timestamps nic: only a program in the driver",
        "--xdp-mode generic",
    ),
    ("--busy-poll 0", "--busy-poll 0: a busy poll takes so many frames", "--busy-poll"),
    ("--answer router", "--answer router: 'router' is not an IP address", "--answer 198.51.100.2"),
    ("--answer 198.51.100.0/24", "--answer 198.51.100.0/24: '198.51.100.0/24' is not an IP", "2001:db8::2"),
    ("--answer 198.51.100.2,", "--answer 198.51.100.2,: '' is not an IP address", "--answer 198.51.100.2"),
    ("--answer ::1", "--answer ::1: ::1: a loopback address is never on a link", "--answer 198.51.100.2"),
    (
        "--answer 198.51.100.2,198.51.100.2",
        "--answer 198.51.100.2,198.51.100.2: 198.51.100.2 is named twice",
        "2001:db8::2",
    ),
    ("--idle-timeout 0", "--idle-timeout 0: ", "leave it out"),
    ("--duration 0s", "--duration 0s: ", "leave it out"),
    ("--batch 8193", "--batch 8193: the ring has 8192 entries", "a longer --ring"),
    (
        "--count-only --xsk-mode zerocopy",
        "--xsk-mode: --count-only opens no socket",
        "leave out --count-only",
    ),
    ("--run-tag x", "--run-tag x: it is not a whole number", "leave it out"),
    ("--stream no-such.toml", "--stream no-such.toml: it cannot be read: No such file", "examples/"),
    ("--stream no-such.toml --vxlan 1", "--vxlan: --stream says it in its file", "either --stream"),
    ("--gre --gtpu 1", "--gtpu: --gre is a tunnel already", "--stream"),
    ("--tcp 2", "--tcp 2: there is no control bit '2'", "--tcp syn"),
    ("--write f --count-only", "--write: --count-only opens no socket", "leave out --count-only"),
    ("--write f --write-snap 13", "--write-snap 13: less than an Ethernet header", "--write-snap 96"),
    ("--write f --write-snap 262145", "--write-snap 262145: ", "leave it out"),
    ("--write f --write-count 0", "--write-count 0: a capture of no frames", "--write-count 1000"),
    ("--write-snap 96", "--write-snap: it is a file that it applies to", "--write FILE"),
    ("--write-count 5", "--write-count: it is a file that it applies to", "--write FILE"),
    ("--write-what all", "--write-what: it is a file that it applies to", "--write FILE"),
];

/// The same after `demo`.
const DEMO: &[(&str, &str, &str)] = &[
    ("--size 60", "--size 60: the size includes the 4-byte FCS", "--size 64"),
    ("--size 0", "--size 0: the size includes the 4-byte FCS", "--size 64"),
    ("--rate 0pps", "--rate 0pps: a rate of 0 sends nothing", "1.5Mpps"),
    ("--count 18446744073709551616", "--count 18446744073709551616: it is too large", "leave it out"),
    ("--duration 0", "--duration 0: a span of no length", "leave it out"),
    ("--cores 1,1", "--cores 1,1: 1 is named twice", "0-3"),
    ("--stream no-such.toml", "--stream no-such.toml: it cannot be read: No such file", "examples/"),
    ("--stream no-such.toml --mpls 16", "--mpls: --stream says it in its file", "either --stream"),
    ("--vxlan 1 --size 64", "--size 64: Ethernet, IPv4, UDP, VXLAN", "--size 114 or more"),
    ("--match l3", "--match l3: there is no such match", "'udp port 9', l2"),
];

/// What the parser itself refuses: the arguments, and the flag that the message names.
const PARSER: &[(&str, &str)] = &[
    ("tx", "--iface"),
    ("tx --iface", "--iface"),
    ("tx --iface no-such-if0 --speed 1", "--speed"),
    ("tx --iface no-such-if0 --size 64 --size 65", "--size"),
    ("tx --iface no-such-if0 --xdp-mode fast", "[possible values: auto, native, generic]"),
    ("tx --iface no-such-if0 --write x.pcap", "--dry-run"),
    ("tx --iface no-such-if0 --stream", "--stream"),
    ("rx --xsk-mode fast", "[possible values: auto, zerocopy, copy]"),
    ("tx --iface no-such-if0 --output=", "--output"),
    ("rx --write f --write-what some", "[possible values: ours, all]"),
    ("tx --iface no-such-if0 --pcap", "--pcap"),
    ("rx extra", "extra"),
    ("fly", "fly"),
    ("completions csh", "bash"),
    ("man tx --dir x", "--dir"),
];

/// Runs the binary without any privilege: as whoever runs the test, and as root with every capability dropped.
fn run(args: &[&str]) -> Output {
    let mut command = if nix::unistd::geteuid().is_root() {
        let mut dropped = Command::new("setpriv");
        dropped.args(["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", BINARY]);
        dropped
    } else {
        Command::new(BINARY)
    };
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

/// The message on stderr of a usage error, after checking all else that makes one.
fn usage_error(args: &[&str]) -> String {
    let output = run(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?}: stdout carries the result only");
    message
}

fn check(start: &[&str], table: &[(&str, &str, &str)]) {
    for (flags, begins, remedy) in table {
        let args: Vec<&str> = start.iter().copied().chain(flags.split(' ')).collect();
        let message = usage_error(&args);
        let (what, tried) = message.split_once("\n  try: ").unwrap_or_default();
        assert!(what.starts_with(&format!("error: {begins}")), "{flags}: {message}");
        assert!(tried.contains(remedy), "{flags}: {message}");
    }
}

#[test]
fn tx_refuses_with_flag_and_remedy() {
    check(&["tx", "--iface", "no-such-if0"], TX);
}

#[test]
fn a_capture_that_cannot_be_sent_is_refused_with_its_reason() {
    let header = |link: u32| [0xA1B2_C3D4, 2 | 4 << 16, 0, 0, 65_535, link].map(u32::to_le_bytes).concat();
    let record = [&[1, 0, 60, 60].map(u32::to_le_bytes).concat()[..], &[0; 60]].concat();
    for (bytes, reason) in [
        (Vec::new(), "it is empty"),
        (header(1)[..20].to_vec(), "it is neither a pcap nor a pcapng file"),
        (header(1), "it holds no frame"),
        ([header(101), record.clone()].concat(), "its frames are of link type RAW"),
        ([header(113), record.clone()].concat(), "its frames are of link type LINUX_SLL"),
        ([&header(1), &record[..50]].concat(), "record 1 is cut short"),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let path = file.path().to_str().unwrap();
        let message = usage_error(&["tx", "--iface", "no-such-if0", "--pcap", path]);
        assert!(message.starts_with(&format!("error: --pcap {path}: {reason}")), "{message}");
    }
}

#[test]
fn rx_refuses_with_flag_and_remedy() {
    check(&["rx", "--iface", "no-such-if0"], RX);
}

#[test]
fn demo_refuses_with_flag_and_remedy() {
    check(&["demo"], DEMO);
}

#[test]
fn values_that_are_empty_are_refused() {
    for flag in ["--size", "--rate", "--queues", "--vlan", "--dst-mac", "--dst-ip", "--fail-if", "--sink"] {
        let message = usage_error(&["tx", "--iface", "no-such-if0", flag, ""]);
        assert!(message.starts_with(&format!("error: {flag} '': ")), "{message}");
    }
    assert!(usage_error(&["rx", "--iface", ""]).starts_with("error: --iface ''"));
}

#[test]
fn what_the_parser_refuses_names_the_flag() {
    for (line, name) in PARSER {
        let args: Vec<&str> = line.split(' ').collect();
        let message = usage_error(&args);
        assert!(message.starts_with("error: ") && message.contains(name), "{line}: {message}");
    }
    assert!(usage_error(&["man", "fly"]).contains("one of tx, rx, reflect, demo"));
    assert!(usage_error(&["reflect", "--iface", "x", "--out", "x"]).contains("another interface"));
    assert!(usage_error(&["reflect", "--iface", "x", "--dst-mac", "02:00:00:00:00:01"]).contains("--out"));
    assert!(usage_error(&["tx", "--iface", "x", "--round-trip", "--sink", "y"]).contains("--sink"));
    let others = usage_error(&["reflect", "--iface", "no-such", "--match", "any"]);
    assert!(others.contains("only frames of xsk-gen are sent back"), "{others}");
}

#[test]
fn no_arguments_print_the_help() {
    for command in ["tx", "man --dir", "completions"] {
        let message = usage_error(&command.split(' ').collect::<Vec<_>>());
        assert!(message.contains("Usage: xsk-gen") || message.contains("a value is required"), "{message}");
    }
    assert!(usage_error(&[]).starts_with("AF_XDP traffic generator and sink"));
}

#[test]
fn valid_arguments_are_no_usage_error() {
    let line = "tx --iface no-such-if0 --size 128 --rate 1.5Mpps --duration 500ms --vlan 200,100 --run-tag 0 --flows 64 \
                --dst-mac ff:ff:ff:ff:ff:ff --fail-if shortfall>0 --fail-if rate<99% --queues 0-1 --cores 0,1";
    let output = run(&line.split_whitespace().collect::<Vec<_>>());
    assert!(!matches!(output.status.code(), Some(0 | 2)), "{output:?}");
}

#[test]
fn completions_and_pages_go_to_stdout() {
    for (args, part) in [
        (&["completions", "bash"][..], "complete -F"),
        (&["completions", "fish"], "complete -c xsk-gen"),
        (&["man"], ".TH xsk-gen 1"),
        (&["man", "rx"], "count\\-only"),
        (&["man", "tx"], "4\\-byte FCS"),
        (&["man", "tx"], concat!("\"xsk-gen ", env!("CARGO_PKG_VERSION"), "\"")),
        (&["tx", "--help"], "4-byte FCS"),
        (&["tx", "--help"], "60 bytes of it in packet memory, 84 on the wire"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let output = run(args);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{args:?}");
        // Lines of help break where the terminal ends.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(part), "{args:?}: {part} in {text}");
    }
}
