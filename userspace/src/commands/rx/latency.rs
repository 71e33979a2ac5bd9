//! What the times of a run's frames come to in its Report, or why there are none.

use super::Sink;
use super::report::RunFacts;
use crate::commands::queue_limited;
use crate::engine::{MAX_FOLLOWED_SPACES, Times};
use crate::measure::{Sampling, Summary};
use crate::report::{
    Balance, GapsKind, GapsNs, LatencyKind, LatencyNs, Offered, StreamLatencyNs, StreamRow, WaitNs,
};

/// The figures that come from arrival times.
pub struct Timed {
    /// One-way latency.
    pub latency: Option<LatencyNs>,
    /// Why there is none.
    pub latency_absent: Option<String>,
    /// The wait between the XDP program and the worker.
    pub ring_wait: Option<WaitNs>,
    /// Gaps between arrivals.
    pub gaps: Option<GapsNs>,
}

/// Gaps by the NIC's clock where it timed every frame, else by the one of the other figures.
fn gaps(times: &Times, clock: &str) -> Option<GapsNs> {
    let gaps = times.gaps.summary()?;
    let every = |nic: &Summary| nic.count == gaps.count;
    let (clock, gaps) = match times.nic_gaps.summary().filter(every) {
        Some(nic) => ("nic-rx", nic),
        None => (clock, gaps),
    };
    Some(GapsNs::new(GapsKind::Arrival, clock, gaps))
}

/// One program stamps all frames or none, so that one clock timed them all.
pub fn timed(
    times: &Times,
    (kind, sampled): (LatencyKind, Option<Sampling>),
    offered: Option<&Offered>,
    (balance, streams): (&Balance, &[StreamRow]),
    absent: &str,
) -> Timed {
    let ring_wait = times.ring_wait.summary();
    let clock = if ring_wait.is_some() { "xdp-rx" } else { "userspace" };
    let latency = times.latency.summary().map(|summary| LatencyNs {
        sampled: sampled.map(|sampling| sampling.to_string()),
        jitter: times.jitter.ns(),
        negative: Some(times.negative),
        streams_followed: (streams.len() > 1).then_some(times.spaces.len() as u64),
        streams_absent: not_followed(offered, streams),
        queue_limited: queue_limited::reason(offered, balance),
        ..LatencyNs::new(kind, clock, summary)
    });
    Timed {
        latency_absent: latency.is_none().then(|| absent.to_owned()),
        latency,
        ring_wait: ring_wait.map(WaitNs::from),
        gaps: gaps(times, clock),
    }
}

/// Latency of one sequence space alone.
pub fn of_space(times: &Times, space: u16) -> Option<StreamLatencyNs> {
    times.spaces.get(&space)?.summary().map(StreamLatencyNs::from)
}

/// Why sequence spaces are not followed one by one, where there are several.
fn not_followed(offered: Option<&Offered>, streams: &[StreamRow]) -> Option<String> {
    let last = streams.last().filter(|_| streams.len() > 1)?;
    match offered {
        None => Some("no START of the sender told that there are several".to_owned()),
        Some(_) if last.space >= MAX_FOLLOWED_SPACES => Some(format!(
            "the first {MAX_FOLLOWED_SPACES} sequence spaces are followed one by one, since each takes memory on every queue"
        )),
        Some(_) => None,
    }
}

/// Why no frame has a latency.
pub fn absent(sink: &Sink<'_>, run: &RunFacts<'_>) -> &'static str {
    match () {
        () if sink.config.count_only => "--count-only reads no stamps",
        () if sink.config.timing.is_none() => "--no-latency times no frame",
        () if run.tally.times.foreign_clock > 0 => "the sender stamps with another clock than this host's",
        () if run.tally.probes > 0 => {
            "none of the frames that came was among those that --latency-sample chooses"
        }
        () => "no frame of a run was received",
    }
}
