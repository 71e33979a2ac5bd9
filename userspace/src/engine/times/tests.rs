//! Frames whose times are known, through the books of a worker.

use super::*;
use crate::engine::latch::{Latch, Shape};
use crate::engine::tally::RxTally;
use crate::frame::StreamId;
use crate::measure::latency::HIGHEST_NS;
use std::num::NonZeroU32;

const CLOCK: u16 = 7;

fn probe(space: u16, seq: u32, sent: u64) -> Probe {
    Probe { run: 1, stream: StreamId::new(space, true), seq, clock: CLOCK, sent }
}

fn at(now: u64) -> Arrival {
    Arrival { stamp: None, nic: None, now: Nanos(now), clock_id: CLOCK }
}

/// What one worker makes of these, closed and merged as the Report has it.
fn of(sampling: Option<Sampling>, spaces: u16, arrivals: &[(Probe, Arrival)]) -> RxTally {
    let latch = Latch::new(None);
    assert_eq!(latch.admit(1, Nanos(1)), Some(1));
    latch.announce(1, Shape { flows: [1].into(), spaces });
    let mut tally = RxTally::new(1, Some(1), Some(0)).timed(sampling);
    for (probe, at) in arrivals {
        tally.probe(probe, 60, *at, &latch);
    }
    tally.close();
    let mut merged = RxTally::new(1, Some(1), None);
    merged.merge(tally);
    merged
}

#[test]
fn each_latency_is_arrival_minus_stamp_and_no_constant() {
    // Far apart, so that no two share a cell of the table.
    let took = [700, 10_000_000, 3, 250_000, 1_500];
    let arrivals: Vec<_> = (0u32..)
        .zip(took)
        .map(|(seq, ns)| (probe(0, seq, 1_000_000_000 * u64::from(seq + 1)), ns))
        .map(|(probe, ns)| (probe, at(probe.sent + ns)))
        .collect();
    let summary = of(Some(Sampling::ALL), 1, &arrivals).times.latency.summary().unwrap();
    assert_eq!((summary.count, summary.min, summary.max), (5, 3, 10_000_000));
    assert_eq!((summary.p50, summary.mean), (1_500, 2_050_440.6));
}

#[test]
fn a_frame_is_timed_when_it_comes_first_and_not_again() {
    let again = [(0, 100), (1, 100), (1, 9_000), (3, 100), (2, 500), (0, 9_000)];
    let arrivals: Vec<_> =
        again.map(|(seq, ns)| (probe(0, seq, 1_000_000), at(1_000_000 + ns))).into_iter().collect();
    let tally = of(Some(Sampling::ALL), 1, &arrivals);
    let summary = tally.times.latency.summary().unwrap();
    assert_eq!((summary.count, summary.count), (4, tally.spaces[&0].unique));
    assert_eq!(summary.max, 500, "what came again is late by more");
    assert_eq!(tally.times.gaps.summary().unwrap().count, 5, "it came, all the same");
}

#[test]
fn what_the_books_refuse_is_not_timed() {
    let tally = of(Some(Sampling::ALL), 2, &[(probe(0, 0, 5), at(9)), (probe(2, 0, 5), at(10))]);
    assert_eq!((tally.probes, tally.times.latency.summary().unwrap().count), (1, 1));
    assert_eq!(tally.times.gaps.summary(), None);
}

#[test]
fn a_clock_that_steps_back_is_counted_and_makes_no_huge_latency() {
    let back = [(0, 1_000, 1_100), (1, 2_000, 1_500), (2, 3_000, 3_100)];
    let arrivals = back.map(|(seq, sent, now)| (probe(0, seq, sent), at(now)));
    let tally = of(Some(Sampling::ALL), 1, &arrivals);
    let summary = tally.times.latency.summary().unwrap();
    assert_eq!((summary.count, summary.min, summary.max, tally.times.negative), (3, 0, 100, 1));
    // 100, -500, 100: by 600 and back.
    let jitter = tally.times.jitter.ns().unwrap();
    assert!((72.0..=73.0).contains(&jitter), "{jitter}");
    assert_eq!(tally.times.gaps.summary().unwrap().max, 1_600);
}

#[test]
fn another_clock_gives_gaps_and_no_latency() {
    let foreign = |seq, now| (Probe { clock: CLOCK + 1, ..probe(0, seq, 0) }, at(now));
    let tally = of(Some(Sampling::ALL), 1, &[foreign(0, 10), foreign(1, 30)]);
    assert_eq!((tally.times.latency.summary(), tally.times.foreign_clock), (None, 2));
    assert_eq!(tally.times.gaps.summary().unwrap().mean, 20.0);
}

#[test]
fn stamps_of_arrival_are_what_counts_where_there_are_any() {
    let seen = |seq, stamp, now| (probe(0, seq, 100), Arrival { stamp: Some(Nanos(stamp)), ..at(now) });
    let times = of(Some(Sampling::ALL), 1, &[seen(0, 150, 1_000), seen(1, 170, 1_000)]).times;
    assert_eq!(times.latency.summary().unwrap().max, 70);
    assert_eq!(times.gaps.summary().unwrap().max, 20);
    assert_eq!(times.ring_wait.summary().unwrap().max, 850);
}

