//! From a run to its result on stdout and in a file, its findings on stderr, and its exit code.

use super::{Failure, OutputFile};
use crate::config::{Condition, Output};
use crate::finding::{Code, Finding, Severity};
use crate::render;
use crate::report::Report;
use crate::sys::words::words;
use crate::verdict;
use std::io::{self, Write};
use std::process::ExitCode;

/// Runs a command and delivers what it made.
pub fn deliver(output: &Output, run: impl FnOnce() -> Result<Vec<Report>, Failure>) -> ExitCode {
    let result = match output.output.as_deref().map(OutputFile::open).transpose() {
        Ok(file) => run().map(|reports| (reports, file)),
        Err(finding) => Err(Failure::from(finding)),
    };
    match result {
        Ok((reports, file)) => publish(output, reports, file),
        Err(failure) => {
            tell(failure.findings());
            ExitCode::from(failure.exit_code())
        }
    }
}

fn publish(output: &Output, mut reports: Vec<Report>, file: Option<OutputFile>) -> ExitCode {
    let mut findings: Vec<Finding> = judge(&output.fail_if, &mut reports);
    let json = render::json(&reports);
    if let Some(Err(finding)) = file.map(|file| file.write(json.as_bytes())) {
        findings.push(finding);
    }
    if let Err(error) = print(output.json, &json, &reports) {
        findings.push(
            Finding::new(Code::OutputFile, Severity::Fail, "stdout", "the result could not be printed").why(words(&error)),
        );
    }
    tell(&findings);
    let failed = reports.iter().any(|report| report.has(Severity::Fail));
    ExitCode::from(u8::from(failed || !findings.is_empty()))
}

/// The conditions of `--fail-if`: those that hold, and those that no Report can answer, which must not pass silently.
/// A run of two ends is judged by whichever of them knows.
fn judge(conditions: &[Condition], reports: &mut [Report]) -> Vec<Finding> {
    let mut failed = Vec::new();
    for condition in conditions {
        let answers: Vec<bool> = reports.iter().filter_map(|report| verdict::holds(condition, report)).collect();
        let on = format!("--fail-if {condition}");
        if answers.contains(&true) {
            failed.push(Finding::new(Code::FailIf, Severity::Fail, on, "the condition holds"));
        } else if answers.is_empty() {
            let why = "the figures that it needs are unknown to this side";
            failed.push(Finding::new(Code::FailIf, Severity::Fail, on, "the condition cannot be judged").why(why));
        }
    }
    failed
}

fn print(as_json: bool, json: &str, reports: &[Report]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if as_json {
        stdout.write_all(json.as_bytes())?;
    } else {
        for report in reports {
            render::text(report, &mut stdout)?;
        }
    }
    stdout.flush()
}

/// Findings on stderr; a closed stderr is nobody's failure.
pub fn tell(findings: &[Finding]) {
    let mut stderr = io::stderr().lock();
    for finding in findings {
        let _ = writeln!(stderr, "{finding}");
    }
}
