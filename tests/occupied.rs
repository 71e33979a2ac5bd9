//! An interface that runs someone's XDP program: whose it is, is told and not touched, unless the user wants
//! it replaced; and what a killed run leaves behind stands in nobody's way.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::process::Command;
use std::time::Duration;
use support::other_program::{self, OtherProgram};
use support::{End, Finished, NetLab, Report, Running, only, reports, sink, tx_and_rx, until, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
const JSON: [&str; 2] = ["--json", "--quiet"];
/// A run of a tenth of a second.
const SHORT: [&str; 4] = ["--count", "1000", "--rate", "10kpps"];

fn start(lab: &NetLab, end: End, subcommand: &str, args: &[&str]) -> Running {
    lab.start(end, subcommand, &[&JSON, args].concat())
}

/// Sends from v0 to v1's own address, whether or not a sink is there.
fn send(lab: &NetLab, args: &[&str]) -> Report {
    let mac = lab.mac(End::B);
    let all = [&["--dst-mac", &mac], &SHORT[..], args].concat();
    only(&reports(&start(lab, End::A, "tx", &all).wait(RUN).expect_code(0)))
}

/// Fails unless the command was refused because of a finding of this code that speaks of `words`.
fn refused(running: Running, code: &str, words: &[&str]) -> Finished {
    let finished = running.wait(RUN).expect_code(3);
    assert!(finished.stderr.contains(&format!("[{code}]")), "{finished:?}");
    assert!(words.iter().all(|word| finished.stderr.contains(word)), "{words:?}: {finished:?}");
    assert!(finished.stdout.is_empty(), "{finished:?}");
    assert!(
        ["os error", "bpf_", "netlink error"].iter().all(|raw| !finished.stderr.contains(raw)),
        "{finished:?}"
    );
    finished
}

/// The one program at an end: its number as text.
fn program(lab: &NetLab, end: End) -> String {
    let programs = lab.programs(end);
    assert_eq!(programs.len(), 1, "{programs:?}");
    programs[0]["id"].to_string()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_program_of_someone_else_is_named_and_stays() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let other = OtherProgram::new();
    for (way, mode) in [("xdpdrv", "native mode"), ("xdpgeneric", "generic mode")] {
        other.attach(&lab, End::B, way);
        let id = program(&lab, End::B);
        for demanded in ["auto", "native", "generic"] {
            let rx = start(&lab, End::B, "rx", &["--xdp-mode", demanded]);
            let off = format!("{way} off");
            refused(
                rx,
                "xdp-occupied",
                &["v1", &id, other_program::NAME, mode, "netlink", &off, "--replace"],
            );
        }
        let tx = start(&lab, End::B, "tx", &["--dst-mac", "02:00:00:00:00:01", "--xdp-mode", "native"]);
        refused(tx, "xdp-occupied", &[&id, other_program::NAME]);
        assert_eq!(program(&lab, End::B), id);
        other_program::detach(&lab, End::B, way);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_copying_sender_runs_beside_a_program_of_someone_else() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let other = OtherProgram::new();
    for way in ["xdpdrv", "xdpgeneric"] {
        other.attach(&lab, End::A, way);
        let id = program(&lab, End::A);
        // There is nothing to attach, so nothing is replaced.
        for more in [&[][..], &["--replace"]] {
            let tx = send(&lab, more);
            tx.check_full_books();
            assert_eq!(tx.known("completed"), 1_000, "{tx}");
            assert_eq!((tx.text("/setup/xdp_mode"), tx.text("/setup/xsk_mode")), ("none", "copy"), "{tx}");
            assert!(!tx.has_finding("xdp-replaced"), "{tx}");
        }
        assert_eq!(program(&lab, End::A), id);
        other_program::detach(&lab, End::A, way);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_link_is_named_with_the_process_that_has_it_open() {
    let Some(lab) = NetLab::new(1) else { return };
    let held = OtherProgram::new().link(&lab, End::B);
    let id = program(&lab, End::B);
    let process = format!("process {} ", std::process::id());
    let rx = start(&lab, End::B, "rx", &[]);
    let said = refused(rx, "xdp-occupied", &["by link ", &process, &id, "bpftool link detach id"]).stderr;
    assert_eq!(program(&lab, End::B), id, "{said}");

    let rx = sink(&lab, &["--replace"]);
    assert!(rx.stderr().contains("[xdp-replaced]"), "it is told before the run: {}", rx.stderr());
    assert_ne!(program(&lab, End::B), id);
    let sent = send(&lab, &[]);
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
    rx.check_full_books();
    assert_eq!((rx.known("unique"), rx.known("lost")), (sent.known("completed"), 0), "{rx}");
    let told = finding(&rx, "xdp-replaced");
    assert!(
        [&id, other_program::NAME, "native mode", &process].iter().all(|word| told.contains(*word)),
        "{told}"
    );
    // Nothing is put back, and the other one's link is an empty shell.
    lab.wait_until_clean();
    drop(held);
}

/// The text of the finding of that code.
fn finding(report: &Report, code: &str) -> String {
    let all = report.at("/findings").as_array().unwrap();
    let one = all.iter().find(|finding| finding["code"] == code);
    one.unwrap_or_else(|| panic!("no {code} in {report}")).to_string()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_pair_replaces_where_it_attaches_and_nowhere_else() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let other = OtherProgram::new();
    for (way, mode) in [("xdpdrv", "native mode"), ("xdpgeneric", "generic mode")] {
        for end in [End::A, End::B] {
            other.attach(&lab, end, way);
        }
        let pair = start(&lab, End::A, "tx", &[&["--sink", "v1"], &SHORT[..]].concat());
        refused(pair, "xdp-occupied", &["v1", other_program::NAME, mode]);
        assert_eq!(lab.programs(End::A).len(), 2);

        let pair = start(&lab, End::A, "tx", &[&["--sink", "v1", "--replace"], &SHORT[..]].concat());
        let (tx, rx) = tx_and_rx(&pair.wait(RUN).expect_code(0));
        tx.check_full_books();
        rx.check_full_books();
        assert!(!tx.has_finding("xdp-replaced"), "{tx}");
        assert!(finding(&rx, "xdp-replaced").contains(mode), "{rx}");
        assert_eq!(program_names(&lab), ["v0"], "only the sender's interface still runs a program");

        let mac = lab.mac(End::B);
        let native = ["--dst-mac", &mac, "--xdp-mode", "native", "--replace"];
        let tx = start(&lab, End::A, "tx", &[&native, &SHORT[..]].concat());
        let tx = only(&reports(&tx.wait(RUN).expect_code(0)));
        assert!(finding(&tx, "xdp-replaced").contains(mode), "{tx}");
        assert_eq!(tx.text("/setup/xdp_mode"), "native", "{tx}");
        lab.wait_until_clean();
    }
}

/// The interfaces that run a program, in a lab of one namespace.
fn program_names(lab: &NetLab) -> Vec<String> {
    lab.programs(End::A).iter().map(|program| program["devname"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_may_not_be_taken_off_is_said_and_stays() {
    let Some(lab) = NetLab::new(1) else { return };
    let other = OtherProgram::new();
    other.attach(&lab, End::B, "xdpdrv");
    let id = program(&lab, End::B);
    for more in [&["--replace"][..], &[]] {
        let mut command = lab.command(End::B, "setpriv");
        command.args(["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", xsk_gen(), "rx"]);
        let rx = Running::start(command.args(["--iface", "v1"]).args(more));
        let code = if more.is_empty() { "xdp-occupied" } else { "capability-missing" };
        refused(rx, code, &[&id, "CAP_SYS_ADMIN"]);
        assert_eq!(program(&lab, End::B), id);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_running_xsk_gen_is_never_replaced() {
    let Some(lab) = NetLab::new(1) else { return };
    let first = sink(&lab, &[]);
    let id = program(&lab, End::B);
    for more in [&["--replace"][..], &["--xdp-mode", "generic"]] {
        let second = start(&lab, End::B, "rx", more);
        refused(second, "xdp-occupied", &["xsk_gen_rx", &id, "another xsk-gen runs on v1"]);
    }
    // A signal ends the patience with what may be the program of a run that was killed just now.
    let second = start(&lab, End::B, "rx", &[]);
    std::thread::sleep(Duration::from_millis(600));
    let ended = second.interrupt(Duration::from_secs(1)).expect_code(3);
    assert!(ended.stderr.contains("[xdp-occupied]"), "{ended:?}");
    assert_eq!(program(&lab, End::B), id);
    let sent = send(&lab, &[]);
    let rx = only(&reports(&first.interrupt(RUN).expect_code(0)));
    rx.check_full_books();
    assert_eq!((rx.known("unique"), rx.known("lost")), (sent.known("completed"), 0), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_program_that_goes_in_time_is_waited_for() {
    let Some(lab) = NetLab::new(1) else { return };
    let held = OtherProgram::new().link(&lab, End::B);
    let rx = start(&lab, End::B, "rx", &["--duration", "100ms"]);
    // Within its patience; where the machine is slower than that, the program is gone before it looks.
    std::thread::sleep(Duration::from_millis(150));
    drop(held);
    let finished = rx.wait(RUN).expect_code(1);
    assert!(only(&reports(&finished)).has_finding("nothing-received"), "{finished:?}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_killed_run_stands_in_nobodys_way() {
    let Some(lab) = NetLab::new(2) else { return };
    let mac = lab.mac(End::B);
    let endless = ["--dst-mac", &mac, "--duration", "60", "--rate", "1kpps", "--xdp-mode", "native"];
    for round in 0..10 {
        let (mut rx, mut tx) = (start(&lab, End::B, "rx", &[]), start(&lab, End::A, "tx", &endless));
        for (end, running) in [(End::B, &mut rx), (End::A, &mut tx)] {
            until("its program", Duration::from_secs(20), || {
                assert!(running.is_running(), "round {round}: {}", running.stderr());
                !lab.programs(end).is_empty()
            });
        }
        rx.kill();
        tx.kill();
        // At once: what the kernel has not taken down yet is waited for.
        let rx = start(&lab, End::B, "rx", &["--duration", "20ms"]);
        let tx = start(&lab, End::A, "tx", &["--dst-mac", &mac, "--count", "10", "--xdp-mode", "native"]);
        let (rx, tx) = (rx.wait(RUN), tx.wait(RUN));
        assert!(!reports(rx.expect_code_in(&[0, 1])).is_empty(), "round {round}");
        assert_eq!(only(&reports(&tx.expect_code(0))).known("completed"), 10, "round {round}");
    }
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_program_of_a_sender_is_there_for_a_demanded_mode_only() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    let during = |more: &[&str]| {
        let endless = [&["--dst-mac", &mac, "--duration", "60", "--rate", "1kpps"], more].concat();
        let tx = start(&lab, End::A, "tx", &endless);
        lab.wait_for_frames(End::B, 100);
        let programs = lab.programs(End::A);
        let report = only(&reports(&tx.interrupt(RUN).expect_code(0)));
        lab.wait_until_clean();
        (programs.len(), report.text("/setup/xdp_mode").to_owned())
    };
    assert_eq!(during(&[]), (0, "none".to_owned()));
    assert_eq!(during(&["--xdp-mode", "native"]), (1, "native".to_owned()));
    assert_eq!(during(&["--xdp-mode", "generic"]), (1, "generic".to_owned()));
    let demanded = ["--iface", "v0", "--dst-mac", &mac, "--xsk-mode", "zerocopy"];
    let mut command = Command::new("ip");
    command.args(["netns", "exec", lab.namespace(End::A), xsk_gen(), "tx"]).args(demanded);
    refused(Running::start(&mut command), "zero-copy-refused", &["veth", "queue 0"]);
    lab.wait_until_clean();
}
