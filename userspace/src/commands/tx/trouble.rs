//! What went wrong in a run, as findings on the sender's side.

use super::{Aftermath, Sender};
use crate::commands::link_watch::Outages;
use crate::commands::report_parts;
use crate::engine::TxBooks;
use crate::finding::{Code, Finding, Severity};
use crate::host::InterfaceFacts;
use crate::port::PortError;
use crate::report::Balance;
use crate::units::{Nanos, span};

/// The findings of a run.
pub fn find(
    sender: &Sender<'_>,
    aftermath: &Aftermath,
    balance: &Balance,
    window: Nanos,
    books: &[&TxBooks],
) -> Vec<Finding> {
    let on = sender.facts.name.as_str();
    let gone = aftermath.interface_gone();
    let failed = aftermath.outcomes.iter().find_map(|outcome| outcome.error.as_ref());
    let failed = if gone { Some(&PortError::Gone) } else { failed };
    let found = [
        aftermath.panicked.then(|| report_parts::worker_lost(on)),
        report_parts::unpinned(on, &aftermath.outcomes),
        balance.shortfall.filter(|n| *n > 0).map(|n| shortfall(sender, n, books)),
        balance.in_flight.filter(|n| *n > 0).map(|n| in_flight(on, n)),
        balance.invalid.filter(|n| *n > 0).map(|n| invalid(on, n)),
        (failed.is_none() && aftermath.link.count == 0).then(|| nothing_completed(on, balance)).flatten(),
        // That the link went with the interface says nothing more.
        link_lost(sender, aftermath, books, window).filter(|_| !gone || aftermath.link_lost_before()),
        dropped_by_device(sender, aftermath),
        failed.map(|error| report_parts::port_failed(on, "sending", error)),
        aftermath
            .interrupted
            .then(|| Finding::new(Code::Interrupted, Severity::Info, on, "the run was ended by a signal")),
    ];
    found.into_iter().flatten().collect()
}

/// Interfaces that take every frame and have no far end that it must reach: none for sure (`drivers/net/dummy.c`), or
/// none of their own (`net/bridge/br_device.c` floods to the ports that there are).
const WITHOUT_FAR_END: [&str; 3] = ["bridge", "dummy", "ifb"];

/// The warning that what this interface completes may have gone nowhere.
pub fn no_far_end(facts: &InterfaceFacts) -> Option<Finding> {
    let kind = facts.link_kind.as_deref().filter(|kind| WITHOUT_FAR_END.contains(kind))?;
    let what =
        format!("frames are sent on a {kind}, which completes them whether or not anything takes them");
    Some(
        Finding::new(Code::NoFarEnd, Severity::Warn, facts.name.clone(), what)
            .why("it has no wire and no single far end; only a sink's count would show that frames arrive")
            .remedy("--iface with a NIC or one end of a veth pair, or xsk-gen demo"),
    )
}

