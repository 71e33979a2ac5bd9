//! What went wrong in a run, as findings on the sink's side.

use super::books::device_drops;
use super::report::RunFacts;
use super::{Aftermath, Sink};
use super::{faults, stamps};
use crate::commands::report_parts;
use crate::engine::MAX_RUNS;
use crate::finding::{Code, Finding, Severity};
use crate::frame::Reason;
use crate::report::Report;

/// The findings of one run.
pub fn find(sink: &Sink<'_>, aftermath: &Aftermath, run: &RunFacts<'_>, report: &Report) -> Vec<Finding> {
    let mut found = aftermath.failed.clone();
    found.extend(report_parts::unpinned(&sink.facts.name, &aftermath.outcomes));
    // A redirect that does not work says why nothing came.
    let silent = aftermath.failed.iter().any(|finding| finding.code == Code::RedirectSilent);
    found.extend(nothing(sink, aftermath, run).filter(|_| !silent));
    found.extend(faults::find(sink, aftermath, run));
    found.extend(slow(sink, run));
    found.extend(dropped_by_devices(sink, run, report));
    found.extend(unexplained(sink, run, report));
    found.extend(no_socket(sink, run));
    found.extend(no_stamp_room(sink, run));
    found.extend(stamps::none_came(sink.config, &sink.facts, &sink.attached, &run.xdp));
    found.extend(bad_frames(sink, run));
    let failed = aftermath.outcomes.iter().find_map(|outcome| outcome.error.as_ref());
    found.extend(failed.map(|error| report_parts::port_failed(&sink.facts.name, "receiving", error)));
    if aftermath.interrupted {
        found.push(Finding::new(
            Code::Interrupted,
            Severity::Info,
            name(sink),
            "the run was ended by a signal",
        ));
    }
    found
}

fn name(sink: &Sink<'_>) -> String {
    sink.facts.name.clone()
}

/// What to try where frames came that the program did not know.
const SAME_HEADERS: &str =
    ", and so must --stream or --tcp, --vxlan and their like: where the probe lies, a sink is told";

fn nothing(sink: &Sink<'_>, aftermath: &Aftermath, run: &RunFacts<'_>) -> Option<Finding> {
    let arrived = run.tally.probes + run.xdp.counted_probes() + run.others(sink);
    let severity = if aftermath.interrupted { Severity::Warn } else { Severity::Fail };
    let matches = sink.config.matches;
    let port =
        matches.udp_port.map_or_else(String::new, |port| format!(", and that it sends to UDP port {port}"));
    let vlan = matches.vlan.map_or_else(String::new, |vlan| {
        let on = &sink.facts.name;
        format!("; whether tag {vlan} is still in the frames here: ethtool -K {on} rxvlan off, and txvlan off at the other end of a veth")
    });
    let headers = if run.xdp.passed > 0 { SAME_HEADERS } else { "" };
    (arrived == 0).then(|| {
        Finding::new(Code::NothingReceived, severity, name(sink), "no frame of a run was received")
            .why(format!(
                "the program saw {} frames of ours and passed {} others",
                run.xdp.ours, run.xdp.passed
            ))
            .remedy(format!(
                "check that the sender runs and reaches this interface{port}{vlan}; --run-tag must be the sender's{headers}"
            ))
    })
}

