//! Properties of the pacer under a fake clock.

use super::*;
use crate::units::FrameRate;
use proptest::prelude::*;

const START: Nanos = Nanos(1_000_000_007);

fn pps(frames: u64) -> Option<FrameRate> {
    FrameRate::new(frames, 1)
}

fn started(rate: Option<FrameRate>, limits: Limits, batch: u32) -> Pacer {
    let mut pacer = Pacer::new(&Course::steady(rate), limits, batch, (0, 1));
    pacer.start(START);
    pacer
}

fn count(count: u64) -> Limits {
    Limits { count: Some(count), duration: None }
}

fn duration(duration: Nanos) -> Limits {
    Limits { count: None, duration: Some(duration) }
}

/// Sends whatever is due at `now`; how much that was.
fn send_all(pacer: &mut Pacer, now: Nanos) -> u64 {
    let mut total = 0;
    loop {
        let due = pacer.due(now);
        if due == 0 {
            return total;
        }
        pacer.sent(due);
        total += u64::from(due);
    }
}

/// Times of all frames of a run that looks at the clock whenever the pacer says, and the window's length.
fn ideal_run(mut pacer: Pacer) -> (Vec<u64>, Pacer) {
    let mut times = vec![];
    let mut now = START;
    while !pacer.finished(now) {
        for _ in 0..send_all(&mut pacer, now) {
            times.push((now - START).0);
        }
        now = pacer.next_due().unwrap_or(now);
    }
    (times, pacer)
}

#[test]
fn five_frames_at_one_a_second_take_five_seconds() {
    for limits in [duration(Nanos(5_000_000_000)), count(5)] {
        let (times, mut pacer) = ideal_run(started(pps(1), limits, 64));
        assert_eq!(times, [0, 1_000_000_000, 2_000_000_000, 3_000_000_000, 4_000_000_000]);
        let late = START + Nanos(6_000_000_000);
        assert_eq!((pacer.window(late), pacer.shortfall()), (Nanos(5_000_000_000), 0));
        assert!(pacer.finished(late) && pacer.due(late) == 0);
    }
}

#[test]
fn a_paced_run_is_not_over_before_its_last_slot() {
    let mut pacer = started(pps(1), count(1), 64);
    assert_eq!(send_all(&mut pacer, START), 1);
    assert!(!pacer.finished(START + Nanos(999_999_999)));
    assert!(pacer.finished(START + Nanos(1_000_000_000)));
}

#[test]
fn without_a_rate_the_batch_and_the_limits_alone_count() {
    let mut pacer = started(None, count(100), 64);
    let later = START + Nanos(30);
    assert_eq!(pacer.due(START), 64);
    pacer.sent(60);
    assert_eq!(pacer.due(later), 40);
    pacer.sent(40);
    assert!(pacer.finished(later));
    assert_eq!((pacer.window(later + Nanos(5)), pacer.shortfall(), pacer.next_due()), (Nanos(30), 0, None));

    let mut pacer = started(None, duration(Nanos(100)), 64);
    assert_eq!((pacer.due(START + Nanos(99)), pacer.due(START + Nanos(100))), (64, 0));
    assert_eq!(pacer.window(START + Nanos(250)), Nanos(100));
}

#[test]
fn nothing_is_due_before_the_start_nor_in_an_empty_run() {
    let mut pacer = Pacer::new(&Course::steady(pps(1)), Limits::default(), 64, (0, 1));
    assert_eq!((pacer.due(START), pacer.finished(START), pacer.next_due()), (0, false, None));
    for limits in [count(0), duration(Nanos(0))] {
        let mut pacer = started(pps(1), limits, 64);
        assert_eq!((pacer.due(START), pacer.shortfall()), (0, 0));
        assert!(pacer.finished(START));
    }
}

#[test]
fn a_stopped_run_owes_what_was_due() {
    let mut pacer = started(pps(1_000), Limits::default(), 8);
    let now = START + Nanos::from_millis(3);
    assert_eq!(pacer.due(now), 4);
    pacer.sent(1);
    pacer.stop(now);
    assert!(pacer.finished(now));
    assert_eq!((pacer.shortfall(), pacer.window(now + Nanos(9))), (3, Nanos::from_millis(3)));
}

