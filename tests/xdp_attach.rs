//! The XDP programs on real interfaces: who holds one, what is refused and how it is said, and that nothing stays
//! behind. Each test has a network namespace of its own thread, which goes when the thread ends.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use xsk_gen::finding::{Code, Finding, Severity};
use xsk_gen::xdp::{
    AttachMode, Check, HeldMode, Holder, PassProgram, QueueCounters, RxOptions, RxProgram, Shape, holder,
};

const RX: RxOptions = RxOptions::plain(Some(9), 2);
/// Longer than any of this takes; only a failing test waits for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tells a second copy of this program, which is to be killed, on which interface to put its program.
const HOLD: &str = "XSK_GEN_TEST_HOLD";

fn in_private_net(test: impl FnOnce() + Send + 'static) {
    let alone = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
        test();
    });
    if let Err(panic) = alone.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs `ip` in the calling thread's namespace.
fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split_whitespace()).status().expect("ip starts");
    assert!(status.success(), "ip {arguments}");
}

/// A veth pair, up; returns the index of the end `rx0`.
fn veth() -> u32 {
    ip("link add tx0 type veth peer name rx0");
    ip("link set tx0 up");
    ip("link set rx0 up");
    if_nametoindex("rx0").unwrap()
}

/// An interface whose driver knows no XDP: a bridge. Returns its index.
fn without_native_xdp() -> u32 {
    ip("link add br7 type bridge");
    if_nametoindex("br7").unwrap()
}

fn held(ifindex: u32) -> Option<Holder> {
    holder(ifindex).expect("the kernel says who holds the interface")
}

fn rx_on(ifindex: u32, iface: &str, mode: AttachMode, options: RxOptions) -> RxProgram {
    let mut program = RxProgram::load(&options).expect("the program loads");
    program.attach(ifindex, iface, mode).expect("the program attaches");
    program
}

