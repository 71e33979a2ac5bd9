//! What a device knows of a frame, through the program that is bound to it: its hash is real on veth, its time of receipt is
//! absent there and counted; where it cannot be had, what is used instead is said.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use std::process::Command;
use std::thread;
use std::time::Duration;
use support::{End, Finished, NetLab, Report, Running, only, reports, require_root, sink, xsk_gen};
use xsk_gen::finding::Code;
use xsk_gen::xdp::{AttachMode, HeldMode, RxOptions, RxProgram, holder};

const RUN: Duration = Duration::from_secs(30);
const FRAMES: u64 = 2_000;

const LOAD: [&str; 6] = ["--json", "--quiet", "--count", "2000", "--rate", "20kpps"];

/// What the sink says of one run over a veth pair; both ends are told more.
fn run(lab: &NetLab, rx: &[&str], tx: &[&str]) -> Report {
    let rx = sink(lab, &[&["--idle-timeout", "3"], rx].concat());
    let tx = lab.start(End::A, "tx", &[&LOAD[..], tx].concat());
    only(&reports(&tx.wait(RUN).expect_code(0))).check_full_books();
    let rx = only(&reports(&rx.wait(RUN).expect_code(0)));
    rx.check_full_books();
    assert_eq!(rx.known("unique"), FRAMES, "{rx}");
    rx
}

fn timestamps(report: &Report) -> (&str, &str) {
    (report.text("/setup/timestamps/source"), report.text("/setup/timestamps/why"))
}

fn has_no_metadata_counters(report: &Report) -> bool {
    let counters = report.at("/device_counters/counters").as_object().unwrap();
    !counters.contains_key("xdp.rx_hashed") && !counters.contains_key("xdp.rx_timestamp_absent")
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn on_veth_the_time_is_absent_and_counted_frame_by_frame() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = run(&lab, &["--timestamps", "nic"], &["--flows", "16"]);
    let redirected = rx.counter("xdp.redirected");
    assert!(redirected >= FRAMES, "{rx}");
    assert_eq!(rx.counter("xdp.rx_timestamp_absent"), redirected, "{rx}");
    let (source, why) = timestamps(&rx);
    assert_eq!(source, "xdp");
    assert!(why.starts_with("0 of "), "{why}");
    assert_eq!((rx.text("/latency_ns/clock"), rx.text("/gaps_ns/clock")), ("xdp-rx", "xdp-rx"));
    assert_eq!(rx.at("/latency_ns/count").as_u64(), Some(FRAMES));
    assert_eq!(rx.text("/setup/xdp_mode"), "native");
    assert!(rx.has_finding("nic-times-absent"), "{rx}");
}

const DATAGRAMS: u64 = 200;
/// Sends so many to port 9 by a socket of the kernel's stack.
const SEND: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(200): s.sendto(b'x' * 40, ('198.18.0.2', 9))
";

