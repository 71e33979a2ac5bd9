//! Properties of courses that are not steady, under a fake clock: bursts, plans and Poisson arrivals.

use super::*;
use crate::units::FrameRate;
use proptest::prelude::*;
use std::sync::Arc;

const MS: u64 = 1_000_000;

fn pps(frames: u64) -> FrameRate {
    FrameRate::new(frames, 1).unwrap()
}

fn plan(stairs: &[(u64, u64)]) -> Course {
    let stair = |&(rate, length): &(u64, u64)| Stair { rate: FrameRate::new(rate, 1), length: Nanos(length) };
    Course::Plan(Arc::new(Plan::new(stairs.iter().map(stair).collect()).unwrap()))
}

fn sender(course: &Course, count: Option<u64>, duration: Option<u64>, place: (u16, u16)) -> Pacer {
    let limits = Limits { count, duration: duration.map(Nanos) };
    let mut pacer = Pacer::new(course, limits, 64, place);
    pacer.start(Nanos(0));
    pacer
}

/// When each frame is sent by a sender that is never late, when each was due, and the length of the window.
fn ideal(mut pacer: Pacer) -> (Vec<u64>, u64) {
    let (mut times, mut now) = (vec![], Nanos(0));
    while !pacer.finished(now) {
        loop {
            let due = pacer.due(now);
            if due == 0 {
                break;
            }
            let asked: Vec<u64> = pacer.times().map(|time| time.0).collect();
            assert_eq!(asked, vec![now.0; due as usize], "a frame that is due now was due now");
            times.extend(asked);
            pacer.sent(due);
        }
        now = pacer.next_due().unwrap_or(now);
    }
    assert_eq!((pacer.shortfall(), pacer.asked()), (0, Some(times.len() as u64)));
    (times, pacer.window(now).0)
}

#[test]
fn a_burst_is_due_as_a_whole_and_the_mean_is_kept() {
    let (times, window) = ideal(sender(&Course::Steady(pps(1_000), 4), Some(10), None, (0, 1)));
    let expected = [0, 0, 0, 0, 4, 4, 4, 4, 8, 8].map(|ms| ms * MS);
    assert_eq!((times, window), (expected.to_vec(), 10 * MS));
    // A burst longer than a batch goes out in one go all the same.
    let (times, _) = ideal(sender(&Course::Steady(pps(1_000), 100), None, Some(200 * MS), (0, 1)));
    assert_eq!(times, [vec![0; 100], vec![100 * MS; 100]].concat());
}

#[test]
fn a_burst_is_one_senders() {
    let course = Course::Steady(pps(1_000), 4);
    let (first, _) = ideal(sender(&course, None, Some(14 * MS), (0, 2)));
    let (second, _) = ideal(sender(&course, None, Some(14 * MS), (1, 2)));
    // Slots 12 and 13 of the last burst begin in time, 14 and 15 do not.
    assert_eq!(first, [0, 0, 0, 0, 8, 8, 8, 8].map(|ms| ms * MS));
    assert_eq!(second, [4, 4, 4, 4, 12, 12].map(|ms| ms * MS));
}

#[test]
fn a_rate_changes_at_its_step() {
    let course = plan(&[(1_000, 10 * MS), (2_000, 10 * MS)]);
    let (times, window) = ideal(sender(&course, None, Some(25 * MS), (0, 1)));
    let slow = (0..10).map(|k| k * MS);
    let fast = (0..20).map(|k| 10 * MS + k * MS / 2);
    let again = (0..5).map(|k| (20 + k) * MS);
    assert_eq!(times, slow.chain(fast).chain(again).collect::<Vec<_>>());
    assert_eq!((window, course.mean_pps(Some(Nanos(20 * MS)))), (25 * MS, Some(1_500.0)));
}

#[test]
fn what_is_left_of_a_slot_counts_on_behind_a_pause_and_at_another_rate() {
    // The slot at 2 ms has half of its time left at 1.5 ms, and takes it after the pause.
    let (times, _) = ideal(sender(&plan(&[(1_000, 3 * MS / 2), (0, 10 * MS)]), None, Some(20 * MS), (0, 1)));
    assert_eq!(times, [0, MS, 12 * MS]);
    // At ten times the rate, half a slot is a tenth as long.
    let course = plan(&[(1_000, 3 * MS / 2), (10_000, MS)]);
    let (times, _) = ideal(sender(&course, Some(4), None, (0, 1)));
    assert_eq!(times, [0, MS, 3 * MS / 2 + MS / 20, 3 * MS / 2 + 3 * MS / 20]);
}

#[test]
fn a_counted_run_that_ends_before_a_pause_does_not_wait_for_what_comes_after_it() {
    let (times, window) = ideal(sender(&plan(&[(1_000, 2 * MS), (0, 10_000 * MS)]), Some(2), None, (0, 1)));
    assert_eq!((times.len(), window), (2, 2 * MS));
}

