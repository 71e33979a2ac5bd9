//! What a process may do: what is missing is named before anything is attached, what the README promises is enough, and
//! what a run needs no more is given up.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::fs;
use std::process::Command;
use std::time::Duration;
use support::{End, Finished, NetLab, Running, only, reports, tx_and_rx, until, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
const TX: [&str; 6] = ["tx", "--iface", "v0", "--count", "1000", "--json"];
const RX: [&str; 5] = ["rx", "--iface", "v1", "--duration", "100ms"];
/// The README's set.
const ENOUGH: &str = "-all,+net_raw,+net_admin,+bpf,+perfmon,+ipc_lock";

/// Runs the binary inside with the bounding set that setpriv is given: for root, what a program may have.
fn bounded(lab: &NetLab, end: End, set: &str, args: &[&str]) -> Finished {
    let mut command = lab.command(end, "setpriv");
    command.args(["--bounding-set", set, "--inh-caps", "-all", xsk_gen()]).args(args);
    Running::start(&mut command).wait(RUN)
}

fn with_mac<'a>(mac: &'a str, args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--dst-mac", mac]].concat()
}

fn blocked(finished: Finished, words: &[&str]) {
    let finished = finished.expect_code(3);
    assert!(words.iter().all(|word| finished.stderr.contains(word)), "{words:?}: {finished:?}");
    assert!(!finished.stderr.contains("os error") && finished.stdout.is_empty(), "{finished:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn each_missing_capability_is_named() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    let dropped = [
        ("-net_raw", "CAP_NET_RAW"),
        ("-net_admin", "CAP_NET_ADMIN"),
        ("-bpf,-sys_admin", "CAP_BPF"),
        ("-perfmon,-sys_admin", "CAP_PERFMON"),
    ];
    for (set, name) in dropped {
        blocked(bounded(&lab, End::A, set, &with_mac(&mac, &TX)), &["[capability-missing]", name, "setcap"]);
        blocked(bounded(&lab, End::B, set, &RX), &["[capability-missing]", name, "setcap"]);
    }
    blocked(bounded(&lab, End::A, "-sys_admin", &["demo"]), &["[capability-missing]", "CAP_SYS_ADMIN"]);
    assert!(lab.programs(End::B).is_empty());
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_user_without_any_is_told_all_of_them_but_usage_comes_first() {
    let Some(lab) = NetLab::new(1) else { return };
    let nobody = |args: &[&str]| {
        let mut command = lab.command(End::A, "setpriv");
        command.args(["--reuid", "65534", "--clear-groups", "--inh-caps", "-all", xsk_gen()]).args(args);
        Running::start(&mut command).wait(RUN)
    };
    blocked(nobody(&TX), &["CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF", "CAP_PERFMON"]);
    nobody(&["tx", "--iface", "no-such", "--size", "59"]).expect_code(2);
    nobody(&["explain", "memlock"]).expect_code(0);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_capabilities_of_the_readme_are_enough() {
    let Some(lab) = NetLab::new(1) else { return };
    let mut command = lab.command(End::B, "setpriv");
    command.args([
        "--bounding-set",
        ENOUGH,
        "--inh-caps",
        "-all",
        xsk_gen(),
        "rx",
        "--iface",
        "v1",
        "--json",
    ]);
    let rx = Running::start(&mut command);
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    let sent = bounded(&lab, End::A, ENOUGH, &with_mac(&lab.mac(End::B), &TX)).expect_code(0);
    let (tx, rx) = (only(&reports(&sent)), only(&reports(&rx.interrupt(RUN).expect_code(0))));
    assert_eq!((tx.known("completed"), rx.known("unique"), rx.known("lost")), (1_000, 1_000, 0), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn packet_memory_above_the_limit_is_refused_and_a_smaller_one_runs() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    let limited = |args: &[&str]| {
        let mut command = lab.command(End::A, "prlimit");
        command.args(["--memlock=1048576:1048576", "setpriv", "--bounding-set", "-ipc_lock,-sys_resource"]);
        command.args(["--inh-caps", "-all", xsk_gen()]).args(args);
        Running::start(&mut command).wait(RUN)
    };
    // 4,096 chunks of 2,048 bytes by default.
    blocked(limited(&with_mac(&mac, &TX)), &["[memlock]", "8388608", "ulimit -l"]);
    limited(&with_mac(&mac, &[&TX[..], &["--ring", "64", "--frames", "64"]].concat())).expect_code(0);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn no_bpf_file_system_is_needed_and_without_sys_the_reason_is_told() {
    let Some(lab) = NetLab::new(1) else { return };
    let without = |what: &str, end: End, args: &[&str]| {
        let mut command = Command::new("unshare");
        let script = format!("{what} && exec nsenter --net=\"$@\"");
        let namespace = format!("/run/netns/{}", lab.namespace(end));
        command.args(["-m", "sh", "-c", &script, "sh", &namespace, xsk_gen()]).args(args);
        Running::start(&mut command)
    };
    blocked(without("umount -lR /sys", End::B, &RX).wait(RUN), &["counters", "mount -t sysfs"]);
    // What hides it also hides one that is mounted.
    let inside = |end, args: &[&str]| without("mount -t tmpfs none /sys/fs/bpf", end, args);
    let rx = inside(End::B, &["rx", "--iface", "v1", "--json"]);
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    inside(End::A, &with_mac(&lab.mac(End::B), &TX)).wait(RUN).expect_code(0);
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
    rx.check_full_books();
    assert_eq!((rx.known("unique"), rx.known("lost")), (1_000, 0), "{rx}");
}

/// Of every thread of a process: its permitted and effective capabilities, and whether it can get new ones.
fn powers(running: &Running) -> Vec<[String; 3]> {
    let tasks = fs::read_dir(format!("/proc/{}/task", running.pid())).unwrap();
    let field = |status: &str, name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    let one = |status: String| ["CapPrm:", "CapEff:", "NoNewPrivs:"].map(|name| field(&status, name));
    tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("status")).ok()).map(one).collect()
}

/// Waits until no thread may do anything, and fails when that does not come.
fn until_powerless(running: &Running, threads: usize) {
    let powerless = |[permitted, effective, none_new]: &[String; 3]| {
        [permitted, effective].iter().all(|set| set.trim_start_matches('0').is_empty()) && none_new == "1"
    };
    until("every thread to have given up its capabilities", Duration::from_secs(5), || {
        let powers = powers(running);
        powers.len() >= threads && powers.iter().all(powerless)
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_run_gives_up_what_it_needs_no_more_and_still_counts_and_detaches() {
    let Some(lab) = NetLab::new(2) else { return };
    let rx = lab.start(End::B, "rx", &["--json"]);
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    // Whether native redirect works is open: it may have to attach anew, and its workers may not.
    until("the workers", Duration::from_secs(5), || powers(&rx).len() == 3);
    let holding =
        powers(&rx).iter().filter(|[permitted, ..]| !permitted.trim_start_matches('0').is_empty()).count();
    assert_eq!(holding, 1, "{:?}", powers(&rx));

    let mac = lab.mac(End::B);
    let tx = lab.start(End::A, "tx", &["--json", "--dst-mac", &mac, "--duration", "2", "--rate", "max"]);
    lab.wait_for_frames(End::B, 1_000);
    until_powerless(&tx, 2);
    until_powerless(&rx, 3);
    let (tx, rx) =
        (only(&reports(&tx.wait(RUN).expect_code(0))), only(&reports(&rx.interrupt(RUN).expect_code(0))));
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!((rx.known("completed"), rx.known("unexplained")), (tx.known("completed"), 0), "{rx}");
    assert!(!rx.has_finding("privilege-kept") && !rx.has_finding("device-disagrees"), "{rx}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn both_ends_of_a_demo_give_up_theirs() {
    if !support::require_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let demo = Running::xsk_gen(&["demo", "--duration", "2", "--json", "--rate", "10kpps"]);
    until("demo to send", Duration::from_secs(10), || demo.stderr().contains("sending frames"));
    // The main thread, two ends and their workers.
    until_powerless(&demo, 5);
    let (tx, rx) = tx_and_rx(&demo.wait(RUN).expect_code(0));
    assert_eq!((tx.known("completed"), rx.known("lost")), (20_000 - tx.known("shortfall"), 0), "{rx}");

    // Who has to write a file at the end keeps what that may take, and nothing else.
    let path = file.to_str().unwrap();
    let demo = Running::xsk_gen(&["demo", "--duration", "1", "--json", "--rate", "10kpps", "--output", path]);
    until("demo to send", Duration::from_secs(10), || demo.stderr().contains("sending frames"));
    until("all but the main thread to have given up", Duration::from_secs(5), || {
        let powers = powers(&demo);
        let holding = powers.iter().filter(|[permitted, ..]| !permitted.trim_start_matches('0').is_empty());
        // CAP_CHOWN, CAP_DAC_OVERRIDE and CAP_FOWNER: bits 0, 1 and 3.
        powers.len() >= 5 && holding.map(|[permitted, ..]| permitted.as_str()).eq(["000000000000000b"])
    });
    demo.wait(RUN).expect_code(0);
    assert!(fs::read_to_string(&file).unwrap().contains("xsk-gen/1"));
}
