//! What stands in the way of a run is named before it begins, with exit code 3 and nothing left behind.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::{End, Finished, NetLab, Running, ip, reports, until, xsk_gen};

const RUN: Duration = Duration::from_secs(30);
const HUGE_PAGES: &str = "/proc/sys/vm/nr_hugepages";

/// Runs the binary inside, on the interface that the arguments name.
fn run(lab: &NetLab, args: &[&str]) -> Finished {
    Running::start(lab.command(End::A, xsk_gen()).args(args)).wait(RUN)
}

/// Fails unless the command is blocked by a finding of this code that speaks of `words`, and printed no result.
fn blocked(lab: &NetLab, args: &[&str], code: &str, words: &[&str]) {
    let finished = run(lab, args).expect_code(3);
    assert!(finished.stderr.contains(&format!("[{code}]")), "{finished:?}");
    assert!(words.iter().all(|word| finished.stderr.contains(word)), "{words:?}: {finished:?}");
    assert!(!finished.stderr.contains("os error") && finished.stdout.is_empty(), "{finished:?}");
}

const TX: [&str; 7] = ["tx", "--iface", "v0", "--dst-mac", "02:00:00:00:00:01", "--count", "10"];

fn tx<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TX[..], more].concat()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_cannot_carry_a_test_is_named() {
    let Some(lab) = NetLab::new(1) else { return };
    blocked(&lab, &["rx", "--iface", "v9"], "interface-unknown", &["v9"]);
    blocked(&lab, &["rx", "--iface", "lo"], "loopback", &["xsk-gen demo"]);
    ip(&lab, End::B, &["link", "set", "v1", "down"]);
    blocked(&lab, &tx(&["--wait-link", "1"]), "no-carrier", &["--wait-link"]);
    ip(&lab, End::A, &["link", "set", "v0", "down"]);
    for args in [tx(&[]), vec!["rx", "--iface", "v0"]] {
        blocked(&lab, &args, "interface-down", &["ip link set v0 up"]);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_without_an_interface_takes_the_only_one_or_lists_them() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let finished = run(&lab, &["rx"]).expect_code(2);
    assert!(["v0", "v1", "--iface"].iter().all(|word| finished.stderr.contains(word)), "{finished:?}");
    let Some(lab) = NetLab::new(1) else { return };
    let finished = run(&lab, &["rx", "--duration", "100ms", "--json", "--quiet"]).expect_code(1);
    assert_eq!(reports(&finished)[0].text("/interface/name"), "v0");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_the_interface_does_not_have_is_named() {
    let Some(lab) = NetLab::new(2) else { return };
    blocked(&lab, &tx(&["--queues", "2"]), "queue-range", &["v0 queue 2", "0-1"]);
    blocked(&lab, &["rx", "--iface", "v0", "--queues", "0-2"], "queue-range", &["v0 queue 2"]);
    blocked(&lab, &tx(&["--size", "1519"]), "size-above-mtu", &["--size 1518"]);
    blocked(&lab, &tx(&["--rate", "40%"]), "no-link-speed", &["--rate"]);
    blocked(&lab, &tx(&["--plan", "1kpps:1s,40%:1s"]), "no-link-speed", &["--plan 40%"]);
    blocked(&lab, &tx(&["--cores", "4095"]), "core-range", &["core 4095"]);
    run(&lab, &tx(&["--size", "1518"])).expect_code(0);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_frame_above_the_mtu_names_the_longest_that_fits() {
    let Some(lab) = NetLab::new(1) else { return };
    for size in ["1519", "2000", "9200"] {
        blocked(&lab, &tx(&["--size", size]), "size-above-mtu", &[size, "--size 1518"]);
    }
    ip(&lab, End::A, &["link", "set", "v0", "mtu", "9746"]);
    blocked(&lab, &tx(&["--size", "9765"]), "size-above-mtu", &["9765", "--size 9764"]);
    for size in ["3844", "3845", "9764"] {
        run(&lab, &tx(&["--size", size])).expect_code(0);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_demanded_mode_that_cannot_be_had_is_refused() {
    let Some(lab) = NetLab::new(1) else { return };
    blocked(&lab, &tx(&["--xsk-mode", "zerocopy"]), "zero-copy-refused", &["--xsk-mode copy"]);
    blocked(&lab, &["rx", "--iface", "v0", "--xsk-mode", "zerocopy"], "zero-copy-refused", &[]);
    ip(&lab, End::A, &["link", "add", "br0", "type", "bridge"]);
    ip(&lab, End::A, &["link", "set", "v0", "master", "br0"]);
    ip(&lab, End::A, &["link", "set", "br0", "up"]);
    blocked(&lab, &["rx", "--iface", "br0", "--xdp-mode", "native"], "native-refused", &["br0"]);
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn each_missing_capability_is_named() {
    let Some(lab) = NetLab::new(1) else { return };
    let sets = [
        ("-net_raw", vec!["CAP_NET_RAW"]),
        ("-net_admin", vec!["CAP_NET_ADMIN"]),
        ("-bpf,-sys_admin", vec!["CAP_BPF"]),
        ("-all", vec!["CAP_NET_RAW", "CAP_NET_ADMIN", "CAP_BPF", "CAP_PERFMON"]),
    ];
    for (set, names) in sets {
        let mut command = lab.command(End::A, "setpriv");
        command.args(["--bounding-set", set, "--inh-caps", set, xsk_gen(), "rx", "--iface", "v0"]);
        let finished = Running::start(&mut command).wait(RUN).expect_code(3);
        for name in names {
            assert!(finished.stderr.contains(&format!("{name}: this capability is missing")), "{finished:?}");
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn memory_that_may_not_be_locked_is_known_before_the_run() {
    let Some(lab) = NetLab::new(1) else { return };
    let mut command = lab.command(End::A, "setpriv");
    command.args(["--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock", "prlimit", "--memlock=65536"]);
    let finished = Running::start(command.arg(xsk_gen()).args(tx(&[]))).wait(RUN).expect_code(3);
    assert!(finished.stderr.contains("[memlock]") && finished.stderr.contains("ulimit -l"), "{finished:?}");
}

/// Queues of 4,194,303 chunks of 2,048 bytes, 8 GiB each, that are above the memory of this machine; at the most 16,
/// which are 128 GiB.
fn too_many_queues() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap();
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
    let kib: u64 = total.trim().trim_end_matches(" kB").parse().unwrap();
    let queues = kib / (8 << 20) + 1;
    (queues <= 16).then_some(queues)
}

/// KiB of the largest process that this one has waited for.
fn largest_child() -> i64 {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn more_memory_than_there_is_is_refused_with_the_figure_and_without_a_try() {
    // A machine with more memory than that has no such request.
    let Some(queues) = too_many_queues() else { return };
    let Some(lab) = NetLab::new(u32::try_from(queues).unwrap()) else { return };
    let list = format!("0-{}", queues - 1);
    let most = ["--queues", list.as_str(), "--frames", "4194303"];
    for args in [tx(&most), [&["rx", "--iface", "v0"][..], &most].concat()] {
        let started = Instant::now();
        blocked(&lab, &args, "no-memory", &["MiB can be had", "--frames ", "--queues"]);
        // Contract: a second. Twice that, on a machine that does other things as well.
        assert!(started.elapsed() < Duration::from_secs(2), "{args:?}");
    }
    assert!(largest_child() < 1 << 20, "a fraction of one queue's 8 GiB: {} KiB", largest_child());
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_output_that_cannot_be_written_is_known_before_the_run() {
    let Some(lab) = NetLab::new(1) else { return };
    blocked(&lab, &tx(&["--output", "/proc/no-such-file"]), "output-file", &["/proc/no-such-file"]);
    let folder = tempfile::tempdir().unwrap();
    let unused = folder.path().join("report.json");
    let args = tx(&["--queues", "7", "--output", unused.to_str().unwrap()]);
    blocked(&lab, &args, "queue-range", &[]);
    assert!(!unused.exists(), "a run that did not begin leaves no empty file");
    let written = tempfile::NamedTempFile::new().unwrap();
    let path = written.path().to_str().unwrap();
    fs::write(path, "x".repeat(1 << 20)).unwrap();
    let finished = run(&lab, &tx(&["--json", "--quiet", "--output", path])).expect_code(0);
    assert_eq!(
        fs::read_to_string(path).unwrap(),
        finished.stdout,
        "the file holds the result and nothing else"
    );
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let Some(lab) = NetLab::new(1) else { return };
    let mut command = lab.command(End::A, xsk_gen());
    let mut child = command.args(tx(&["--json", "--quiet"])).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn tries_of_a_bind_keep_no_huge_pages() {
    let Some(lab) = NetLab::new(1) else { return };
    let _pages = HugePages::set("16");
    let holder = lab.start(End::A, "rx", &[]);
    until("the sink holds the queue", RUN, || holder.stderr().contains("ready on v0"));
    // 128 chunks are an eighth of a page; each of some ninety tries maps its own and gives it back.
    blocked(&lab, &tx(&["--hugepages", "--ring", "64", "--queues", "0"]), "queue-busy", &["v0 queue 0"]);
    holder.interrupt(RUN);
    run(&lab, &tx(&["--hugepages", "--ring", "64"])).expect_code(0);
}

/// Puts the number of huge pages back.
struct HugePages(String);

impl HugePages {
    fn set(number: &str) -> Self {
        let before = fs::read_to_string(HUGE_PAGES).unwrap();
        fs::write(HUGE_PAGES, number).unwrap();
        Self(before)
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        let _ = fs::write(HUGE_PAGES, &self.0);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn huge_pages_are_used_or_asked_for() {
    let Some(lab) = NetLab::new(2) else { return };
    let args = tx(&["--hugepages", "--queues", "0-1", "--json", "--quiet"]);
    let none = HugePages::set("0");
    // Two sockets of 4,096 chunks of 2,048 bytes are 16 MiB: eight pages, and eight to spare.
    blocked(&lab, &args, "hugepages", &["vm.nr_hugepages=16"]);
    blocked(
        &lab,
        &["rx", "--iface", "v0", "--hugepages"],
        "hugepages",
        &["vm.nr_hugepages=", "0 can be had"],
    );
    drop(none);
    let _some = HugePages::set("16");
    let finished = run(&lab, &args).expect_code(0);
    let report = &reports(&finished)[0];
    report.check_full_books();
    assert_eq!(report.at("/setup/hugepages"), &serde_json::Value::Bool(true));
}