#[test]
fn a_ramp_offers_the_mean_of_its_ends() {
    let stairs = Plan::ramp(pps(1_000), pps(5_000), Nanos(100 * MS)).unwrap();
    assert_eq!(stairs.len(), 100);
    let course = Course::Plan(Arc::new(Plan::new(stairs).unwrap()));
    let (times, _) = ideal(sender(&course, None, Some(100 * MS), (0, 1)));
    assert!((299..=301).contains(&times.len()), "{}", times.len());
    let half = times.iter().filter(|time| **time < 50 * MS).count();
    assert!((99..=101).contains(&half), "{half}");
    // A ramp of hours has stairs that last longer, and no more of them.
    let stairs = Plan::ramp(pps(1), pps(2), Nanos(7_200_000 * MS)).unwrap();
    assert_eq!(stairs.len(), 1_000);
    assert_eq!(stairs.iter().map(|stair| stair.length.0).sum::<u64>(), 7_200_000 * MS);
}

#[test]
fn poisson_arrivals_keep_the_mean_and_their_senders_share_it() {
    let course = Course::Poisson(pps(20_000), 11);
    let frames = |place| ideal(sender(&course, None, Some(1_000 * MS), place)).0.len() as f64;
    // Five sigma of 20,000.
    let bound = 5.0 * 20_000f64.sqrt();
    assert!((frames((0, 1)) - 20_000.0).abs() < bound);
    assert!(((0..4).map(|own| frames((own, 4))).sum::<f64>() - 20_000.0).abs() < bound);
}

#[test]
fn a_stall_is_shortfall_on_any_course() {
    let courses = [
        Course::Steady(pps(10_000), 32),
        Course::Poisson(pps(10_000), 3),
        plan(&[(10_000, 7 * MS), (0, MS), (12_500, 8 * MS)]),
    ];
    for course in courses {
        let mut pacer = sender(&course, None, Some(4_000 * MS), (0, 1));
        let due = pacer.due(Nanos(3_000 * MS));
        pacer.sent(due);
        assert!(due <= 64 && pacer.times().all(|time| time <= Nanos(3_000 * MS)), "{due}: {course:?}");
        assert!(pacer.finished(Nanos(4_000 * MS)));
        let owed = (u64::from(due) + pacer.shortfall()) as f64;
        let ideal = 4.0 * course.mean_pps(Some(Nanos(4_000 * MS))).unwrap();
        assert!((owed / ideal - 1.0).abs() < 0.03, "{owed}: {course:?}");
        assert_eq!(pacer.asked(), Some(owed as u64));
    }
}

fn any_plan() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let rate = prop_oneof![1 => Just(0u64), 4 => 1u64..3_000_000];
    prop::collection::vec((rate, MS..20 * MS), 1..6)
        .prop_filter("it sends", |stairs| stairs.iter().any(|(rate, _)| *rate > 0))
}

proptest! {
    /// Over ten rounds a plan is not off by a whole frame for each change of its rate, however it is cut up.
    #[test]
    fn no_frame_is_gained_or_lost_at_a_step(stairs in any_plan(), parts in 1u16..5) {
        let length: u64 = stairs.iter().map(|(_, length)| 10 * length).sum();
        let ideal: f64 = stairs.iter().map(|(rate, length)| *rate as f64 * *length as f64 * 1e-8).sum();
        let owed = |own| {
            let mut pacer = sender(&plan(&stairs), None, Some(length), (own, parts));
            assert!(pacer.finished(Nanos(length)));
            pacer.shortfall()
        };
        let owed: u64 = (0..parts).map(owed).sum();
        prop_assert!((owed as f64 - ideal).abs() <= 1.5, "{owed} of {ideal}");
    }

    /// However late the sender looks, a frame that is due has come due by then, and in the order of the slots.
    #[test]
    fn due_times_go_forward_and_are_never_ahead(
        stairs in any_plan(), steps in prop::collection::vec((1u64..3 * MS, 0u32..100), 1..80),
    ) {
        let mut pacer = sender(&plan(&stairs), None, None, (0, 1));
        let (mut now, mut last) = (Nanos(0), Nanos(0));
        for (forth, percent) in steps {
            let due = pacer.due(now);
            let times: Vec<Nanos> = pacer.times().take(due as usize).collect();
            prop_assert_eq!(times.len(), due as usize);
            for time in times.iter().take((due * percent / 100) as usize) {
                prop_assert!(*time >= last && *time <= now);
                last = *time;
            }
            pacer.sent(due * percent / 100);
            now = now + Nanos(forth);
        }
    }
}