fn slow(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Finding> {
    let drops = run.drops.frames();
    (drops > 0).then(|| {
        let what = format!("{drops} frames were dropped because the receiver did not keep up");
        Finding::new(Code::ReceiverSlow, Severity::Warn, name(sink), what)
            .why(format!(
                "its worker was descheduled or too slow: {} frames found no chunk, {} found the receive ring full",
                run.drops.dropped, run.drops.ring_full
            ))
            .remedy("a core of its own with --cores, a larger --ring and --frames, more queues, or a lower rate")
    })
}

/// Whether frames were lost, or it is not known.
fn run_lost(report: &Report) -> bool {
    report.balance.lost != Some(0)
}

fn dropped_by_devices(sink: &Sink<'_>, run: &RunFacts<'_>, report: &Report) -> Option<Finding> {
    let (here, there) =
        (device_drops(run), run.sent.as_ref().and_then(|sent| sent.device_drops).unwrap_or(0));
    // A device also counts what was not ours; with nothing lost, that is what it dropped.
    let lost = run_lost(report);
    (here.saturating_add(there) > 0 && lost).then(|| {
        let what =
            format!("devices dropped frames: {there} on transmit at the sender, {here} on receive here");
        Finding::new(Code::DeviceDrops, Severity::Warn, name(sink), what)
            .why("a device's queue was full, its link was away, or the frames were above an MTU on the way")
            .remedy("a lower rate, larger device rings (ethtool -G), and the same MTU on both ends")
    })
}

/// Frames that arrived spoilt are in the books' unexplained, but it is known where they went.
fn unexplained(sink: &Sink<'_>, run: &RunFacts<'_>, report: &Report) -> Option<Finding> {
    let unexplained = report.balance.unexplained?;
    let frames = unexplained.checked_sub(corrupted(run)).filter(|frames| *frames > 0)?;
    let what = format!("{frames} frames were lost and no counter says where");
    let why = if run.swap.silent > 0 {
        "they were in the device's queues when the program was taken out of the driver, or it does not count what it drops"
    } else {
        "they left the sender's driver and did not reach this socket: a switch, a cable, or a NIC that does not count what it drops"
    };
    Some(
        Finding::new(Code::LossUnexplained, Severity::Warn, name(sink), what).why(why).remedy(format!(
            "compare `ethtool -S {}` and the sender's before and after a run",
            sink.facts.name
        )),
    )
}

fn no_socket(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Finding> {
    // Of those that came while sockets were opened anew, another finding tells.
    let frames = run.xdp.no_socket.saturating_sub(run.swap.no_socket);
    let queues: Vec<String> = (0u32..)
        .zip(&run.window.queues)
        .filter(|(_, queue)| queue.no_socket > 0)
        .map(|(id, _)| id.to_string())
        .collect();
    (frames > 0).then(|| {
        let what = format!("{frames} frames arrived on queue {}, which no socket serves", queues.join(", "));
        Finding::new(Code::NoSocket, Severity::Warn, name(sink), what)
            .why("the NIC spreads frames over its receive queues, and an AF_XDP socket sees only its own")
            .remedy("leave --queues out to serve all of them")
    })
}

fn no_stamp_room(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Finding> {
    let frames = run.xdp.no_room;
    (frames > 0).then(|| {
        let what = format!(
            "{frames} frames had no room in front of them for their time of arrival, and were dropped"
        );
        Finding::new(Code::NoStampRoom, Severity::Warn, name(sink), what)
            .why("the driver leaves fewer than 16 bytes in front of a frame, or its own metadata takes them")
            .remedy("--xdp-mode generic, where the stack makes the room")
    })
}

fn rejected(run: &RunFacts<'_>, reason: Reason) -> u64 {
    run.tally.rejected.get(reason.index()).copied().unwrap_or(0)
}

fn corrupted(run: &RunFacts<'_>) -> u64 {
    let sums = [Reason::IpChecksum, Reason::UdpChecksum, Reason::Checksum];
    let sum: u64 = sums
        .into_iter()
        .chain([Reason::BadLength, Reason::Truncated])
        .map(|reason| rejected(run, reason))
        .sum();
    sum + if announced(run) { rejected(run, Reason::NoSuchSpace) } else { 0 }
}

/// Frames of other runs, and those of which it cannot be said whose they are.
fn foreign(run: &RunFacts<'_>) -> u64 {
    rejected(run, Reason::OtherRun) + if announced(run) { 0 } else { rejected(run, Reason::NoSuchSpace) }
}

/// Whether the sender has said what it will send; otherwise a stray frame may have begun the run.
fn announced(run: &RunFacts<'_>) -> bool {
    run.heard.is_some_and(|heard| heard.start.is_some())
}

/// What more is to be said where sums over payload are wrong: frames of a kernel's stack look like this when no NIC has
/// completed them. Frames that xsk-gen sends are complete.
fn offloaded(run: &RunFacts<'_>) -> (&'static str, &'static str) {
    if rejected(run, Reason::UdpChecksum) + rejected(run, Reason::Checksum) == 0 {
        return ("", "");
    }
    let why = "; frames that a kernel's stack sent over veth or virtio look like this, since it leaves the checksum to a NIC that is not there";
    (why, "; for frames of a kernel's stack, ethtool -K PEER tx off at the sending end")
}

fn bad_frames(sink: &Sink<'_>, run: &RunFacts<'_>) -> Vec<Finding> {
    let (corrupted, other) = (corrupted(run), foreign(run));
    let mut found = Vec::new();
    if corrupted > 0 {
        let what = format!("{corrupted} frames of ours arrived with wrong bytes");
        let offload = offloaded(run);
        found.push(
            Finding::new(Code::Corrupted, Severity::Fail, name(sink), what)
                .why(format!("a checksum or a length does not fit; they count as rejected, and so as lost{}", offload.0))
                .remedy(format!("suspect the cable, the NIC, or something on the way that rewrites frames or leaves checksums to offload{}", offload.1)),
        );
    }
    if other > 0 {
        let what = format!("{other} frames of another run arrived");
        found.push(
            Finding::new(Code::OtherRun, Severity::Warn, name(sink), what)
                .why("two senders use the same port; they share the link, so the figures are not of this run alone")
                .remedy("end the other sender, or give one of the pairs another --port"),
        );
    }
    found
}

/// What is said of the runs that are not told one by one any more.
pub fn forgotten(sink: &Sink<'_>) -> Option<Finding> {
    left_out(name(sink), sink.readings.forgotten())
}

fn left_out(on: String, runs: u64) -> Option<Finding> {
    (runs > 0).then(|| {
        let what = format!("the first {runs} runs are left out: only the last {MAX_RUNS} are told");
        Finding::new(Code::RunsLeftOut, Severity::Info, on, what)
            .why("a sink without an end must not fill memory")
            .remedy("a sink a run, with --count, --duration or --idle-timeout")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_left_out_aloud() {
        assert!(left_out("v1".to_owned(), 0).is_none());
        let finding = left_out("v1".to_owned(), 76).unwrap();
        assert_eq!((finding.code, finding.severity), (Code::RunsLeftOut, Severity::Info));
        assert!(finding.what.contains("first 76 runs"), "{finding}");
    }
}
