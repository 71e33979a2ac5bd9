//! The kernel as the other end: its addresses, its neighbours, tags in front of it, and captures that tshark reads.
//! Knows nothing of xsk-gen.

use crate::support::{End, NetLab, Running, ip, until};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::{NamedTempFile, TempDir};

const DEADLINE: Duration = Duration::from_secs(30);
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/resolve/tagged.c");

/// Gives the interface of an end an address that is valid at once.
pub fn address(lab: &NetLab, end: End, prefix: &str) {
    if prefix.contains(':') {
        // The laboratory switches IPv6 off.
        let on = format!("net.ipv6.conf.{}.disable_ipv6=0", end.interface());
        lab.run(end, "sysctl", &["-qw", &on]);
        ip(lab, end, &["address", "add", prefix, "dev", end.interface(), "nodad"]);
    } else {
        ip(lab, end, &["address", "add", prefix, "dev", end.interface()]);
    }
}

/// Makes the kernel of an end look for the address, by sending to it, until it has found it; the MAC, or None once it
/// has given up, which takes three seconds.
pub fn look_for(lab: &NetLab, end: End, ip: &str) -> Option<String> {
    // Discard (RFC 863): nobody minds.
    lab.run(end, "bash", &["-c", &format!("echo > /dev/udp/{ip}/9")]);
    let mut found = None;
    until("the kernel to find a neighbour or to give up", DEADLINE, || {
        let (mac, state) = neighbour(lab, end, ip);
        found = (!mac.is_empty()).then_some(mac);
        found.is_some() || state == "FAILED"
    });
    found
}

/// The MAC and the state that the kernel of an end has for a neighbour; both empty where it knows none.
fn neighbour(lab: &NetLab, end: End, ip: &str) -> (String, String) {
    let text = lab.run(end, "ip", &["-j", "neigh", "show", ip, "dev", end.interface()]);
    let entries: Value = serde_json::from_str(if text.trim().is_empty() { "[]" } else { &text }).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (word(&entries[0]["lladdr"]), word(&entries[0]["state"][0]))
}

/// Puts the kernel of an end behind VLAN tags: `100`, or two with the outer one first.
pub fn behind_tags(lab: &NetLab, end: End, vlans: &str) {
    let (outer, inner) = vlans.split_once(',').unwrap_or((vlans, "0"));
    let folder = TempDir::new().unwrap();
    let object = folder.path().join("tagged.o");
    let include = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let compiled = Command::new("clang")
        .args(["-O2", "-g", "-target", "bpf", &include, "-c", SOURCE, "-o"])
        .arg(&object)
        .args([format!("-DOUTER={outer}"), format!("-DINNER={inner}")])
        .status();
    assert!(compiled.unwrap().success(), "clang");
    lab.run(end, "tc", &["qdisc", "add", "dev", end.interface(), "clsact"]);
    for (direction, section) in [("ingress", "in"), ("egress", "out")] {
        let place = ["filter", "add", "dev", end.interface(), direction, "bpf", "direct-action"];
        lab.run(end, "tc", &[&place[..], &["obj", object.to_str().unwrap(), "sec", section]].concat());
    }
}

/// What arrives at an end while `act` acts.
pub fn capture(lab: &NetLab, end: End, act: impl FnOnce()) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    let mut tcpdump = lab.command(end, "tcpdump");
    // -Z: the file belongs to root. -U: written frame by frame.
    tcpdump
        .args(["-i", end.interface(), "-Q", "in", "--immediate-mode", "-n", "-U", "-Z", "root", "-w"])
        .arg(file.path());
    let tcpdump = Running::start(&mut tcpdump);
    until("tcpdump to listen", DEADLINE, || tcpdump.stderr().contains("listening on"));
    act();
    let size = |path: &Path| path.metadata().unwrap().len();
    let mut before = 0;
    until("the frames to be captured", DEADLINE, || {
        std::thread::sleep(Duration::from_millis(100));
        std::mem::replace(&mut before, size(file.path())) == size(file.path())
    });
    tcpdump.interrupt(DEADLINE).expect_code(0);
    file
}

/// Destination and source MAC, both VLAN ids, ARP's operation and addresses; then hop limit, type, state of the checksum
/// (1 is good), target and MAC option of neighbour discovery.
const FIELDS: [&str; 13] = [
    "eth.dst",
    "eth.src",
    "ieee8021ad.id",
    "vlan.id",
    "arp.opcode",
    "arp.src.proto_ipv4",
    "arp.dst.proto_ipv4",
    "ipv6.hlim",
    "icmpv6.type",
    "icmpv6.checksum.status",
    "icmpv6.nd.ns.target_address",
    "icmpv6.nd.na.target_address",
    "icmpv6.opt.linkaddr",
];

/// The frames of a capture that `filter` takes, as tshark reads them: the fields that they have, divided by spaces.
pub fn requests(file: &NamedTempFile, filter: &str) -> Vec<String> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file.path()).args(["-n", "-Y", filter, "-T", "fields"]);
    tshark.args(["-E", "occurrence=f"]).args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let done = tshark.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}
