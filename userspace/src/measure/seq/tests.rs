//! The books against a model that forgets nothing.

use super::*;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// The truth: every number ever seen, and the highest of every flow.
#[derive(Default)]
struct Model {
    seen: HashSet<u64>,
    highest: HashMap<u64, u64>,
    counts: SequenceCounts,
}

impl Model {
    fn see(&mut self, seq: u64, flow: u64) -> Seen {
        if !self.seen.insert(seq) {
            self.counts.duplicate += 1;
            return Seen::Duplicate;
        }
        let highest = self.highest.entry(flow).or_insert(seq);
        let reordered = seq < *highest;
        *highest = seq.max(*highest);
        self.counts.unique += 1;
        self.counts.reordered += u64::from(reordered);
        Seen::Unique { reordered }
    }
}

/// Which flows a space walks.
#[derive(Debug, Clone, Copy)]
struct Plan {
    flows: u32,
    spaces: u16,
    space: u16,
}

impl Plan {
    fn books(self) -> SequenceBooks {
        SequenceBooks::new(self.flows, self.spaces, self.space)
    }

    fn flow(self, seq: u64) -> u64 {
        (seq * u64::from(self.spaces) + u64::from(self.space)) % u64::from(self.flows)
    }
}

fn any_plan() -> impl Strategy<Value = Plan> {
    (prop_oneof![Just(1), 1u32..20, 1u32..=MAX_FLOWS], 1u16..9, any::<u16>())
        .prop_map(|(flows, spaces, space)| Plan { flows, spaces, space: space % spaces })
}

/// A space's numbers from some start on, near a wrap or not, each sent some strides after the one before,
/// lost, duplicated and delayed by less than the window.
fn any_arrivals() -> impl Strategy<Value = Vec<u64>> {
    let start = prop_oneof![Just(0), 0u64..1 << 32, (1u64 << 32) - 3_000..1 << 32];
    let stride = prop_oneof![4 => Just(1), 1 => 1u64..100];
    // Copies of a frame (mostly one), each with its delay.
    let delay = prop_oneof![3 => Just(0), 2 => 0u64..50, 1 => 0u64..30_000];
    let frame = (stride, prop::collection::vec(delay, 0..3));
    (start, prop::collection::vec(frame, 1..300)).prop_map(|(start, frames)| {
        let mut seq = start;
        let mut arrivals = vec![];
        for (stride, delays) in frames {
            arrivals.extend(delays.into_iter().map(|delay| (seq + delay, seq)));
            seq += stride;
        }
        arrivals.sort_by_key(|(time, _)| *time);
        arrivals.into_iter().map(|(_, seq)| seq).collect()
    })
}

proptest! {
    #[test]
    fn every_verdict_within_the_window_is_the_truth(plan in any_plan(), arrivals in any_arrivals()) {
        let (mut books, mut model) = (plan.books(), Model::default());
        for seq in &arrivals {
            prop_assert_eq!(books.see(*seq as u32), model.see(*seq, plan.flow(*seq)));
        }
        let counts = books.counts();
        prop_assert_eq!(SequenceCounts { highest: None, ..counts }, model.counts);
        prop_assert_eq!(counts.probes(), arrivals.len() as u64);
        prop_assert_eq!(counts.highest.map(|h| h as u32), arrivals.iter().max().map(|h| *h as u32));
    }

    #[test]
    fn four_workers_by_flow_add_up_to_the_truth(plan in any_plan(), arrivals in any_arrivals()) {
        let mut workers = [plan.books(), plan.books(), plan.books(), plan.books()];
        let mut model = Model::default();
        for seq in &arrivals {
            let flow = plan.flow(*seq);
            model.see(*seq, flow);
            // Any hash of the flow will do; this one scatters neighbours.
            let worker = flow.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62;
            workers[worker as usize].see(*seq as u32);
        }
        let mut merged = SequenceCounts::default();
        workers.iter().for_each(|worker| merged.merge(&worker.counts()));
        prop_assert_eq!(SequenceCounts { highest: None, ..merged }, model.counts);
    }

    #[test]
    fn any_numbers_are_taken_and_each_is_in_one_book(
        plan in any_plan(), numbers in prop::collection::vec(any::<u32>(), 0..300),
    ) {
        let mut books = plan.books();
        for seq in &numbers {
            books.see(*seq);
        }
        prop_assert_eq!(books.counts().probes(), numbers.len() as u64);
    }
}

