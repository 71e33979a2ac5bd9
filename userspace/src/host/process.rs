//! What this process may do: capabilities, locked memory, cores. Changes none of it.

use super::number_list;
use crate::finding::{Code, Finding, Severity};
use caps::CapSet;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use std::fs;

pub use caps::Capability;

/// A capability that every command over AF_XDP needs.
struct Need {
    capability: Capability,
    /// An older capability that includes it.
    or: Option<Capability>,
    purpose: &'static str,
}

const NEEDS: [Need; 4] = [
    Need { capability: Capability::CAP_NET_RAW, or: None, purpose: "it opens AF_XDP and packet sockets" },
    Need {
        capability: Capability::CAP_NET_ADMIN,
        or: None,
        purpose: "it attaches the XDP program to the interface and creates its socket map",
    },
    Need {
        capability: Capability::CAP_BPF,
        or: Some(Capability::CAP_SYS_ADMIN),
        purpose: "it loads the XDP program and its maps",
    },
    Need {
        capability: Capability::CAP_PERFMON,
        or: Some(Capability::CAP_SYS_ADMIN),
        purpose: "the kernel's verifier refuses an XDP program that computes offsets without it",
    },
];

const REMEDY: &str = "run it with sudo, or once: \
     sudo setcap cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep \"$(command -v xsk-gen)\"";

/// Those of `wanted` that the calling thread does not have in its effective set.
#[must_use]
pub fn missing(wanted: &[Capability]) -> Vec<Capability> {
    // capget(2) on oneself cannot fail; if it did, "could not read" would not be "no".
    let Ok(effective) = caps::read(None, CapSet::Effective) else { return Vec::new() };
    wanted.iter().copied().filter(|capability| !effective.contains(capability)).collect()
}

/// The finding for a missing capability; `purpose` is what it is for.
#[must_use]
pub fn capability_missing(capability: Capability, purpose: &str) -> Finding {
    Finding::new(
        Code::CapabilityMissing,
        Severity::Fail,
        capability.to_string(),
        "this capability is missing",
    )
    .why(purpose)
    .remedy(REMEDY)
}

/// A Fail finding for each capability that is missing to send or receive over AF_XDP. CAP_SYS_ADMIN stands in for
/// CAP_BPF and CAP_PERFMON, as the kernel has it.
#[must_use]
pub fn preflight_privileges() -> Vec<Finding> {
    let absent = |capability| !missing(&[capability]).is_empty();
    NEEDS
        .iter()
        .filter(|need| absent(need.capability) && need.or.is_none_or(absent))
        .map(|need| capability_missing(need.capability, need.purpose))
        .collect()
}

/// How much memory this process may lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memlock {
    /// Soft RLIMIT_MEMLOCK in bytes; None without a limit. The kernel counts per user, over all processes.
    pub limit_bytes: Option<u64>,
    /// Whether CAP_IPC_LOCK makes the limit void.
    pub unlimited_by_capability: bool,
}

/// The memory that this process may lock.
#[must_use]
pub fn memlock() -> Memlock {
    let soft = getrlimit(Resource::RLIMIT_MEMLOCK).map_or(RLIM_INFINITY, |(soft, _hard)| soft);
    Memlock {
        limit_bytes: (soft != RLIM_INFINITY).then_some(soft),
        unlimited_by_capability: missing(&[Capability::CAP_IPC_LOCK]).is_empty(),
    }
}

impl Memlock {
    /// A Fail finding when `needed_bytes` of packet memory cannot be locked.
    #[must_use]
    pub fn preflight(self, needed_bytes: u64) -> Option<Finding> {
        let limit =
            self.limit_bytes.filter(|limit| *limit < needed_bytes && !self.unlimited_by_capability)?;
        let what = format!("packet memory of {needed_bytes} bytes must be locked, and the limit is {limit}");
        let finding = Finding::new(Code::Memlock, Severity::Fail, "RLIMIT_MEMLOCK", what)
            .why("the kernel charges AF_XDP packet memory to the user's locked memory unless CAP_IPC_LOCK is there")
            .remedy(format!("{REMEDY}, or ulimit -l {}", needed_bytes.div_ceil(1024)));
        Some(finding)
    }
}

/// Cores that the calling thread may run on, ascending; empty where the kernel does not say. From the status text and
/// not sched_getaffinity, whose set ends at 1,024 cores.
#[must_use]
pub fn allowed_cores() -> Vec<u32> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    cores_in(&status).unwrap_or_default()
}

fn cores_in(status: &str) -> Option<Vec<u32>> {
    number_list::parse(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_come_from_the_status_text() {
        let status = "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-2,7\nMems_allowed:\t1\n";
        assert_eq!(cores_in(status), Some(vec![0, 1, 2, 7]));
        assert_eq!(cores_in("Name:\tx\n"), None);
    }

    #[test]
    fn cores_are_those_of_the_scheduler() {
        let set = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).unwrap();
        let expected: Vec<u32> = (0..1024u32).filter(|core| set.is_set(*core as usize).unwrap()).collect();
        assert_eq!(allowed_cores(), expected);
    }

    #[test]
    fn memory_fails_only_without_limit_and_capability() {
        let memlock = |limit_bytes, unlimited_by_capability| Memlock { limit_bytes, unlimited_by_capability };
        let fails = |memlock: Memlock| memlock.preflight(8 << 20).is_some();
        assert!(fails(memlock(Some(64 << 10), false)));
        assert!(!fails(memlock(Some(64 << 10), true)));
        assert!(!fails(memlock(Some(8 << 20), false)));
        assert!(!fails(memlock(None, false)));
        let finding = memlock(Some(0), false).preflight(8 << 20).unwrap();
        assert_eq!(finding.code, Code::Memlock);
        assert!(finding.remedy.contains("ulimit -l 8192"));
    }

    #[test]
    fn each_missing_capability_is_named() {
        let finding = capability_missing(Capability::CAP_BPF, "it loads the XDP program");
        assert_eq!((finding.code, finding.on.as_str()), (Code::CapabilityMissing, "CAP_BPF"));
        assert!(finding.remedy.contains("setcap cap_net_raw,cap_net_admin,cap_bpf"));
    }
}
