//! What link, sender and bytes did to a run, as findings on the sink's side. Knows the run's books, and no
//! policy of when a sink ends.

use super::report::RunFacts;
use super::{Aftermath, Sink, books};
use crate::finding::{Code, Finding, Severity};

/// The findings of one run.
pub fn find(sink: &Sink<'_>, aftermath: &Aftermath, run: &RunFacts<'_>) -> Vec<Finding> {
    let gone = aftermath.failed.iter().any(|finding| finding.code == Code::InterfaceGone);
    let found = [
        link_lost(sink, run).filter(|_| !gone),
        end_missing(sink, run).filter(|_| !gone),
        spoilt_numbers(sink, run),
        not_parsed(sink, run),
    ];
    found.into_iter().flatten().collect()
}

fn on<'s>(sink: &'s Sink<'_>) -> &'s str {
    &sink.facts.name
}

fn link_lost(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Finding> {
    let (within, all) = (run.window.link, run.window.link_and_after);
    if all.count == 0 {
        return None;
    }
    // After the END nothing is lost by it.
    let (severity, what) = if within.count > 0 {
        (Severity::Fail, within.words(None))
    } else {
        (Severity::Warn, "the link was lost after the run, while the sink waited for another".to_owned())
    };
    Some(
        Finding::new(Code::LinkLost, severity, on(sink), what)
            .why("no frame arrives meanwhile; what was sent then is lost, and the sender's device may not count it")
            .remedy(format!("check cable and far end (ip link show {}), and run again", on(sink))),
    )
}

fn end_missing(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Finding> {
    let missing = run.window.run.is_some() && run.sent.is_none() && !run.stopped_first;
    missing.then(|| {
        Finding::new(Code::EndMissing, Severity::Warn, on(sink), "the sender's END has not come")
            .why("the sender was killed, lost its link, or every END was lost; how much it sent, and so what was lost, is not known")
            .remedy("end the sender with Ctrl-C, and the sink after it")
    })
}

fn spoilt_numbers(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Finding> {
    let spaces = books::beyond(run, run.sent.as_ref()?);
    (spaces > 0 && !sink.config.count_only).then(|| {
        let what = format!("frames came with numbers that the sender has not sent, in {spaces} sequence space(s)");
        Finding::new(Code::Corrupted, Severity::Fail, on(sink), what)
            .why("their bytes changed on the way and no checksum said so: they carry none, or --no-verify left it out")
            .remedy("leave --no-verify out; with --l2 suspect the NIC, or something on the way that rewrites frames")
    })
}

fn not_parsed(sink: &Sink<'_>, run: &RunFacts<'_>) -> Option<Finding> {
    let (unsupported, malformed) = (run.xdp.unsupported, run.xdp.malformed);
    (unsupported + malformed > 0).then(|| {
        let what = format!(
            "frames were passed on unread: {unsupported} behind headers that are not parsed, {malformed} with headers cut or wrong"
        );
        Finding::new(Code::NotParsed, Severity::Warn, on(sink), what)
            .why("the program knows up to two VLAN tags, IPv4 and IPv6 without extension headers, and no fragments; what of these frames was ours is not counted")
            .remedy("frames no longer than the MTU on the way, and a plain stack of headers")
    })
}
