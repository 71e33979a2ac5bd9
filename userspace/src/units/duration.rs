//! Spans of time as a person writes them: `10`, `10s`, `500ms`, `2m`. A bare number is seconds.

use super::{Decimal, Nanos};
use std::str::FromStr;
use thiserror::Error;

/// The forms of a span, for messages.
pub const DURATION_FORMS: &str = "10 or 10s (seconds), 500ms, 250us, 2m (minutes), 1h";

/// Why a text is no span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DurationError {
    /// No number with one of the known units.
    #[error("it is not a number with one of the units ns, us, ms, s, m, h")]
    Form,
    /// A part of a nanosecond, or more than 64 bits of them (584 years).
    #[error("it is not a whole number of nanoseconds that fits 64 bits")]
    Range,
}

/// Nanoseconds a unit; longer names first, since each is matched as an ending. Months and years are left out on
/// purpose: `10M` would be either, and no run lasts one.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("", 1_000_000_000),
];

impl FromStr for Nanos {
    type Err = DurationError;

    /// Reads a decimal with a unit, exactly: `0.1s` is 100,000,000 ns.
    fn from_str(text: &str) -> Result<Self, DurationError> {
        let (number, factor) = UNITS
            .iter()
            .find_map(|(unit, factor)| text.strip_suffix(unit).map(|number| (number, *factor)))
            .ok_or(DurationError::Form)?;
        let number: Decimal = number.trim_end().parse().map_err(|_| DurationError::Form)?;
        number.times(factor).and_then(Decimal::to_whole).map(Nanos).ok_or(DurationError::Range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_unit_means_what_it_says() {
        let table = [
            ("10", 10_000_000_000),
            ("10s", 10_000_000_000),
            ("0.5", 500_000_000),
            ("500ms", 500_000_000),
            ("500 ms", 500_000_000),
            ("2m", 120_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("20us", 20_000),
            ("20µs", 20_000),
            ("7ns", 7),
            ("0", 0),
        ];
        for (text, ns) in table {
            assert_eq!(text.parse::<Nanos>(), Ok(Nanos(ns)), "{text}");
        }
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in ["", "s", "-1", "ten", "10M", "10y", "1m30s", "10 seconds", "1e3s"] {
            assert_eq!(text.parse::<Nanos>(), Err(DurationError::Form), "{text}");
        }
        for text in ["0.5ns", "18446744074s", "600000000h"] {
            assert_eq!(text.parse::<Nanos>(), Err(DurationError::Range), "{text}");
        }
    }

    proptest! {
        #[test]
        fn milliseconds_are_exact(ms in 0u64..1 << 40) {
            prop_assert_eq!(format!("{ms}ms").parse::<Nanos>(), Ok(Nanos::from_millis(ms)));
            let seconds = format!("{}.{:03}", ms / 1000, ms % 1000);
            prop_assert_eq!(seconds.parse::<Nanos>(), Ok(Nanos::from_millis(ms)));
        }
    }
}
