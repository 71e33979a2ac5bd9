//! Exact non-negative decimals: what a person types, without the rounding of floats. Knows no unit.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A decimal as typed: `digits` / 10^`places`, in lowest terms of ten, so that equal values are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    digits: u64,
    places: u32,
}

/// Why a text is no [`Decimal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecimalError {
    /// Not digits with at most one point between them.
    #[error("it is not a decimal number")]
    NotANumber,
    /// More digits than fit 64 bits, or more than [`Decimal::MAX_PLACES`] of them behind the point.
    #[error("it has too many digits")]
    TooLong,
}

impl Decimal {
    /// Digits behind the point at the most: nanoseconds of a second, and a thousandth of a bit/s of a Tbit/s is
    /// far below what any clock resolves.
    pub const MAX_PLACES: u32 = 9;

    /// `digits` / 10^`places`, reduced; None when more than [`Decimal::MAX_PLACES`] places remain, or when the
    /// digits do not fit 64 bits.
    #[must_use]
    pub fn new(digits: u128, places: u32) -> Option<Self> {
        let (mut digits, mut places) = (digits, places);
        while places > 0 && digits % 10 == 0 {
            digits /= 10;
            places -= 1;
        }
        let fits = places <= Self::MAX_PLACES;
        u64::try_from(digits).ok().filter(|_| fits).map(|digits| Self { digits, places })
    }

    /// The numerator of the value as a fraction.
    #[must_use]
    pub const fn numerator(self) -> u64 {
        self.digits
    }

    /// The denominator of the value as a fraction: a power of ten, at most 10^9.
    #[must_use]
    pub const fn denominator(self) -> u64 {
        10u64.pow(self.places)
    }

    /// Whether the value is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// The value times `factor`, exactly; None when it no longer fits.
    #[must_use]
    pub fn times(self, factor: u64) -> Option<Self> {
        Self::new(u128::from(self.digits) * u128::from(factor), self.places)
    }

    /// The value as an integer; None when it has a fractional part.
    #[must_use]
    pub const fn to_whole(self) -> Option<u64> {
        if self.places == 0 { Some(self.digits) } else { None }
    }

    /// The nearest float, for comparison with measured figures.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "compared with a measurement, which is a float already")]
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / self.denominator() as f64
    }

    /// The value divided by 10^`power`, as text without an exponent.
    pub(super) fn shifted(self, power: u32) -> String {
        let places = (self.places + power) as usize;
        let padded = format!("{:0>width$}", self.digits, width = places + 1);
        let (whole, part) = padded.split_at(padded.len() - places);
        match part.trim_end_matches('0') {
            "" => whole.to_owned(),
            part => format!("{whole}.{part}"),
        }
    }
}

impl From<u64> for Decimal {
    fn from(whole: u64) -> Self {
        Self { digits: whole, places: 0 }
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !all_digits(whole) || !all_digits(part) {
            return Err(DecimalError::NotANumber);
        }
        let digits = format!("{whole}{part}").parse().map_err(|_| DecimalError::TooLong)?;
        let places = u32::try_from(part.len()).map_err(|_| DecimalError::TooLong)?;
        Self::new(digits, places).ok_or(DecimalError::TooLong)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shifted(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_values_are_equal() {
        let of = |text: &str| text.parse::<Decimal>().unwrap();
        assert_eq!(of("1.50"), of("1.5"));
        assert_eq!(of("2.000"), Decimal::from(2));
        assert_eq!(of("0.1").times(10), Some(Decimal::from(1)));
        assert_eq!(of("1.5").to_whole(), None);
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "1.2.3", "٣", " 1"] {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError::NotANumber), "{text}");
        }
        for text in ["18446744073709551616", "0.0000000001", &"9".repeat(60)] {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError::TooLong), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_and_back(digits: u64, places in 0..=Decimal::MAX_PLACES) {
            let value = Decimal::new(u128::from(digits), places).unwrap();
            prop_assert_eq!(value.to_string().parse::<Decimal>(), Ok(value));
            prop_assert_eq!(
                u128::from(value.numerator()) * 10u128.pow(places),
                u128::from(digits) * u128::from(value.denominator())
            );
        }
    }
}
