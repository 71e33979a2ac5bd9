//! A rate as a person writes it: `max`, `1.5Mpps`, `10Gbps`, `10Gbps-l2`, `40%`. Exact: no float is involved.

use super::frame_rate::gcd;
use super::{Decimal, DecimalError, FrameRate, MeanSize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The forms of a rate, for messages.
pub const RATE_FORMS: &str = "max, 1.5Mpps, 250kpps, 10Gbps (layer 1: with preamble and gap), 10Gbps-l2 (the frames alone), 40% (of the link)";

/// The rate that was asked for, before the frame size and the link's speed turn it into frames a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateSpec {
    /// As fast as it goes.
    Max,
    /// Frames a second.
    Pps(Decimal),
    /// Bits a second at layer 1: preamble, start delimiter and inter-frame gap included.
    L1Bps(u64),
    /// Bits a second at layer 2: the frame with its FCS.
    L2Bps(u64),
    /// Of the link's speed at layer 1.
    Percent(Decimal),
}

/// Why a rate cannot be read or resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RateError {
    /// None of the known forms.
    #[error("it is not a rate")]
    Form,
    /// A rate of nothing.
    #[error("a rate of 0 sends nothing")]
    Zero,
    /// A part of a bit, or a number that does not fit.
    #[error("it has more digits than can be kept exactly")]
    Inexact,
    /// A percentage of a speed that is not known.
    #[error("a percentage needs the link's speed, which this interface does not have")]
    NoSpeed,
}

impl From<DecimalError> for RateError {
    fn from(e: DecimalError) -> Self {
        match e {
            DecimalError::NotANumber => Self::Form,
            DecimalError::TooLong => Self::Inexact,
        }
    }
}

/// Powers of ten by prefix. The case does not matter: nobody sends millibits.
const PREFIXES: [(char, u32); 4] = [('k', 3), ('M', 6), ('G', 9), ('T', 12)];

fn split_prefix(text: &str) -> (&str, u32) {
    for (prefix, power) in PREFIXES {
        let ending = [prefix, prefix.to_ascii_lowercase(), prefix.to_ascii_uppercase()];
        if let Some(number) = text.strip_suffix(ending) {
            return (number, power);
        }
    }
    (text, 0)
}

/// `1.5M` as a decimal; spaces around the prefix are accepted, as in `1.5 M`.
fn prefixed(text: &str) -> Result<Decimal, RateError> {
    let (number, power) = split_prefix(text.trim_end());
    let number: Decimal = number.trim_end().parse()?;
    let value = number.times(10u64.pow(power)).ok_or(RateError::Inexact)?;
    if value.is_zero() { Err(RateError::Zero) } else { Ok(value) }
}

fn bits(text: &str) -> Result<u64, RateError> {
    prefixed(text)?.to_whole().ok_or(RateError::Inexact)
}

impl FromStr for RateSpec {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        if text == "max" {
            Ok(Self::Max)
        } else if let Some(number) = text.strip_suffix("pps") {
            prefixed(number).map(Self::Pps)
        } else if let Some(number) = text.strip_suffix("bps-l2") {
            bits(number).map(Self::L2Bps)
        } else if let Some(number) = text.strip_suffix("bps-l1").or_else(|| text.strip_suffix("bps")) {
            bits(number).map(Self::L1Bps)
        } else if let Some(number) = text.strip_suffix('%') {
            let percent: Decimal = number.trim_end().parse()?;
            if percent.is_zero() { Err(RateError::Zero) } else { Ok(Self::Percent(percent)) }
        } else {
            Err(RateError::Form)
        }
    }
}

impl RateSpec {
    /// The rate in frames of `size`, which may be a mean, a second; None for max. `speed_bps` is the link's speed in
    /// bit/s.
    ///
    /// # Errors
    /// [`RateError::NoSpeed`] for a percentage without a speed; [`RateError::Inexact`] when the fraction does not
    /// fit 64 bits.
    pub fn resolve(
        &self,
        size: impl Into<MeanSize>,
        speed_bps: Option<u64>,
    ) -> Result<Option<FrameRate>, RateError> {
        let size = size.into();
        let (count, slot_bits) = (u128::from(size.frames), size.on_wire() * 8);
        let (frames, seconds) = match self {
            Self::Max => return Ok(None),
            Self::Pps(pps) => (pps.numerator().into(), pps.denominator().into()),
            Self::L1Bps(bps) => (u128::from(*bps) * count, slot_bits),
            Self::L2Bps(bps) => (u128::from(*bps) * count, u128::from(size.bytes) * 8),
            Self::Percent(percent) => {
                let speed = speed_bps.filter(|s| *s > 0).ok_or(RateError::NoSpeed)?;
                let bits = u128::from(speed) * u128::from(percent.numerator());
                (bits * count, u128::from(percent.denominator()) * 100 * slot_bits)
            }
        };
        reduced(frames, seconds).map(Some)
    }

    /// The rate in frames a second (of pps) or in bits a second (of everything else): for frames of several lengths.
    /// None for max. `speed_bps` is the link's speed in bit/s.
    ///
    /// # Errors
    /// As [`RateSpec::resolve`].
    pub fn units_a_second(&self, speed_bps: Option<u64>) -> Result<Option<FrameRate>, RateError> {
        let (units, seconds) = match self {
            Self::Max => return Ok(None),
            Self::Pps(pps) => (pps.numerator().into(), pps.denominator().into()),
            Self::L1Bps(bps) | Self::L2Bps(bps) => (u128::from(*bps), 1),
            Self::Percent(percent) => {
                let speed = speed_bps.filter(|s| *s > 0).ok_or(RateError::NoSpeed)?;
                let bits = u128::from(speed) * u128::from(percent.numerator());
                (bits, u128::from(percent.denominator()) * 100)
            }
        };
        reduced(units, seconds).map(Some)
    }
}

fn reduced(frames: u128, seconds: u128) -> Result<FrameRate, RateError> {
    let divisor = gcd(frames, seconds).max(1);
    let part = |n: u128| u64::try_from(n / divisor).map_err(|_| RateError::Inexact);
    FrameRate::new(part(frames)?, part(seconds)?).ok_or(RateError::Zero)
}

/// `value` with the largest prefix that it reaches and that leaves no more places than can be read back.
fn with_prefix(value: Decimal, unit: &str) -> String {
    let whole = value.numerator() / value.denominator();
    let reached = PREFIXES.iter().rev().filter(|(_, power)| whole >= 10u64.pow(*power));
    reached
        .map(|(prefix, power)| (value.shifted(*power), prefix))
        .find(|(number, _)| number.parse::<Decimal>().is_ok())
        .map_or_else(|| format!("{value}{unit}"), |(number, prefix)| format!("{number}{prefix}{unit}"))
}

impl fmt::Display for RateSpec {
    /// The shortest form that reads back as the same rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Max => f.write_str("max"),
            Self::Pps(pps) => f.write_str(&with_prefix(*pps, "pps")),
            Self::L1Bps(bps) => f.write_str(&with_prefix((*bps).into(), "bps")),
            Self::L2Bps(bps) => f.write_str(&with_prefix((*bps).into(), "bps-l2")),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
#[path = "rate_spec_tests.rs"]
mod tests;
