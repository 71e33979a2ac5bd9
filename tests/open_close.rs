//! A thousand sockets and programs in one process, one after the other: what the tenth left is what the last leaves.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, unshare};
use procfs::process::Process;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::process::Command;
use std::thread;
use std::time::Duration;
use support::{require_root, until};
use xsk_gen::xdp::{AttachMode, RxOptions, RxProgram, holder};
use xsk_gen::xsk::{BindMode, SocketSpec, open};

const CYCLES: u32 = 1_000;
/// After so many everything has been made once that stays: stacks, the allocator's reserve.
const WARM: u32 = 10;
/// Cycles of one program: loading it takes longer than all the rest.
const CYCLES_A_PROGRAM: u32 = 10;
/// Mappings by which the allocator may differ; rings and packet memory that stayed would be five a cycle.
const MAPPINGS_SLACK: usize = 20;
/// In rotation, since the kernel releases a closed socket's queue only after a while.
const QUEUES: u32 = 32;
/// A page a cycle: what the allocator may keep in reserve once programs have come and gone.
const MEMORY_SLACK_KIB: u64 = 4 * 1024;

/// What a process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    descriptors: usize,
    mappings: usize,
    pinned_kib: Option<u64>,
    locked_kib: Option<u64>,
    resident_kib: u64,
}

fn held() -> Held {
    let me = Process::myself().unwrap();
    let status = me.status().unwrap();
    Held {
        descriptors: me.fd_count().unwrap(),
        mappings: me.maps().unwrap().len(),
        pinned_kib: status.vmpin,
        locked_kib: status.vmlck,
        resident_kib: status.vmrss.unwrap(),
    }
}

/// BPF objects by kind and number.
type Objects = BTreeSet<(&'static str, u64)>;

/// Kinds of BPF objects as `bpftool` calls them, and the line of /proc/self/fdinfo that names one.
const OBJECTS: [(&str, &str); 3] = [("prog", "prog_id:"), ("map", "map_id:"), ("link", "link_id:")];

/// The BPF objects that this process holds a descriptor of.
fn objects() -> Objects {
    let mut found = Objects::new();
    for entry in fs::read_dir("/proc/self/fdinfo").unwrap() {
        // That of the folder itself is gone already.
        let text = fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
        for (line, (kind, name)) in text.lines().flat_map(|line| OBJECTS.map(|object| (line, object))) {
            let id = line.strip_prefix(name).map(|id| id.trim().parse().unwrap());
            found.extend(id.map(|id| (kind, id)));
        }
    }
    found
}

/// The BPF objects that the kernel has, whoever holds them.
fn in_kernel() -> Objects {
    let list = |kind| {
        let output = Command::new("bpftool").args(["-j", kind, "show"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        rows.into_iter().map(move |row| (kind, row["id"].as_u64().unwrap()))
    };
    OBJECTS.into_iter().flat_map(|(kind, _)| list(kind)).collect()
}

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split_whitespace()).status().unwrap();
    assert!(status.success(), "ip {arguments}");
}

fn spec(queue: u32) -> SocketSpec {
    SocketSpec {
        iface: "rx0".to_owned(),
        queue,
        ring: 64,
        chunks: 256,
        chunk_bytes: 2048,
        longest_frame: 1_514,
        hugepages: false,
        mode: BindMode::Copy,
        need_wakeup: true,
    }
}

/// Opens, attaches, sets, detaches and closes; gives the BPF objects that were there meanwhile.
fn cycle(n: u32, ifindex: u32, program: &mut RxProgram) -> Objects {
    let queue = n % QUEUES;
    program.attach(ifindex, "rx0", AttachMode::Native).unwrap();
    let opened = open(&spec(queue)).unwrap_or_else(|error| panic!("cycle {n}: {error}"));
    let seen = if n.is_multiple_of(2) {
        let port = opened.into_tx();
        program.set_socket(queue, &port.fd()).unwrap();
        objects()
    } else {
        let port = opened.into_rx().unwrap();
        program.set_socket(queue, &port.fd()).unwrap();
        objects()
    };
    program.detach();
    seen
}

/// Cycles of which each group has a program of its own.
fn cycles(numbers: Range<u32>, ifindex: u32) -> Objects {
    let options = RxOptions::plain(Some(9), QUEUES);
    let group = |first| {
        let mut program = RxProgram::load(&options).unwrap();
        (first..first + CYCLES_A_PROGRAM).fold(Objects::new(), |mut seen, n| {
            seen.extend(cycle(n, ifindex, &mut program));
            seen
        })
    };
    numbers.step_by(CYCLES_A_PROGRAM as usize).flat_map(group).collect()
}

fn a_thousand() {
    unshare(CloneFlags::CLONE_NEWNET).unwrap();
    let queues = format!("numtxqueues {QUEUES} numrxqueues {QUEUES}");
    ip(&format!("link add tx0 {queues} type veth peer name rx0 {queues}"));
    ip("link set tx0 up");
    ip("link set rx0 up");
    let ifindex = if_nametoindex("rx0").unwrap();
    let mut made = cycles(0..WARM, ifindex);
    let before = held();
    made.extend(cycles(WARM..CYCLES, ifindex));
    let links = made.iter().filter(|(kind, _)| *kind == "link").count();
    assert_eq!(links, CYCLES as usize, "a link a cycle");
    assert_eq!(holder(ifindex).unwrap(), None);
    // The kernel takes closed sockets apart in its own time.
    let deadline = Duration::from_secs(5);
    until("descriptors and pinned memory to be as before", deadline, || {
        let now = held();
        now == Held { resident_kib: now.resident_kib, mappings: now.mappings, ..before }
    });
    let now = held();
    println!("{before:?}, then {now:?}");
    assert!(now.resident_kib <= before.resident_kib + MEMORY_SLACK_KIB, "{before:?}, then {now:?}");
    assert!(now.mappings <= before.mappings + MAPPINGS_SLACK, "{before:?}, then {now:?}");
    until("programs, maps and links to be gone", deadline, || in_kernel().is_disjoint(&made));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_thousand_open_close_cycles_leave_nothing() {
    if !require_root() {
        return;
    }
    // The namespace is the thread's, and goes with it.
    if let Err(panic) = thread::spawn(a_thousand).join() {
        std::panic::resume_unwind(panic);
    }
}
