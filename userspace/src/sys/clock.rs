//! The clock that every time of ours is taken from. Knows nothing of what is timed.

use crate::units::Nanos;
use nix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC now, in nanoseconds: the clock of pacing, of the probe's `sent` and of intervals. Through the vDSO,
/// so without entering the kernel.
#[must_use]
pub fn monotonic() -> Nanos {
    // Linux always has this clock, so the error (EINVAL for an unknown clock) cannot occur; zero stands for it.
    let Ok(now) = clock_gettime(ClockId::CLOCK_MONOTONIC) else { return Nanos(0) };
    let seconds = u64::try_from(now.tv_sec()).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec()).unwrap_or(0);
    Nanos(seconds.saturating_mul(Nanos::SECOND.0).saturating_add(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn it_is_the_clock_of_instant() {
        let (before, start) = (monotonic(), Instant::now());
        let (end, after) = (Instant::now(), monotonic());
        assert!(after.0 - before.0 >= Nanos::from(end - start).0);
        assert!(before.0 > 0);
    }
}
