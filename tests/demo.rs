//! `xsk-gen demo`, which makes its own namespaces: the books of both sides, and queues that share the work.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::{Finished, Report, Running, require_root, tx_and_rx, until};

fn demo(args: &[&str]) -> Finished {
    let all = [&["demo", "--json", "--quiet"], args].concat();
    Running::xsk_gen(&all).wait(Duration::from_secs(60)).expect_code(0)
}

/// What holds of every pair of Reports: each side's books, and both sides name the same number of frames sent.
fn check_pair(tx: &Report, rx: &Report) {
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!(tx.known("completed"), rx.known("completed"), "{rx}");
    assert_eq!(tx.known("completed"), rx.known("unique") + rx.known("lost"), "{rx}");
    assert_eq!(rx.known("unexplained"), 0, "{rx}");
    assert_eq!(tx.text("/id"), rx.text("/id"));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_million_frames_at_100_kpps_are_all_accounted_for() {
    if !require_root() {
        return;
    }
    let finished = demo(&["--size", "64", "--count", "1000000", "--rate", "100kpps"]);
    let (tx, rx) = tx_and_rx(&finished);
    check_pair(&tx, &rx);
    assert_eq!(tx.known("completed"), 1_000_000, "{tx}");
    assert_eq!(rx.text("/setup/xdp_mode"), "native");
    let lost = rx.known("lost");
    assert!(lost == 0 || (lost == rx.known("kernel_drops") && rx.has_finding("receiver-slow")), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_books_balance_when_the_receiver_cannot_keep_up() {
    if !require_root() {
        return;
    }
    for _ in 0..3 {
        let (tx, rx) = tx_and_rx(&demo(&["--rate", "max", "--duration", "1"]));
        check_pair(&tx, &rx);
        assert!(rx.known("unique") > 0, "{rx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn two_queues_carry_their_share_and_agree_with_the_sum() {
    if !require_root() {
        return;
    }
    let args = ["--queues", "0-1", "--flows", "64", "--rate", "50kpps", "--duration", "1"];
    let (tx, rx) = tx_and_rx(&demo(&args));
    check_pair(&tx, &rx);
    for (report, total) in [(&tx, "completed"), (&rx, "probes")] {
        let frames = report.frames_by_queue();
        assert_eq!(frames.len(), 2, "{report}");
        assert!(frames.iter().all(|&n| n > 0), "{report}");
        assert_eq!(frames.iter().sum::<u64>(), report.known(total), "{report}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn ctrl_c_lets_the_sink_hear_the_end() {
    if !require_root() {
        return;
    }
    let args = ["demo", "--json", "--interval", "200ms", "--duration", "60", "--rate", "10kpps"];
    let running = Running::xsk_gen(&args);
    until("frames to arrive", Duration::from_secs(15), || {
        running.stderr().lines().filter(|line| line.starts_with("rx") && line.contains("pps")).count() > 1
    });
    let finished = running.interrupt(Duration::from_secs(10)).expect_code(0);
    assert!(finished.took < Duration::from_secs(1), "it took {:?}", finished.took);
    let (tx, rx) = tx_and_rx(&finished);
    check_pair(&tx, &rx);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_that_hears_nothing_of_its_sender_ends_with_it() {
    if !require_root() {
        return;
    }
    let args = ["demo", "--json", "--quiet", "--match", "l2", "--count", "1000", "--rate", "10kpps"];
    let finished = Running::xsk_gen(&args).wait(Duration::from_secs(10)).expect_code(1);
    let (tx, rx) = tx_and_rx(&finished);
    assert_eq!((tx.known("completed"), rx.known("received")), (1_000, 0), "{rx}");
    assert!(rx.has_finding("nothing-received"), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn rings_shorter_than_a_batch_carry_every_frame() {
    if !require_root() {
        return;
    }
    for ring in ["1", "16"] {
        let (tx, _) = tx_and_rx(&demo(&["--count", "500", "--rate", "5kpps", "--ring", ring]));
        assert_eq!((tx.known("completed"), tx.known("in_flight")), (500, 0), "{tx}");
        assert_eq!(tx.at("/setup/ring_size").as_u64().map(|n| n.to_string()).as_deref(), Some(ring));
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn queues_share_a_low_rate_and_a_core() {
    if !require_root() {
        return;
    }
    let args = ["--queues", "0-3", "--flows", "4", "--cores", "0", "--rate", "10pps", "--duration", "0.5"];
    let (tx, rx) = tx_and_rx(&demo(&args));
    assert_eq!((tx.known("completed"), rx.known("unique")), (5, 5), "{tx}");
    assert!(tx.has_finding("cores-shared"), "{tx}");
}
