//! One vocabulary of trouble: every failure and warning is a [`Finding`], written once and used by preflight, mapped
//! system-call errors and the Report. Knows nothing of where it is shown.

mod catalogue;
mod code;

pub use catalogue::{By, End, Entry, Said};
pub use code::Code;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; changes no figure.
    Info,
    /// A figure may be lower than it could be, or mean something else than it seems to.
    Warn,
    /// The command cannot do its job, or a figure is wrong.
    Fail,
}

/// One piece of trouble, complete: a reader needs nothing else to act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The stable name.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What happened, in one sentence.
    pub what: String,
    /// The interface, queue, core, file or flag that it is about.
    pub on: String,
    /// Why it matters or how it comes about.
    pub why: String,
    /// What to type or change.
    pub remedy: String,
}

impl Finding {
    /// A finding with its three sentences; `on` names the subject.
    pub fn new(code: Code, severity: Severity, on: impl Into<String>, what: impl Into<String>) -> Self {
        Self { code, severity, what: what.into(), on: on.into(), why: String::new(), remedy: String::new() }
    }

    /// Adds why it matters.
    #[must_use]
    pub fn why(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Info => "note",
            Severity::Warn => "warning",
            Severity::Fail => "error",
        };
        write!(f, "{word}: {}: {} [{}]", self.on, self.what, self.code.name())?;
        if !self.why.is_empty() {
            write!(f, "\n  why: {}", self.why)?;
        }
        if !self.remedy.is_empty() {
            write!(f, "\n  try: {}", self.remedy)?;
        }
        Ok(())
    }
}
