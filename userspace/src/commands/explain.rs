//! `explain`: the catalogue of findings, one entry as text or all of them as Markdown. Knows the catalogue only.

use crate::cli::ExplainArgs;
use crate::finding::{Code, Entry, Said, Severity};
use std::io::{self, Write};

const INTRODUCTION: &str = "\
# Findings

Every warning and failure of xsk-gen is a *finding*: a stable code, what happened, on what, why, and what to do about
it. Findings stand on stderr and in the Report (`findings[].code`), and scripts may rely on the codes. This page is the
output of `xsk-gen explain`; `xsk-gen explain CODE` prints one entry.

The exit code is that of the finding alone. A Report that holds an error ends with 1 whatever else it holds, one that
holds warnings and notes only with 0.
";

/// Writes one entry as text, or all of them as Markdown.
///
/// # Errors
/// What writing to `out` gives.
pub fn run(args: &ExplainArgs, out: &mut impl Write) -> io::Result<()> {
    match args.finding() {
        Some(code) => out.write_all(text(code).as_bytes()),
        None => out.write_all(markdown().as_bytes()),
    }
}

/// One entry as text; Markdown's backticks would only be in the way of what is to be typed.
#[must_use]
pub fn text(code: Code) -> String {
    let Entry { meaning, cause, remedy, said } = code.entry();
    let ends: String = said.iter().map(|said| format!("  {}\n", ending(*said))).collect();
    let text = format!("{}: {meaning}\n  why: {cause}\n  try: {remedy}\n{ends}", code.name());
    text.replace('`', "")
}

/// The whole catalogue as Markdown.
#[must_use]
pub fn markdown() -> String {
    Code::all().fold(INTRODUCTION.to_owned(), |page, code| page + "\n" + &section(code))
}

fn section(code: Code) -> String {
    let Entry { meaning, cause, remedy, said } = code.entry();
    let ends: String = said.iter().map(|said| format!("- {}\n", ending(*said))).collect();
    format!("## {}\n\n{meaning}\n\n- why: {cause}\n- try: {remedy}\n{ends}", code.name())
}

/// Who says it, as what, and how the command ends.
fn ending(said: Said) -> String {
    let Said { by, end } = said;
    format!("{}: {}: {}, exit code {}", word(end.severity()), by.words(), end.words(), end.exit_code())
}

/// The severity as JSON has it.
fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warn => "warn",
        Severity::Fail => "fail",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_all_of_its_entry() {
        let text = text(Code::Memlock);
        assert!(text.starts_with("memlock: The packet memory"), "{text}");
        assert!(text.contains("\n  try: ulimit -l KIB"), "{text}");
        assert!(text.ends_with("  fail: tx, rx, demo: error before the run, exit code 3\n"), "{text}");
    }

    #[test]
    fn the_page_has_each_code_once_and_in_order() {
        let page = markdown();
        let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, Code::all().map(Code::name).collect::<Vec<_>>());
    }
}