#[test]
fn of_two_limits_the_first_ends_the_run() {
    let both = |count, ms| Limits { count: Some(count), duration: Some(Nanos::from_millis(ms)) };
    let (times, mut pacer) = ideal_run(started(pps(1_000), both(5, 100), 64));
    assert_eq!((times.len(), pacer.window(START)), (5, Nanos::from_millis(5)));
    let (times, mut pacer) = ideal_run(started(pps(1_000), both(500, 100), 64));
    assert_eq!((times.len(), pacer.window(START), pacer.shortfall()), (100, Nanos::from_millis(100), 0));
    // One frame short at the end of the time is one frame of shortfall, however many slots have passed it by.
    let mut pacer = started(pps(1_000), both(2, 50), 64);
    assert_eq!(pacer.due(START), 1);
    pacer.sent(1);
    assert!(pacer.finished(START + Nanos::from_millis(50)));
    assert_eq!(pacer.shortfall(), 1);
}

#[test]
fn a_stall_is_shortfall_at_once_and_moves_the_end_of_a_counted_run() {
    let mut pacer = started(pps(1_000), count(10), 1);
    assert_eq!(send_all(&mut pacer, START), 1);
    let after = START + Nanos::from_millis(100);
    // 101 slots are open: one is sent, one may be caught up.
    assert_eq!(pacer.due(after), 1);
    assert_eq!(pacer.shortfall(), 99);
    let mut now = after;
    while !pacer.finished(now) {
        send_all(&mut pacer, now);
        now = pacer.next_due().unwrap();
    }
    assert_eq!((pacer.shortfall(), pacer.window(now)), (99, Nanos::from_millis(109)));
}

#[test]
fn no_drift_over_ten_to_the_twelve_frames() {
    // 10^12 frames at 14,880,952.38 a second, in steps of a little over 200 s, each of another length.
    let rate = FrameRate::from_l1_bps(10_000_000_000, crate::units::FrameSize::MIN).unwrap();
    let mut pacer = started(Some(rate), Limits::default(), u32::MAX);
    let (mut now, mut sent) = (START, 0u64);
    for step in 0..400 {
        now = now + Nanos(200_000_000_003 + step * 7);
        sent += send_all(&mut pacer, now);
    }
    let exact = u128::from((now - START).0) * 10_000_000_000 / (672 * 1_000_000_000) + 1;
    assert_eq!((u128::from(sent), pacer.shortfall()), (exact, 0));
    assert!(sent > 1_000_000_000_000);
}

/// One thing that happens to a sender: time passes, or steps back, and some of what is due gets sent.
#[derive(Debug, Clone)]
struct Step {
    forth: u64,
    back: u64,
    percent: u32,
}

fn any_step() -> impl Strategy<Value = Step> {
    let forth = prop_oneof![Just(0), 0u64..10_000, 0u64..10_000_000, 0u64..5_000_000_000];
    (forth, prop_oneof![3 => Just(0), 1 => 0u64..1_000_000], prop_oneof![Just(100), Just(0), 0u32..100])
        .prop_map(|(forth, back, percent)| Step { forth, back, percent })
}

fn any_rate() -> impl Strategy<Value = FrameRate> {
    (prop_oneof![1u64..100, 1u64..100_000_000_000], 1u64..1000)
        .prop_map(|(frames, seconds)| FrameRate::new(frames, seconds).unwrap())
}

