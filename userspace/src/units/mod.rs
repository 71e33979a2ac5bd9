//! Numbers with units: what a rate, a size and a time mean here, and how a person writes them. Knows no frame,
//! no interface and no clock.

mod decimal;
mod duration;
mod frame_rate;
mod frame_size;
mod hash;
mod rate_spec;
mod show;

pub use decimal::{Decimal, DecimalError};
pub use duration::{DURATION_FORMS, DurationError};
pub use frame_rate::FrameRate;
pub use frame_size::{CHUNK_HOLDS_BYTES, FCS_BYTES, FrameSize, MeanSize, WIRE_OVERHEAD_BYTES};
pub use hash::hash;
pub use rate_spec::{RATE_FORMS, RateError, RateSpec};
pub use show::{grouped, si, span};

use std::ops::{Add, Sub};

/// Nanoseconds of CLOCK_MONOTONIC, or a span of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub u64);

impl Nanos {
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);

    /// A span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// The span in seconds.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a figure for people; 2^53 ns is 104 days")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self` minus `other`, or zero when `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

impl From<std::time::Duration> for Nanos {
    fn from(d: std::time::Duration) -> Self {
        Self(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}
