//! What a sender has said of one run: a START and an END.

use crate::frame::{End, SpaceTotal, Start};
use std::collections::{BTreeMap, BTreeSet};

/// What was heard of one run.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// Tag of the run.
    pub run: u16,
    /// What is offered.
    pub start: Option<Start>,
    parts: BTreeSet<u16>,
    expected: Option<u16>,
    spaces: BTreeMap<u16, SpaceTotal>,
    device_drops: Option<u64>,
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
    /// Frames that the sender's device dropped after completing them; None where no counter tells.
    pub device_drops: Option<u64>,
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
            .map_or(self.expected.is_some(), |known| known.started_unix_ns != start.started_unix_ns)
    }

    /// Takes a part of an END; repetitions change nothing.
    pub fn end(&mut self, end: End) {
        self.expected = Some(end.parts);
        self.parts.insert(end.part);
        self.device_drops = self.device_drops.or(end.device_drops);
        self.spaces.extend(end.spaces.into_iter().map(|total| (total.space, total)));
    }

    /// The totals, once every part of the END has come.
    #[must_use]
    pub fn totals(&self) -> Option<Totals> {
        if self.expected? as usize != self.parts.len() {
            return None;
        }
        Some(Totals {
            built: self.spaces.values().map(|t| t.built).sum(),
            completed: self.spaces.values().map(|t| t.completed).sum(),
            by_space: self.spaces.values().map(|t| (t.space, t.completed)).collect(),
            device_drops: self.device_drops,
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
            heard.end(part.clone());
            heard.end(part.clone());
        }
        let totals = heard.totals().unwrap();
        assert_eq!((totals.built, totals.completed, totals.device_drops), (440, 400, Some(3)));
        assert_eq!(totals.by_space.len(), 40);
    }
}
