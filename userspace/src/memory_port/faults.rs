//! What the wire does to a frame, drawn from a seed: the same seed is the same wire.

/// Parts in a million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ppm(pub u32);

/// The wire's faults. The shares of one frame's fates add up; what is left passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// Seed of every draw.
    pub seed: u64,
    /// Frames lost.
    pub lose: Ppm,
    /// Frames delivered twice.
    pub double: Ppm,
    /// Frames held back and delivered behind later ones.
    pub hold: Ppm,
    /// Later frames that a held one waits for.
    pub hold_frames: u32,
    /// Frames in which one bit is changed.
    pub corrupt: Ppm,
}

impl Faults {
    /// A wire that carries everything.
    #[must_use]
    pub const fn none(seed: u64) -> Self {
        Self { seed, lose: Ppm(0), double: Ppm(0), hold: Ppm(0), hold_frames: 1, corrupt: Ppm(0) }
    }
}

/// What happens to one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Pass,
    Lose,
    Double,
    Hold(u64),
    Corrupt { bit: u64 },
}

/// Draws fates.
pub(super) struct Dice {
    faults: Faults,
    state: u64,
}

impl Dice {
    pub(super) fn new(faults: Faults) -> Self {
        Self { faults, state: faults.seed }
    }

    pub(super) fn fate(&mut self) -> Fate {
        let Faults { lose, double, hold, hold_frames, corrupt, .. } = self.faults;
        let draw = u32::try_from(self.next() % 1_000_000).unwrap_or(0);
        let mut edge = 0;
        let mut within = |share: Ppm| {
            edge += share.0;
            draw < edge
        };
        match () {
            () if within(lose) => Fate::Lose,
            () if within(double) => Fate::Double,
            () if within(hold) => Fate::Hold(u64::from(hold_frames)),
            () if within(corrupt) => Fate::Corrupt { bit: self.next() },
            () => Fate::Pass,
        }
    }

    /// SplitMix64 (Steele, Lea, Flood 2014): small, seedable, good enough for a wire.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept_and_a_seed_repeats() {
        let faults = Faults { lose: Ppm(100_000), double: Ppm(50_000), ..Faults::none(3) };
        let draw = || {
            let mut dice = Dice::new(faults);
            (0..100_000).map(|_| dice.fate()).collect::<Vec<_>>()
        };
        let fates = draw();
        let share = |fate| fates.iter().filter(|f| **f == fate).count();
        assert!((9_500..10_500).contains(&share(Fate::Lose)));
        assert!((4_700..5_300).contains(&share(Fate::Double)));
        assert_eq!(fates, draw());
    }
}