#[test]
fn the_window_ends_where_it_says() {
    let window = u32::try_from(WINDOW).unwrap();
    for start in [0, 1_000_000, u32::MAX - 5] {
        let mut books = SequenceBooks::new(1, 1, 0);
        let unique = |reordered| Seen::Unique { reordered };
        assert_eq!(books.see(start), unique(false));
        assert_eq!(books.see(start.wrapping_add(window - 1)), unique(false));
        assert_eq!(books.see(start), Seen::Duplicate);
        assert_eq!(books.see(start.wrapping_add(1)), unique(true));
        assert_eq!(books.see(start.wrapping_add(window)), unique(false));
        assert_eq!(books.see(start), Seen::Late);
        assert_eq!(books.see(start.wrapping_add(1)), Seen::Duplicate);
    }
}

#[test]
fn a_jump_over_the_window_is_believed_the_second_time_and_forgets_all_of_it() {
    for jump in [65_537, 65_538, 1 << 20, (1 << 31) - 2] {
        let mut books = SequenceBooks::new(1, 1, 0);
        for seq in 0..=1_000 {
            books.see(seq);
        }
        let after = 1_000 + jump;
        assert_eq!(books.see(after), Seen::Late, "a jump of {jump}");
        assert_eq!(books.see(after + 1), Seen::Unique { reordered: false });
        assert_eq!((books.counts().unique, books.counts().late), (1_003, 0));
        // Every number that the window now holds is new, but those of the jump and those seen before it.
        assert_eq!(books.see(after), Seen::Duplicate);
        for back in 1..65_535 {
            let expected =
                if after - back <= 1_000 { Seen::Duplicate } else { Seen::Unique { reordered: true } };
            assert_eq!(books.see(after - back), expected, "{back} behind a jump of {jump}");
        }
    }
}

#[test]
fn a_number_that_was_spoilt_on_the_way_disturbs_no_other() {
    for bit in 0..32 {
        let mut books = SequenceBooks::new(4, 1, 0);
        for seq in 0..200_000 {
            books.see(if seq == 100_000 { seq ^ (1 << bit) } else { seq });
        }
        let counts = books.counts();
        // The spoilt one is late, or stands for the number that it seems to be.
        assert_eq!(counts.probes(), 200_000, "bit {bit}");
        assert_eq!((counts.unique, counts.duplicate + counts.late), (199_999, 1), "bit {bit}");
        assert_eq!(counts.highest, Some(199_999), "bit {bit}");
    }
}

#[test]
fn the_second_of_two_that_leap_may_be_the_earlier_one() {
    let mut books = SequenceBooks::new(1, 1, 0);
    for seq in [0, 1 << 20, (1 << 20) - 5] {
        books.see(seq);
    }
    let counts = books.counts();
    assert_eq!((counts.unique, counts.reordered, counts.late), (3, 1, 0));
}

#[test]
fn the_count_goes_on_over_two_wraps() {
    let mut books = SequenceBooks::new(3, 1, 0);
    let step = 1u64 << 30;
    for seq in (0..=9).map(|k| k * step) {
        books.see(seq as u32);
        books.see(seq as u32 + 1);
    }
    assert_eq!(books.counts().highest, Some(9 * step + 1));
    assert_eq!((books.counts().unique, books.counts().late), (20, 0));
}

#[test]
fn a_number_from_before_the_wrap_may_follow_the_first() {
    let mut books = SequenceBooks::new(1, 1, 0);
    books.see(1);
    assert_eq!(books.see(u32::MAX), Seen::Unique { reordered: true });
    assert_eq!(books.counts().highest, Some(1));
}

#[test]
fn order_is_judged_inside_a_flow_and_over_the_space_when_flows_are_too_many() {
    // Two flows, each in order, the odd one ahead.
    let mut books = SequenceBooks::new(2, 1, 0);
    for seq in [1, 3, 5, 0, 2, 4] {
        assert_eq!(books.see(seq), Seen::Unique { reordered: false });
    }
    assert!(books.per_flow());
    let mut books = SequenceBooks::new(MAX_FLOWS + 1, 1, 0);
    for seq in [1, 3, 5, 0, 2, 4] {
        books.see(seq);
    }
    assert_eq!((books.per_flow(), books.counts().reordered), (false, 3));
}

#[test]
fn seeing_allocates_nothing() {
    let mut books = SequenceBooks::new(64, 4, 3);
    let info = allocation_counter::measure(|| {
        for seq in [0, 1, 1, 70_000, 5, 69_999, 1 << 30, u32::MAX] {
            books.see(seq);
        }
    });
    assert_eq!(info.count_total, 0);
}
