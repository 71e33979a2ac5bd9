//! Where the result goes, how often progress is shown, and what makes a run a failure.

use super::{Condition, ConfigError, validate_interval};
use crate::units::Nanos;
use std::path::PathBuf;

/// The result and how it is judged. stdout carries the result only; progress and warnings go to stderr.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// JSON on stdout instead of text.
    pub json: bool,
    /// A file that takes the JSON as well, opened before the run.
    pub output: Option<PathBuf>,
    /// The time between two lines of progress.
    pub interval: Nanos,
    /// No progress on stderr.
    pub quiet: bool,
    /// Conditions under which the command exits with 1.
    pub fail_if: Vec<Condition>,
}

impl Default for Output {
    fn default() -> Self {
        Self { json: false, output: None, interval: Nanos::SECOND, quiet: false, fail_if: Vec::new() }
    }
}

impl Output {
    /// Output as typed.
    ///
    /// # Errors
    /// An interval below 100 ms, or a condition that is none.
    pub fn validate(
        json: bool,
        quiet: bool,
        output: Option<PathBuf>,
        interval: Option<&str>,
        fail_if: &[String],
    ) -> Result<Self, ConfigError> {
        let fail_if: Result<_, _> = fail_if.iter().map(|text| text.parse()).collect();
        Ok(Self { json, output, interval: validate_interval(interval)?, quiet, fail_if: fail_if? })
    }
}
