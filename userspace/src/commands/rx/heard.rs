//! What a sender has said of one run: a START and an END.

use crate::frame::{End, SpaceTotal, Start};
use crate::units::Nanos;
use std::collections::BTreeMap;

/// How much longer than a run has lasted a sink must have listened: an END waits that long at the most
/// between the sender's clock and this one's, unless somebody was stopped.
const CERTAIN: Nanos = Nanos::from_millis(200);

/// What was heard of one run.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// Tag of the run.
    pub run: u16,
    /// What is offered.
    pub start: Option<Start>,
    /// The newest of each part of the END, all of one END.
    parts: BTreeMap<u16, End>,
    /// Whether this sink is known to have listened since before the run was announced.
    whole: bool,
}

/// What a complete END says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// Frames written, over all spaces.
    pub built: u64,
    /// Frames completed, over all spaces.
    pub completed: u64,
    /// Frames completed, by space.
    pub by_space: BTreeMap<u16, u64>,
    /// Frames written, by space.
    pub built_by_space: BTreeMap<u16, u64>,
    /// Frames that the sender's device dropped after completing them; None where no counter tells.
    pub device_drops: Option<u64>,
    /// Frames that were due and not sent; None from a sender that does not tell.
    pub shortfall: Option<u64>,
}

impl Heard {
    /// Nothing yet, of a run with this tag.
    #[must_use]
    pub fn of(run: u16) -> Self {
        Self { run, ..Self::default() }
    }

    /// Whether `start` is of a later run under the same tag: it began at another time, or this run has ended without one.
    #[must_use]
    pub fn precedes(&self, start: &Start) -> bool {
        self.start
            .as_ref()
            .map_or(!self.parts.is_empty(), |known| known.started_unix_ns != start.started_unix_ns)
    }

    /// Whether everything that was sent could have been heard: a START was, or the END has told how long ago
    /// the run began, and this sink had `listened` for longer than that.
    #[must_use]
    pub const fn heard_from_the_start(&self) -> bool {
        self.start.is_some() || self.whole
    }

    /// Takes a part of an END that comes to a sink which has `listened` for so long; repetitions change
    /// nothing. What was said last counts: an END before it was of an earlier run under the tag, or of a
    /// stranger.
    pub fn end(&mut self, end: End, listened: Nanos) {
        self.whole |= end.age_ns.is_some_and(|age| listened > Nanos(age) + CERTAIN);
        self.parts.retain(|_, other| other.parts == end.parts);
        self.parts.insert(end.part, end);
    }

    /// The totals, once every part of the END has come.
    #[must_use]
    pub fn totals(&self) -> Option<Totals> {
        let (_, last) = self.parts.last_key_value()?;
        if usize::from(last.parts) != self.parts.len() {
            return None;
        }
        let totals = || self.parts.values().flat_map(|part| &part.spaces);
        // Numbers from the wire: no sender counts so far, but anyone can write it.
        let sum = |of: fn(&SpaceTotal) -> u64| totals().map(of).fold(0, u64::saturating_add);
        Some(Totals {
            built: sum(|total| total.built),
            completed: sum(|total| total.completed),
            by_space: totals().map(|total| (total.space, total.completed)).collect(),
            built_by_space: totals().map(|total| (total.space, total.built)).collect(),
            device_drops: last.device_drops,
            shortfall: last.shortfall,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(space: u16) -> SpaceTotal {
        SpaceTotal { space, built: 11, completed: 10 }
    }

    #[test]
    fn an_end_is_complete_when_every_part_has_come_in_any_order_and_any_number() {
        let spaces: Vec<_> = (0..40).map(total).collect();
        let mut parts = End::split(&spaces, Some(3), 1);
        assert!(parts.len() > 1);
        parts.reverse();
        let mut heard = Heard::default();
        for part in &parts {
            assert_eq!(heard.totals(), None);
            heard.end(part.clone(), Nanos(0));
            heard.end(part.clone(), Nanos(0));
        }
        let totals = heard.totals().unwrap();
        assert_eq!((totals.built, totals.completed, totals.device_drops), (440, 400, Some(3)));
        assert_eq!(totals.by_space.len(), 40);
    }

    #[test]
    fn the_end_that_was_said_last_counts() {
        let mut heard = Heard::default();
        let say = |heard: &mut Heard, spaces: &[SpaceTotal], drops| {
            End::split(spaces, drops, 1).into_iter().for_each(|part| heard.end(part, Nanos(0)));
        };
        let many: Vec<_> = (0..40).map(total).collect();
        say(&mut heard, &many, Some(9));
        say(&mut heard, &[total(0), total(1)], Some(8));
        say(&mut heard, &[total(0)], None);
        let totals = heard.totals().unwrap();
        assert_eq!((totals.completed, totals.by_space.len(), totals.device_drops), (10, 1, None));
    }

    #[test]
    fn who_has_listened_for_longer_than_the_run_lasted_has_missed_nothing() {
        let part = |age_ns| End { age_ns, ..End::split(&[total(0)], None, 1).remove(0) };
        let after = |age, listened| {
            let mut heard = Heard::default();
            heard.end(part(age), listened);
            heard.heard_from_the_start()
        };
        let age = 1_000_000_000;
        assert!(after(Some(age), Nanos(age + 1) + CERTAIN));
        assert!(!after(Some(age), Nanos(age) + CERTAIN));
        assert!(!after(None, Nanos(u64::MAX)), "an older sender does not tell");
    }
}
