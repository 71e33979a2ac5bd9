//! Frames of several chunks: they arrive whole and in their order of bytes, the books balance, and where they cannot be
//! had that is said.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use macaddr::MacAddr6;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{
    End, NetLab, Report, Running, ip, only, reports, require_root, sink, tx_and_rx, until, xsk_gen,
};
use xsk_gen::frame::{L3, Probe, Stack, StreamId, Template, probe};
use xsk_gen::port::{RxPort, Slot, Source, TxPort};
use xsk_gen::units::FrameSize;
use xsk_gen::xdp::{AttachMode, RxOptions, RxProgram};
use xsk_gen::xsk::{self, BindMode, Opened, SocketSpec, XskRx, XskTx};

const RUN: Duration = Duration::from_secs(60);

/// Runs `demo`, whose books must balance, and gives both Reports.
fn demo(args: &[&str]) -> (Report, Report) {
    let all = [&["demo", "--json", "--quiet"], args].concat();
    let (tx, rx) = tx_and_rx(&Running::xsk_gen(&all).wait(RUN).expect_code(0));
    check_pair(&tx, &rx);
    (tx, rx)
}

fn check_pair(tx: &Report, rx: &Report) {
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!(tx.known("completed"), rx.known("completed"), "{rx}");
    assert_eq!((rx.known("unexplained"), rx.known("duplicate"), rx.known("rejected")), (0, 0, 0), "{rx}");
}

/// Two ends whose MTU is `mtu`.
fn lab(queues: u32, mtu: &str) -> Option<NetLab> {
    let lab = NetLab::new(queues)?;
    for end in [End::A, End::B] {
        ip(&lab, end, &["link", "set", end.interface(), "mtu", mtu]);
    }
    Some(lab)
}

