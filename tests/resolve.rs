//! Who is at an address: tx asks the other end's kernel, rx answers it. Tags included: the far end is then the kernel
//! behind a filter that takes tags off and puts them on, since not every kernel has VLAN interfaces.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

#[path = "resolve/far_end.rs"]
mod far_end;

use far_end::{address, behind_tags, capture, look_for, requests};
use nix::sys::signal::Signal::SIGINT;
use std::time::Duration;
use support::{End, Finished, NetLab, ip, only, reports, sink, tx_and_rx, until};

const RUN: Duration = Duration::from_secs(30);
/// A run of a tenth of a second.
const SHORT: [&str; 6] = ["--count", "1000", "--rate", "10kpps", "--json", "--resolve"];

/// Runs `tx --resolve` to its end.
fn send(lab: &NetLab, args: &[&str]) -> Finished {
    lab.start(End::A, "tx", &[&SHORT[..], args].concat()).wait(RUN)
}

/// A run that found the MAC of end B by `means`, and sent there.
fn check_found(lab: &NetLab, args: &[&str], means: &str) {
    let before = lab.rx_packets(End::B);
    let finished = send(lab, args).expect_code(0);
    let mac = lab.mac(End::B);
    let found = format!("is at {mac}, {means}");
    assert!(finished.stderr.contains(&found), "{found}: {}", finished.stderr);
    let tx = only(&reports(&finished));
    assert_eq!((tx.text("/offered/dst_mac"), tx.known("completed")), (mac.as_str(), 1_000));
    assert!(lab.rx_packets(End::B) >= before + 1_000);
}

