//! Every finding is provoked by a test: a code that no test names is either in the table of those that no test here can
//! provoke, with the reason, or a hole. A code that is in the table and tested has no business there.
//!
//! A test names a code as a string of its own or in brackets ("memlock", "[memlock]"), or as `Code::Memlock`. Under
//! userspace/src only what follows `#[cfg(test)]`, and files of tests, count.
#![allow(clippy::unwrap_used, reason = "a failed test is a panic")]

use std::fs;
use std::path::{Path, PathBuf};
use xsk_gen::finding::Code;

/// Codes that no test on a development machine can provoke.
const UNPROVOKED: &[(Code, &str)] =
    &[(Code::NoStampRoom, "veth, tap and generic mode leave 256 bytes in front of every frame")];

/// Files that go through all codes and so prove nothing of any.
const CATALOGUES: [&str; 2] = ["findings.rs", "explain.rs"];

/// What stands before a string that is the name of a figure and not of a finding.
const FIGURES: [&str; 4] = ["known(", "term(", "at(", "counter("];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    assert!(found.len() > 10, "{folder} has sources");
    found
}

/// The text of every test, without that of this one and its like.
fn tests() -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let outside = files("../tests").into_iter().filter(|path| !CATALOGUES.contains(&name(path).as_str()));
    let mut texts: Vec<String> = outside.map(|path| fs::read_to_string(path).unwrap()).collect();
    for path in files("src") {
        let text = fs::read_to_string(&path).unwrap();
        if name(&path).ends_with("tests.rs") {
            texts.push(text);
        } else if let Some((_, inside)) = text.split_once("#[cfg(test)]") {
            texts.push(inside.to_owned());
        }
    }
    texts
}

/// Whether a text names the code as something that is expected, and not as the material of a test.
fn names(text: &str, code: Code) -> bool {
    let variant = format!("Code::{code:?}");
    let string = format!("\"{}\"", code.name());
    let is_figure = |before: &str| FIGURES.iter().any(|figure| before.ends_with(figure));
    let expected = text.match_indices(&variant).any(|(at, found)| {
        let after = text[at + found.len()..].chars().next();
        !text[..at].ends_with("Finding::new(") && !after.is_some_and(char::is_alphanumeric)
    });
    expected
        || text.match_indices(&string).any(|(at, _)| !is_figure(&text[..at]))
        || text.contains(&format!("[{}]", code.name()))
}

#[test]
fn every_code_is_tested_or_excused_with_a_reason() {
    let texts = tests();
    let mut wrong = Vec::new();
    for code in Code::all() {
        let tested = texts.iter().any(|text| names(text, code));
        let excused = UNPROVOKED.iter().any(|(other, _)| *other == code);
        match (tested, excused) {
            (false, false) => wrong.push(format!("{}: no test names it", code.name())),
            (true, true) => wrong.push(format!("{}: a test names it; take it out of the table", code.name())),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn reasons_are_given() {
    assert!(UNPROVOKED.iter().all(|(_, reason)| reason.len() > 20));
}

#[test]
fn a_figure_or_a_made_up_finding_is_no_test_of_a_code() {
    for (text, expected) in [
        ("assert!(rx.has_finding(\"shortfall\"))", true),
        ("finished.stderr.contains(\"[shortfall]\")", true),
        ("assert_eq!(finding.code, Code::Shortfall);", true),
        ("tx.known(\"shortfall\")", false),
        ("Finding::new(Code::Shortfall, Severity::Warn)", false),
        ("Code::ShortfallOfAnother", false),
        ("the shortfall of a run", false),
    ] {
        assert_eq!(names(text, Code::Shortfall), expected, "{text}");
    }
}
