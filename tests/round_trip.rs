//! `tx --round-trip` and `reflect` at the two ends of a veth pair: what the sender says of what came back is what was
//! sent, what the wire between them did, and what time it took.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::packet::Tap;
use support::{End, Faults, FaultyWire, NetLab, Report, Running, only, reports, until};

const RUN: Duration = Duration::from_secs(40);
const FRAMES: u64 = 5_000;

fn reflector(lab: &NetLab, args: &[&str]) -> Running {
    let reflector = lab.start(End::B, "reflect", &[&["--json"], args].concat());
    until("the reflector to be ready", RUN, || reflector.stderr().contains("ready on"));
    reflector
}

/// A sender that knows where to send: asking is not what is tested.
fn sender(lab: &NetLab, args: &[&str]) -> Running {
    let (mac, count) = (lab.mac(End::B), FRAMES.to_string());
    let fixed = ["--json", "--quiet", "--round-trip", "--dst-mac", &mac];
    let usual = [["--count", &count], ["--rate", "20kpps"]];
    let open = usual.iter().filter(|flag| !args.contains(&flag[0])).flatten().copied();
    lab.start(End::A, "tx", &fixed.into_iter().chain(open).chain(args.iter().copied()).collect::<Vec<_>>())
}

/// Both halves know everything, and the sums come out.
fn check_books(sent: &Report) {
    sent.check_full_books();
    let of_both = ["received", "control", "probes", "unique", "duplicate", "late", "lost", "kernel_drops"];
    of_both.iter().for_each(|name| {
        sent.known(name);
    });
}

/// The sender's Report and the reflector's.
fn trip(lab: &NetLab, tx: &[&str], reflect: &[&str]) -> (Report, Report) {
    let reflector = reflector(lab, reflect);
    let sent = only(&reports(&sender(lab, tx).wait(RUN).expect_code(0)));
    let reflected = only(&reports(&reflector.interrupt(RUN).expect_code(0)));
    check_books(&sent);
    reflected.check_full_books();
    (sent, reflected)
}