/// veth's hash is the one that the kernel makes of a frame's headers, where it knows where they begin: of frames of its own
/// stack. One that were made up would be there for every frame.
#[test]
#[ignore = "needs root: scripts/test.sh"]
fn on_veth_the_hash_is_real() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    for args in ["addr add 198.18.0.1/24 dev v0", &format!("neigh add 198.18.0.2 lladdr {mac} dev v0")] {
        lab.run(End::A, "ip", &args.split(' ').collect::<Vec<_>>());
    }
    let rx = sink(&lab, &["--timestamps", "nic", "--match", "any", "--idle-timeout", "1"]);
    lab.run(End::A, "python3", &["-c", SEND]);
    let rx = only(&reports(&rx.wait(RUN).expect_code(0)));
    let counted = ["xdp.taken", "xdp.rx_hashed", "xdp.rx_timestamp_absent"].map(|name| rx.counter(name));
    assert_eq!(counted, [DATAGRAMS; 3], "{rx}");
    let rx = run(&lab, &["--timestamps", "nic", "--match", "l2"], &["--l2"]);
    assert_eq!(rx.counter("xdp.rx_hashed"), 0, "{rx}");
    assert_eq!(rx.counter("xdp.rx_timestamp_absent"), rx.counter("xdp.redirected"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn veth_is_asked_only_where_that_is_demanded() {
    let Some(lab) = NetLab::new(1) else { return };
    for (choice, source, clock) in
        [("auto", "xdp", "xdp-rx"), ("xdp", "xdp", "xdp-rx"), ("off", "none", "userspace")]
    {
        let rx = run(&lab, &["--timestamps", choice], &[]);
        assert_eq!((timestamps(&rx).0, rx.text("/latency_ns/clock")), (source, clock), "{rx}");
        assert_eq!(rx.at("/ring_wait_ns").is_null(), choice == "off");
        assert!(has_no_metadata_counters(&rx), "{rx}");
        assert!(!rx.has_finding("nic-times-absent"), "{rx}");
    }
}

/// `xsk-gen rx` on a device whose driver tells nothing of a frame: a bridge, which has a link by its port v1.
fn on_bridge(lab: &NetLab, args: &[&str]) -> Finished {
    let mut command = lab.command(End::B, xsk_gen());
    Running::start(command.args(["rx", "--iface", "br7", "--json"]).args(args)).wait(RUN)
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn on_a_device_without_metadata_what_is_used_instead_is_said() {
    let Some(lab) = NetLab::new(1) else { return };
    for args in ["link add br7 type bridge", "link set v1 master br7", "link set br7 up"] {
        lab.run(End::B, "ip", &args.split(' ').collect::<Vec<_>>());
    }
    // Nothing comes there, which fails the run; its Report is there all the same.
    let rx = only(&reports(&on_bridge(&lab, &["--duration", "1"]).expect_code(1)));
    let (source, why) = timestamps(&rx);
    assert_eq!(source, "xdp");
    assert!(why.contains("bridge does not advertise receive times"), "{why}");
    assert!(has_no_metadata_counters(&rx), "{rx}");
    let refused = on_bridge(&lab, &["--timestamps", "nic"]).expect_code(3);
    assert!(refused.stderr.contains("[nic-times-absent]"), "{}", refused.stderr);
    assert!(lab.programs(End::B).is_empty());
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn where_the_kernel_refuses_the_bound_program_the_usual_one_runs() {
    if !require_root() {
        return;
    }
    let alone = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        for args in ["link add br7 type bridge", "link set br7 up"] {
            assert!(Command::new("ip").args(args.split(' ')).status().unwrap().success());
        }
        let ifindex = if_nametoindex("br7").unwrap();
        let mut program = RxProgram::load_with_metadata(&RxOptions::plain(Some(9), 1), ifindex).unwrap();
        assert!(program.metadata_refused().is_some_and(|why| !why.contains("os error")));
        program.attach(ifindex, "br7", AttachMode::Generic).unwrap();
        assert!(!program.reads_metadata());
        assert_eq!(program.counters(1).unwrap().len(), 1);
        let name = holder(ifindex).unwrap().unwrap().name;
        assert_eq!(name.as_deref(), Some("xsk_gen_rx"));
    });
    alone.join().unwrap();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_bound_program_goes_with_its_process_and_gives_way_to_the_stack() {
    if !require_root() {
        return;
    }
    let alone = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        for args in ["link add v0 type veth peer name v1", "link set v0 up", "link set v1 up"] {
            assert!(Command::new("ip").args(args.split(' ')).status().unwrap().success());
        }
        let ifindex = if_nametoindex("v1").unwrap();
        let mut program = RxProgram::load_with_metadata(&RxOptions::plain(Some(9), 1), ifindex).unwrap();
        let mode = || holder(ifindex).unwrap().map(|holder| (holder.is_ours(), holder.mode));
        program.attach(ifindex, "v1", AttachMode::Native).unwrap();
        assert_eq!((program.reads_metadata(), mode()), (true, Some((true, HeldMode::Native))));
        let mut second = RxProgram::load_with_metadata(&RxOptions::plain(Some(9), 1), ifindex).unwrap();
        let refused = second.attach(ifindex, "v1", AttachMode::Native).unwrap_err();
        assert_eq!(refused.code, Code::XdpOccupied, "{refused}");
        program.detach();
        assert_eq!(mode(), None);
        program.attach(ifindex, "v1", AttachMode::Generic).unwrap();
        assert_eq!((program.reads_metadata(), mode()), (false, Some((true, HeldMode::Generic))));
        drop(program);
        second.attach(ifindex, "v1", AttachMode::Native).unwrap();
        assert!(second.reads_metadata());
        drop(second);
        assert_eq!(mode(), None);
    });
    alone.join().unwrap();
}
