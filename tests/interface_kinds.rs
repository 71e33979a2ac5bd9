//! Interfaces that are no ordinary NIC, and the names that they go by: the mode that can be had is used and
//! told, a mode that cannot is refused with driver and queue, and every name leads to the one interface or to
//! a clear word.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::fs;
use std::process::Command;
use std::time::Duration;
use support::{End, Finished, NetLab, Report, Running, reports, tx_and_rx, until, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
const JSON: [&str; 2] = ["--json", "--quiet"];
const SHORT: [&str; 4] = ["--count", "1000", "--rate", "10kpps"];
const NOWHERE: [&str; 2] = ["--dst-mac", "02:00:00:00:00:01"];

/// Runs `ip` at an end; false when it fails.
fn try_ip(lab: &NetLab, end: End, words: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(["-n", lab.namespace(end)]).args(words.split(' '));
    command.output().unwrap().status.success()
}

fn ip(lab: &NetLab, end: End, words: &str) {
    assert!(try_ip(lab, end, words), "ip {words}");
}

/// Starts the binary at an end: `COMMAND --iface IFACE ARGUMENTS…`, with JSON.
fn start(lab: &NetLab, end: End, (command, iface): (&str, &str), args: &[&str]) -> Running {
    let all = [&[command, "--iface", iface], &JSON[..], args].concat();
    Running::start(lab.command(end, xsk_gen()).args(all))
}

fn run(lab: &NetLab, end: End, what: (&str, &str), args: &[&str]) -> Finished {
    start(lab, end, what, args).wait(RUN)
}

/// Fails unless it was refused because of a finding of this code that speaks of `words`, in words for people.
fn refused(finished: &Finished, code: &str, words: &[&str]) {
    finished.expect_code_in(&[3]);
    let said = &finished.stderr;
    assert!(said.contains(&format!("[{code}]")) && finished.stdout.is_empty(), "{finished:?}");
    assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {finished:?}");
    assert!(["os error", "libbpf", "bpf_", "netlink error"].iter().all(|raw| !said.contains(raw)), "{said}");
}

fn only(finished: Finished) -> Report {
    let reports = reports(&finished);
    assert_eq!(reports.len(), 1, "{finished:?}");
    reports[0].clone()
}

fn modes(report: &Report) -> (&str, &str) {
    (report.text("/setup/xdp_mode"), report.text("/setup/xsk_mode"))
}

/// A sink that says that it is ready.
fn sink(lab: &NetLab, end: End, iface: &str, args: &[&str]) -> Running {
    let all = [&["rx", "--iface", iface, "--json"], args].concat();
    let rx = Running::start(lab.command(end, xsk_gen()).args(all));
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    rx
}

/// The MAC of any interface at an end.
fn mac(lab: &NetLab, end: End, iface: &str) -> String {
    lab.run(end, "cat", &[&format!("/sys/class/net/{iface}/address")]).trim().to_owned()
}

/// Interfaces whose drivers have no XDP, with their driver's name: those kinds that this kernel has, up.
fn without_native_xdp(lab: &NetLab) -> Vec<(&'static str, &'static str)> {
    let kinds = [
        ("br0", "bridge", "link add br0 type bridge"),
        ("mv0", "macvlan", "link add link v0 name mv0 type macvlan mode bridge"),
        ("du0", "dummy", "link add du0 type dummy"),
        ("vl0", "802.1Q VLAN Support", "link add link v0 name vl0 type vlan id 5"),
    ];
    let mut made = Vec::new();
    for (name, driver, add) in kinds {
        if try_ip(lab, End::A, add) {
            ip(lab, End::A, &format!("link set {name} up"));
            made.push((name, driver));
        } else {
            eprintln!("left out: this kernel has no {driver}");
        }
    }
    assert!(!made.is_empty(), "this kernel has none of the kinds");
    made
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn without_native_xdp_the_generic_mode_is_used_and_told() {
    let Some(lab) = NetLab::new(1) else { return };
    for (iface, driver) in without_native_xdp(&lab) {
        let rx = only(run(&lab, End::A, ("rx", iface), &["--duration", "50ms"]).expect_code(1));
        assert_eq!(modes(&rx), ("generic", "copy"), "{rx}");
        assert!(rx.has_finding("generic-xdp") && rx.has_finding("nothing-received"), "{rx}");
        for (command, args) in [("rx", &[][..]), ("tx", &NOWHERE)] {
            let native = [&["--xdp-mode", "native"], args].concat();
            refused(
                &run(&lab, End::A, (command, iface), &native),
                "native-refused",
                &[iface, "--xdp-mode generic"],
            );
        }
        let zero_copy = ["--xsk-mode", "zerocopy"];
        let words = [driver, "queue 0", "--xsk-mode copy"];
        refused(&run(&lab, End::A, ("rx", iface), &zero_copy), "zero-copy-refused", &words);
        let generic = [&zero_copy[..], &["--xdp-mode", "generic"], &NOWHERE].concat();
        refused(&run(&lab, End::A, ("tx", iface), &generic), "zero-copy-refused", &words);
        let tx = only(run(&lab, End::A, ("tx", iface), &[&NOWHERE[..], &SHORT].concat()).expect_code(0));
        tx.check_full_books();
        assert_eq!((modes(&tx), tx.known("completed")), (("none", "copy"), 1_000), "{tx}");
    }
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_arrive_in_generic_mode_above_another_interface() {
    let Some(lab) = NetLab::new(1) else { return };
    ip(&lab, End::B, "link add link v1 name mv1 type macvlan mode bridge");
    ip(&lab, End::B, "link set mv1 up");
    let rx = sink(&lab, End::B, "mv1", &[]);
    let to = mac(&lab, End::B, "mv1");
    let tx =
        only(run(&lab, End::A, ("tx", "v0"), &[&["--dst-mac", &to], &SHORT[..]].concat()).expect_code(0));
    let rx = only(rx.interrupt(RUN).expect_code(0));
    rx.check_full_books();
    assert_eq!(modes(&rx), ("generic", "copy"), "{rx}");
    assert_eq!((rx.known("unique"), rx.known("lost")), (tx.known("completed"), 0), "{rx}");
}

/// Two taps, and all that comes out of one goes into the other. From linux/if_tun.h: TUNSETIFF, and IFF_TAP
/// without packet information.
const PATCH: &str = r#"
import fcntl, os, select, struct, subprocess, sys
def tap(name):
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", name.encode(), 0x1002))
    subprocess.run(["ip", "link", "set", name, "up"], check=True)
    return fd
a, b = tap("tap0"), tap("tap1")
print("ready", file=sys.stderr, flush=True)
while True:
    for fd in select.select([a, b], [], [])[0]:
        os.write(b if fd == a else a, os.read(fd, 65536))
"#;

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_tap_carries_what_its_process_carries() {
    let Some(lab) = NetLab::new(1) else { return };
    if fs::metadata("/dev/net/tun").is_err() {
        eprintln!("left out: this kernel has no tap");
        return;
    }
    let patch = Running::start(lab.command(End::A, "python3").args(["-c", PATCH]));
    until("the taps", Duration::from_secs(10), || patch.stderr().contains("ready"));
    for mode in ["native", "generic"] {
        let args = ["--sink", "tap1", "--xdp-mode", mode, "--count", "500", "--rate", "2kpps"];
        let (tx, rx) = tx_and_rx(&run(&lab, End::A, ("tx", "tap0"), &args).expect_code(0));
        tx.check_full_books();
        rx.check_full_books();
        assert_eq!((modes(&tx), modes(&rx)), ((mode, "copy"), (mode, "copy")), "{rx}");
        assert_eq!((rx.known("unique"), rx.known("lost")), (500, 0), "{rx}");
        assert_eq!(rx.text("/interface/driver"), "tun");
    }
    for (command, args) in [("rx", &[][..]), ("tx", &NOWHERE)] {
        let demanded = [&["--xsk-mode", "zerocopy"], args].concat();
        let words = ["tap1", "the driver tun", "queue 0"];
        refused(&run(&lab, End::A, (command, "tap1"), &demanded), "zero-copy-refused", &words);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_large_mtu_is_taken_in_both_modes() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    for iface in ["v0", "v1"] {
        ip(&lab, End::A, &format!("link set {iface} mtu 9000"));
    }
    for mode in ["native", "generic"] {
        let args =
            ["--sink", "v1", "--size", "3800", "--xdp-mode", mode, "--count", "200", "--rate", "2kpps"];
        let (tx, rx) = tx_and_rx(&run(&lab, End::A, ("tx", "v0"), &args).expect_code(0));
        tx.check_full_books();
        rx.check_full_books();
        assert_eq!((modes(&tx), modes(&rx)), ((mode, "copy"), (mode, "copy")), "{rx}");
        assert_eq!((rx.known("unique"), rx.known("lost")), (200, 0), "{rx}");
    }
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_modes_that_were_had_are_in_the_text() {
    let Some(lab) = NetLab::new(1) else { return };
    let text = |end: End, command: &str, args: &[&str]| {
        let all = [&[command, "--iface", end.interface(), "--quiet"], args].concat();
        Running::start(lab.command(end, xsk_gen()).args(all)).wait(RUN).stdout
    };
    // Zero-copy would be better and is not to be had on a veth.
    assert!(text(End::A, "tx", &[&NOWHERE[..], &SHORT].concat()).contains("no XDP program, copying sockets"));
    for mode in ["native", "generic"] {
        let said = text(End::B, "rx", &["--xdp-mode", mode, "--duration", "50ms"]);
        assert!(said.contains(&format!("{mode} XDP, copying sockets")), "{said}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn every_name_of_an_interface_leads_to_it() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let (long, short) = ("the-second-end-of-the-pair", "end0");
    ip(&lab, End::A, &format!("link property add dev v1 altname {long}"));
    ip(&lab, End::A, &format!("link property add dev v0 altname {short}"));
    let args = [&["--sink", long], &SHORT[..]].concat();
    let (tx, rx) = tx_and_rx(&run(&lab, End::A, ("tx", short), &args).expect_code(0));
    assert_eq!((tx.text("/interface/name"), rx.text("/interface/name")), ("v0", "v1"));
    assert_eq!(rx.known("unique"), 1_000, "{rx}");
    let rx = only(run(&lab, End::A, ("rx", long), &["--duration", "50ms"]).expect_code(1));
    assert_eq!(rx.text("/interface/name"), "v1");
    // One interface under two names is no pair.
    let same = run(&lab, End::A, ("tx", "v0"), &["--sink", short]).expect_code(2);
    assert!(same.stderr.contains("two names of the interface v0"), "{same:?}");

    // Fifteen characters are the longest name, sixteen none that an interface of that kind has.
    ip(&lab, End::A, "link set v1 down");
    ip(&lab, End::A, "link set v1 name fifteen-letters");
    ip(&lab, End::A, "link set fifteen-letters up");
    let rx = only(run(&lab, End::A, ("rx", "fifteen-letters"), &["--duration", "50ms"]).expect_code(1));
    assert_eq!(rx.text("/interface/name"), "fifteen-letters");
    let unknown = run(&lab, End::A, ("rx", "fifteen-letters-"), &[]);
    refused(&unknown, "interface-unknown", &["did you mean fifteen-letters?"]);
    refused(&run(&lab, End::A, ("rx", "../v0"), &[]), "interface-unknown", &["../v0"]);
}

#[test]
fn what_no_interface_or_queue_can_be_is_a_matter_of_usage() {
    let long = "x".repeat(200);
    let queues = |list| vec!["--iface", "lo", "--queues", list];
    let table = [
        (vec!["--iface", ""], "has a name"),
        (vec!["--iface", "eth0\n"], "control characters"),
        (vec!["--iface", "\u{1b}[2J"], "control characters"),
        (vec!["--iface", &long], "so long a name"),
        (queues("0,0"), "named twice"),
        (queues("3-1"), "backwards"),
        (queues("0-4294967295"), "above 65535"),
        (queues("-1"), "neither"),
    ];
    for (args, words) in table {
        for command in ["tx", "rx"] {
            let finished = Running::xsk_gen(&[&[command], &args[..]].concat()).wait(RUN).expect_code(2);
            assert!(finished.stderr.contains(words) && finished.stdout.is_empty(), "{finished:?}");
            assert!(!finished.stderr.contains('\u{1b}'), "{finished:?}");
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_does_not_choose_what_the_host_needs() {
    let Some(lab) = NetLab::new(1) else { return };
    let chosen = || run(&lab, End::A, ("rx", "v0"), &["--duration", "50ms"]).status.code();
    assert_eq!(chosen(), Some(1), "the pair itself works");
    let left_out = |words: &[&str]| {
        let finished = Running::start(lab.command(End::A, xsk_gen()).arg("rx")).wait(RUN).expect_code(2);
        assert!(words.iter().all(|word| finished.stderr.contains(word)), "{words:?}: {finished:?}");
    };
    // An interface above v0 has the default route: who takes v0 cuts that, too.
    ip(&lab, End::A, "link add link v0 name mv0 type macvlan mode bridge");
    ip(&lab, End::A, "addr add 192.0.2.1/24 dev mv0");
    ip(&lab, End::A, "link set mv0 up");
    ip(&lab, End::A, "route add default via 192.0.2.2 dev mv0");
    left_out(&["v0 (has the default route)", "mv0 (has the default route)", "none would do"]);
    ip(&lab, End::A, "link delete mv0");
    ip(&lab, End::A, "link add br0 type bridge");
    ip(&lab, End::A, "link set v0 master br0");
    left_out(&["v0 (part of a bond, bridge or VRF)", "br0 (a bridge)"]);
    ip(&lab, End::A, "link set v0 nomaster");
    ip(&lab, End::B, "link set v1 down");
    left_out(&["v0 (no carrier)"]);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn facts_are_those_of_the_namespace_and_not_of_what_sysfs_shows() {
    let (Some(lab), Some(outer)) = (NetLab::new(2), NetLab::new(1)) else { return };
    ip(&lab, End::A, "link set v0 mtu 1400");
    let link = lab.link(End::A);
    let index = link["ifindex"].as_u64().unwrap();
    // In the outer view v0 is another interface: of the same name and index where that is free, with more
    // queues.
    ip(&outer, End::A, "link delete v0");
    let as_it =
        format!("link add v0 index {index} mtu 9000 numtxqueues 4 numrxqueues 4 type veth peer name w0");
    ip(&outer, End::A, &as_it);
    ip(&outer, End::A, "link set v0 up");
    let inside = format!("--net=/run/netns/{}", lab.namespace(End::A));
    let seen = |file: &str| {
        let path = format!("/sys/class/net/v0/{file}");
        let mut command = outer.command(End::A, "nsenter");
        let output = command.args([&inside, "cat", &path]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(
        (seen("mtu"), seen("ifindex")),
        ("9000".to_owned(), index.to_string()),
        "sysfs is the outer one's"
    );

    let to = lab.mac(End::B);
    let args = [&["tx", "--iface", "v0", "--dst-mac", &to], &JSON[..], &SHORT].concat();
    let tx = Running::start(outer.command(End::A, "nsenter").args([&inside, xsk_gen()]).args(args)).wait(RUN);
    let tx = only(tx.expect_code(0));
    tx.check_full_books();
    assert_eq!(tx.text("/interface/mac"), link["address"], "{tx}");
    assert_eq!(tx.at("/interface/mtu").as_u64(), Some(1_400), "{tx}");
    let args = ["rx", "--iface", "v0", "--json", "--quiet", "--duration", "50ms"];
    let rx = Running::start(outer.command(End::A, "nsenter").args([&inside, xsk_gen()]).args(args)).wait(RUN);
    assert_eq!(only(rx.expect_code(1)).at("/setup/queues").as_array().unwrap().len(), 2);
    let args = ["tx", "--iface", "v0", "--dst-mac", &to, "--queues", "2"];
    let tx = Running::start(outer.command(End::A, "nsenter").args([&inside, xsk_gen()]).args(args)).wait(RUN);
    refused(&tx, "queue-range", &["v0 has 2 queue(s)"]);
}
