//! What went wrong with what came back, or did not, as findings. Knows the books; knows no socket.

use super::Came;
use crate::finding::{Code, Finding, Severity};
use crate::frame::Reason;
use crate::report::Balance;

/// The findings of what came back over the interface `on`; `interrupted` says that a signal ended the run, and `sink` whether a
/// sink of xsk-gen was known to be at the other end.
pub fn find(on: &str, came: &Came, balance: &Balance, (interrupted, answered): (bool, bool)) -> Vec<Finding> {
    let silent = silent(on, came, balance, (interrupted, answered)).filter(|_| came.silent.is_none());
    let none = came.tally.probes == 0;
    let found = [
        came.silent.clone(),
        silent,
        unexplained(on, came, balance).filter(|_| !none),
        slow(on, came),
        no_socket(on, came),
        corrupted(on, came),
        other_run(on, came),
    ];
    found.into_iter().flatten().collect()
}

fn silent(
    on: &str,
    came: &Came,
    balance: &Balance,
    (interrupted, answered): (bool, bool),
) -> Option<Finding> {
    let sent = balance.completed.filter(|sent| *sent > 0 && came.tally.probes == 0)?;
    let severity = if interrupted { Severity::Warn } else { Severity::Fail };
    let xdp = came.xdp();
    let there = if answered { "; something of xsk-gen answered there, which rx does too" } else { "" };
    Some(
        Finding::new(
            Code::ReflectorSilent,
            severity,
            on,
            format!("of {sent} frames that were sent none came back"),
        )
        .why(format!(
            "the program saw {} probes that a reflector had sent back and passed {} other frames{there}",
            xdp.ours, xdp.passed
        ))
        .remedy(
            "xsk-gen reflect --iface … at the other end, with the same --port or --match, --stream and header flags; \
             frames of up to 3,844 bytes",
        ),
    )
}

fn rejected(came: &Came, reasons: &[Reason]) -> u64 {
    reasons.iter().filter_map(|reason| came.tally.rejected.get(reason.index())).sum()
}

fn spoilt(came: &Came) -> u64 {
    use Reason::{BadLength, Checksum, IpChecksum, NoSuchSpace, Truncated, UdpChecksum};
    rejected(came, &[IpChecksum, UdpChecksum, Checksum, BadLength, Truncated, NoSuchSpace])
}

fn unexplained(on: &str, came: &Came, balance: &Balance) -> Option<Finding> {
    let frames = balance.unexplained?.checked_sub(spoilt(came)).filter(|frames| *frames > 0)?;
    let what = format!("{frames} frames did not come back and no counter of this side says why");
    Some(
        Finding::new(Code::LossUnexplained, Severity::Warn, on, what)
            .why("they were lost on the way there, at the reflector, or on the way back")
            .remedy(
                "the reflector's own Report tells which: what it received, and what it sent back (reflected)",
            ),
    )
}

fn slow(on: &str, came: &Came) -> Option<Finding> {
    let drops = came.tally.drops.unwrap_or_default();
    (drops.frames() > 0).then(|| {
        let what = format!("{} frames that came back were dropped because they were not taken in time", drops.frames());
        Finding::new(Code::ReceiverSlow, Severity::Warn, on, what)
            .why(format!(
                "the worker was descheduled or too slow: {} frames found no chunk, {} found the receive ring full",
                drops.dropped, drops.ring_full
            ))
            .remedy("a core of its own with --cores, a larger --ring and --frames, more queues, or a lower rate")
    })
}

fn no_socket(on: &str, came: &Came) -> Option<Finding> {
    let frames = came.xdp().no_socket;
    let queues = (0u32..).zip(&came.queues).filter(|(_, queue)| queue.no_socket > 0);
    let queues: Vec<String> = queues.map(|(id, _)| id.to_string()).collect();
    (frames > 0).then(|| {
        let what =
            format!("{frames} frames came back on queue {}, which no socket serves", queues.join(", "));
        Finding::new(Code::NoSocket, Severity::Warn, on, what)
            .why("the NIC spreads frames over its receive queues, and an AF_XDP socket sees only its own")
            .remedy("leave --queues out to serve all of them")
    })
}

fn corrupted(on: &str, came: &Came) -> Option<Finding> {
    let frames = spoilt(came);
    (frames > 0).then(|| {
        Finding::new(
            Code::Corrupted,
            Severity::Fail,
            on,
            format!("{frames} frames came back with wrong bytes"),
        )
        .why("a checksum or a length does not fit; they count as rejected, and so as lost")
        .remedy("suspect the cable, the NIC, or something on the way that rewrites frames")
    })
}

fn other_run(on: &str, came: &Came) -> Option<Finding> {
    let frames = rejected(came, &[Reason::OtherRun]);
    (frames > 0).then(|| {
        let what = format!("{frames} frames of another run came back");
        Finding::new(Code::OtherRun, Severity::Warn, on, what)
            .why("another sender shares the reflector and the port, so the figures are not of this run alone")
            .remedy("end the other sender, or give one of the pairs another --port")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RxTally;
    use crate::xdp::QueueCounters;

    fn came(change: impl FnOnce(&mut Came)) -> Came {
        let tally = RxTally::new(1, Some(7), None);
        let queues = vec![QueueCounters::default(); 2];
        let mut came = Came { tally, dropped: Vec::new(), queues, silent: None };
        change(&mut came);
        came
    }

    fn codes(came: &Came, interrupted: bool) -> Vec<(Code, Severity)> {
        let balance = Balance { completed: Some(9), unexplained: Some(9), ..Balance::default() };
        let found = find("v0", came, &balance, (interrupted, true));
        found.iter().map(|finding| (finding.code, finding.severity)).collect()
    }

    #[test]
    fn silence_fails_a_run_unless_a_signal_ended_it_or_the_cause_is_known() {
        assert_eq!(codes(&came(|_| ()), false), [(Code::ReflectorSilent, Severity::Fail)]);
        assert_eq!(codes(&came(|_| ()), true), [(Code::ReflectorSilent, Severity::Warn)]);
        let known = Finding::new(Code::RedirectSilent, Severity::Fail, "v0", "");
        assert_eq!(codes(&came(|c| c.silent = Some(known)), false), [(Code::RedirectSilent, Severity::Fail)]);
    }

    #[test]
    fn what_came_back_wrong_is_told_by_its_kind() {
        let found = codes(
            &came(|c| {
                c.tally.probes = 1;
                c.tally.rejected[Reason::UdpChecksum.index()] = 2;
                c.tally.rejected[Reason::OtherRun.index()] = 3;
                c.queues[1].no_socket = 4;
            }),
            false,
        );
        let warn = |code| (code, Severity::Warn);
        let corrupted = (Code::Corrupted, Severity::Fail);
        assert_eq!(
            found,
            [warn(Code::LossUnexplained), warn(Code::NoSocket), corrupted, warn(Code::OtherRun)]
        );
    }
}
