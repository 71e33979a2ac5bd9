//! `xsk-gen explain`: each code is explained, docs/findings.md is the whole of it, and a code that is not there is usage.
//! `XSK_GEN_BLESS=1 cargo test --test explain` writes the page anew.
#![allow(clippy::unwrap_used, reason = "a failed test is a panic")]

use std::path::Path;
use std::process::{Command, Output, Stdio};
use xsk_gen::finding::Code;

fn explain(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xsk-gen"));
    command.arg("explain").args(args).stdin(Stdio::null()).env("NO_COLOR", "1").output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = explain(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_page_of_findings_is_what_the_command_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/findings.md");
    let page = printed(&[]);
    if std::env::var_os("XSK_GEN_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "docs/findings.md is not what explain prints: XSK_GEN_BLESS=1 writes it anew");
}

#[test]
fn each_code_is_explained_with_its_exit_code() {
    for code in Code::all() {
        let text = printed(&[code.name()]);
        let entry = code.entry();
        assert!(text.starts_with(&format!("{}: ", code.name())), "{text}");
        assert_eq!(text.matches(", exit code ").count(), entry.said.len(), "{text}");
        assert!(!text.contains('`') && text.lines().count() == 3 + entry.said.len(), "{text}");
    }
}

#[test]
fn a_code_that_is_not_there_is_usage_and_near_ones_are_named() {
    for (typed, near) in [("memlok", "memlock"), ("MEMLOCK", "memlock"), ("queue", "queue-busy")] {
        let output = explain(&[typed]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(output.stdout.is_empty() && message.contains(typed) && message.contains(near), "{message}");
    }
    assert_eq!(explain(&["memlock", "system"]).status.code(), Some(2));
    assert_eq!(explain(&[""]).status.code(), Some(2));
}
