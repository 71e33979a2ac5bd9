//! Rings and packet memory of every size: more frames than they hold, descriptors that the kernel refuses, and losses
//! that equal the kernel's own counters.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sched::{CloneFlags, unshare};
use std::process::Command;
use std::time::{Duration, Instant};
use support::{End, NetLab, Report, only, reports, require_root, sink};
use xsk_gen::port::{Slot, Source, TxPort};
use xsk_gen::xsk::{self, BindMode, SocketSpec};

const RUN: Duration = Duration::from_secs(30);

/// Sends and gives both Reports, whose books balance and whose losses the kernel names.
fn run(lab: &NetLab, tx: &[&str], rx: &[&str]) -> (Report, Report) {
    let sink = sink(lab, rx);
    let tx = lab.start(End::A, "tx", &[&["--json", "--quiet"], tx].concat()).wait(RUN).expect_code(0);
    let (tx, rx) = (only(&reports(&tx)), only(&reports(&sink.interrupt(RUN).expect_code(0))));
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!(tx.known("completed"), rx.known("completed"), "{rx}");
    assert_eq!((rx.known("unexplained"), rx.known("duplicate")), (0, 0), "{rx}");
    (tx, rx)
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_transmit_ring_of_any_size_carries_many_times_what_it_holds() {
    let Some(lab) = NetLab::new(1) else { return };
    let cases: [&[&str]; 6] = [
        &["--ring", "1", "--frames", "1", "--batch", "1"],
        &["--ring", "2", "--frames", "3", "--batch", "2"],
        &["--ring", "64", "--frames", "64"],
        // More frames a turn than the kernel sends in one call.
        &["--batch", "256"],
        &["--ring", "2048", "--frames", "2048", "--batch", "2048"],
        &["--ring", "65536", "--batch", "1024"],
    ];
    for case in cases {
        let (tx, _) = run(&lab, &[&["--count", "200000"], case].concat(), &[]);
        assert_eq!((tx.known("completed"), tx.known("in_flight")), (200_000, 0), "{tx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_a_short_receive_ring_loses_is_what_the_kernel_counts() {
    let Some(lab) = NetLab::new(1) else { return };
    let mut lost = 0;
    for case in [
        &["--ring", "1", "--frames", "1", "--batch", "1"][..],
        &["--ring", "8", "--frames", "8"],
        &["--ring", "64"],
    ] {
        let (_, rx) = run(&lab, &["--count", "200000"], case);
        assert_eq!(rx.known("lost"), rx.known("kernel_drops"), "{rx}");
        assert!(rx.known("lost") == 0 || rx.has_finding("receiver-slow"), "{rx}");
        lost += rx.known("lost");
    }
    assert!(lost > 0, "no ring was ever full: nothing was tried");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn one_frame_and_a_frame_a_second_go_out_at_once() {
    let Some(lab) = NetLab::new(1) else { return };
    let (tx, rx) = run(&lab, &["--count", "1"], &[]);
    assert_eq!((tx.known("completed"), rx.known("unique")), (1, 1));
    let (tx, rx) = run(&lab, &["--rate", "1pps", "--duration", "2"], &[]);
    assert_eq!((tx.known("completed"), rx.known("unique"), tx.known("shortfall")), (2, 2, 0), "{tx}");
}

/// Frames of so many bytes: none at all is what the kernel takes for an invalid descriptor (`xp_validate_desc`).
struct Lengths(Vec<usize>);

impl Source for Lengths {
    fn next_len(&mut self) -> Option<usize> {
        self.0.last().copied()
    }

    fn write(&mut self, _slot: Slot, buf: &mut [u8]) {
        self.0.pop();
        buf.fill(0x42);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn descriptors_that_this_kernel_refuses_are_counted_and_hold_nothing_up() {
    if !require_root() {
        return;
    }
    std::thread::spawn(refused_descriptors).join().unwrap();
}

fn refused_descriptors() {
    unshare(CloneFlags::CLONE_NEWNET).unwrap();
    for line in ["link add t0 type veth peer name t1", "link set t0 up", "link set t1 up"] {
        assert!(Command::new("ip").args(line.split(' ')).status().unwrap().success());
    }
    let spec = SocketSpec {
        iface: "t0".into(),
        queue: 0,
        ring: 64,
        chunks: 64,
        chunk_bytes: 2_048,
        longest_frame: 1_514,
        hugepages: false,
        mode: BindMode::Copy,
        need_wakeup: true,
    };
    let mut port = xsk::open(&spec).map_err(|error| error.to_string()).unwrap().into_tx();
    let (good, bad) = (50, 10);
    let lengths = [vec![60; good / 2], vec![0; bad], vec![60; good / 2]].concat();
    let mut source = Lengths(lengths);
    let (mut submitted, mut completed) = (0, 0);
    let until = Instant::now() + Duration::from_secs(2);
    while (port.in_flight() > 0 || !source.0.is_empty()) && Instant::now() < until {
        submitted += port.send(16, &mut source).unwrap();
        port.kick().unwrap();
        completed += port.reclaim(|_| {});
    }
    assert_eq!((submitted, port.invalid()), (good + bad, bad as u64));
    // Newer kernels give refused descriptors back, older ones do not; the good ones always come.
    assert!([good, good + bad].contains(&completed), "{completed}");
    assert_eq!(port.in_flight(), submitted - completed);
}
