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
        let sender = [&["--json", "--quiet", "--seed", "7"], both, sender, &SHORT[..]].concat();
        let tx = only(&reports(&lab.start(End::A, "tx", &sender).wait(RUN).expect_code(0)));
        let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
        check(&tx, &rx);
        assert!(*tx.at("/offered/seed") == 7 && *rx.at("/offered/seed") == 7, "{rx}");
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

/// Frames that arrived, by their size.
fn sizes(rx: &Report) -> Vec<(u64, u64)> {
    let rows = rx.at("/sizes").as_array().unwrap().iter();
    rows.map(|row| (row["from_bytes"].as_u64().unwrap(), row["frames"].as_u64().unwrap())).collect()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_simple_imix_arrives_as_seven_to_four_to_one() {
    if !require_root() {
        return;
    }
    let imix = examples().into_iter().find(|path| path.ends_with("imix.toml")).unwrap();
    let imix = imix.to_str().unwrap();
    let args = ["demo", "--json", "--quiet", "--stream", imix, "--rate", "200kpps", "--duration", "2"];
    let (tx, rx) = tx_and_rx(&Running::xsk_gen(&args).wait(RUN).expect_code(0));
    tx.check_full_books();
    rx.check_full_books();
    let (rows, all) = (sizes(&rx), rx.known("probes"));
    assert_eq!(rows.iter().map(|(_, frames)| frames).sum::<u64>(), all);
    for ((size, frames), (expected, weight)) in rows.iter().zip([(64, 7), (594, 4), (1518, 1)]) {
        let due = all as f64 * f64::from(weight) / 12.0;
        assert_eq!((*size, rows.len()), (expected, 3));
        assert!((*frames as f64 / due - 1.0).abs() < 0.01, "{rows:?}");
    }
    // The rate in bits is that of the lengths as they are mixed: 12 frames of 4,342 bytes.
    let (pps, l2) = (rx.at("/rates/pps").as_f64().unwrap(), rx.at("/rates/l2_bps").as_f64().unwrap());
    assert!((l2 / (pps * 4_342.0 / 12.0 * 8.0) - 1.0).abs() < 0.01, "{pps} {l2}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn each_stream_has_books_of_its_own() {
    if !require_root() {
        return;
    }
    let mixed = examples().into_iter().find(|path| path.ends_with("mixed.toml")).unwrap();
    let args = ["demo", "--json", "--quiet", "--stream", mixed.to_str().unwrap(), "--queues", "0-1"];
    let (tx, rx) = tx_and_rx(&Running::xsk_gen(&[&args[..], &SHORT].concat()).wait(RUN).expect_code(0));
    check(&tx, &rx);
    let rows = |report: &Report| report.at("/streams").as_array().unwrap().clone();
    let (sent, received) = (rows(&tx), rows(&rx));
    // Two workers of three streams each, in tens of frames as six to three to one.
    assert_eq!((sent.len(), received.len()), (6, 6), "{rx}");
    for (sent, received) in sent.iter().zip(&received) {
        let of = |row: &serde_json::Value, name: &str| row[name].as_u64().unwrap();
        for name in ["space", "stream", "completed"] {
            assert_eq!(of(sent, name), of(received, name), "{rx}");
        }
        assert_eq!(sent["name"], received["name"]);
        assert_eq!(of(received, "completed"), of(received, "unique") + of(received, "lost"), "{rx}");
        let weight = [1_200, 600, 200][usize::try_from(of(sent, "stream")).unwrap()];
        assert_eq!(of(sent, "completed"), weight, "{tx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_rate_in_bits_counts_sizes_as_they_are_mixed() {
    if !require_root() {
        return;
    }
    let args = ["demo", "--json", "--quiet", "--size", "imix", "--rate", "20Mbps", "--duration", "2"];
    let (tx, _) = tx_and_rx(&Running::xsk_gen(&args).wait(RUN).expect_code(0));
    let asked = tx.at("/offered/rate_l1_bps").as_f64().unwrap();
    assert!((asked - 20e6).abs() < 1.0, "{tx}");
    // What was due and not sent included: the asked rate, to the last frame of the pattern.
    let due = tx.known("completed") + tx.known("shortfall");
    let expected = 20e6 * 2.0 / ((4_342.0 / 12.0 + 20.0) * 8.0);
    assert!((due as f64 / expected - 1.0).abs() < 0.002, "{due} beside {expected}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_without_room_for_a_probe_are_counted_by_the_sender_alone() {
    if !require_root() {
        return;
    }
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    let streams = "[[stream]]\nname = \"short\"\nsize = 64\nlayers = [ { ethernet = {} }, { vlan = { id = 5 } }, \
                   { ipv4 = {} }, { udp = {} } ]\n[[stream]]\nname = \"told\"\nsize = 128\n";
    std::fs::write(file.path(), streams).unwrap();
    let args =
        [&["demo", "--json", "--quiet", "--stream", file.path().to_str().unwrap()], &SHORT[..]].concat();
    let (tx, rx) = tx_and_rx(&Running::xsk_gen(&args).wait(RUN).expect_code(0));
    tx.check_full_books();
    rx.check_full_books();
    assert!(tx.has_finding("stream-unnumbered"), "{tx}");
    assert_eq!((tx.known("completed"), rx.known("completed")), (4_000, 2_000), "{rx}");
    assert_eq!(tx.at("/streams/0/numbered"), &serde_json::Value::Bool(false), "{tx}");
}

#[test]
fn the_example_of_the_readme_is_a_stream_file() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let example = readme.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), example).unwrap();
    let args = ["tx", "--dry-run", "--stream", file.path().to_str().unwrap()];
    let shown = Running::xsk_gen(&args).wait(RUN).expect_code(0).stdout.clone();
    assert!(shown.starts_with("voice: 218 bytes"), "{shown}");
}
