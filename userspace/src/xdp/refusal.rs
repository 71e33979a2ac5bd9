//! What a loader's error says: the kernel's error number and its words. Knows neither what was asked nor what to do.

use aya::programs::{ProgramError, xdp::XdpError};
use nix::errno::Errno;
use std::error::Error;
use std::io;

/// A request that the kernel, or the loader before it, did not grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The kernel's error number, where it gave one.
    pub(super) errno: Option<Errno>,
    /// What it said besides: the driver's or the verifier's words, or the loader's own. May be empty.
    pub(super) words: String,
}

/// Lines of the verifier's log that are kept: the instruction that it refused and the reason come last.
const VERIFIER_LINES: usize = 3;

impl Refusal {
    /// What any error says, with its sources.
    pub(super) fn new(error: &(dyn Error + 'static)) -> Self {
        let mut said = String::new();
        for error in
            std::iter::successors(Some(error), |error: &&(dyn Error + 'static)| Error::source(*error))
        {
            let text = format!("{error:#}");
            // Some errors print their source themselves.
            if !said.contains(&text) {
                said.push_str(if said.is_empty() { "" } else { ": " });
                said.push_str(&text);
            }
        }
        Self::parse(&said)
    }

    /// What aya says of a program.
    pub(super) fn of_program(error: &ProgramError) -> Self {
        match error {
            ProgramError::LoadError { io_error, verifier_log } => Self {
                errno: io_error.raw_os_error().map(Errno::from_raw),
                words: last_lines(&verifier_log.to_string()),
            },
            ProgramError::XdpError(XdpError::NetlinkError(error)) => Self {
                errno: error.raw_os_error().map(Errno::from_raw),
                words: driver_words(&error.to_string()),
            },
            other => Self::new(other),
        }
    }

    /// Takes the number out of a text, and the C library's words for it. libbpf-rs hides its `io::Error`, so the
    /// text is all that there is.
    fn parse(text: &str) -> Self {
        let number = |rest: &str| rest.split(')').next()?.parse().ok().map(Errno::from_raw);
        let parts = text.split_once(" (os error ").and_then(|(words, rest)| Some((words, number(rest)?)));
        let Some((words, errno)) = parts else {
            return Self { errno: None, words: text.to_owned() };
        };
        // The C library's words for the number, or nix's, which differ for some.
        let known = io::Error::from_raw_os_error(errno as i32).to_string();
        let known = known.split(" (os error").next().unwrap_or_default();
        let words = words.strip_suffix(errno.desc()).or_else(|| words.strip_suffix(known)).unwrap_or(words);
        let words = words.trim_end_matches(": ");
        // aya names the call, which only a programmer understands.
        let is_call = words.starts_with('`') && words.ends_with("` failed");
        let words = if is_call { "" } else { words };
        Self { errno: Some(errno), words: words.to_owned() }
    }

    /// Whether something else was in the way.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.errno, Some(Errno::EBUSY | Errno::EEXIST))
    }

    /// All of it in words: what the number means, then what was said.
    pub(super) fn reason(&self) -> String {
        match (self.errno, self.words.as_str()) {
            (None, "") => "no reason was given".to_owned(),
            (None, words) => words.to_owned(),
            (Some(errno), "") => words(errno).to_owned(),
            (Some(errno), said) => format!("{}: {said}", words(errno)),
        }
    }
}

/// What an error number means here, in words.
pub(super) fn words(errno: Errno) -> &'static str {
    match errno {
        Errno::EPERM | Errno::EACCES => "the process may not do this",
        Errno::EBUSY | Errno::EEXIST => "something else holds it",
        Errno::EOPNOTSUPP => "the kernel or the driver does not support it",
        Errno::EINVAL => "the kernel or the driver does not accept it",
        Errno::ERANGE => "a size is beyond what the driver accepts",
        Errno::ENOMEM => "the kernel has no memory for it, or the driver no queues",
        Errno::ENOSPC => "the driver or the map has no room for it",
        Errno::ENODEV => "there is no such interface",
        Errno::ENETDOWN => "the interface is down",
        Errno::ENOSYS => "the kernel was built without it",
        Errno::E2BIG => "the kernel does not accept so much",
        Errno::EBADF => "the file descriptor is closed or of another kind",
        other => other.desc(),
    }
}

fn last_lines(log: &str) -> String {
    // The verifier's account of its own work, which follows the reason.
    let account = ["processed ", "verification time ", "stack depth "];
    let is_said = |line: &&str| !line.is_empty() && !account.iter().any(|start| line.starts_with(start));
    let said: Vec<&str> = log.lines().map(str::trim).filter(is_said).collect();
    said[said.len().saturating_sub(VERIFIER_LINES)..].join("; ")
}

/// The driver's words (netlink's extended acknowledgement) out of aya's `netlink error: ["…"]`.
fn driver_words(text: &str) -> String {
    let list = text.strip_prefix("netlink error: ").unwrap_or(text);
    list.trim_matches(['[', ']']).replace("\", \"", "; ").trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_leaves_the_words() {
        let refusal = Refusal::new(&libbpf_rs::Error::from_raw_os_error(1));
        assert_eq!(refusal.errno, Some(Errno::EPERM));
        assert_eq!(refusal.reason(), "the process may not do this");
        let refusal = Refusal::new(&aya::sys::SyscallError {
            call: "bpf_link_create",
            io_error: io::Error::from_raw_os_error(16),
        });
        assert_eq!(refusal.errno, Some(Errno::EBUSY));
        assert_eq!(refusal.reason(), "something else holds it");
        let unsupported = Refusal::new(&io::Error::from_raw_os_error(95));
        assert_eq!(unsupported.reason(), "the kernel or the driver does not support it");
    }

    #[test]
    fn the_verifier_is_quoted_by_its_last_words() {
        let log = "0: R1=ctx\n1: (b7) r0 = 0\n2: (61) r1 = *(u32 *)(r2 +0)\nR2 !read_ok\n\
                   verification time 9 usec\nstack depth 0\nprocessed 3 insns\n";
        assert_eq!(last_lines(log), "1: (b7) r0 = 0; 2: (61) r1 = *(u32 *)(r2 +0); R2 !read_ok");
        assert_eq!(last_lines(""), "");
    }

    #[test]
    fn the_driver_is_quoted_without_brackets() {
        assert_eq!(
            driver_words("netlink error: [\"MTU too large\", \"try 1500\"]"),
            "MTU too large; try 1500"
        );
        assert_eq!(driver_words("netlink error: []"), "");
    }
}
