//! Queues that another AF_XDP socket holds, and what two runs on one interface are to each other: told, and
//! never disturbed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::thread;
use std::time::Duration;
use support::{End, NetLab, Report, Running, only, reports, until};
use xsk_gen::xdp::{AttachMode, RxOptions, RxProgram, holder};
use xsk_gen::xsk::{self, BindMode, OpenError, SocketSpec};

const RUN: Duration = Duration::from_secs(30);
const JSON: [&str; 2] = ["--json", "--quiet"];

fn start(lab: &NetLab, end: End, subcommand: &str, args: &[&str]) -> Running {
    lab.start(end, subcommand, &[&JSON, args].concat())
}

/// Ends it with Ctrl-C and gives its Report, whose books must balance.
fn ended(running: Running) -> Report {
    let report = only(&reports(&running.interrupt(RUN).expect_code(0)));
    report.check_full_books();
    report
}

/// A sink that says that it is ready.
fn sink(lab: &NetLab, end: End, args: &[&str]) -> Running {
    let rx = lab.start(end, "rx", &[&["--json"], args].concat());
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    rx
}

/// A sender from v0 that has frames on the wire, and goes on.
fn sending(lab: &NetLab, args: &[&str]) -> Running {
    let mac = lab.mac(End::B);
    let all = [&["--dst-mac", &mac, "--duration", "60", "--rate", "5kpps"], args].concat();
    let tx = start(lab, End::A, "tx", &all);
    lab.wait_for_frames(End::B, 500);
    tx
}

/// Fails unless the command is refused because a queue is taken, in these words.
fn busy(running: Running, words: &[&str]) {
    let finished = running.wait(RUN).expect_code(3);
    assert!(finished.stderr.contains("[queue-busy]") && finished.stdout.is_empty(), "{finished:?}");
    assert!(words.iter().all(|word| finished.stderr.contains(word)), "{words:?}: {finished:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_taken_queue_is_named_with_those_that_are_free() {
    let Some(lab) = NetLab::new(4) else { return };
    let first = sending(&lab, &["--queues", "0,2"]);
    let to = ["--dst-mac", "02:00:00:00:00:01", "--count", "10"];
    let tx = |queues: &str| start(&lab, End::A, "tx", &[&to[..], &["--queues", queues]].concat());
    busy(tx("0"), &["v0 queue 0", "the queues 0,2", "--queues 1,3"]);
    // Its own sockets on 1 and 3 were open by then, and are no one else's.
    busy(tx("1,3,2"), &["v0 queue 2", "the queues 0,2", "--queues 1,3"]);
    tx("1,3").wait(RUN).expect_code(0);
    // A sink wants all queues, and leaves no program behind when it does not get them.
    busy(start(&lab, End::A, "rx", &[]), &["v0 queue 0", "--queues 1,3"]);
    assert!(lab.programs(End::A).is_empty());
    assert!(ended(first).known("completed") >= 500);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn two_senders_share_an_interface_by_queues() {
    let Some(lab) = NetLab::new(2) else { return };
    let rx = sink(&lab, End::B, &["--run-tag", "7"]);
    let first = sending(&lab, &["--queues", "0", "--run-tag", "7"]);
    let mac = lab.mac(End::B);
    let other = ["--dst-mac", &mac, "--queues", "1", "--run-tag", "8", "--count", "1000", "--rate", "5kpps"];
    let second = only(&reports(&start(&lab, End::A, "tx", &other).wait(RUN).expect_code(0)));
    second.check_full_books();
    assert_eq!(second.known("completed"), 1_000, "{second}");
    let sent = ended(first).known("completed");
    let rx = ended(rx);
    assert_eq!((rx.known("completed"), rx.known("unique")), (sent, sent), "{rx}");
    // The other run's frames are told, and counted apart.
    assert!(rx.has_finding("other-run"), "{rx}");
    assert_eq!(rx.at("/balance/rejected/other_run").as_u64(), Some(1_000), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_and_a_sink_share_an_interface_by_queues() {
    let Some(lab) = NetLab::new(2) else { return };
    let here = sink(&lab, End::A, &["--queues", "1"]);
    let there = sink(&lab, End::B, &[]);
    busy(start(&lab, End::A, "tx", &["--dst-mac", "02:00:00:00:00:01", "--queues", "1"]), &["--queues 0"]);
    let (tx, rx) = (ended(sending(&lab, &["--queues", "0"])), ended(there));
    assert_eq!((rx.known("completed"), rx.known("unique")), (tx.known("completed"), tx.known("completed")));
    // Nothing came back, which is no failure of the one that a signal ended.
    here.interrupt(RUN).expect_code(0);
    lab.wait_until_clean();
}

/// Runs `work` in the namespace of an end, on a thread of its own, which does not come back from there.
fn within(lab: &NetLab, end: End, work: impl FnOnce() + Send + 'static) {
    let netns = format!("/run/netns/{}", lab.namespace(end));
    let inside = thread::spawn(move || {
        setns(File::open(netns).unwrap(), CloneFlags::CLONE_NEWNET).unwrap();
        work();
    });
    if let Err(panic) = inside.join() {
        std::panic::resume_unwind(panic);
    }
}

fn spec(mode: BindMode) -> SocketSpec {
    SocketSpec {
        iface: "v0".to_owned(),
        queue: 0,
        ring: 64,
        chunks: 128,
        chunk_bytes: 2048,
        longest_frame: 1_514,
        hugepages: false,
        mode,
        need_wakeup: true,
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_queue_is_to_be_had_again_at_once() {
    let Some(lab) = NetLab::new(1) else { return };
    within(&lab, End::A, || {
        for round in 0..10 {
            // A refused bind must leave neither queue nor memory taken.
            let refused = xsk::open(&spec(BindMode::ZeroCopy)).err();
            assert_eq!(refused, Some(OpenError::Unsupported), "round {round}");
            let socket = xsk::open(&spec(BindMode::Copy)).unwrap_or_else(|e| panic!("round {round}: {e}"));
            if round % 2 == 0 { drop(socket.into_tx()) } else { drop(socket.into_rx().unwrap()) }
        }
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_bind_that_found_the_queue_taken_is_made_anew() {
    let Some(lab) = NetLab::new(1) else { return };
    within(&lab, End::A, || {
        let first = xsk::open(&spec(BindMode::Copy)).unwrap();
        assert_eq!(xsk::open(&spec(BindMode::Copy)).err(), Some(OpenError::Busy));
        drop(first);
        assert!(xsk::open(&spec(BindMode::Copy)).is_ok());
    });
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_program_comes_and_goes_in_one_process_as_often_as_asked() {
    let Some(lab) = NetLab::new(1) else { return };
    within(&lab, End::A, || {
        let ifindex = if_nametoindex("v0").unwrap();
        let options = RxOptions { count_only: true, ..RxOptions::plain(Some(9), 1) };
        let mut kept = RxProgram::load(&options).unwrap();
        for round in 0..20 {
            let mode = if round % 2 == 0 { AttachMode::Native } else { AttachMode::Generic };
            kept.attach(ifindex, "v0", mode).unwrap_or_else(|finding| panic!("round {round}: {finding}"));
            assert!(holder(ifindex).unwrap().is_some_and(|holder| holder.is_ours()));
            kept.detach();
            assert_eq!(holder(ifindex).unwrap(), None, "round {round}");
            let mut fresh = RxProgram::load(&options).unwrap();
            fresh.attach(ifindex, "v0", mode).unwrap_or_else(|finding| panic!("round {round}: {finding}"));
            drop(fresh);
            assert_eq!(holder(ifindex).unwrap(), None, "round {round}");
        }
    });
}
