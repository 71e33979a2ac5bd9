//! A replay of a capture: speed and loops, made valid against the rate. Knows no file but by its name.

use super::ConfigError;
use super::number::Whole;
use crate::units::{Decimal, DecimalError, RateSpec};
use std::path::PathBuf;

const FLAG_SPEED: &str = "--pcap-speed";
const SPEEDS: &str = "--pcap-speed 2 (twice as fast as recorded), or --pcap-speed 0.5";

const LOOPS: Whole = Whole {
    flag: "--loop",
    least: 0,
    most: u64::MAX,
    why: "a capture is sent a number of times",
    remedy: "--loop 3, or --loop 0 to go on until --count, --duration or Ctrl-C",
};

/// A capture that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The capture.
    pub file: PathBuf,
    /// How many times its recorded speed; None where a rate was asked for.
    pub speed: Option<Decimal>,
    /// How often it is sent; 0 is without end.
    pub loops: u64,
}

impl Replay {
    /// A replay of `file` as typed; `rate` is that of the same command.
    ///
    /// # Errors
    /// No number, a speed of zero, or a speed beside a rate.
    pub fn validate(
        file: PathBuf,
        speed: Option<&str>,
        loops: Option<&str>,
        rate: Option<RateSpec>,
    ) -> Result<Self, ConfigError> {
        let loops = LOOPS.read_given(loops)?.unwrap_or(1);
        let speed = match (speed, rate) {
            (Some(text), None) => Some(validate_speed(text)?),
            (Some(_), Some(_)) => {
                let what = "--rate says already how fast, whatever was recorded";
                return Err(ConfigError::bare(FLAG_SPEED, what, "either --pcap-speed or --rate"));
            }
            (None, None) => Some(Decimal::from(1)),
            (None, Some(_)) => None,
        };
        Ok(Self { file, speed, loops })
    }
}

fn validate_speed(text: &str) -> Result<Decimal, ConfigError> {
    let refuse = |what: &str| Err(ConfigError::new(FLAG_SPEED, text, what, SPEEDS));
    match text.parse::<Decimal>() {
        Ok(speed) if speed.is_zero() => refuse("at no speed nothing is sent"),
        Ok(speed) => Ok(speed),
        Err(DecimalError::NotANumber) => refuse("it is not a decimal number"),
        Err(DecimalError::TooLong) => refuse("it has more digits than can be kept exactly"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replay(speed: Option<&str>, loops: Option<&str>, rate: Option<RateSpec>) -> Result<Replay, String> {
        Replay::validate("f".into(), speed, loops, rate).map_err(|error| error.flag)
    }

    #[test]
    fn recorded_times_unless_something_else_is_asked_for() {
        let plain = replay(None, None, None).unwrap();
        assert_eq!((plain.speed, plain.loops), (Some(1.into()), 1));
        assert_eq!(replay(Some("2.5"), Some("0"), None).unwrap().loops, 0);
        assert_eq!(replay(None, None, Some(RateSpec::Max)).unwrap().speed, None);
    }

    #[test]
    fn what_is_no_speed_is_refused() {
        for text in ["0", "0.0", "-1", "fast", "", "0.0000000001"] {
            assert!(replay(Some(text), None, None).unwrap_err().starts_with(FLAG_SPEED), "{text}");
        }
        assert_eq!(replay(Some("2"), None, Some(RateSpec::Max)), Err(FLAG_SPEED.to_owned()));
        assert_eq!(replay(None, Some("-1"), None), Err("--loop -1".to_owned()));
    }
}
