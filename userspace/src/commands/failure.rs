//! How a command ends early: what held it up, and the exit code that says so.

use crate::finding::{Code, Finding, Severity};
use std::io;

/// Why a command made no Report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Preflight found something in the way; nothing was attached or sent. Exit code 3, or 2 without an interface.
    Blocked(Vec<Finding>),
    /// The run began and failed. Exit code 1.
    Failed(Vec<Finding>),
}

impl Failure {
    /// The process's exit code: an interface that was not named and cannot be guessed is a matter of usage.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Blocked(findings) if findings.iter().any(|f| f.code == Code::InterfaceChoice) => 2,
            Self::Blocked(_) => 3,
        }
    }

    /// What to tell the user.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Blocked(findings) | Self::Failed(findings) => findings,
        }
    }

    /// A run that a signal ended before its first frame.
    pub fn interrupted(iface: &str) -> Self {
        let what = "a signal came before the first frame; there is nothing to report";
        Self::Failed(vec![Finding::new(Code::Interrupted, Severity::Fail, iface, what)])
    }

    /// A run that failed in the middle, for a reason of the system's.
    pub fn system(on: impl Into<String>, what: impl Into<String>, error: &io::Error) -> Self {
        Self::Failed(vec![system_finding(on, what, error)])
    }
}

impl From<Finding> for Failure {
    /// A single finding in the way.
    fn from(finding: Finding) -> Self {
        Self::Blocked(vec![finding])
    }
}

/// A finding for a system call that failed in a way that has no finding of its own.
pub fn system_finding(on: impl Into<String>, what: impl Into<String>, error: &io::Error) -> Finding {
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default().to_lowercase();
    Finding::new(Code::System, Severity::Fail, on, what)
        .why(format!("the kernel said: {words}"))
        .remedy("run it again; if it stays, report it with the output of `xsk-gen --version` and `uname -r`")
}
