//! Which queues are served, and by which cores: pure choices over what the host has.

use crate::engine::{Crew, Worker};
use crate::finding::{Code, Finding, Severity};
use std::collections::{BTreeMap, BTreeSet};

/// One queue and the core that serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// The queue.
    pub queue: u32,
    /// The core.
    pub core: u32,
}

/// Which end of the list of cores is taken first: a sender and a sink on one host so keep out of each other's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// Lowest first, and one core is left to others: senders.
    Lowest,
    /// Highest first: sinks.
    Highest,
}

/// The queues to serve: those asked for, or all of `available` as far as `limit` allows.
///
/// # Errors
/// [`Code::QueueRange`] for a queue that the interface does not have.
pub fn queues(iface: &str, asked: Option<&[u32]>, available: u32, limit: u32) -> Result<Vec<u32>, Finding> {
    let Some(asked) = asked else { return Ok((0..available.min(limit).max(1)).collect()) };
    match asked.iter().find(|queue| **queue >= available) {
        None => Ok(asked.to_vec()),
        Some(queue) => Err(Finding::new(
            Code::QueueRange,
            Severity::Fail,
            format!("{iface} queue {queue}"),
            format!("{iface} has {available} queue(s), numbered from 0"),
        )
        .why("an AF_XDP socket is bound to one queue of the interface")
        .remedy(format!(
            "--queues 0-{}, or raise the number with ethtool -L {iface} combined N",
            available.saturating_sub(1)
        ))),
    }
}

/// The cores to use: those asked for, or the allowed ones from one end.
///
/// # Errors
/// [`Code::CoreRange`] for a core that this process may not use.
pub fn cores(asked: Option<&[u32]>, allowed: &[u32], from: From) -> Result<Vec<u32>, Finding> {
    if let Some(asked) = asked.filter(|asked| !asked.is_empty()) {
        let forbidden = |core: &&u32| !allowed.is_empty() && !allowed.contains(core);
        return match asked.iter().find(forbidden) {
            None => Ok(asked.to_vec()),
            Some(core) => Err(Finding::new(
                Code::CoreRange,
                Severity::Fail,
                format!("core {core}"),
                "this process may not run there",
            )
            .why(format!(
                "it may use the cores {allowed:?}: of what the host has, what its affinity or cpuset leaves"
            ))
            .remedy("--cores with some of those, or start it with another taskset or cpuset")),
        };
    }
    if allowed.is_empty() {
        return Err(Finding::new(
            Code::CoreRange,
            Severity::Fail,
            "cores",
            "which cores this process may use is not known",
        )
        .why("/proc does not tell, so nothing can be pinned")
        .remedy("mount /proc, or name the cores with --cores"));
    }
    Ok(match from {
        From::Lowest => allowed[..allowed.len().saturating_sub(1).max(1).min(allowed.len())].to_vec(),
        From::Highest => allowed.iter().rev().copied().collect(),
    })
}

/// Queues that share a core: each waits for the others' turns.
#[must_use]
pub fn shared(iface: &str, seats: &[Seat]) -> Option<Finding> {
    let cores: BTreeSet<u32> = seats.iter().map(|seat| seat.core).collect();
    (cores.len() < seats.len()).then(|| {
        let what = format!("{} queues share {} core(s)", seats.len(), cores.len());
        Finding::new(Code::CoresShared, Severity::Warn, iface, what)
            .why("a worker's queues take turns, so a figure is the core's limit before it is the NIC's")
            .remedy("more cores with --cores, or fewer queues with --queues")
    })
}

/// Two ends of one process on the same core.
#[must_use]
pub fn on_one_core(tx: &[u32], rx: &[u32]) -> Option<Finding> {
    let core = tx.iter().find(|core| rx.contains(core))?;
    let finding =
        Finding::new(Code::CoresShared, Severity::Warn, format!("core {core}"), "sender and sink share it");
    Some(
        finding
            .why("each spins while the other would run, so rates are low and frames are lost in bursts")
            .remedy("--cores with at least two cores"),
    )
}

/// Splits cores between the sender and the sink of one process.
#[must_use]
pub fn share(cores: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (first, second) = cores.split_at(cores.len().div_ceil(2));
    (first.to_vec(), if second.is_empty() { first.to_vec() } else { second.to_vec() })
}

/// Seats the queues on the cores in turn.
#[must_use]
pub fn seats(queues: &[u32], cores: &[u32]) -> Vec<Seat> {
    queues.iter().zip(cores.iter().cycle()).map(|(&queue, &core)| Seat { queue, core }).collect()
}

/// Workers with their cores as crews: one a core.
#[must_use]
pub fn crews(workers: Vec<(u32, Box<dyn Worker>)>) -> Vec<Crew> {
    let mut by_core: BTreeMap<u32, Vec<Box<dyn Worker>>> = BTreeMap::new();
    for (core, worker) in workers {
        by_core.entry(core).or_default().push(worker);
    }
    by_core.into_iter().map(|(core, workers)| Crew { core: Some(core), workers }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_queues_by_default_and_no_more_than_asked() {
        assert_eq!(queues("v0", None, 4, 8), Ok(vec![0, 1, 2, 3]));
        assert_eq!(queues("v0", None, 4, 2), Ok(vec![0, 1]));
        assert_eq!(queues("v0", None, 4, 0), Ok(vec![0]));
        assert_eq!(queues("v0", Some(&[1, 3]), 4, 1), Ok(vec![1, 3]));
        assert_eq!(queues("v0", Some(&[4]), 4, 1).map_err(|f| f.code), Err(Code::QueueRange));
    }

    #[test]
    fn senders_leave_a_core_and_sinks_start_at_the_other_end() {
        assert_eq!(cores(None, &[0, 1, 2], From::Lowest), Ok(vec![0, 1]));
        assert_eq!(cores(None, &[0], From::Lowest), Ok(vec![0]));
        assert_eq!(cores(None, &[0, 1, 2], From::Highest), Ok(vec![2, 1, 0]));
        assert_eq!(cores(Some(&[2]), &[0, 1], From::Lowest).map_err(|f| f.code), Err(Code::CoreRange));
        assert_eq!(cores(None, &[], From::Lowest).map_err(|f| f.code), Err(Code::CoreRange));
        assert_eq!(cores(Some(&[]), &[], From::Highest).map_err(|f| f.code), Err(Code::CoreRange));
        assert_eq!(cores(Some(&[2]), &[], From::Lowest), Ok(vec![2]));
    }

    #[test]
    fn two_ends_in_one_process_share_the_cores() {
        assert_eq!(share(&[0, 1]), (vec![0], vec![1]));
        assert_eq!(share(&[5]), (vec![5], vec![5]));
        assert_eq!(share(&[0, 1, 2]), (vec![0, 1], vec![2]));
    }

    #[test]
    fn sharing_is_told() {
        assert_eq!(shared("v0", &seats(&[0, 1], &[4, 5])), None);
        assert_eq!(shared("v0", &seats(&[0, 1], &[4])).map(|f| f.code), Some(Code::CoresShared));
        assert_eq!(on_one_core(&[0], &[1]), None);
        assert_eq!(on_one_core(&[0, 1], &[1]).map(|f| f.on), Some("core 1".to_owned()));
    }

    #[test]
    fn queues_share_cores_in_turn() {
        let seats = seats(&[0, 1, 2], &[4, 5]);
        assert_eq!(seats.iter().map(|s| s.core).collect::<Vec<_>>(), vec![4, 5, 4]);
    }
}
