//! Facts about interfaces, compared with what iproute2 and ethtool say, in private namespaces.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests, and their helpers")]

use serde_json::Value;
use std::num::NonZeroU32;
use std::process::Command;
use xsk_gen::finding::{Code, Finding};
use xsk_gen::host::choose::choose_rx_interface;
use xsk_gen::host::vlan::vlan_offloads;
use xsk_gen::host::{DeviceCounters, InterfaceFacts, XdpFeatures, kind, napi, netdev};
use xsk_gen::private_net::PrivateNet;
use xsk_gen::report::{Kind, PathVerdict};
use xsk_gen::sys::packet_socket::PacketSocket;

const QUEUES: NonZeroU32 = NonZeroU32::new(3).unwrap();

/// Runs `work` in the first namespace of a fresh private net with three queues.
fn in_private_net<T: Send>(work: impl FnOnce(&PrivateNet) -> T + Send) -> T {
    let net = PrivateNet::new(QUEUES).unwrap();
    net.a.namespace.run(|| work(&net)).unwrap()
}

/// Runs a command in the calling thread's namespace; its output.
fn sh(command: &str) -> String {
    let output = Command::new("sh").args(["-ec", command]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn ip_link(name: &str) -> Value {
    let all: Value = serde_json::from_str(&sh(&format!("ip -j -d link show {name}"))).unwrap();
    all[0].clone()
}

/// Whether `ethtool -k` says that a feature is on.
fn ethtool_feature(name: &str, feature: &str) -> bool {
    let text = sh(&format!("ethtool -k {name}"));
    let line =
        text.lines().find_map(|l| l.trim().strip_prefix(feature)?.strip_prefix(':')).unwrap().to_owned();
    line.trim().starts_with("on")
}

/// RX and TX of the second half of `ethtool -l`: what is in use.
fn ethtool_channels(name: &str) -> (u32, u32) {
    let text = sh(&format!("ethtool -l {name}"));
    let (_, current) = text.split_once("Current hardware settings").unwrap();
    let of = |word: &str| current.lines().find_map(|l| l.strip_prefix(word)).unwrap().trim().parse().unwrap();
    (of("RX:"), of("TX:"))
}

fn read(name: &str) -> InterfaceFacts {
    InterfaceFacts::read(name).unwrap()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn vlan_features_are_those_of_ethtool() {
    in_private_net(|_| {
        let mut seen = Vec::new();
        for state in ["on", "off"] {
            sh(&format!("ethtool -K xg0 rxvlan {state}"));
            let offloads = vlan_offloads(&read("xg0")).unwrap();
            // ethtool has an old name of its own for this one.
            assert_eq!(offloads.strips, ethtool_feature("xg0", "rx-vlan-offload"));
            assert_eq!(offloads.filters, ethtool_feature("xg0", "rx-vlan-filter"));
            assert_eq!(offloads.strips_service, ethtool_feature("xg0", "rx-vlan-stag-hw-parse"));
            assert_eq!(offloads.filters_service, ethtool_feature("xg0", "rx-vlan-stag-filter"));
            seen.push(offloads.strips);
        }
        assert_eq!(seen, [true, false]);
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn facts_are_those_of_ip_and_ethtool() {
    in_private_net(|_| {
        sh(
            "ip link set xg0 mtu 3000; ip addr add 192.0.2.1/24 dev xg0; ip addr add 2001:db8::1/64 dev xg0 nodad",
        );
        let (facts, link) = (read("xg0"), ip_link("xg0"));
        assert_eq!(link["ifindex"], facts.ifindex);
        assert_eq!(link["mtu"], facts.mtu);
        assert_eq!(link["min_mtu"], facts.min_mtu.unwrap());
        assert_eq!(link["max_mtu"], facts.max_mtu.unwrap());
        assert_eq!(link["address"], facts.mac.unwrap().to_string().to_lowercase());
        assert_eq!(link["linkinfo"]["info_kind"], facts.link_kind.clone().unwrap());
        assert_eq!(link["link_index"], facts.veth_peer.unwrap().ifindex);
        assert!(facts.up && facts.carrier && !facts.loopback && !facts.veth_peer.unwrap().same_netns);
        assert_eq!((facts.rx_queues, facts.tx_queues), ethtool_channels("xg0"));
        assert!(sh("ethtool -i xg0").contains(&format!("driver: {}\n", facts.driver.clone().unwrap())));
        assert_eq!(facts.ipv4.unwrap().to_string(), "192.0.2.1");
        assert_eq!(facts.ipv6.unwrap().to_string(), "2001:db8::1");
        assert!(sh("ethtool xg0").contains(&format!("Speed: {}Mb/s", facts.speed_bps.unwrap() / 1_000_000)));
        assert_eq!((facts.line_speed_bps(), facts.numa_node, facts.xdp_program), (None, None, None));
        assert_eq!(kind::kind(&facts), Kind::Virtual);
        assert_eq!(kind::path(&facts).verdict, PathVerdict::SameHost);
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn queues_are_those_in_use_not_those_allocated() {
    in_private_net(|_| {
        sh("ethtool -L xg0 rx 2 tx 1");
        let (facts, link) = (read("xg0"), ip_link("xg0"));
        assert_eq!((facts.rx_queues, facts.tx_queues), (2, 1));
        assert_eq!((link["num_rx_queues"].as_u64(), link["num_tx_queues"].as_u64()), (Some(3), Some(3)));
        sh("ip link set xg0 down");
        assert_eq!((read("xg0").rx_queues, read("xg0").tx_queues), (2, 1), "while it is down");
        assert_eq!(netdev::queue_list(facts.ifindex).map(|list| list.len()), Some(0));
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn names_are_found_by_alternative_names_and_missed_with_help() {
    in_private_net(|_| {
        sh("ip link property add dev xg0 altname the-first-end-of-a-private-link");
        let facts = read("the-first-end-of-a-private-link");
        assert_eq!((facts.name.as_str(), facts.altnames.len()), ("xg0", 1));
        let finding = InterfaceFacts::read("gx0").unwrap_err();
        assert_eq!(finding.code, Code::InterfaceUnknown);
        assert_eq!(finding.remedy, "did you mean xg0? interfaces here: lo, xg0");
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn state_masters_and_what_lies_below_are_seen() {
    in_private_net(|net| {
        sh(
            "ip link add br0 type bridge; ip link add link xg0 name mv0 type macvlan; ip link set mv0 master br0",
        );
        let (facts, bridge, above) = (read("xg0"), read("br0"), read("mv0"));
        assert_eq!((facts.master, above.master), (None, Some(bridge.ifindex)));
        assert_eq!(above.lower, Some(facts.ifindex));
        assert_eq!(kind::path(&bridge).verdict, PathVerdict::Unknown);
        net.b.namespace.run(|| sh("ip link set xg1 down")).unwrap();
        assert!(read("xg0").up && !read("xg0").carrier);
        sh("ip link set xg0 down");
        assert!(!read("xg0").up && !read("xg0").carrier);
        let names: Vec<String> = InterfaceFacts::list().unwrap().into_iter().map(|i| i.name).collect();
        assert_eq!(names, ["lo", "xg0", "br0", "mv0"]);
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_veth_redirects_but_has_no_zero_copy() {
    in_private_net(|net| {
        let features = net.a.interface.xdp_features.unwrap();
        assert!(features.contains(XdpFeatures::BASIC | XdpFeatures::REDIRECT | XdpFeatures::RX_SG));
        assert!(!features.contains(XdpFeatures::XSK_ZEROCOPY));
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_attached_program_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("pass.c");
    std::fs::write(&source, "__attribute__((section(\"xdp\"), used)) int pass(void *ctx) { return 2; }\n")
        .unwrap();
    let object = folder.path().join("pass.o").display().to_string();
    sh(&format!("clang -O2 -g -target bpf -c {} -o {object}", source.display()));
    in_private_net(|_| {
        for mode in ["xdpgeneric", "xdpdrv"] {
            sh(&format!("ip link set dev xg0 {mode} obj {object} sec xdp"));
            let id = ip_link("xg0")["xdp"]["prog"]["id"].as_u64().unwrap();
            assert_eq!(read("xg0").xdp_program.map(u64::from), Some(id), "{mode}");
            sh(&format!("ip link set dev xg0 {mode} off"));
            assert_eq!(read("xg0").xdp_program, None);
        }
    });
}

/// Sets what `settings` names for xg0: sysfs of the namespace is seen only where it is mounted anew.
fn set_in_sysfs(settings: &str) {
    let script = format!("mount -t sysfs none /sys; cd /sys/class/net/xg0; {settings}");
    sh(&format!("unshare -m sh -ec '{script}'"));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn napi_settings_come_from_the_instances() {
    in_private_net(|_| {
        assert_eq!(
            napi::settings(&read("xg0")),
            None,
            "a veth has no NAPI yet, and /sys is another namespace's"
        );
        sh("ethtool -K xg0 gro on");
        set_in_sysfs("echo 2 >napi_defer_hard_irqs; echo 20000 >gro_flush_timeout; echo 1 >threaded");
        let settings = napi::settings(&read("xg0")).unwrap();
        assert_eq!(settings.defer_hard_irqs, Some(2));
        assert_eq!(settings.gro_flush_timeout_ns, Some(20_000));
        assert_eq!(settings.threaded, Some(true));
        assert_eq!(napi::irq_cores(&read("xg0")), None);
    });
}

fn chosen() -> Result<String, Finding> {
    choose_rx_interface()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_takes_the_one_free_interface() {
    in_private_net(|_| {
        assert_eq!(chosen().unwrap(), "xg0");
        sh("ip link add br0 type bridge; ip link set br0 up");
        assert_eq!(chosen().unwrap(), "xg0");
        sh(
            "ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up; ip link set d1 master br0",
        );
        let both = chosen().unwrap_err();
        assert!(both.code == Code::InterfaceChoice && both.what.ends_with("xg0, d0"), "{both}");
        sh("ip addr add 192.0.2.1/24 dev xg0; ip route add default via 192.0.2.2 dev xg0 table 77");
        assert_eq!(chosen().unwrap(), "d0");
        sh("ip link set d0 down");
        let none = chosen().unwrap_err();
        assert!(
            none.why.contains("xg0 (has the default route)")
                && none.why.contains("d0 (down)")
                && none.why.contains("d1 (no carrier)"),
            "{none}"
        );
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_multipath_default_route_uses_every_hop() {
    in_private_net(|_| {
        sh("ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up");
        sh("ip addr add 198.51.100.1/24 dev d0");
        sh("ip addr add 192.0.2.1/24 dev xg0");
        sh("ip route add default nexthop via 192.0.2.2 dev xg0 nexthop via 198.51.100.2 dev d0");
        assert!(chosen().is_ok_and(|name| name == "d1"));
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn counters_grow_by_what_was_sent() {
    in_private_net(|net| {
        let received =
            || net.b.namespace.run(|| DeviceCounters::read(net.b.interface.ifindex)).unwrap().unwrap();
        let sent = || DeviceCounters::read(net.a.interface.ifindex).unwrap();
        let (sent_before, received_before) = (sent(), received());
        let socket = PacketSocket::open(net.a.interface.ifindex).unwrap();
        for _ in 0..25 {
            socket.send(&[&[0xff; 12][..], &[0x88, 0xb5], &[0; 46]].concat()).unwrap();
        }
        let (sent, received) = (sent().since(sent_before), received().since(received_before));
        assert_eq!((sent.tx_packets, sent.tx_bytes, received.rx_packets), (25, 25 * 60, 25));
        assert_eq!((sent.rx_packets, sent.tx_errors, received.rx_errors), (0, 0, 0));
    });
}