#[test]
fn gaps_by_the_nics_clock_are_between_frames_that_both_bear_its_time() {
    let seen = |seq, nic: Option<u64>| {
        let at = Arrival { stamp: Some(Nanos(500)), nic: nic.map(Nanos), ..at(1_000) };
        (probe(0, seq, 100), at)
    };
    let of = |nic: &[Option<u64>]| {
        let arrivals: Vec<_> = (0..).zip(nic).map(|(seq, nic)| seen(seq, *nic)).collect();
        of(Some(Sampling::ALL), 1, &arrivals).times.nic_gaps.summary().map(|gaps| (gaps.count, gaps.max))
    };
    assert_eq!(of(&[Some(10), Some(40), None, Some(900), Some(950)]), Some((2, 50)));
    assert_eq!((of(&[Some(10), None, Some(30)]), of(&[None, None])), (None, None));
    // The NIC's clock was set back between them.
    assert_eq!(of(&[Some(90), Some(40)]), Some((1, 0)));
}

#[test]
fn of_a_turn_that_has_one_time_the_frames_are_no_gap_apart() {
    let arrivals: Vec<_> = (0..64u32).map(|seq| (probe(0, seq, 0), at(u64::from(seq / 32) * 900))).collect();
    let gaps = of(Some(Sampling::ALL), 1, &arrivals).times.gaps.summary().unwrap();
    assert_eq!((gaps.count, gaps.p90, gaps.max), (63, 0, 900));
}

#[test]
fn nothing_is_timed_where_nothing_is_to_be() {
    let times = of(None, 1, &[(probe(0, 0, 5), at(9)), (probe(0, 1, 5), at(10))]).times;
    assert_eq!((times.latency.summary(), times.gaps.summary(), times.jitter.ns()), (None, None, None));
}

#[test]
fn a_sample_is_its_share_of_the_frames_and_the_same_on_any_worker() {
    const FRAMES: u32 = 100_000;
    // The slow ones come in step with batches of 64: each first of one.
    let frame =
        |seq: u32| (probe(0, seq, 1_000), at(1_000 + if seq.is_multiple_of(64) { 6_400 } else { 100 }));
    let all: Vec<_> = (0..FRAMES).map(frame).collect();
    let sampling = Sampling::one_in(NonZeroU32::new(64).unwrap());
    let sampled = of(Some(sampling), 1, &all).times.latency.summary().unwrap();
    let expected = f64::from(FRAMES) / 64.0;
    // Four standard deviations of a binomial count.
    assert!((sampled.count as f64 - expected).abs() < 4.0 * expected.sqrt(), "{}", sampled.count);
    let mean = 100.0 + 6_300.0 / 64.0;
    assert!((sampled.mean - mean).abs() < 80.0, "{} is neither all slow nor none", sampled.mean);
    let halves: u64 = [&all[..50_000], &all[50_000..]]
        .map(|part| of(Some(sampling), 1, part).times.latency.summary().unwrap().count)
        .iter()
        .sum();
    assert_eq!(halves, sampled.count);
}

#[test]
fn each_space_has_its_own_latency_and_together_they_are_the_whole() {
    let took = |space: u16| 1_000 * (u64::from(space) + 1);
    let frame = |n: u32| {
        let space = (n % 5) as u16;
        (probe(space, n / 5, 1_000_000), at(1_000_000 + took(space)))
    };
    let tally = of(Some(Sampling::ALL), 5, &(0..1_000).map(frame).collect::<Vec<_>>());
    for space in 0..5 {
        let own = tally.times.spaces[&space].summary().unwrap();
        assert_eq!((own.count, own.min, own.max), (200, took(space), took(space)));
    }
    assert_eq!(tally.times.latency.summary().unwrap().count, 1_000);
    // A constant for each space, though frames of other spaces come in between.
    assert_eq!(tally.times.jitter.ns(), Some(0.0));
}

#[test]
fn so_many_spaces_are_followed_and_the_same_on_any_worker() {
    const SPACES: u16 = 70;
    // Another worker saw the last ones first.
    let mut arrivals: Vec<_> = (0..SPACES).rev().map(|space| (probe(space, 0, 5), at(9))).collect();
    let first = of(Some(Sampling::ALL), SPACES, &arrivals).times;
    arrivals.reverse();
    let second = of(Some(Sampling::ALL), SPACES, &arrivals).times;
    for times in [first, second] {
        assert!(times.spaces.keys().copied().eq(0..MAX_FOLLOWED_SPACES));
        assert_eq!(times.latency.summary().unwrap().count, u64::from(SPACES));
    }
}

#[test]
fn the_only_space_and_one_that_is_not_timed_take_no_table() {
    assert!(of(Some(Sampling::ALL), 1, &[(probe(0, 0, 5), at(9))]).times.spaces.is_empty());
    assert!(of(None, 2, &[(probe(0, 0, 5), at(9))]).times.spaces.is_empty());
    assert!(
        Times::new(Some(Sampling::ALL)).open(0, None).latency.is_none(),
        "nobody told how many there are"
    );
}

#[test]
fn what_took_longer_than_the_scale_counts_as_its_end_and_is_counted() {
    const SECOND: u64 = 1_000_000_000;
    let at_20_s =
        [(0, 19 * SECOND), (1, 5 * SECOND)].map(|(seq, sent)| (probe(0, seq, sent), at(20 * SECOND)));
    let then = (probe(0, 2, 31 * SECOND), at(31 * SECOND + 5));
    let times = of(Some(Sampling::ALL), 1, &[at_20_s[0], at_20_s[1], then]).times;
    let latency = times.latency.summary().unwrap();
    assert_eq!((latency.count, latency.overflow, latency.max), (3, 1, HIGHEST_NS));
    let gaps = times.gaps.summary().unwrap();
    assert_eq!((gaps.count, gaps.overflow, gaps.max), (2, 1, HIGHEST_NS));
}
