//! `reflect` on one end of a veth pair: what it sends back is counted at the other end by tcpdump, frame by frame.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::{End, NetLab, Report, Running, only, reports, until};
use tempfile::NamedTempFile;

const RUN: Duration = Duration::from_secs(30);
const FRAMES: u64 = 3_000;

fn start(lab: &NetLab, end: End, subcommand: &str, args: &[&str]) -> Running {
    lab.start(end, subcommand, &[&["--json", "--quiet"], args].concat())
}

/// tcpdump on the sender's end, writing what comes in.
fn listen(lab: &NetLab, file: &NamedTempFile) -> Running {
    let mut tcpdump = lab.command(End::A, "tcpdump");
    tcpdump.args(["-i", "v0", "-Q", "in", "-n", "-s", "128", "-B", "16384", "-U", "-Z", "root", "-w"]);
    let tcpdump = Running::start(tcpdump.arg(file.path()));
    until("tcpdump to listen", RUN, || tcpdump.stderr().contains("listening on"));
    tcpdump
}

/// Frames in the capture that `filter` lets through; what tcpdump shows of unknown bytes is indented.
fn count(lab: &NetLab, file: &NamedTempFile, filter: &str) -> u64 {
    let path = file.path().to_str().unwrap();
    lab.run(End::A, "tcpdump", &["-r", path, "-n", "-e", filter])
        .lines()
        .filter(|line| !line.starts_with(char::is_whitespace))
        .count() as u64
}

/// Sends to a reflector, each with its own arguments; the reflector's Report, and the frames that `filter` found back.
fn sent_back(tx: &[&str], reflect: &[&str], filter: &str) -> Option<(Report, u64)> {
    let lab = NetLab::new(1)?;
    let reflector = start(&lab, End::B, "reflect", reflect);
    lab.wait_for_program(End::B);
    let file = NamedTempFile::new().unwrap();
    let tcpdump = listen(&lab, &file);
    let count_of = FRAMES.to_string();
    start(&lab, End::A, "tx", &[&["--count", &count_of, "--rate", "20kpps"], tx].concat())
        .wait(RUN)
        .expect_code(0);
    let report = only(&reports(&reflector.interrupt(RUN).expect_code(0)));
    let filter = format!("({filter}) and ether src {} and ether dst {}", lab.mac(End::B), lab.mac(End::A));
    // tcpdump leaves unread what it has not written when it is told to end.
    until("what came back to be written", RUN, || count(&lab, &file, &filter) >= FRAMES);
    tcpdump.interrupt(RUN);
    Some((report, count(&lab, &file, &filter)))
}

fn check(tx: &[&str], reflect: &[&str], filter: &str) {
    let Some((report, back)) = sent_back(tx, reflect, filter) else { return };
    report.check_full_books();
    assert_eq!(report.text("/command"), "reflect");
    assert_eq!((report.known("unique"), report.known("lost")), (FRAMES, 0), "{report}");
    let reflected = |name: &str| report.at(&format!("/reflected/{name}")).as_u64().unwrap();
    assert_eq!((reflected("submitted"), reflected("ring_full")), (FRAMES, 0), "{report}");
    assert_eq!((reflected("completed"), reflected("in_flight")), (FRAMES, 0), "{report}");
    assert_eq!(back, FRAMES, "{report}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn every_frame_comes_back_with_addresses_and_ports_turned_round() {
    check(&[], &[], "udp src port 9 and src host 198.19.0.1 and dst host 198.18.0.1");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn behind_a_tag_over_ipv6_and_without_ip() {
    check(&["--vlan", "7"], &["--match", "vlan 7 udp port 9"], "vlan 7 and udp src port 9");
    check(&["--ipv6", "--size", "128"], &[], "ip6 and udp src port 9");
    // What went back has magic and stream (0x8000 of the first space) exchanged.
    check(
        &["--l2"],
        &["--match", "l2"],
        "ether proto 0x88b5 and ether[14:2] = 0x8000 and ether[18:2] = 0x5847",
    );
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_of_another_run_are_counted_and_stay() {
    let Some(lab) = NetLab::new(1) else { return };
    let reflector = start(&lab, End::B, "reflect", &["--run-tag", "7"]);
    lab.wait_for_program(End::B);
    let file = NamedTempFile::new().unwrap();
    let tcpdump = listen(&lab, &file);
    let args = ["--count", "500", "--rate", "20kpps", "--run-tag", "8"];
    start(&lab, End::A, "tx", &args).wait(RUN).expect_code(0);
    let report = only(&reports(&reflector.interrupt(RUN)));
    tcpdump.interrupt(RUN);
    assert_eq!(report.at("/balance/rejected/other_run").as_u64().unwrap(), 500, "{report}");
    assert_eq!(report.at("/reflected/submitted").as_u64().unwrap(), 0, "{report}");
    assert_eq!(count(&lab, &file, "udp src port 9"), 0);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn it_ends_by_count_and_leaves_nothing() {
    let Some(lab) = NetLab::new(1) else { return };
    let reflector = start(&lab, End::B, "reflect", &["--count", "1000"]);
    lab.wait_for_program(End::B);
    start(&lab, End::A, "tx", &["--count", "2000", "--rate", "20kpps"]).wait(RUN);
    let report = only(&reports(&reflector.wait(RUN).expect_code(0)));
    report.check_books();
    let probes = report.known("probes");
    assert!(probes >= 1_000, "{report}");
    assert_eq!(report.at("/reflected/completed").as_u64().unwrap(), probes, "{report}");
    lab.wait_until_clean();
}
