//! What people read, kept as files under tests/snapshots: the help of each command, and Reports as text.
//! `XSK_GEN_BLESS=1 cargo test --test snapshots` writes them anew, for the diff to be read.
#![allow(clippy::unwrap_used, reason = "a failed test is a panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use xsk_gen::render;
use xsk_gen::report::Report;

fn snapshot_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/snapshots").join(name)
}

/// Compares with the file of that name, exactly.
fn assert_snapshot(name: &str, text: &str) {
    let path = snapshot_path(name);
    if std::env::var_os("XSK_GEN_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{name} has changed; bless it with XSK_GEN_BLESS=1 if that is meant. Now:\n{text}");
}

/// Help is wrapped to the terminal: no terminal, and 100 columns.
fn help(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xsk-gen"));
    command.args(args).stdin(Stdio::null()).env("COLUMNS", "100").env("NO_COLOR", "1");
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_of_each_command() {
    assert_snapshot("help.txt", &help(&["--help"]));
    assert_snapshot("help-short.txt", &help(&["-h"]));
    for command in ["tx", "rx", "reflect", "demo", "explain", "schema", "completions", "man"] {
        assert_snapshot(&format!("help-{command}.txt"), &help(&[command, "--help"]));
    }
}

fn shown(sample: &str) -> String {
    let report: Report = serde_json::from_str(sample).unwrap();
    let mut out = Vec::new();
    render::text(&report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_full_report() {
    assert_snapshot("report-full.txt", &shown(include_str!("samples/report-full.json")));
}

#[test]
fn a_report_of_unknowns_shows_no_zero() {
    let text = shown(include_str!("samples/report-sparse.json"));
    assert_snapshot("report-sparse.txt", &text);
    let figures = text.lines().skip_while(|line| !line.trim_start().starts_with("path"));
    assert!(figures.clone().count() > 5);
    assert!(!figures.collect::<String>().contains('0'), "{text}");
}
