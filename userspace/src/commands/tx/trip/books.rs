//! The books of what came back: unique, lost, explained. Knows counts; knows no socket.

use super::Came;
use crate::commands::rx;
use crate::frame::Reason;
use crate::measure::SequenceCounts;
use crate::report::{Balance, DeviceCounters, StreamRow};

/// Counter of the device's own drops on receive, which on veth holds those of full sockets too.
const RX_DROPPED: &str = "netdev.rx_dropped";

/// Enters what came back; `built` says how many frames were written in a sequence space.
pub fn enter(
    balance: &mut Balance,
    came: &Came,
    (device, tx_drops): (&DeviceCounters, Option<u64>),
    built: impl Fn(u16) -> u64,
) {
    let tally = &came.tally;
    let mut sequence = SequenceCounts::default();
    tally.spaces.values().for_each(|counts| sequence.merge(counts));
    let rejected = Reason::ALL.into_iter().zip(tally.rejected).filter(|(_, n)| *n > 0);
    balance.rejected = rejected.map(|(reason, n)| (reason.name().to_owned(), n)).collect();
    balance.received = Some(tally.received());
    balance.control = Some(tally.control);
    balance.probes = Some(tally.probes);
    balance.unique = Some(sequence.unique);
    balance.duplicate = Some(sequence.duplicate);
    balance.late = Some(sequence.late);
    balance.reordered = Some(sequence.reordered);
    balance.lost_absent = None;
    let lost = balance.completed.and_then(|completed| completed.checked_sub(sequence.unique));
    match lost {
        _ if beyond(came, built) > 0 => {
            balance.lost_absent = Some(
                "frames came back with numbers that were not sent: some that count as unique are spoilt ones"
                    .to_owned(),
            );
        }
        Some(lost) => {
            let explained = kernel_drops(came, device, tx_drops).min(lost);
            (balance.lost, balance.kernel_drops, balance.unexplained) =
                (Some(lost), Some(explained), Some(lost - explained));
        }
        None => balance.lost_absent = Some("more frames came back than the driver had completed".to_owned()),
    }
}

/// Sequence spaces in which a frame bore a number that was not written.
pub fn beyond(came: &Came, built: impl Fn(u16) -> u64) -> usize {
    let spaces = came.tally.spaces.iter();
    spaces.filter(|(space, counts)| counts.highest.is_some_and(|highest| highest >= built(**space))).count()
}

/// Frames that some counter of this side saw dropped: our sockets', the program's, and this device's beyond those.
fn kernel_drops(came: &Came, device: &DeviceCounters, tx_drops: Option<u64>) -> u64 {
    let (sockets, xdp) = (came.tally.drops.unwrap_or_default().frames(), came.xdp());
    let received = device.counters.get(RX_DROPPED).copied().unwrap_or(0);
    sockets + received.saturating_sub(sockets) + xdp.no_socket + xdp.no_room + tx_drops.unwrap_or(0)
}

/// What came back of each sequence space.
pub fn enter_streams(rows: &mut [StreamRow], came: &Came, lost_known: bool) {
    for row in rows.iter_mut().filter(|row| row.numbered) {
        let counts = came.tally.spaces.get(&row.space).copied().unwrap_or_default();
        row.unique = Some(counts.unique);
        row.duplicate = Some(counts.duplicate);
        row.late = Some(counts.late);
        row.reordered = Some(counts.reordered);
        row.latency_ns = rx::of_space(&came.tally.times, row.space);
        row.lost =
            row.completed.filter(|_| lost_known).and_then(|completed| completed.checked_sub(counts.unique));
    }
}
