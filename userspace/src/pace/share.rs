//! Which slots of a run are one sender's. Knows no time.

/// Slots are dealt out in groups of `group`, group by group: those whose number is `own` modulo `parts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    own: u64,
    parts: u64,
    group: u64,
}

impl Share {
    /// Sender `own`, from 0, of `parts`; each group, a burst, is one sender's.
    pub const fn new(own: u64, parts: u64, group: u64) -> Self {
        let parts = if parts == 0 { 1 } else { parts };
        let group = if group == 0 { 1 } else { group };
        Self { own, parts, group }
    }

    /// How many of the run's first `slots` slots are ours.
    pub const fn of(self, slots: u64) -> u64 {
        let (groups, rest) = (slots / self.group, slots % self.group);
        let whole = groups.saturating_sub(self.own).div_ceil(self.parts);
        let begun = if groups % self.parts == self.own { rest } else { 0 };
        whole.saturating_mul(self.group).saturating_add(begun)
    }

    /// The run's number of our slot `n`.
    pub const fn slot(self, n: u64) -> u64 {
        self.group_of(n).saturating_mul(self.group).saturating_add(n % self.group)
    }

    /// The run's number of the group that our slot `n` is in.
    pub const fn group_of(self, n: u64) -> u64 {
        (n / self.group).saturating_mul(self.parts).saturating_add(self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_slot_is_of_one_sender(parts in 1u64..9, group in 1u64..9, slots in 0u64..300) {
            let mut all: Vec<u64> = Vec::new();
            for own in 0..parts {
                let share = Share::new(own, parts, group);
                let ours: Vec<u64> = (0..share.of(slots)).map(|n| share.slot(n)).collect();
                prop_assert!(share.slot(share.of(slots)) >= slots);
                all.extend(ours);
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..slots).collect::<Vec<_>>());
        }
    }
}
