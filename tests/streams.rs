//! Streams that are not plain, from a sender to a sink: by a file, and by flags that both ends are given.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;
use support::{End, NetLab, Report, Running, only, reports, require_root, sink, tx_and_rx};

const RUN: Duration = Duration::from_secs(60);
/// A run of a fifth of a second, at a rate that a busy machine of two cores receives.
const SHORT: [&str; 4] = ["--count", "4000", "--rate", "20kpps"];

/// Everything that was sent was received and recognised, or the kernel says that it dropped it.
fn check(tx: &Report, rx: &Report) {
    tx.check_full_books();
    rx.check_full_books();
    assert_eq!((tx.known("completed"), rx.known("completed")), (4_000, 4_000), "{rx}");
    assert_eq!((rx.known("rejected"), rx.known("unexplained"), rx.known("duplicate")), (0, 0, 0), "{rx}");
    assert!(rx.known("unique") > 0, "{rx}");
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn each_example_arrives_over_the_demo() {
    if !require_root() {
        return;
    }
    for path in examples() {
        let args = [&["demo", "--json", "--quiet", "--stream", path.to_str().unwrap()], &SHORT[..]].concat();
        let (tx, rx) = tx_and_rx(&Running::xsk_gen(&args).wait(RUN).expect_code(0));
        check(&tx, &rx);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn both_ends_are_given_the_same_flags_or_the_same_file() {
    let mixed = examples().into_iter().find(|path| path.ends_with("mixed.toml")).unwrap();
    let file = ["--stream", mixed.to_str().unwrap()];
    let cases: [(&[&str], &[&str]); 5] = [
        (&["--vxlan", "5"], &["--vlan", "3", "--flows", "8", "--size", "118-1518"]),
        (&["--gtpu", "7", "--ipv6"], &["--dscp", "46", "--ttl", "9"]),
        (&["--tcp", "syn,ack", "--mpls", "16,17"], &["--size", "imix:cdb"]),
        (&["--gre"], &[]),
        (&file, &[]),
    ];
    for (both, sender) in cases {
        let Some(lab) = NetLab::new(1) else { return };
        let rx = sink(&lab, both);
        let sender = [&["--json", "--quiet"], both, sender, &SHORT[..]].concat();
        let tx = only(&reports(&lab.start(End::A, "tx", &sender).wait(RUN).expect_code(0)));
        check(&tx, &only(&reports(&rx.interrupt(RUN).expect_code(0))));
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_that_was_told_nothing_leaves_a_tunnel_to_the_stack() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let sender = [&["--json", "--quiet", "--vxlan", "5"], &SHORT[..]].concat();
    lab.start(End::A, "tx", &sender).wait(RUN).expect_code(0);
    let report = only(&reports(&rx.interrupt(RUN)));
    assert_eq!((report.known("unique"), report.known("lost")), (0, 4_000), "{report}");
}
