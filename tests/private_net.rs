//! Private namespaces leave nothing behind, whichever way their process ends; and what is refused says why.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests, and their helpers")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use xsk_gen::finding::Code;
use xsk_gen::host::process::{Capability, preflight_privileges};
use xsk_gen::host::{InterfaceFacts, machine};
use xsk_gen::private_net::{Namespace, PrivateNet};

const TWO: NonZeroU32 = NonZeroU32::new(2).unwrap();
/// Set for a copy of this program that a test started; names what it should do.
const ROLE: &str = "XSK_GEN_TEST_ROLE";

fn own_namespace() -> PathBuf {
    fs::read_link("/proc/thread-self/ns/net").unwrap()
}

fn output_of(command: &str) -> String {
    let output = Command::new("sh").args(["-ec", command]).output().unwrap();
    assert!(output.status.success(), "{command}");
    String::from_utf8(output.stdout).unwrap()
}

/// "net:[inode]" of both namespaces.
fn names(net: &PrivateNet) -> [String; 2] {
    [&net.a, &net.b].map(|end| {
        let fd = end.namespace.as_fd().as_raw_fd();
        fs::read_link(format!("/proc/self/fd/{fd}")).unwrap().display().to_string()
    })
}

/// Whether any process has the namespace open, or runs in it.
fn is_held(namespace: &str) -> bool {
    let links = output_of(
        "find /proc/[0-9]*/fd /proc/[0-9]*/task/*/ns/net -lname 'net:*' -printf '%l\\n' 2>/dev/null || true",
    );
    links.lines().any(|link| link == namespace)
}

/// This program again, as another process in `role`, under `wrapper`.
fn again(role: &str, test: &str, wrapper: &[&str]) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut words = wrapper.iter().map(PathBuf::from).chain([program]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(["--exact", test, "--include-ignored", "--nocapture"]).env(ROLE, role);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// What a copy of this program said in the line that starts with `word`.
fn said(child: &mut Child, word: &str) -> String {
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    // The test harness writes its own words in front, without ending the line.
    lines.find_map(|line| line.split_once(word).map(|(_, rest)| rest.trim().to_owned())).unwrap()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn both_ends_are_up_with_the_queues_asked_for() {
    let before = own_namespace();
    let net = PrivateNet::new(TWO).unwrap();
    assert_eq!(own_namespace(), before, "the calling thread stays where it was");
    for (end, name) in [(&net.a, "xg0"), (&net.b, "xg1")] {
        let facts = &end.interface;
        assert_eq!((facts.name.as_str(), facts.rx_queues, facts.tx_queues), (name, 2, 2));
        assert!(facts.up && facts.carrier);
        let quiet = end.namespace.run(|| output_of(&format!("ip -6 addr show dev {name}"))).unwrap();
        assert_eq!(quiet, "", "no link-local address, so no neighbour discovery");
    }
    let peer = |facts: &InterfaceFacts| facts.veth_peer.unwrap().ifindex;
    assert_eq!(peer(&net.a.interface), net.b.interface.ifindex);
    assert_eq!(peer(&net.b.interface), net.a.interface.ifindex);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn threads_start_where_their_parent_is() {
    let namespace = Namespace::new().unwrap();
    let (entered, child) =
        namespace.run(|| (own_namespace(), std::thread::spawn(own_namespace).join().unwrap())).unwrap();
    assert_eq!(entered, child);
    assert_ne!(entered, own_namespace());
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn dropping_it_leaves_no_interface_and_no_namespace() {
    // In a namespace of the test's own, since others may come and go in the host's.
    let outer = Namespace::new().unwrap();
    outer
        .run(|| {
            let before = output_of("ip -j link");
            let net = PrivateNet::new(TWO).unwrap();
            let names = names(&net);
            assert!(names.iter().all(|name| is_held(name)));
            assert_eq!(output_of("ip -j link"), before, "not even while it lives");
            assert!(
                !names
                    .iter()
                    .any(|name| output_of("lsns -t net -n -o NS").contains(&name[5..name.len() - 1]))
            );
            drop(net);
            assert!(!names.iter().any(|name| is_held(name)));
            assert_eq!(output_of("ip -j link"), before);
        })
        .unwrap();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_killed_process_leaves_nothing() {
    const TEST: &str = "a_killed_process_leaves_nothing";
    if std::env::var(ROLE).as_deref() == Ok("hold") {
        let net = PrivateNet::new(TWO).unwrap();
        println!("holds {}", names(&net).join(" "));
        // Until it is killed: the other side never writes.
        let _ = std::io::stdin().read_line(&mut String::new());
        return;
    }
    let mut child = again("hold", TEST, &[]);
    let names: Vec<String> = said(&mut child, "holds").split(' ').map(str::to_owned).collect();
    assert!(names.len() == 2 && names.iter().all(|name| is_held(name)));
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    while names.iter().any(|name| is_held(name)) {
        assert!(Instant::now() < deadline, "{names:?} are still held");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_missing_capability_is_named() {
    let without = |capability: Capability| {
        // Capabilities are the thread's own, so this one drops them for itself alone.
        std::thread::spawn(move || {
            caps::drop(None, caps::CapSet::Effective, capability).unwrap();
            let preflight = preflight_privileges().into_iter().map(|f| f.on).collect::<Vec<_>>();
            (Namespace::new().map(drop), preflight)
        })
        .join()
        .unwrap()
    };
    let refused = without(Capability::CAP_SYS_ADMIN).0.unwrap_err();
    assert_eq!((refused.code, refused.on.as_str()), (Code::CapabilityMissing, "CAP_SYS_ADMIN"));
    assert_eq!(without(Capability::CAP_NET_RAW).1, ["CAP_NET_RAW"]);
    assert_eq!(without(Capability::CAP_NET_ADMIN).1, ["CAP_NET_ADMIN"]);
    // CAP_SYS_ADMIN is still there and includes it.
    assert_eq!(without(Capability::CAP_BPF).1, [""; 0]);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_time_namespace_has_a_clock_of_its_own() {
    const TEST: &str = "a_time_namespace_has_a_clock_of_its_own";
    if std::env::var(ROLE).as_deref() == Ok("clock") {
        println!("clock {}", machine::clock_id());
        return;
    }
    let clock = |wrapper: &[&str]| {
        let mut child = again("clock", TEST, wrapper);
        let id: u16 = said(&mut child, "clock ").parse().unwrap();
        child.wait().unwrap();
        id
    };
    assert_eq!(clock(&[]), machine::clock_id());
    assert_eq!(
        clock(&["unshare", "-n"]),
        machine::clock_id(),
        "another network namespace has the same clock"
    );
    assert_ne!(clock(&["unshare", "-T", "--fork", "--monotonic", "1000"]), machine::clock_id());
}
