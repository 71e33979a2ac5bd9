//! Whether what came out of the sockets is what the program put into them: a check of our own books against a
//! counter that is not ours. Knows sums over a whole session, and no run.

use crate::engine::{Books, Outcome, RxTally};
use crate::finding::{Code, Finding, Severity};

/// Frames that may be under way in each queue when the counters are read: one poll's worth
/// (NAPI_POLL_WEIGHT).
const IN_FLIGHT_A_QUEUE: u64 = 64;

/// Frames that came out of sockets, or were dropped in front of them and counted.
pub fn accounted(outcomes: &[Outcome]) -> u64 {
    let tallies = outcomes.iter().flat_map(|outcome| match &outcome.books {
        Books::Rx(tallies) | Books::Trip(_, tallies) => tallies.as_slice(),
        Books::Tx(_) => &[],
    });
    tallies.map(|tally| tally.received() + tally.drops.unwrap_or_default().frames()).sum()
}

/// What the workers counted of each run, without the sums of those that are forgotten.
pub fn take_tallies(outcomes: &mut [Outcome]) -> Vec<RxTally> {
    let take = |outcome: &mut Outcome| match &mut outcome.books {
        Books::Rx(tallies) | Books::Trip(_, tallies) => std::mem::take(tallies),
        Books::Tx(_) => Vec::new(),
    };
    let told = |tally: &RxTally| tally.epoch != RxTally::FORGOTTEN;
    outcomes.iter_mut().flat_map(take).filter(told).collect()
}

/// The finding when `redirected` frames and the `accounted` ones are not the same.
pub fn disagreement(iface: &str, redirected: u64, accounted: u64, queues: usize) -> Option<Finding> {
    let slack = IN_FLIGHT_A_QUEUE * queues as u64;
    if redirected.abs_diff(accounted) <= slack {
        return None;
    }
    if redirected < accounted {
        let what = format!("{accounted} frames came out of sockets that {redirected} were put into");
        return Some(
            Finding::new(Code::BooksUnbalanced, Severity::Fail, iface, what)
                .why("a counter is wrong, or something else feeds the sockets")
                .remedy("do not trust this run; please report it with the JSON Report"),
        );
    }
    let missing = redirected - accounted;
    let what = format!("{missing} frames were redirected to AF_XDP and never came out of a socket");
    Some(
        Finding::new(Code::RedirectSilent, Severity::Fail, iface, what)
            .why("the kernel dropped them without a counter of the socket: its queue is not the frame's, or the driver drops redirects on some queues")
            .remedy("--xdp-mode generic, or other --queues"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(redirected: u64, accounted: u64) -> Option<Code> {
        disagreement("v1", redirected, accounted, 2).map(|finding| finding.code)
    }

    #[test]
    fn only_what_is_more_than_under_way_disagrees() {
        assert_eq!((code(1_000, 1_000), code(1_128, 1_000), code(1_000, 1_128)), (None, None, None));
        assert_eq!(code(1_129, 1_000), Some(Code::RedirectSilent));
        assert_eq!(code(1_000, 1_129), Some(Code::BooksUnbalanced));
    }
}