fn check_all_back(sent: &Report, reflected: &Report) {
    let told = ["completed", "probes", "unique", "lost", "duplicate", "late"].map(|name| sent.known(name));
    assert_eq!(told, [FRAMES, FRAMES, FRAMES, 0, 0, 0], "{sent}");
    assert_eq!(sent.at("/totals/rx_frames").as_u64(), Some(FRAMES), "{sent}");
    assert_eq!(reflected.at("/reflected/completed").as_u64(), Some(FRAMES), "{reflected}");
    assert_eq!(sent.text("/latency_ns/kind"), "round_trip", "{sent}");
    assert_eq!(sent.text("/latency_ns/clock"), "xdp-rx", "{sent}");
    assert_eq!(sent.at("/latency_ns/count").as_u64(), Some(FRAMES), "{sent}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn every_frame_comes_back_whatever_its_headers() {
    let stacks: [(&[&str], &[&str]); 6] = [
        (&["--flows", "16"], &[]),
        (&["--vlan", "7"], &["--match", "vlan 7 udp port 9"]),
        (&["--ipv6", "--size", "128"], &[]),
        (&["--l2"], &["--match", "l2"]),
        (&["--vxlan", "42", "--size", "200", "--port", "5000"], &["--vxlan", "42", "--port", "5000"]),
        (&["--tcp", "syn", "--size", "76-200"], &["--tcp", "syn"]),
    ];
    for (tx, reflect) in stacks {
        let Some(lab) = NetLab::new(1) else { return };
        let (sent, reflected) = trip(&lab, tx, reflect);
        check_all_back(&sent, &reflected);
        assert_eq!(sent.known("reordered"), 0, "{sent}");
        lab.wait_until_clean();
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn over_several_queues_and_through_the_stack() {
    let generic = &["--xdp-mode", "generic"][..];
    let modes: [(u32, &[&str], &[&str]); 3] =
        [(2, &["--flows", "64", "--cores", "0,1"], &[]), (1, generic, &[]), (1, &[], generic)];
    for (queues, tx, reflect) in modes {
        let Some(lab) = NetLab::new(queues) else { return };
        let (sent, reflected) = trip(&lab, tx, reflect);
        check_all_back(&sent, &reflected);
        let both = sent.at("/setup/queues").as_array().unwrap().len();
        assert_eq!(u32::try_from(both).unwrap(), queues, "{sent}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn without_a_reflector_the_run_fails_and_says_how_much_was_sent() {
    let Some(lab) = NetLab::new(1) else { return };
    let finished = sender(&lab, &[]).wait(RUN).expect_code(1);
    let sent = only(&reports(&finished));
    assert!(sent.has_finding("reflector-silent"), "{sent}");
    assert!(finished.stderr.contains("of 5000 frames that were sent none came back"), "{}", finished.stderr);
    assert_eq!((sent.known("probes"), sent.known("lost")), (0, FRAMES), "{sent}");
    assert!(sent.at("/latency_ns").is_null(), "{sent}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_a_killed_reflector_did_not_send_back_is_lost() {
    let Some(lab) = NetLab::new(1) else { return };
    let reflector = reflector(&lab, &[]);
    let sender = sender(&lab, &["--rate", "5kpps"]);
    lab.wait_for_frames(End::A, FRAMES / 4);
    reflector.kill();
    let sent = only(&reports(&sender.wait(RUN).expect_code(0)));
    check_books(&sent);
    assert!(sent.has_finding("loss-unexplained"), "{sent}");
    let [unique, lost] = ["unique", "lost"].map(|name| sent.known(name));
    assert!(unique >= FRAMES / 8 && lost >= FRAMES / 8 && unique + lost == FRAMES, "{sent}");
}

/// What the sender says of a round trip over a wire with faults on the way there, and what the wire says.
fn over(faults: Faults) -> Option<([u64; 5], [u64; 5])> {
    let lab = NetLab::new(1)?;
    let wire = FaultyWire::between(&lab, faults);
    let reflector = reflector(&lab, &[]);
    let sent = only(&reports(&sender(&lab, &["--rate", "10kpps"]).wait(RUN).expect_code(0)));
    reflector.interrupt(RUN).expect_code(0);
    check_books(&sent);
    let wire = wire.finish();
    let told = ["completed", "probes", "lost", "duplicate", "reordered"].map(|name| sent.known(name));
    Some((told, [wire.came, wire.delivered, wire.lost, wire.doubled, wire.reordered]))
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn loss_duplicates_and_order_are_those_of_the_wire() {
    let faults = Faults { lose_every: 100, double_every: 150, seed: 1, ..Faults::default() };
    let Some((told, truth)) = over(faults) else { return };
    assert_eq!((told, told[2] > 0, told[3] > 0), (truth, true, true));
    // The wire lets the last frames that it holds go at the END, which is too late for a round trip.
    const HELD: u64 = 8;
    let (told, truth) = over(Faults { hold_percent: 25, ..faults }).unwrap();
    assert!(told.iter().zip(truth).all(|(told, truth)| told.abs_diff(truth) <= HELD), "{told:?} {truth:?}");
    assert!(told[4] > 500, "{told:?}");
}

/// A frame without IP that a reflector has sent back, of run 8.
fn returned_of_another_run(to: &str) -> Vec<u8> {
    let mac = to.split(':').map(|byte| u8::from_str_radix(byte, 16).unwrap());
    let head = [&mac.collect::<Vec<_>>()[..], &[2, 0, 0, 0, 0, 9, 0x88, 0xB5]].concat();
    // Stream 0x8000, run, magic; number, clock and time do not matter.
    [&head[..], &[0x80, 0, 0, 8, 0x58, 0x47], &[0; 40]].concat()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_of_another_run_are_counted_and_are_no_answer() {
    let Some(lab) = NetLab::new(1) else { return };
    let reflector = reflector(&lab, &["--match", "l2"]);
    let sender = sender(&lab, &["--l2", "--run-tag", "7", "--rate", "5kpps"]);
    lab.wait_for_frames(End::A, 10);
    let tap = Tap::open(lab.namespace(End::B), End::B.interface());
    let foreign = returned_of_another_run(&lab.mac(End::A));
    assert!((0..20).all(|_| tap.send(&foreign)));
    let sent = only(&reports(&sender.wait(RUN).expect_code(0)));
    check_books(&sent);
    reflector.interrupt(RUN);
    assert_eq!(sent.at("/balance/rejected/other_run").as_u64(), Some(20), "{sent}");
    assert_eq!((sent.known("unique"), sent.known("lost")), (FRAMES, 0), "{sent}");
    assert!(sent.has_finding("other-run"), "{sent}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn it_is_right_where_the_sender_has_another_clock() {
    let Some(lab) = NetLab::new(1) else { return };
    let reflector = reflector(&lab, &[]);
    let mut elsewhere = lab.command(End::A, "unshare");
    elsewhere.args(["--time", "--monotonic", "86400", "--fork", "--kill-child", support::xsk_gen()]);
    elsewhere.args(["tx", "--iface", "v0", "--json", "--quiet"]);
    elsewhere.args(["--round-trip", "--dst-mac", &lab.mac(End::B), "--count", "500", "--rate", "10kpps"]);
    let sent = only(&reports(&Running::start(&mut elsewhere).wait(RUN).expect_code(0)));
    let reflected = only(&reports(&reflector.interrupt(RUN).expect_code(0)));
    assert!(reflected.at("/latency_ns").is_null(), "{reflected}");
    let [least, most] = ["min", "max"].map(|name| sent.at(&format!("/latency_ns/{name}")).as_u64().unwrap());
    assert!(least > 500 && most < 5_000_000_000, "{sent}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn it_ends_within_a_second_of_a_signal() {
    let Some(lab) = NetLab::new(1) else { return };
    let reflector = reflector(&lab, &[]);
    let sender = sender(&lab, &["--count", "1000000", "--rate", "5kpps"]);
    lab.wait_for_frames(End::A, 500);
    let finished = sender.interrupt(RUN);
    assert!(finished.took < Duration::from_secs(1), "{:?}", finished.took);
    let sent = only(&reports(&finished.expect_code(0)));
    check_books(&sent);
    assert_eq!(sent.known("lost"), 0, "{sent}");
    reflector.interrupt(RUN).expect_code(0);
    lab.wait_until_clean();
}
