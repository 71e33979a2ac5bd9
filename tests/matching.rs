//! What `--match` takes beyond frames of ours in plain stacks: other generators' traffic, one EtherType, one VLAN; and
//! what is said of it. The other generator is the kernel of the sending end.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;
use support::{End, NetLab, Report, Running, ip, only, reports, sink, until};

const RUN: Duration = Duration::from_secs(30);
/// A run of a quarter of a second.
const SHORT: [&str; 4] = ["--count", "5000", "--rate", "20kpps"];
const RECEIVER: &str = "198.18.7.2";
/// A host that is not there; the sending end believes that it is.
const NOBODY: &str = "198.18.7.3";
/// Ethernet, IPv4 and UDP headers, and the FCS.
const AROUND_PAYLOAD: u64 = 14 + 20 + 8 + 4;
/// Datagrams between two pauses: well below what a veth's ring holds.
const BURST: usize = 50;

/// Both ends with addresses, and a neighbour of the sending end that never answers.
fn lab() -> Option<NetLab> {
    let lab = NetLab::new(1)?;
    for (end, address) in [(End::A, "198.18.7.1/24"), (End::B, "198.18.7.2/24")] {
        ip(&lab, end, &["addr", "add", address, "dev", end.interface()]);
    }
    let mac = lab.mac(End::B);
    ip(&lab, End::A, &["neigh", "add", NOBODY, "lladdr", &mac, "dev", "v0", "nud", "permanent"]);
    Some(lab)
}

/// Sends datagrams out of the kernel's own stack of the sending end.
fn kernel_sends(lab: &NetLab, to: &str, payloads: Vec<Vec<u8>>) {
    let netns = format!("/run/netns/{}", lab.namespace(End::A));
    let to = to.to_owned();
    // A thread of its own: it does not come back from the namespace.
    let sent = thread::spawn(move || {
        setns(File::open(netns).unwrap(), CloneFlags::CLONE_NEWNET).unwrap();
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        for burst in payloads.chunks(BURST) {
            for payload in burst {
                assert_eq!(socket.send_to(payload, &to).unwrap(), payload.len());
            }
            thread::sleep(Duration::from_millis(2));
        }
    });
    sent.join().unwrap();
}

/// So many datagrams of so many bytes to a host.
fn flood(lab: &NetLab, host: &str, count: usize, bytes: usize) {
    // The first waits for an answer to ARP, and only few may wait with it.
    kernel_sends(lab, &format!("{host}:7777"), vec![vec![0xA5; bytes]; 1]);
    kernel_sends(lab, &format!("{host}:7777"), vec![vec![0xA5; bytes]; count - 1]);
}

/// Runs tx to its end and gives its Report.
fn send(lab: &NetLab, args: &[&str]) -> Report {
    let tx = lab.start(End::A, "tx", &[&["--json", "--quiet"], &SHORT[..], args].concat());
    only(&reports(&tx.wait(RUN).expect_code(0)))
}

/// The only Report of a sink that Ctrl-C ends.
fn interrupted(rx: Running) -> Report {
    only(&reports(&rx.interrupt(RUN).expect_code(0)))
}

fn not_ours(rx: &Report) -> u64 {
    rx.at("/balance/rejected")["not_ours"].as_u64().unwrap_or(0)
}

fn totals(rx: &Report) -> (u64, u64) {
    let figure = |name: &str| rx.at(&format!("/totals/{name}")).as_u64().unwrap();
    (figure("rx_frames"), figure("rx_bytes"))
}

