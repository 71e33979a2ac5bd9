//! The books of one run on the sink's side: received, unique, lost, explained.

use super::heard::{Heard, Totals as Sent};
use super::report::RunFacts;
use super::{Sink, latency};
use crate::frame::Reason;
use crate::measure::SequenceCounts;
use crate::report::{Balance, StreamRow};
use std::collections::BTreeSet;

/// What reached the sink, sorted; what was lost, and which counter accounts for it.
pub fn balance(sink: &Sink<'_>, run: &RunFacts<'_>) -> Balance {
    let tally = &run.tally;
    let count_only = sink.config.count_only;
    let mut sequence = SequenceCounts::default();
    tally.spaces.values().for_each(|counts| sequence.merge(counts));
    let known = |n: u64| (!count_only).then_some(n);
    let rejected = Reason::ALL.into_iter().zip(tally.rejected);
    // What the program counted and dropped has reached no worker.
    let counted = |reason| if count_only && reason == Reason::NotOurs { run.xdp.taken } else { 0 };
    let rejected = rejected.map(|(reason, n)| (reason.name().to_owned(), n + counted(reason)));
    // Control frames that the program let pass reach the controller beside the workers.
    let control = tally.control + run.xdp.control;
    let probes = if count_only { run.xdp.counted_probes() } else { tally.probes };
    let mut balance = Balance {
        completed: run.sent.as_ref().map(|sent| sent.completed),
        shortfall: run.sent.as_ref().and_then(|sent| sent.shortfall),
        control: Some(control),
        probes: Some(probes),
        rejected: rejected.filter(|(_, n)| *n > 0).collect(),
        unique: known(sequence.unique),
        duplicate: known(sequence.duplicate),
        late: known(sequence.late),
        reordered: known(sequence.reordered),
        ..Balance::default()
    };
    balance.received = Some(control + probes + balance.rejected.values().sum::<u64>());
    lose(&mut balance, run, count_only);
    balance
}

/// Derives what was lost, and how much of it a counter accounts for.
fn lose(balance: &mut Balance, run: &RunFacts<'_>, count_only: bool) {
    let absent = match (&run.sent, balance.unique) {
        (_, _) if run.window.run.is_none() => "no run was seen",
        (None, _) if run.stopped_first => "this sink ended before the sender did: no END has come yet",
        (None, _) => "no END of the sender has come: it was stopped, or every END was lost",
        (Some(_), _) if count_only => "--count-only does not follow sequence numbers",
        (Some(_), _) if !run.heard.is_some_and(Heard::heard_from_the_start) => {
            "no START of the sender was heard: the run may have been under way before this sink listened"
        }
        (Some(sent), _) if beyond(run, sent) > 0 => {
            "frames came with numbers that the sender has not sent: some that count as unique are spoilt ones"
        }
        (Some(sent), Some(unique)) if unique <= sent.completed => {
            let lost = sent.completed - unique;
            let explained = kernel_drops(run, sent).min(lost);
            (balance.lost, balance.kernel_drops, balance.unexplained) =
                (Some(lost), Some(explained), Some(lost - explained));
            return;
        }
        (Some(_), _) => "more frames came than the sender's driver had completed when it said its END",
    };
    balance.lost_absent = Some(absent.to_owned());
    if !count_only {
        balance.kernel_drops = Some(run.drops.frames() + device_drops(run) + unheard_of(run));
    }
}

/// Frames that were redirected and never came, or arrived while that was being mended.
const fn unheard_of(run: &RunFacts<'_>) -> u64 {
    run.swap.silent + run.swap.unseen
}

/// Sequence spaces in which a frame bore a number that the sender has not written: its bytes changed on the
/// way, and no checksum said so.
pub fn beyond(run: &RunFacts<'_>, sent: &Sent) -> usize {
    let built = |space| sent.built_by_space.get(space).copied().unwrap_or(0);
    run.tally
        .spaces
        .iter()
        .filter(|(space, counts)| counts.highest.is_some_and(|highest| highest >= built(space)))
        .count()
}

/// Frames that some counter saw dropped: our sockets', this device's beyond those, the sender's device's.
fn kernel_drops(run: &RunFacts<'_>, sent: &Sent) -> u64 {
    let here = run.drops.frames() + device_drops(run) + unheard_of(run) + run.xdp.no_socket + run.xdp.no_room;
    here.saturating_add(sent.device_drops.unwrap_or(0))
}

/// What this device dropped beyond what our sockets dropped: veth counts a full socket's frames as its own too.
pub fn device_drops(run: &RunFacts<'_>) -> u64 {
    let dropped = run.window.device.map_or(0, |device| device.rx_dropped);
    dropped.saturating_sub(run.drops.frames() + run.swap.silent)
}

/// A row a sequence space that was seen or told of: one of which nothing came has lost everything.
pub fn streams(sink: &Sink<'_>, run: &RunFacts<'_>, balance: &Balance) -> Vec<StreamRow> {
    let sent = run.sent.as_ref().filter(|_| balance.unique.is_some());
    let told = sent.into_iter().flat_map(|sent| sent.by_space.keys());
    let spaces: BTreeSet<u16> = run.tally.spaces.keys().chain(told).copied().collect();
    let streams = run.heard.and_then(|heard| heard.start.as_ref()).map_or(1, |start| start.flows.len());
    let plans = sink.config.streams.as_ref().filter(|plans| plans.streams().len() == streams);
    let row = |space: u16| {
        let stream = usize::from(space) % streams.max(1);
        let completed = sent.and_then(|sent| sent.by_space.get(&space).copied());
        let counts = run.tally.spaces.get(&space).copied().unwrap_or_default();
        StreamRow {
            space,
            stream: u16::try_from(stream).unwrap_or(0),
            name: plans.and_then(|plans| plans.streams().get(stream)).map(|plan| plan.name.clone()),
            numbered: true,
            completed,
            completed_bytes: None,
            unique: Some(counts.unique),
            duplicate: Some(counts.duplicate),
            late: Some(counts.late),
            reordered: Some(counts.reordered),
            latency_ns: latency::of_space(&run.tally.times, space),
            lost: balance.lost.and(completed).and_then(|completed| completed.checked_sub(counts.unique)),
        }
    };
    spaces.into_iter().map(row).collect()
}