proptest! {
    #[test]
    fn each_slot_is_sent_given_up_or_pending(
        rate in any_rate(), batch in 1u32..300, steps in prop::collection::vec(any_step(), 0..60),
    ) {
        let mut pacer = started(Some(rate), Limits::default(), batch);
        let bound = rate.frames_in(Nanos::from_millis(1)).max(u64::from(batch));
        let (mut now, mut latest, mut sent) = (START, START, 0);
        for step in steps {
            now = Nanos((now.0 + step.forth).saturating_sub(step.back).max(START.0 / 2));
            latest = latest.max(now);
            let due = pacer.due(now);
            prop_assert!(due <= batch);
            let share = due * step.percent / 100;
            pacer.sent(share);
            sent += u64::from(share);
            let opened = rate.frames_in(latest - START) + 1;
            let pending = opened - sent - pacer.shortfall();
            prop_assert_eq!(u64::from(due), u64::from(batch).min(pending + u64::from(share)));
            prop_assert!(pending <= bound);
        }
    }

    #[test]
    fn a_timed_run_owes_every_frame_of_its_schedule(
        rate in any_rate(), batch in 1u32..300, length in 0u64..20_000_000_000,
        steps in prop::collection::vec(any_step(), 0..60),
    ) {
        let mut pacer = started(Some(rate), duration(Nanos(length)), batch);
        let (mut now, mut sent) = (START, 0);
        for step in &steps {
            now = now + Nanos(step.forth);
            let share = pacer.due(now) * step.percent / 100;
            pacer.sent(share);
            sent += u64::from(share);
        }
        now = now.max(START + Nanos(length));
        prop_assert!(pacer.finished(now));
        // Slots that begin before the end.
        let scheduled = if length == 0 { 0 } else { rate.frames_in(Nanos(length - 1)) + 1 };
        prop_assert_eq!(sent + pacer.shortfall(), scheduled);
        prop_assert_eq!(pacer.window(now + Nanos(1)), Nanos(length));
    }

    #[test]
    fn a_counted_run_builds_its_count_and_takes_whole_slots(
        rate in any_rate(), batch in 1u32..300, frames in 1u64..300,
        steps in prop::collection::vec(any_step(), 0..60),
    ) {
        let mut pacer = started(Some(rate), count(frames), batch);
        let (mut now, mut sent) = (START, 0);
        for step in &steps {
            now = now + Nanos(step.forth);
            let share = pacer.due(now) * step.percent / 100;
            pacer.sent(share);
            sent += u64::from(share);
        }
        while !pacer.finished(now) {
            sent += send_all(&mut pacer, now);
            now = now.max(pacer.next_due().unwrap_or(now));
        }
        prop_assert_eq!(sent, frames);
        prop_assert_eq!(pacer.window(now), rate.time_of(frames + pacer.shortfall()));
    }

    #[test]
    fn no_burst_is_longer_than_the_bound(rate in any_rate(), batch in 1u32..300, stall in 0u64..1 << 50) {
        let mut pacer = started(Some(rate), Limits::default(), batch);
        let bound = rate.frames_in(Nanos::from_millis(1)).max(u64::from(batch));
        prop_assert!(send_all(&mut pacer, START + Nanos(stall)) <= bound);
    }

    #[test]
    fn a_frame_is_due_exactly_from_its_time_on(rate in any_rate(), frames in 1u64..50) {
        let (times, _) = ideal_run(started(Some(rate), count(frames), 1));
        let exact: Vec<u64> = (0..frames).map(|k| rate.time_of(k).0).collect();
        prop_assert_eq!(times, exact);
    }
}

#[test]
fn senders_that_share_a_rate_take_its_slots_in_turn() {
    let mut times = vec![];
    let mut windows = vec![];
    for own in 0u16..4 {
        let mut pacer = Pacer::new(&Course::steady(pps(1)), count(5), 64, (own, 4));
        pacer.start(START);
        let (own_times, mut pacer) = ideal_run(pacer);
        times.extend(own_times);
        windows.push(pacer.window(START + Nanos(60_000_000_000)).0);
    }
    times.sort_unstable();
    assert_eq!(times, [0, 1_000_000_000, 2_000_000_000, 3_000_000_000, 4_000_000_000]);
    assert_eq!(windows.iter().max(), Some(&5_000_000_000));
}

proptest! {
    /// Together they send what one would have sent, whatever the rate, the time and their number.
    #[test]
    fn shares_add_up(frames in 1u64..1 << 30, seconds in 1u64..1_000, parts in 1u16..70, ns in 1u64..5_000_000_000) {
        let course = Course::steady(FrameRate::new(frames, seconds));
        let opened = |own, parts| {
            let mut pacer = Pacer::new(&course, duration(Nanos(ns)), 64, (own, parts));
            pacer.start(START);
            let sent = send_all(&mut pacer, START + Nanos(ns - 1));
            sent + pacer.shortfall()
        };
        let together: u64 = (0..parts).map(|own| opened(own, parts)).sum();
        prop_assert_eq!(together, opened(0, 1));
    }
}
