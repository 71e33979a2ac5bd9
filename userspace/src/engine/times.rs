//! What the times of a run's frames come to at one receive worker: one-way latency, the wait in the ring, the gaps between
//! arrivals. Reads no clock.

use crate::frame::formula::hash;
use crate::frame::{Probe, extend_sent};
use crate::measure::latency::{COARSE_TABLE_BYTES, TABLE_BYTES};
use crate::measure::{Jitter, Latency, MeanJitter, PackedLatency, Sampling, Seen};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// Sequence spaces whose latency is told one by one: the first of a run, so that all workers follow the same.
pub const MAX_FOLLOWED_SPACES: u16 = 64;

/// When a frame came, and by which clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// When the XDP program saw it, where that says so.
    pub stamp: Option<Nanos>,
    /// When the NIC received it, by its own clock, where that says so.
    pub nic: Option<Nanos>,
    /// When the worker took it.
    pub now: Nanos,
    /// Name of the clock of program and worker.
    pub clock_id: u16,
}

/// The times of one run.
#[derive(Debug)]
pub struct Times {
    /// Which frames are timed; None for none at all.
    sampling: Option<Sampling>,
    /// One-way latency of the frames whose clock is ours, each when it came first.
    pub latency: Latency,
    /// How long frames waited between the XDP program and the worker.
    pub ring_wait: Latency,
    /// From the arrival of a frame of the run to that of the next on the same queue, whatever the frames are.
    pub gaps: Latency,
    /// The same by the NIC's clock, between frames that both bear its time.
    pub nic_gaps: Latency,
    /// How much the latency changes from frame to frame, filled when the times are closed.
    pub jitter: MeanJitter,
    /// Probes stamped by another clock.
    pub foreign_clock: u64,
    /// Timed frames that arrived before they were sent, by a clock that stepped back; their latency counts as 0.
    pub negative: u64,
    /// Arrival of the last frame.
    last: Option<Nanos>,
    last_nic: Option<Nanos>,
    /// The four tables once the times are closed: those of a run that is over would take 800 KB for as long as the sink
    /// runs.
    packed: [PackedLatency; 4],
    /// One-way latency of the sequence spaces that are followed, by number, once other workers' times are merged.
    pub spaces: BTreeMap<u16, Latency>,
    /// The same once the times are closed.
    packed_spaces: BTreeMap<u16, PackedLatency>,
}

/// The times of one sequence space, while frames arrive.
#[derive(Debug, Default)]
pub(super) struct SpaceTimes {
    jitter: Jitter,
    /// Its own latency, where it is followed.
    latency: Option<Latency>,
}

impl Times {
    /// No times yet, of a worker that times these frames, or none.
    #[must_use]
    pub fn new(sampling: Option<Sampling>) -> Self {
        let table = || if sampling.is_some() { Latency::new() } else { Latency::none() };
        Self {
            sampling,
            latency: table(),
            ring_wait: table(),
            gaps: table(),
            nic_gaps: table(),
            jitter: MeanJitter::default(),
            foreign_clock: 0,
            negative: 0,
            last: None,
            last_nic: None,
            packed: <[PackedLatency; 4]>::default(),
            spaces: BTreeMap::new(),
            packed_spaces: BTreeMap::new(),
        }
    }

    /// Bytes of all tables that the times of one run can take on a worker.
    pub const MOST_BYTES: u64 = 4 * TABLE_BYTES + MAX_FOLLOWED_SPACES as u64 * COARSE_TABLE_BYTES;

    /// The times of space `number` of so many; None where the sender has not told. The only one has no latency of its own.
    pub(super) fn open(&self, number: u16, spaces: Option<u16>) -> SpaceTimes {
        let several = spaces.is_some_and(|spaces| spaces > 1);
        let followed = self.sampling.is_some() && several && number < MAX_FOLLOWED_SPACES;
        SpaceTimes { latency: followed.then(Latency::coarse), ..SpaceTimes::default() }
    }

    /// Times a frame of the run that its space's books have `seen`.
    #[inline]
    pub(super) fn take(&mut self, space: &mut SpaceTimes, probe: &Probe, seen: Seen, at: Arrival) {
        let Some(sampling) = self.sampling else { return };
        let arrived = at.stamp.unwrap_or(at.now);
        let before = self.last.replace(arrived);
        let nic_before = std::mem::replace(&mut self.last_nic, at.nic);
        let ours = probe.clock == at.clock_id;
        self.foreign_clock += u64::from(!ours);
        if !sampling.takes(|| hash(probe.run.into(), number(probe))) {
            return;
        }
        if let Some(before) = before {
            self.gaps.record((arrived - before).0);
        }
        if let (Some(before), Some(nic)) = (nic_before, at.nic) {
            self.nic_gaps.record((nic - before).0);
        }
        if let Some(stamp) = at.stamp {
            self.ring_wait.record((at.now - stamp).0);
        }
        if ours && matches!(seen, Seen::Unique { .. }) {
            let transit = arrived.0.wrapping_sub(extend_sent(probe.sent, arrived).0).cast_signed();
            self.negative += u64::from(transit < 0);
            let latency = transit.max(0).cast_unsigned();
            self.latency.record(latency);
            space.jitter.record(transit);
            if let Some(own) = &mut space.latency {
                own.record(latency);
            }
        }
    }

    /// Takes over what the spaces have, and packs the tables.
    pub(super) fn close(&mut self, spaces: impl Iterator<Item = (u16, SpaceTimes)>) {
        for (number, space) in spaces {
            self.jitter.add(&space.jitter);
            self.packed_spaces.extend(space.latency.map(|latency| (number, latency.pack())));
        }
        let tables = [&mut self.latency, &mut self.ring_wait, &mut self.gaps, &mut self.nic_gaps];
        self.packed = tables.map(|table| std::mem::replace(table, Latency::none()).pack());
    }

    /// Adds what another worker has closed of the same run.
    pub(super) fn merge(&mut self, other: &Self) {
        let tables = [&mut self.latency, &mut self.ring_wait, &mut self.gaps, &mut self.nic_gaps];
        tables.into_iter().zip(&other.packed).for_each(|(table, packed)| table.unpack(packed));
        for (number, packed) in &other.packed_spaces {
            self.spaces.entry(*number).or_insert_with(Latency::coarse).unpack(packed);
        }
        self.jitter.merge(&other.jitter);
        self.foreign_clock += other.foreign_clock;
        self.negative += other.negative;
    }
}

/// The number of a frame over all sequence spaces.
fn number(probe: &Probe) -> u64 {
    u64::from(probe.stream.space()) << 32 | u64::from(probe.seq)
}
#[cfg(test)]
mod tests;
