//! A question that the kernel refused, as a finding. Knows no question.

use crate::finding::{Code, Finding, Severity};
use crate::sys::words::words;
use std::io;

/// The finding for a failed question: `on` is its subject, `question` completes "the kernel did not …".
pub(super) fn refused(on: &str, question: &str, error: &io::Error) -> Finding {
    Finding::new(Code::System, Severity::Fail, on, format!("the kernel did not {question}: {}", words(error)))
        .why("without this fact nothing can be sent or received there")
        .remedy("check that the program may open netlink sockets here (containers and seccomp profiles may forbid it)")
}
