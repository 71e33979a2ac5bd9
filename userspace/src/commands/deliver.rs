//! From a run to its result on stdout and in a file, its findings on stderr, and its exit code.

use super::{Failure, OutputFile, verdict};
use crate::config::Output;
use crate::finding::{Code, Finding, Severity};
use crate::render;
use crate::report::Report;
use crate::sys::words::words;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Runs a command and delivers what it made.
pub fn deliver(output: &Output, run: impl FnOnce() -> Result<Vec<Report>, Failure>) -> ExitCode {
    let file = match output.output.as_deref().map(OutputFile::open).transpose() {
        Ok(file) => file,
        Err(finding) => return fail(&finding.into()),
    };
    match run() {
        Ok(reports) => publish(output, reports, file),
        Err(failure) => {
            file.into_iter().for_each(OutputFile::discard);
            fail(&failure)
        }
    }
}

fn fail(failure: &Failure) -> ExitCode {
    tell(failure.findings());
    ExitCode::from(failure.exit_code())
}

fn publish(output: &Output, mut reports: Vec<Report>, file: Option<OutputFile>) -> ExitCode {
    judge(output, &mut reports);
    let mut json = Vec::new();
    let mut findings = Vec::new();
    let written = render::json(&reports, &mut json);
    if let Some(Err(finding)) = file.map(|file| file.write(&json)) {
        findings.push(finding);
    }
    let printed = written.and_then(|()| print(output.json, &json, &reports)).err();
    if output.json || printed.is_some() || !io::stdout().is_terminal() {
        tell_failures(&reports);
    }
    // A reader that has seen enough, such as `head`, is no failure.
    if let Some(error) = printed.filter(|error| error.kind() != io::ErrorKind::BrokenPipe) {
        findings.push(
            Finding::new(Code::OutputFile, Severity::Fail, "stdout", "the result could not be printed")
                .why(words(&error)),
        );
    }
    tell(&findings);
    let failed = reports.iter().any(|report| report.has(Severity::Fail));
    ExitCode::from(u8::from(failed || !findings.is_empty()))
}

/// Says on stderr why the command fails, where no text on a terminal has said it.
fn tell_failures(reports: &[Report]) {
    let failures = reports.iter().flat_map(|report| &report.findings);
    tell(&failures.filter(|finding| finding.severity == Severity::Fail).cloned().collect::<Vec<_>>());
}

/// Adds the verdict of `--fail-if` to the last Report: of two ends the sink's, whose count is delivery.
fn judge(output: &Output, reports: &mut [Report]) {
    let verdict = verdict::judge(&output.fail_if, reports);
    if let Some(last) = reports.last_mut() {
        last.findings.extend(verdict);
    }
}

fn print(as_json: bool, json: &[u8], reports: &[Report]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    if as_json {
        stdout.write_all(json)?;
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
