//! Gives up what a process may do once it needs it no more. Capabilities are a thread's own: what a thread has when it
//! starts another one, that one has too. Knows no command; the user id stays what it is.

use crate::config::Output;
use crate::finding::{Code, Finding, Severity};
use caps::{CapSet, Capability, CapsHashSet};
use nix::sys::prctl;

/// What attaching anew and opening sockets takes, for a sink that may have to fall back to generic mode.
const TO_FALL_BACK: [Capability; 4] =
    [Capability::CAP_NET_ADMIN, Capability::CAP_NET_RAW, Capability::CAP_BPF, Capability::CAP_IPC_LOCK];
/// What putting the `--output` file in its place may take: root may write where only another user may.
const TO_WRITE: [Capability; 3] =
    [Capability::CAP_DAC_OVERRIDE, Capability::CAP_CHOWN, Capability::CAP_FOWNER];

/// What a thread still needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs {
    /// It may attach a program and open sockets once more.
    pub fall_back: bool,
    /// It writes the `--output` file at the end.
    pub output: bool,
}

impl Needs {
    /// Of a thread that delivers `output`.
    #[must_use]
    pub fn of(output: &Output) -> Self {
        Self { fall_back: false, output: output.output.is_some() }
    }

    fn capabilities(self) -> CapsHashSet {
        let mut kept = CapsHashSet::new();
        if self.output {
            kept.extend(TO_WRITE);
        }
        if self.fall_back {
            kept.extend(TO_FALL_BACK);
            // It stands in for CAP_BPF where that is missing.
            if !has(Capability::CAP_BPF) {
                kept.insert(Capability::CAP_SYS_ADMIN);
            }
        }
        kept
    }
}

/// Gives up every capability of the calling thread but those of `needs`, for ever; programs that it might start get
/// none back. `works` says whether an open BPF map can still be read: before Linux 5.19 that takes CAP_BPF where
/// kernel.unprivileged_bpf_disabled is set, which is then kept.
///
/// A note says what could not be given up.
pub fn reduce(needs: Needs, works: impl Fn() -> bool) -> Option<Finding> {
    // Without CAP_SETPCAP the bounding set stays, which only matters to programs that are started.
    for capability in caps::all() {
        let _ = caps::drop(None, CapSet::Bounding, capability);
    }
    let _ = prctl::set_no_new_privs();
    let mut kept = needs.capabilities();
    let lowered = lower(CapSet::Effective, &kept);
    let blind = !works();
    if blind {
        kept.insert(Capability::CAP_BPF);
    }
    let given_up =
        lowered.and_then(|()| lower(CapSet::Inheritable, &CapsHashSet::new())).and_then(|()| restrict(&kept));
    match given_up {
        Err(why) => Some(note("capabilities", "they could not be given up", why.to_string())),
        Ok(()) if blind => Some(note(
            "CAP_BPF",
            "it is kept until the end",
            "this kernel reads the counters of an XDP program only with it".to_owned(),
        )),
        Ok(()) => None,
    }
}

/// Gives up everything: for threads that only move frames, or only wait for others.
pub fn none() {
    // What stays of a thread that can do no more than its starter is told by the starter.
    let _ = reduce(Needs::default(), || true);
}

fn has(capability: Capability) -> bool {
    caps::has_cap(None, CapSet::Effective, capability).unwrap_or(false)
}

/// Takes everything out of a set but `kept`; adds nothing.
fn lower(set: CapSet, kept: &CapsHashSet) -> Result<(), caps::errors::CapsError> {
    let now = caps::read(None, set)?;
    caps::set(None, set, &now.intersection(kept).copied().collect())
}

/// Permits no more than `kept`, all of which is in effect again. The order is the kernel's: what is in effect must be
/// permitted.
fn restrict(kept: &CapsHashSet) -> Result<(), caps::errors::CapsError> {
    let permitted = caps::read(None, CapSet::Permitted)?;
    let left: CapsHashSet = permitted.intersection(kept).copied().collect();
    caps::set(None, CapSet::Effective, &left)?;
    caps::set(None, CapSet::Permitted, &left)
}

fn note(on: &str, what: &str, why: String) -> Finding {
    Finding::new(Code::PrivilegeKept, Severity::Info, on, what)
        .why(why)
        .remedy("nothing has to be done: no figure depends on it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_kept_and_no_more() {
        let output = |path: Option<&str>| Output { output: path.map(Into::into), ..Output::default() };
        assert!(Needs::of(&output(None)).capabilities().is_empty());
        assert_eq!(Needs::of(&output(Some("x"))).capabilities(), CapsHashSet::from(TO_WRITE));
        let both = Needs { fall_back: true, output: true }.capabilities();
        assert!(TO_FALL_BACK.iter().chain(&TO_WRITE).all(|capability| both.contains(capability)));
        assert!(!both.contains(&Capability::CAP_SYS_PTRACE));
    }

    /// In a thread of its own, since nothing comes back.
    #[test]
    fn a_thread_that_gave_up_everything_has_nothing() {
        let sets = std::thread::spawn(|| {
            none();
            [CapSet::Effective, CapSet::Permitted, CapSet::Inheritable]
                .map(|set| caps::read(None, set).unwrap())
        });
        assert!(sets.join().unwrap().iter().all(CapsHashSet::is_empty));
    }

    #[test]
    fn a_map_that_cannot_be_read_keeps_its_capability() {
        let finding = std::thread::spawn(|| {
            let had = caps::has_cap(None, CapSet::Permitted, Capability::CAP_BPF).unwrap();
            let finding = reduce(Needs::default(), || false);
            assert_eq!(has(Capability::CAP_BPF), had);
            finding
        });
        assert_eq!(finding.join().unwrap().unwrap().code, Code::PrivilegeKept);
    }
}
