//! Which frames a sink times, made valid.

use super::ConfigError;
use super::number::Whole;
use std::num::NonZeroU32;

const SAMPLE: Whole = Whole {
    flag: "--latency-sample",
    least: 1,
    most: u32::MAX as u64,
    why: "one frame in so many is timed",
    remedy: "--latency-sample 1/100, or leave it out to time every frame",
};

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
    fn what_is_no_share_is_refused_as_typed() {
        for text in ["0", "1/0", "2/3", "-1", "1/", "", "10%", "1/4294967296", "99999999999999999999"] {
            let error = validate_timing(false, Some(text)).unwrap_err();
            let typed = if text.is_empty() { "''" } else { text };
            assert_eq!(error.flag, format!("--latency-sample {typed}"));
        }
        assert!(validate_timing(true, Some("1/2")).unwrap_err().what.contains("--no-latency"));
    }
}
