//! Which frames a sink times, and who takes their time of arrival, made valid.

use super::number::Whole;
use super::{ConfigError, XdpChoice};
use std::num::NonZeroU32;
use std::str::FromStr;

const SAMPLE: Whole = Whole {
    flag: "--latency-sample",
    least: 1,
    most: u32::MAX as u64,
    why: "one frame in so many is timed",
    remedy: "--latency-sample 1/100, or leave it out to time every frame",
};

/// Who takes the time at which a frame arrives, besides the worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimestampChoice {
    /// The XDP program, and the NIC where it may have times for it.
    #[default]
    Auto,
    /// Both, or the run is refused.
    Nic,
    /// The XDP program.
    Xdp,
    /// Nobody.
    Off,
}

impl TimestampChoice {
    /// The names on the command line.
    pub const NAMES: [&str; 4] = ["auto", "nic", "xdp", "off"];
}

impl FromStr for TimestampChoice {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "auto" => Ok(Self::Auto),
            "nic" => Ok(Self::Nic),
            "xdp" => Ok(Self::Xdp),
            "off" => Ok(Self::Off),
            _ => Err(ConfigError::new("--timestamps", text, "no such choice", Self::NAMES.join(", "))),
        }
    }
}

/// Refuses times of the NIC where the program is to run in the stack, which does not know them.
///
/// # Errors
/// Both were demanded.
pub fn validate_timestamps(text: Option<&str>, xdp: XdpChoice) -> Result<TimestampChoice, ConfigError> {
    let choice = text.map_or(Ok(TimestampChoice::Auto), str::parse)?;
    if choice == TimestampChoice::Nic && xdp == XdpChoice::Generic {
        let what = "only a program in the driver is told the times of the NIC";
        return Err(ConfigError::new("--timestamps", "nic", what, "leave --xdp-mode generic out"));
    }
    Ok(choice)
}

/// One frame in how many is timed: every one without a text, none at all where that is asked for.
///
/// # Errors
/// No share of frames; one although nothing is to be timed.
pub fn validate_timing(none: bool, sample: Option<&str>) -> Result<Option<NonZeroU32>, ConfigError> {
    let Some(text) = sample else { return Ok((!none).then_some(NonZeroU32::MIN)) };
    if none {
        let what = "--no-latency times no frame";
        return Err(ConfigError::new(SAMPLE.flag, text, what, "one of the two"));
    }
    let whole = text.strip_prefix("1/").unwrap_or(text);
    // What was typed is what the refusal shows.
    let one_in = SAMPLE.read_u32(whole).map_err(|e| ConfigError::new(SAMPLE.flag, text, e.what, e.remedy))?;
    Ok(NonZeroU32::new(one_in))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_fraction_or_its_denominator() {
        for text in ["100", "1/100"] {
            assert_eq!(validate_timing(false, Some(text)), Ok(NonZeroU32::new(100)));
        }
        assert_eq!(validate_timing(false, None), Ok(Some(NonZeroU32::MIN)));
        assert_eq!(validate_timing(true, None), Ok(None));
    }

    #[test]
    fn every_source_of_times_has_its_name_and_the_nics_needs_the_driver() {
        let read = |text| validate_timestamps(text, XdpChoice::Auto);
        assert!(TimestampChoice::NAMES.iter().all(|name| read(Some(name)).is_ok()));
        assert_eq!((read(None), read(Some("off"))), (Ok(TimestampChoice::Auto), Ok(TimestampChoice::Off)));
        assert_eq!(read(Some("ptp")).unwrap_err().flag, "--timestamps ptp");
        let refused = validate_timestamps(Some("nic"), XdpChoice::Generic).unwrap_err();
        assert!(refused.remedy.contains("--xdp-mode"), "{refused:?}");
        assert!(validate_timestamps(Some("nic"), XdpChoice::Native).is_ok());
    }

    #[test]
    fn what_is_no_share_is_refused_as_typed() {
        for text in ["0", "1/0", "2/3", "-1", "1/", "", "10%", "1/4294967296", "99999999999999999999"] {
            let error = validate_timing(false, Some(text)).unwrap_err();
            let typed = if text.is_empty() { "''" } else { text };
            assert_eq!(error.flag, format!("--latency-sample {typed}"));
        }
        assert!(validate_timing(true, Some("1/2")).unwrap_err().what.contains("--no-latency"));
    }
}
