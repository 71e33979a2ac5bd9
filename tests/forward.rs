//! `reflect --out`: what comes in by one interface leaves by another and arrives at a sink behind it, with the books of a
//! plain cable; and neither forwarders nor reflectors that face each other send frames round and round.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::process::Command;
use std::time::Duration;
use support::middle::{FAR, Middle, NEAR};
use support::packet::Tap;
use support::{End, NetLab, Report, Running, only, reports, sink, until, xsk_gen};

const RUN: Duration = Duration::from_secs(40);
const FRAMES: u64 = 5_000;

/// A reflector or forwarder that says that it is ready.
fn reflect(mut command: Command, args: &[&str]) -> Running {
    let running = Running::start(command.args(["reflect", "--json"]).args(args));
    until("it to be ready", RUN, || running.stderr().contains("ready on"));
    running
}

fn ended(running: Running) -> Report {
    let report = only(&reports(&running.interrupt(RUN)));
    report.check_books();
    report
}

fn reflected(report: &Report, name: &str) -> u64 {
    report.at(&format!("/reflected/{name}")).as_u64().unwrap_or_else(|| panic!("{name} in {report}"))
}

/// Numbered frames without IP to a group, of run 7.
fn probes(count: u8) -> Vec<Vec<u8>> {
    let head = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, 0, 9, 0x88, 0xB5];
    // Magic, run, stream 0x8000, number; clock and time do not matter.
    let probe = |seq| [&head[..], &[0x58, 0x47, 0, 7, 0x80, 0, 0, 0, 0, seq], &[0; 36]].concat();
    (0..count).map(probe).collect()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_behind_a_forwarder_counts_as_behind_a_cable() {
    let stacks: [(u32, &[&str], &[&str]); 4] = [
        (1, &["--flows", "16"], &[]),
        (1, &["--l2"], &["--match", "l2"]),
        (1, &["--vlan", "7", "--size", "1000"], &["--match", "vlan 7 udp port 9"]),
        (2, &["--flows", "16", "--cores", "0,1"], &[]),
    ];
    for (queues, tx, rx) in stacks {
        let Some(lab) = NetLab::new(queues) else { return };
        let middle = Middle::with_queues(&lab, queues);
        let to = lab.mac(End::B);
        let through = ["--iface", NEAR, "--out", FAR, "--dst-mac", &to];
        let forwarder = reflect(middle.command(xsk_gen()), &[&through[..], rx].concat());
        let sink = sink(&lab, rx);
        let count = FRAMES.to_string();
        // It asks for a sink, and the forwarder answers.
        let args = [&["--json", "--quiet", "--count", &count, "--rate", "10kpps"], tx].concat();
        let sent = only(&reports(&lab.start(End::A, "tx", &args).wait(RUN).expect_code(0)));
        let (received, through) = (only(&reports(&sink.interrupt(RUN).expect_code(0))), ended(forwarder));
        received.check_full_books();
        let books = ["completed", "unique", "lost", "duplicate", "reordered"];
        assert_eq!(books.map(|name| received.known(name)), [FRAMES, FRAMES, 0, 0, 0], "{received}");
        assert_eq!((sent.known("completed"), through.known("unique")), (FRAMES, FRAMES), "{through}");
        assert_eq!(through.text("/reflected/out"), FAR, "{through}");
        let control = reflected(&through, "control");
        assert!(control >= 4 && control == received.known("control"), "{through}\n{received}");
        assert_eq!(reflected(&through, "completed"), FRAMES + control, "{through}");
        let by_queue = through.frames_by_queue();
        assert!(by_queue.len() as u64 == u64::from(queues) && !by_queue.contains(&0), "{through}");
        assert_eq!((reflected(&through, "withheld"), reflected(&through, "ring_full")), (0, 0), "{through}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn in_a_ring_of_forwarders_a_frame_comes_round_once() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let middle = Middle::between(&lab);
    let first = reflect(middle.command(xsk_gen()), &["--iface", NEAR, "--out", FAR]);
    let second = reflect(lab.command(End::B, xsk_gen()), &["--iface", "v1", "--out", "v0"]);
    let tap = Tap::open(lab.namespace(End::A), End::A.interface());
    assert!(probes(20).iter().all(|frame| tap.send(frame)));
    std::thread::sleep(Duration::from_millis(300));
    let (first, second) = (ended(first), ended(second));
    assert_eq!((first.known("unique"), first.known("duplicate")), (20, 20), "{first}");
    assert_eq!((reflected(&first, "submitted"), reflected(&first, "withheld")), (20, 20), "{first}");
    assert_eq!((second.known("unique"), reflected(&second, "submitted")), (20, 20), "{second}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn two_reflectors_do_not_send_a_frame_to_and_fro() {
    let Some(lab) = NetLab::new(1) else { return };
    let [near, far] = [End::A, End::B]
        .map(|end| reflect(lab.command(end, xsk_gen()), &["--iface", end.interface(), "--match", "l2"]));
    let tap = Tap::open(lab.namespace(End::B), End::B.interface());
    assert!(probes(20).iter().all(|frame| tap.send(frame)));
    std::thread::sleep(Duration::from_millis(300));
    let (near, far) = (ended(near), ended(far));
    assert_eq!((near.known("probes"), reflected(&near, "submitted")), (20, 20), "{near}");
    assert_eq!((far.known("probes"), reflected(&far, "submitted")), (0, 0), "{far}");
    // What came back went to the stack.
    assert!(far.counter("xdp.passed") >= 20, "{far}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_cannot_send_on_is_refused() {
    let Some(lab) = NetLab::new(1) else { return };
    lab.run(End::B, "ip", &["link", "property", "add", "dev", "v1", "altname", "other"]);
    // The second is the same interface under another name.
    for (iface, out, exit_code, code) in
        [("v1", "nowhere", 3, "interface-unknown"), ("other", "v1", 2, "interface-choice")]
    {
        let mut command = lab.command(End::B, xsk_gen());
        let finished = Running::start(command.args(["reflect", "--iface", iface, "--out", out])).wait(RUN);
        assert!(finished.expect_code(exit_code).stderr.contains(code), "{code}");
    }
    lab.wait_until_clean();
}
