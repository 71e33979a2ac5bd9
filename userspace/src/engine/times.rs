//! What the times of a run's frames come to at one receive worker: one-way latency, the wait in the ring, the gaps between
//! arrivals. Reads no clock.

use crate::frame::formula::hash;
use crate::frame::{Probe, extend_sent};
use crate::measure::{Jitter, Latency, MeanJitter, PackedLatency, Sampling, Seen};
use crate::units::Nanos;

/// When a frame came, and by which clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// When the XDP program saw it, where that says so.
    pub stamp: Option<Nanos>,
    /// When the worker took it.
    pub now: Nanos,
    /// Name of the clock of both.
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
    /// How much the latency changes from frame to frame, filled when the times are closed.
    pub jitter: MeanJitter,
    /// Probes stamped by another clock.
    pub foreign_clock: u64,
    /// Timed frames that arrived before they were sent, by a clock that stepped back; their latency counts as 0.
    pub negative: u64,
    /// Arrival of the last frame.
    last: Option<Nanos>,
    /// The three tables once the times are closed: those of a run that is over would take 600 KB for as long as the sink
    /// runs.
    packed: [PackedLatency; 3],
}

/// The times of one sequence space, while frames arrive.
#[derive(Debug, Default)]
pub(super) struct SpaceTimes {
    jitter: Jitter,
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
            jitter: MeanJitter::default(),
            foreign_clock: 0,
            negative: 0,
            last: None,
            packed: <[PackedLatency; 3]>::default(),
        }
    }

    /// Times a frame of the run that its space's books have `seen`.
    #[inline]
    pub(super) fn take(&mut self, space: &mut SpaceTimes, probe: &Probe, seen: Seen, at: Arrival) {
        let Some(sampling) = self.sampling else { return };
        let arrived = at.stamp.unwrap_or(at.now);
        let before = self.last.replace(arrived);
        let ours = probe.clock == at.clock_id;
        self.foreign_clock += u64::from(!ours);
        if !sampling.takes(|| hash(probe.run.into(), number(probe))) {
            return;
        }
        if let Some(before) = before {
            self.gaps.record((arrived - before).0);
        }
        if let Some(stamp) = at.stamp {
            self.ring_wait.record((at.now - stamp).0);
        }
        if ours && matches!(seen, Seen::Unique { .. }) {
            let transit = arrived.0.wrapping_sub(extend_sent(probe.sent, arrived).0).cast_signed();
            self.negative += u64::from(transit < 0);
            self.latency.record(transit.max(0).cast_unsigned());
            space.jitter.record(transit);
        }
    }

    /// Takes over what the spaces have, and packs the tables.
    pub(super) fn close<'s>(&mut self, spaces: impl Iterator<Item = &'s SpaceTimes>) {
        spaces.for_each(|space| self.jitter.add(&space.jitter));
        let tables = [&mut self.latency, &mut self.ring_wait, &mut self.gaps];
        self.packed = tables.map(|table| std::mem::replace(table, Latency::none()).pack());
    }

    /// Adds what another worker has closed of the same run.
    pub(super) fn merge(&mut self, other: &Self) {
        let tables = [&mut self.latency, &mut self.ring_wait, &mut self.gaps];
        tables.into_iter().zip(&other.packed).for_each(|(table, packed)| table.unpack(packed));
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