fn shortfall(sender: &Sender<'_>, frames: u64, books: &[&TxBooks]) -> Finding {
    let on = sender.facts.name.as_str();
    match &sender.replay {
        Some(replay) if replay.is_recorded() => {
            late(on, frames, books.iter().map(|b| b.late).max().unwrap_or_default())
        }
        _ => not_held(on, frames),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn late(on: &str, frames: u64, by: Nanos) -> Finding {
    let what = format!(
        "the recorded times were not held: about {frames} frames were late, and it took {} longer",
        span(by.0 as f64)
    );
    Finding::new(Code::Shortfall, Severity::Warn, on, what)
        .why("the sender was descheduled, or the path does not take what was recorded; what was missed is not followed by a burst")
        .remedy("a lower --pcap-speed, or a core of its own with --cores")
}

fn not_held(on: &str, frames: u64) -> Finding {
    let what = format!("the asked rate was not held: {frames} frames were due and not sent");
    Finding::new(Code::Shortfall, Severity::Warn, on, what)
        .why("the sender was descheduled, or the path does not take the rate")
        .remedy("a lower --rate, more queues, or a core of its own with --cores")
}

/// A run too short to fill its rings ends before a stall is noticed; with nothing completed it is one.
fn nothing_completed(on: &str, balance: &Balance) -> Option<Finding> {
    let none = balance.completed == Some(0) && balance.in_flight.is_some_and(|frames| frames > 0);
    none.then(|| {
        Finding::new(Code::TxStalled, Severity::Fail, on, "the driver completed none of the frames")
            .why("its transmit queue does not run, so probably no frame has left")
            .remedy("reset the interface (ip link set down, up), or try --xsk-mode copy")
    })
}

fn in_flight(on: &str, frames: u64) -> Finding {
    let what = format!("{frames} frames were not completed by the driver at the deadline");
    Finding::new(Code::InFlight, Severity::Warn, on, what)
        .why("they may be on the wire or in the driver's queue; they do not count as sent")
        .remedy("check the link; a driver that never completes them needs a reset (ip link set down, up)")
}

fn invalid(on: &str, frames: u64) -> Finding {
    Finding::new(
        Code::InvalidDescriptors,
        Severity::Fail,
        on,
        format!("the kernel refused {frames} descriptors"),
    )
    .why("a frame was longer than the driver takes")
    .remedy("a smaller --size")
}

fn link_lost(
    sender: &Sender<'_>,
    aftermath: &Aftermath,
    books: &[&TxBooks],
    window: Nanos,
) -> Option<Finding> {
    let noticed = books.iter().map(|b| b.outage).max().unwrap_or_default();
    let lost = aftermath.link.count > 0 || books.iter().any(|b| b.outages > 0);
    lost.then(|| {
        let outages = Outages { away: noticed.max(aftermath.link.away), ..aftermath.link };
        let what = outages.words(Some(window));
        Finding::new(Code::LinkLost, Severity::Fail, sender.facts.name.clone(), what)
            .why("no frame leaves meanwhile: what was due then is shortfall, or was completed and dropped")
            .remedy("check cable and far end, and run again")
    })
}

fn dropped_by_device(sender: &Sender<'_>, aftermath: &Aftermath) -> Option<Finding> {
    let frames = aftermath.device_drops().filter(|frames| *frames > 0)?;
    let what = format!("the device dropped {frames} frames that were given to it; they count as completed");
    Some(
        Finding::new(Code::DeviceDrops, Severity::Warn, sender.facts.name.clone(), what)
            .why("its queue was full, its link away, the frame above its MTU, or its far side took none; only the sink's count is delivery")
            .remedy("a lower rate, larger device rings (ethtool -G), or a sink on the far side"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_which_nothing_came_back_is_a_stall() {
        let balance = |completed, in_flight| Balance {
            completed: Some(completed),
            in_flight: Some(in_flight),
            ..Balance::default()
        };
        let finding = nothing_completed("eth7", &balance(0, 100)).unwrap();
        assert_eq!((finding.code, finding.severity), (Code::TxStalled, Severity::Fail));
        assert!(nothing_completed("eth7", &balance(1, 99)).is_none());
        assert!(nothing_completed("eth7", &balance(0, 0)).is_none());
    }

    #[test]
    fn what_was_not_sent_warns_and_what_was_refused_fails() {
        for (finding, code, severity) in [
            (not_held("eth7", 3), Code::Shortfall, Severity::Warn),
            (late("eth7", 3, Nanos(1)), Code::Shortfall, Severity::Warn),
            (in_flight("eth7", 3), Code::InFlight, Severity::Warn),
            (invalid("eth7", 3), Code::InvalidDescriptors, Severity::Fail),
        ] {
            assert_eq!((finding.code, finding.severity), (code, severity));
            assert!(finding.on == "eth7" && finding.what.contains("3 "), "{finding}");
        }
    }
}