fn send(lab: &NetLab, args: &[&str]) -> Report {
    let tx = lab.start(End::A, "tx", &[&["--json", "--quiet"], args].concat());
    only(&reports(&tx.wait(RUN).expect_code(0)))
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_of_one_to_five_chunks_arrive_whole() {
    if !require_root() {
        return;
    }
    for size in [3_844, 3_845, 7_684, 7_685, 9_018, 16_384] {
        let (tx, rx) = demo(&["--size", &size.to_string(), "--count", "1000", "--rate", "2kpps"]);
        assert_eq!((tx.known("completed"), rx.known("unique"), rx.known("lost")), (1_000, 1_000, 0), "{rx}");
        assert_eq!(rx.at("/totals/rx_bytes").as_u64(), Some(1_000 * size), "{rx}");
        assert_eq!(rx.text("/setup/xdp_mode"), "native", "{rx}");
        assert!(!rx.has_finding("size-above-chunk"), "{rx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn they_arrive_in_generic_mode_with_tags_and_on_two_queues() {
    if !require_root() {
        return;
    }
    let rate = ["--count", "2000", "--rate", "4kpps", "--size"];
    for args in [&["9018", "--xdp-mode", "generic"][..], &["9022", "--vlan", "7"], &["9000", "--l2"]] {
        let (_, rx) = demo(&[&rate, args].concat());
        assert_eq!((rx.known("unique"), rx.known("lost")), (2_000, 0), "{rx}");
    }
    let (tx, rx) = demo(&[&rate, &["9018", "--queues", "0-1", "--flows", "64"][..]].concat());
    assert_eq!((rx.known("unique"), rx.known("lost")), (2_000, 0), "{rx}");
    for report in [&tx, &rx] {
        let frames = report.frames_by_queue();
        assert!(frames.len() == 2 && frames.iter().all(|&n| n > 0), "{report}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn one_sink_takes_short_and_long_frames() {
    let Some(lab) = lab(1, "9000") else { return };
    let rx = sink(&lab, &[]);
    let sizes = [64, 9_018, 1_518, 3_845, 64, 9_018];
    for size in sizes {
        let tx = send(&lab, &["--size", &size.to_string(), "--count", "1000", "--rate", "4kpps"]);
        assert_eq!(tx.known("completed"), 1_000, "{tx}");
    }
    let received = reports(&rx.interrupt(RUN).expect_code(0));
    assert_eq!(received.len(), sizes.len(), "{received:?}");
    for (rx, size) in received.iter().zip(sizes) {
        rx.check_full_books();
        assert_eq!((rx.known("unique"), rx.known("lost"), rx.known("rejected")), (1_000, 0, 0), "{rx}");
        assert_eq!(rx.at("/totals/rx_bytes").as_u64(), Some(1_000 * size), "{rx}");
    }
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_books_balance_when_chunks_are_short() {
    let Some(lab) = lab(1, "9000") else { return };
    let mut lost = 0;
    for (memory, size) in [("8", "9018"), ("4", "9018"), ("64", "5000")] {
        let short = ["--ring", memory, "--frames", memory];
        let rx = sink(&lab, &short);
        let tx = send(&lab, &[&["--size", size, "--count", "50000"], &short[..]].concat());
        assert_eq!(
            (tx.known("completed"), tx.known("in_flight"), tx.known("invalid")),
            (50_000, 0, 0),
            "{tx}"
        );
        let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
        check_pair(&tx, &rx);
        assert!(rx.known("unique") > 0, "{rx}");
        lost += rx.known("lost");
    }
    assert!(lost > 0, "nothing was ever short: nothing was tried");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_ring_that_holds_no_frame_is_refused_for_tx_and_told_by_rx() {
    let Some(lab) = lab(1, "9000") else { return };
    let tx = lab.start(End::A, "tx", &["--size", "9018", "--ring", "2", "--batch", "2"]);
    let tx = tx.wait(RUN).expect_code(2);
    assert!(tx.stderr.contains("3 chunks") && tx.stderr.contains("--ring 4"), "{tx:?}");
    let rx = sink(&lab, &["--ring", "2"]);
    let tx = send(&lab, &["--size", "9018", "--count", "100", "--rate", "1kpps"]);
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
    rx.check_books();
    assert_eq!((tx.known("completed"), rx.known("probes")), (100, 0), "{rx}");
    assert!(rx.has_finding("size-above-chunk"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_signal_within_a_run_leaves_nothing_behind() {
    let Some(lab) = lab(1, "9000") else { return };
    let jumbo = ["--json", "--quiet", "--size", "9018", "--duration", "30"];
    let rx = sink(&lab, &[]);
    let tx = lab.start(End::A, "tx", &jumbo);
    lab.wait_for_frames(End::B, 5_000);
    let tx = tx.interrupt(RUN).expect_code(0);
    assert!(tx.took < Duration::from_secs(2), "{:?}", tx.took);
    let (tx, rx) = (only(&reports(&tx)), only(&reports(&rx.interrupt(RUN).expect_code(0))));
    check_pair(&tx, &rx);
    assert_eq!(tx.known("in_flight"), 0, "{tx}");

    let rx = sink(&lab, &[]);
    let tx = lab.start(End::A, "tx", &jumbo);
    lab.wait_for_frames(End::B, 5_000);
    tx.kill();
    rx.kill();
    lab.wait_until_clean();
    // The queues are free again.
    let rx = sink(&lab, &[]);
    assert_eq!(send(&lab, &["--size", "9018", "--count", "10"]).known("completed"), 10);
    rx.interrupt(RUN).expect_code(0);
}

/// A tap, whose driver does not advertise frames of several buffers, and nobody who reads it. From linux/if_tun.h:
/// TUNSETIFF, and IFF_TAP without packet information.
const TAP: &str = r#"
import fcntl, os, signal, struct, subprocess, sys
fd = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(fd, 0x400454ca, struct.pack("16sH22x", b"tap0", 0x1002))
subprocess.run(["ip", "link", "set", "tap0", "mtu", "9000", "up"], check=True)
print("ready", file=sys.stderr, flush=True)
signal.pause()
"#;

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_driver_that_does_not_advertise_them_is_told_of() {
    let Some(lab) = NetLab::new(1) else { return };
    if fs::metadata("/dev/net/tun").is_err() {
        eprintln!("left out: this kernel has no tap");
        return;
    }
    let tap = Running::start(lab.command(End::A, "python3").args(["-c", TAP]));
    until("the tap", Duration::from_secs(10), || tap.stderr().contains("ready"));
    for (mode, told) in [("native", true), ("generic", false)] {
        let args = ["rx", "--iface", "tap0", "--xdp-mode", mode, "--json", "--duration", "50ms"];
        let rx = Running::start(lab.command(End::A, xsk_gen()).args(args)).wait(RUN).expect_code(1);
        assert_eq!(rx.stderr.contains("[size-above-chunk]"), told, "{rx:?}");
        assert_eq!(only(&reports(&rx)).has_finding("size-above-chunk"), told);
        assert_eq!(rx.stderr.contains("--xdp-mode generic"), told, "{rx:?}");
    }
    // A sender needs nothing of the driver: the kernel puts the frame together.
    let args = ["tx", "--iface", "tap0", "--size", "9018", "--count", "10", "--dst-mac", "02:00:00:00:00:01"];
    Running::start(lab.command(End::A, xsk_gen()).args(args)).wait(RUN).expect_code(0);
}

/// Frames of these lengths, each byte behind the probe told by its place and the frame's number.
struct Patterns {
    lengths: Vec<usize>,
    next: usize,
    slots: Vec<Slot>,
}

fn frame(number: usize, len: usize) -> Vec<u8> {
    let mac = MacAddr6::new(2, 0, 0, 0, 0, 1);
    let stack = Stack { src_mac: mac, dst_mac: mac, vlans: Vec::new(), l3: L3::Ethernet };
    let size = FrameSize::new(u32::try_from(len + 4).unwrap()).unwrap();
    let mut bytes = Template::new(&stack, size).unwrap().into_bytes();
    let at = stack.headers().probe;
    let seq = u32::try_from(number).unwrap();
    let first = Probe { run: 7, stream: StreamId::new(0, true), seq, clock: 0, sent: 0 };
    first.write((&mut bytes[at..at + probe::LEN]).try_into().unwrap());
    for (place, byte) in bytes.iter_mut().enumerate().skip(at + probe::LEN) {
        // No power of two divides 251, so that no chunk looks like another.
        *byte = u8::try_from((place + 31 * number) % 251).unwrap();
    }
    bytes
}

impl Source for Patterns {
    fn next_len(&mut self) -> Option<usize> {
        self.lengths.get(self.next).copied()
    }

    fn write(&mut self, slot: Slot, buf: &mut [u8]) {
        buf.copy_from_slice(&frame(self.next, buf.len()));
        self.slots.push(slot);
        self.next += 1;
    }
}

fn socket(iface: &str, longest_frame: u32) -> Opened {
    let spec = SocketSpec {
        iface: iface.into(),
        queue: 0,
        ring: 64,
        chunks: 64,
        chunk_bytes: 4_096,
        longest_frame,
        hugepages: false,
        mode: BindMode::Copy,
        need_wakeup: true,
    };
    xsk::open(&spec).map_err(|error| error.to_string()).unwrap()
}

/// Sends all and gives what arrives, `max` frames a turn; the sender's frames in flight are checked on the way.
fn exchange(tx: &mut XskTx, rx: &mut XskRx, max: usize, lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut source = Patterns { lengths: lengths.to_vec(), next: 0, slots: Vec::new() };
    let (mut got, mut sent, mut done) = (Vec::new(), 0, 0);
    let until = Instant::now() + Duration::from_secs(3);
    while (done < lengths.len() || rx.recv(max, |frame| got.push(frame.bytes.to_vec())).unwrap() > 0)
        && Instant::now() < until
    {
        sent += tx.send(max, &mut source).unwrap();
        assert_eq!(sent, source.next, "what is written is submitted");
        tx.kick().unwrap();
        done += tx.reclaim(|back| assert!(back.slot.0 < 65));
        assert_eq!(tx.in_flight(), sent - done);
        rx.recv(max, |frame| got.push(frame.bytes.to_vec())).unwrap();
    }
    assert_eq!((sent, done, tx.in_flight()), (lengths.len(), lengths.len(), 0));
    assert!(source.slots.iter().all(|slot| slot.0 < tx.slots()));
    got
}

fn every_byte() {
    unshare(CloneFlags::CLONE_NEWNET).unwrap();
    for line in ["link add t0 mtu 17000 type veth peer name t1 mtu 17000", "link set t0 up", "link set t1 up"]
    {
        assert!(Command::new("ip").args(line.split(' ')).status().unwrap().success());
    }
    let mut program = RxProgram::load(&RxOptions::plain(None, 1)).unwrap();
    program.attach(if_nametoindex("t1").unwrap(), "t1", AttachMode::Native).unwrap();
    let mut tx = socket("t0", 16_380).into_tx();
    let lengths: Vec<usize> =
        [60, 3_840, 3_841, 1_500, 7_680, 7_681, 16_380, 60, 9_014].into_iter().cycle().take(180).collect();
    let sent = |lengths: &[usize]| -> Vec<Vec<u8>> {
        lengths.iter().enumerate().map(|(number, &len)| frame(number, len)).collect()
    };
    {
        let mut rx = socket("t1", 16_380).into_rx().unwrap();
        program.set_socket(0, &rx.fd()).unwrap();
        // One descriptor a look, so that each frame of several is cut; and more than the ring holds.
        for max in [1, 4, 64] {
            let got = exchange(&mut tx, &mut rx, max, &lengths);
            assert!(got == sent(&lengths), "{max}: {:?}", got.iter().map(Vec::len).collect::<Vec<_>>());
        }
        assert_eq!((rx.drops().unwrap().frames(), tx.invalid()), (0, 0));
    }
    // A sink for shorter frames: longer ones are dropped and counted, by the port or by the kernel.
    for longest in [9_014, 3_840] {
        let mut rx = socket("t1", longest).into_rx().unwrap();
        program.set_socket(0, &rx.fd()).unwrap();
        let got = exchange(&mut tx, &mut rx, 8, &lengths);
        let mut fitting = sent(&lengths);
        fitting.retain(|frame| frame.len() <= longest as usize);
        assert!(got == fitting, "{longest}: {:?}", got.iter().map(Vec::len).collect::<Vec<_>>());
        assert_eq!(rx.drops().unwrap().frames(), (lengths.len() - fitting.len()) as u64);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn every_byte_is_in_its_place_however_frames_are_cut() {
    if !require_root() {
        return;
    }
    std::thread::spawn(every_byte).join().unwrap();
}