/// Frames in all interval rows.
fn in_intervals(rx: &Report) -> u64 {
    rx.at("/intervals").as_array().unwrap().iter().map(|row| row["frames"].as_u64().unwrap()).sum()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn another_generator_is_measured_without_a_run_of_ours() {
    let Some(lab) = lab() else { return };
    for count_only in [false, true] {
        let options = if count_only { &["--match", "any", "--count-only"][..] } else { &["--match", "any"] };
        let rx = sink(&lab, options);
        flood(&lab, RECEIVER, 1_000, 100);
        thread::sleep(Duration::from_millis(50));
        let rx = interrupted(rx);
        rx.check_books();
        assert_eq!((rx.known("probes"), not_ours(&rx), rx.known("received")), (0, 1_000, 1_000), "{rx}");
        assert_eq!(totals(&rx), (1_000, 1_000 * (100 + AROUND_PAYLOAD)), "{rx}");
        assert_eq!((rx.counter("xdp.taken"), rx.counter("xdp.ours")), (1_000, 0), "{rx}");
        assert_eq!((in_intervals(&rx), rx.frames_by_queue()), (1_000, vec![1_000]), "{rx}");
        let (pps, seconds) = (rx.at("/rates/pps").as_f64(), rx.at("/duration_s").as_f64());
        assert!((pps.unwrap() * seconds.unwrap() - 1_000.0).abs() < 1.0, "{rx}");
        assert!(rx.at("/rates/l2_bps").as_f64() > Some(0.0) && !rx.has_finding("nothing-received"), "{rx}");
        assert_eq!(rx.at("/cpu/ns_per_frame").is_null(), count_only, "receiving them is work: {rx}");
        assert!(!rx.has_finding("takes-all"), "the host needs nothing of this interface: {rx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_run_and_another_generator_are_told_apart() {
    let Some(lab) = lab() else { return };
    for count_only in [false, true] {
        let options = if count_only { &["--match", "any", "--count-only"][..] } else { &["--match", "any"] };
        let rx = sink(&lab, options);
        flood(&lab, RECEIVER, 300, 200);
        send(&lab, &[]);
        flood(&lab, RECEIVER, 200, 200);
        thread::sleep(Duration::from_millis(50));
        let rx = interrupted(rx);
        rx.check_books();
        // The sending host answers our answers: nobody of its own listens to that port.
        let others = not_ours(&rx);
        assert!(rx.known("probes") == 5_000 && (500..510).contains(&others), "{rx}");
        assert_eq!(others, rx.counter("xdp.taken"), "{rx}");
        let bytes = 5_000 * 64 + rx.counter("xdp.taken_bytes") + others * 4;
        assert!(bytes >= 5_000 * 64 + 500 * (200 + AROUND_PAYLOAD), "{rx}");
        assert_eq!((totals(&rx), in_intervals(&rx)), ((5_000 + others, bytes), 5_000 + others), "{rx}");
        assert_eq!(rx.known("completed"), 5_000, "{rx}");
        assert_eq!(rx.term("lost"), (!count_only).then_some(0), "{rx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_of_others_are_told_apart_in_words() {
    let Some(lab) = lab() else { return };
    let rx = lab.start(End::B, "rx", &["--match", "any", "--count", "100"]);
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("waiting for any frames"));
    flood(&lab, RECEIVER, 100, 100);
    let rx = rx.wait(RUN).expect_code(0);
    for words in ["100 received", "100 of them not of xsk-gen", "not_ours 100"] {
        assert!(rx.stdout.contains(words), "{words}: {}", rx.stdout);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_ether_type_is_taken_and_nothing_else() {
    let Some(lab) = lab() else { return };
    let rx = sink(&lab, &["--match", "ethertype 0x0806"]);
    flood(&lab, NOBODY, 100, 100);
    // Nobody answers: the sink has taken the question.
    kernel_sends(&lab, &format!("{RECEIVER}:7777"), vec![vec![0; 100]]);
    thread::sleep(Duration::from_millis(1_500));
    let rx = interrupted(rx);
    rx.check_books();
    let (frames, bytes) = totals(&rx);
    assert!(frames >= 1 && frames == not_ours(&rx), "{rx}");
    assert_eq!(bytes, frames * (14 + 28 + 4), "questions of ARP, which a veth does not pad: {rx}");
    assert!(rx.counter("xdp.passed") >= 100, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn one_vlan_is_taken_and_others_are_left() {
    let Some(lab) = lab() else { return };
    let mac = lab.mac(End::B);
    for matches in ["vlan 100", "vlan 100 udp port 9", "vlan 100 any"] {
        let rx = sink(&lab, &["--match", matches]);
        for vlans in ["200", "200,100"] {
            send(&lab, &["--vlan", vlans, "--dst-mac", &mac, "--run-tag", "1"]);
        }
        send(&lab, &["--dst-mac", &mac, "--run-tag", "2"]);
        let sent = send(&lab, &["--vlan", "100", "--run-tag", "3"]);
        let inner = send(&lab, &["--vlan", "100,200", "--run-tag", "4"]);
        let received = reports(&rx.interrupt(RUN).expect_code(0));
        let [first, second] = &received[..] else { panic!("{matches}: two runs: {received:?}") };
        for (sent, received) in [(sent, first), (inner, second)] {
            received.check_full_books();
            assert_eq!(received.text("/id"), sent.text("/id"), "{matches}");
            assert_eq!((received.known("unique"), received.known("lost")), (5_000, 0), "{received}");
            assert_eq!(received.known("rejected"), 0, "{received}");
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn where_a_vlan_stays_silent_the_remedy_names_offloads_that_take_tags_out() {
    let Some(lab) = lab() else { return };
    let rx = sink(&lab, &["--match", "vlan 5"]);
    let rx = interrupted(rx);
    let findings = rx.at("/findings").as_array().unwrap();
    let nothing = findings.iter().find(|finding| finding["code"] == "nothing-received").unwrap();
    let remedy = nothing["remedy"].as_str().unwrap();
    assert!(remedy.contains("tag 5") && remedy.contains("ethtool -K v1 rxvlan off"), "{remedy}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_port_is_that_of_ours_and_not_of_others() {
    let Some(lab) = lab() else { return };
    let rx = sink(&lab, &["--match", "udp port 4242"]);
    kernel_sends(&lab, &format!("{NOBODY}:4242"), vec![vec![0xA5; 100]; 100]);
    send(&lab, &["--port", "4242"]);
    let rx = interrupted(rx);
    rx.check_full_books();
    assert_eq!((rx.known("unique"), rx.known("rejected")), (5_000, 0), "no magic, not taken: {rx}");
    assert!(rx.counter("xdp.passed") >= 100 && rx.counter("xdp.taken") == 0, "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn who_takes_what_the_host_is_reached_by_is_warned_before_it_happens() {
    let Some(lab) = lab() else { return };
    ip(&lab, End::B, &["route", "add", "default", "via", "198.18.7.1", "dev", "v1"]);
    let cases = [
        ("any", true),
        ("ethertype 0x0800", true),
        ("ethertype 2054", true),
        ("ethertype 0x88cc", false),
        ("vlan 5 any", false),
        ("udp port 9", false),
    ];
    for (matches, warned) in cases {
        let rx = sink(&lab, &["--match", matches]);
        let said = rx.stderr();
        let warning = said.find("[takes-all]");
        assert_eq!(warning.is_some(), warned, "{matches}: {said}");
        assert!(warning < said.find("ready on"), "{said}");
        assert!(!warned || said.contains("has the default route") && said.contains("hang"), "{said}");
        let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
        assert_eq!(rx.has_finding("takes-all"), warned, "{rx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_checksum_that_a_kernel_left_to_offload_is_wrong_and_said_to_be_that() {
    let Some(lab) = lab() else { return };
    let probe = |seq: u8| vec![0x58, 0x47, 0xAB, 0xCD, 0x80, 0, 0, 0, 0, seq, 0x12, 0x34, 1, 2, 3, 4, 5, 6];
    let probes = || (0..50).map(probe).collect();
    let to_port = format!("{NOBODY}:9");
    let rx = sink(&lab, &[]);
    kernel_sends(&lab, &to_port, probes());
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(1)));
    rx.check_books();
    assert_eq!(
        (rx.at("/balance/rejected")["udp_checksum"].as_u64(), rx.known("probes")),
        (Some(50), 0),
        "{rx}"
    );
    let findings = rx.at("/findings").as_array().unwrap();
    let corrupted = findings.iter().find(|finding| finding["code"] == "corrupted").unwrap();
    assert!(corrupted["why"].as_str().unwrap().contains("kernel's stack"), "{rx}");
    assert!(corrupted["remedy"].as_str().unwrap().contains("ethtool -K PEER tx off"), "{rx}");

    lab.run(End::A, "ethtool", &["-K", "v0", "tx", "off"]);
    let rx = sink(&lab, &[]);
    kernel_sends(&lab, &to_port, probes());
    thread::sleep(Duration::from_millis(50));
    let rx = interrupted(rx);
    assert_eq!((rx.known("unique"), rx.known("rejected")), (50, 0), "the remedy is one: {rx}");
}