/// Complete, and free of what only a programmer understands.
fn said_well(finding: &Finding, code: Code, on: &str) {
    assert_eq!(
        (finding.code, finding.severity, finding.on.as_str()),
        (code, Severity::Fail, on),
        "{finding}"
    );
    assert!(!finding.why.is_empty() && !finding.remedy.is_empty(), "{finding}");
    let text = finding.to_string();
    assert!(["os error", "errno", "EBUSY", "EOPNOTSUPP"].iter().all(|raw| !text.contains(raw)), "{text}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_native_program_holds_the_interface_until_it_is_detached() {
    in_private_net(|| {
        let ifindex = veth();
        assert_eq!(held(ifindex), None);
        let mut program = rx_on(ifindex, "rx0", AttachMode::Native, RX);
        let holder = held(ifindex).expect("a holder");
        assert_eq!((holder.name.as_deref(), holder.mode), (Some("xsk_gen_rx"), HeldMode::Native));
        assert!(holder.is_ours());
        program.detach();
        assert_eq!(held(ifindex), None);
        program.attach(ifindex, "rx0", AttachMode::Native).expect("it attaches again");
        drop(program);
        assert_eq!(held(ifindex), None);
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_second_program_is_refused_and_the_first_is_named() {
    for (first, name) in [(AttachMode::Native, "native"), (AttachMode::Generic, "generic")] {
        in_private_net(move || {
            let ifindex = veth();
            let _first = rx_on(ifindex, "rx0", first, RX);
            let before = held(ifindex);
            let mut second = PassProgram::load().expect("the program loads");
            for mode in [AttachMode::Native, AttachMode::Generic] {
                let refused = second.attach(ifindex, "rx0", mode).unwrap_err();
                said_well(&refused, Code::XdpOccupied, "rx0");
                assert!(refused.what.contains("xsk_gen_rx") && refused.what.contains(name), "{refused}");
            }
            assert_eq!(held(ifindex), before);
        });
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn generic_works_where_native_is_refused() {
    in_private_net(|| {
        let ifindex = without_native_xdp();
        let mut program = PassProgram::load().expect("the program loads");
        let refused = program.attach(ifindex, "br7", AttachMode::Native).unwrap_err();
        said_well(&refused, Code::NativeRefused, "br7");
        assert_eq!(held(ifindex), None);
        program.attach(ifindex, "br7", AttachMode::Generic).expect("generic attaches");
        let holder = held(ifindex).expect("a holder");
        assert_eq!((holder.name.as_deref(), holder.mode), (Some("xsk_gen_pass"), HeldMode::Generic));
        program.detach();
        assert_eq!(held(ifindex), None);
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_is_not_there_is_unknown() {
    in_private_net(|| {
        let mut program = PassProgram::load().expect("the program loads");
        let refused = program.attach(4711, "gone0", AttachMode::Native).unwrap_err();
        said_well(&refused, Code::InterfaceUnknown, "gone0");
        said_well(&holder(4711).unwrap_err(), Code::InterfaceUnknown, "interface 4711");
    });
}

/// A socket on tx0 whose datagrams leave through it.
fn sender() -> UdpSocket {
    ip("addr add 198.18.0.1/24 dev tx0");
    ip("neigh add 198.18.0.2 lladdr 02:00:00:00:00:02 dev tx0");
    UdpSocket::bind("198.18.0.1:0").unwrap()
}

/// Sends `count` probes to the UDP port 9 of rx0's side.
fn send_probes(socket: &UdpSocket, count: usize) {
    for _ in 0..count {
        socket.send_to(b"XG\0\x01\0\x01\0\0\0\x01\0\x01\0\0\0\0\0\x01", "198.18.0.2:9").unwrap();
    }
}

/// The counters once `count` frames of ours have arrived; veth delivers them in a moment of its own.
fn after_ours(program: &RxProgram, count: u64) -> Vec<QueueCounters> {
    after(program, count, |row| row.ours)
}

/// The rows of all queues once `of` comes to so many.
fn after(program: &RxProgram, count: u64, of: fn(&QueueCounters) -> u64) -> Vec<QueueCounters> {
    let start = Instant::now();
    loop {
        let rows = program.counters(xsk_gen::xdp::MAX_QUEUES).expect("the counters");
        if rows.iter().map(of).sum::<u64>() >= count || start.elapsed() > PATIENCE {
            return rows;
        }
        thread::yield_now();
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn each_mode_counts_what_arrives_and_drops_it() {
    for mode in [AttachMode::Native, AttachMode::Generic] {
        for count_only in [false, true] {
            in_private_net(move || {
                let program = rx_on(veth(), "rx0", mode, RxOptions { count_only, ..RX });
                send_probes(&sender(), 20);
                let rows = after_ours(&program, 20);
                assert_eq!(rows.len(), 2, "a row a queue");
                let QueueCounters { ours, no_socket, counted, bytes, .. } = rows.into_iter().sum();
                let dropped = if count_only { (0, 20) } else { (20, 0) };
                assert_eq!((ours, (no_socket, counted), bytes), (20, dropped, 20 * 60));
            });
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_are_ours_by_the_shape_that_a_program_was_told() {
    let check = |at, value| Check { at, mask: u16::MAX, value };
    // UDP to port 9, and to port 10, without a word of what Ethernet, IPv4 and UDP are.
    let shape = |port| Shape { checks: vec![check(12, 0x0800), check(36, port)], probe: 42 };
    for mode in [AttachMode::Native, AttachMode::Generic] {
        for (told, ours) in [(vec![shape(10), shape(9)], 20), (vec![shape(10)], 0)] {
            in_private_net(move || {
                let options = RxOptions { shapes: told, count_only: true, ..RxOptions::plain(None, 2) };
                let program = rx_on(veth(), "rx0", mode, options);
                send_probes(&sender(), 20);
                let seen = after(&program, 20, |row| row.counted + row.passed);
                let seen: QueueCounters = seen.into_iter().sum();
                assert_eq!((seen.ours, seen.counted), (ours, ours));
            });
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_queue_with_a_socket_is_redirected_until_the_socket_closes() {
    in_private_net(|| {
        let mut program = rx_on(veth(), "rx0", AttachMode::Native, RX);

        let socket =
            socket2::Socket::new(libc::AF_XDP.into(), libc::SOCK_RAW.into(), None).expect("an AF_XDP socket");
        program.set_socket(0, &socket).expect("the map takes the socket");
        let sender = sender();
        send_probes(&sender, 5);
        let seen: QueueCounters = after_ours(&program, 5).into_iter().sum();
        assert_eq!((seen.redirected, seen.no_socket), (5, 0));
        drop(socket);
        send_probes(&sender, 3);
        let seen: QueueCounters = after_ours(&program, 8).into_iter().sum();
        assert_eq!((seen.redirected, seen.no_socket), (5, 3));
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_socket_for_no_queue_or_of_no_use_is_refused() {
    in_private_net(|| {
        let mut program = RxProgram::load(&RX).expect("the program loads");
        let wrong = UdpSocket::bind("0.0.0.0:0").unwrap();
        let beyond = program.set_socket(2, &wrong).unwrap_err();
        said_well(&beyond, Code::QueueRange, "queue 2");
        said_well(&program.set_socket(0, &wrong).unwrap_err(), Code::System, "queue 0");
    });
}

/// Not a property: the program that the next test starts a second time and kills.
#[test]
#[ignore = "needs root: scripts/test.sh"]
fn held_until_killed() {
    let Ok(ifindex) = std::env::var(HOLD) else { return };
    let _program = rx_on(ifindex.parse().unwrap(), "rx0", AttachMode::Native, RX);
    println!("\nholding");
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_killed_process_leaves_nothing() {
    in_private_net(|| {
        let ifindex = veth();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "held_until_killed", "--ignored", "--nocapture"])
            .env(HOLD, ifindex.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a second copy of this program");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "holding"));
        assert!(held(ifindex).is_some_and(|holder| holder.is_ours()));
        child.kill().unwrap();
        child.wait().unwrap();
        let start = Instant::now();
        while held(ifindex).is_some() && start.elapsed() < PATIENCE {
            thread::yield_now();
        }
        assert_eq!(held(ifindex), None);
    });
}