/// Both ends have an address of each family and nothing else: no neighbour is known.
fn addressed() -> Option<NetLab> {
    let lab = NetLab::new(1)?;
    for (end, four, six) in
        [(End::A, "198.51.100.1/24", "2001:db8::1/64"), (End::B, "198.51.100.2/24", "2001:db8::2/64")]
    {
        address(&lab, end, four);
        address(&lab, end, six);
    }
    Some(lab)
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_address_on_the_link_is_asked_for() {
    let Some(lab) = addressed() else { return };
    check_found(&lab, &["--dst-ip", "198.51.100.2"], "by ARP\n");
    check_found(&lab, &["--dst-ip", "2001:db8::2"], "by neighbour discovery\n");
    // Another MAC than the interface's own is answered to as well.
    check_found(&lab, &["--dst-ip", "198.51.100.2", "--src-mac", "02:00:00:00:00:77"], "by ARP\n");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_the_kernel_knows_is_not_asked_for() {
    let Some(lab) = addressed() else { return };
    for ip in ["198.51.100.2", "2001:db8::2"] {
        assert_eq!(look_for(&lab, End::A, ip), Some(lab.mac(End::B)), "{ip}");
        check_found(&lab, &["--dst-ip", ip], "from the kernel's neighbour table\n");
    }
    // It is no word on a tagged network, where nobody is.
    let finished = send(&lab, &["--dst-ip", "198.51.100.2", "--vlan", "100"]).expect_code(3);
    assert!(finished.stderr.contains("198.51.100.2 in VLAN 100"), "{}", finished.stderr);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn behind_a_gateway_it_is_the_gateways() {
    let Some(lab) = addressed() else { return };
    ip(&lab, End::A, &["route", "add", "203.0.113.0/24", "via", "198.51.100.2"]);
    ip(&lab, End::A, &["-6", "route", "add", "2001:db8:1::/64", "via", "2001:db8::2"]);
    check_found(&lab, &["--dst-ip", "203.0.113.9"], "by ARP, via the gateway 198.51.100.2\n");
    let six = "by neighbour discovery, via the gateway 2001:db8::2\n";
    check_found(&lab, &["--dst-ip", "2001:db8:1::9"], six);
}

/// The far kernel answers only what has its tags; the interface that sends has neither address nor route.
fn check_tagged(vlans: &str) {
    let Some(lab) = NetLab::new(1) else { return };
    address(&lab, End::B, "198.51.100.2/24");
    address(&lab, End::B, "2001:db8::2/64");
    behind_tags(&lab, End::B, vlans);
    let four = ["--vlan", vlans, "--src-ip", "198.51.100.1", "--dst-ip", "198.51.100.2"];
    check_found(&lab, &four, "by ARP\n");
    let six = ["--vlan", vlans, "--src-ip", "2001:db8::1", "--dst-ip", "2001:db8::2"];
    check_found(&lab, &six, "by neighbour discovery\n");
    // Without the tags there is nobody.
    let finished = send(&lab, &four[2..]).expect_code(3);
    assert!(finished.stderr.contains("[address-unresolved]"), "{}", finished.stderr);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_question_is_tagged_as_the_stream_is() {
    check_tagged("100");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn so_it_is_with_two_tags() {
    check_tagged("200,100");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn nobody_there_ends_it_before_anything_is_attached() {
    let Some(lab) = addressed() else { return };
    for (args, kind, count) in [
        (&["--dst-ip", "198.51.100.9"][..], "arp", "ARP requests"),
        (
            &["--dst-ip", "2001:db8::9", "--vlan", "200,100"],
            "icmpv6.nd.ns.target_address == 2001:db8::9",
            "neighbour solicitations",
        ),
    ] {
        let file = capture(&lab, End::B, || {
            let finished = send(&lab, args).expect_code(3);
            assert!(finished.stdout.is_empty(), "{}", finished.stdout);
            let said =
                finished.stderr.contains("[address-unresolved]") && finished.stderr.contains("--dst-mac");
            assert!(said && finished.stderr.contains(count), "{}", finished.stderr);
            assert!(lab.programs(End::A).is_empty());
            assert!((3..6).contains(&finished.took.as_secs()), "{:?}", finished.took);
        });
        let asked = requests(&file, kind);
        assert!((10..=13).contains(&asked.len()), "{asked:?}");
        let mac = lab.mac(End::A);
        let expected = match kind {
            "arp" => format!("ff:ff:ff:ff:ff:ff {mac} 1 198.51.100.1 198.51.100.9"),
            _ => format!("33:33:ff:00:00:09 {mac} 200 100 255 135 1 2001:db8::9 {mac}"),
        };
        assert!(asked.iter().all(|line| *line == expected), "{asked:?} is not {expected}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn whoever_is_tired_of_asking_may_stop() {
    let Some(lab) = addressed() else { return };
    let before = lab.rx_packets(End::B);
    let tx = lab.start(End::A, "tx", &["--resolve", "--dst-ip", "198.51.100.9"]);
    // The kernel's own frames count as well.
    until("the first question", RUN, || tx.hears(SIGINT) && lab.rx_packets(End::B) > before);
    let done = tx.interrupt(RUN).expect_code(1);
    assert!(done.stderr.contains("[interrupted]") && done.took < Duration::from_secs(1), "{done:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_answers_for_addresses_that_nobody_has() {
    let Some(lab) = addressed() else { return };
    let rx = sink(&lab, &["--answer", "198.51.100.7,2001:db8::7,198.51.100.2"]);
    assert!(rx.stderr().contains("198.51.100.2 already, so the sink does not [answered-by-kernel]"));
    let mac = lab.mac(End::B);
    // What the kernel answers goes on.
    for ip in ["198.51.100.7", "2001:db8::7", "198.51.100.2", "2001:db8::2"] {
        assert_eq!(look_for(&lab, End::A, ip).as_ref(), Some(&mac), "{ip}");
    }
    assert_eq!(look_for(&lab, End::A, "198.51.100.8"), None, "others are not answered for");
    let done = rx.interrupt(RUN).expect_code(0);
    assert!(done.stderr.contains("question(s) for 198.51.100.7, 2001:db8::7"), "{}", done.stderr);
    assert!(!done.stderr.contains("answered 0 "), "{}", done.stderr);
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_announces_itself() {
    let Some(lab) = addressed() else { return };
    let file = capture(&lab, End::A, || {
        sink(&lab, &["--answer", "198.51.100.7,2001:db8::7"]).interrupt(RUN);
    });
    let mac = lab.mac(End::B);
    let four = format!("ff:ff:ff:ff:ff:ff {mac} 1 198.51.100.7 198.51.100.7");
    let six = format!("33:33:00:00:00:01 {mac} 255 136 1 2001:db8::7 {mac}");
    assert_eq!((requests(&file, "arp"), requests(&file, "icmpv6.type == 136")), (vec![four], vec![six]));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_answers_in_the_vlan_in_which_it_is_asked() {
    for vlans in ["100", "200,100"] {
        let Some(lab) = NetLab::new(1) else { return };
        address(&lab, End::A, "198.51.100.1/24");
        address(&lab, End::A, "2001:db8::1/64");
        behind_tags(&lab, End::A, vlans);
        let rx = sink(&lab, &["--answer", "198.51.100.7,2001:db8::7"]);
        for ip in ["198.51.100.7", "2001:db8::7"] {
            assert_eq!(look_for(&lab, End::A, ip), Some(lab.mac(End::B)), "{ip} in {vlans}");
        }
        rx.interrupt(RUN).expect_code(0);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_without_address_or_route_finds_a_sink_that_answers() {
    let Some(lab) = NetLab::new(1) else { return };
    for (from, to, means) in [
        ("198.51.100.1", "198.51.100.7", "by ARP\n"),
        ("2001:db8::1", "2001:db8::7", "by neighbour discovery\n"),
    ] {
        for tags in [&[][..], &["--vlan", "100"], &["--vlan", "200,100"]] {
            let rx = sink(&lab, &["--answer", to]);
            check_found(&lab, &[&["--src-ip", from, "--dst-ip", to], tags].concat(), means);
            let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
            rx.check_full_books();
            assert_eq!((rx.known("unique"), rx.known("lost")), (1_000, 0), "{rx}");
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn tags_of_a_veth_are_no_reason_to_warn() {
    if !support::require_root() {
        return;
    }
    let demo = support::Running::xsk_gen(&["demo", "--vlan", "100", "--count", "1000", "--json", "--quiet"]);
    let (_, rx) = tx_and_rx(&demo.wait(RUN).expect_code(0));
    assert_eq!(rx.known("unique"), 1_000);
    assert!(!rx.has_finding("vlan-offload") && !rx.has_finding("vlan-filter"), "{rx}");
}
