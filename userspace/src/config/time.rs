//! How long: durations, waits and the interval, made valid.

use super::ConfigError;
use crate::units::{DURATION_FORMS, Nanos};

/// The shortest interval: counters are published every 100 ms, so a shorter one would often show nothing.
pub const LEAST_INTERVAL: Nanos = Nanos::from_millis(100);

fn read(flag: &str, text: &str) -> Result<Nanos, ConfigError> {
    text.parse()
        .map_err(|e: crate::units::DurationError| ConfigError::new(flag, text, e.to_string(), DURATION_FORMS))
}

/// A span that may be zero, such as a wait; `default` without a text.
///
/// # Errors
/// No span of time.
pub fn validate_wait(flag: &str, text: Option<&str>, default: Nanos) -> Result<Nanos, ConfigError> {
    text.map_or(Ok(default), |text| read(flag, text))
}

/// A span that ends something; None without a text.
///
/// # Errors
/// Zero, or no span of time.
pub fn validate_span(flag: &str, text: Option<&str>) -> Result<Option<Nanos>, ConfigError> {
    let Some(text) = text else { return Ok(None) };
    match read(flag, text)? {
        Nanos(0) => {
            let remedy = format!("{flag} 10, or leave it out");
            Err(ConfigError::new(flag, text, "a span of no length measures nothing", remedy))
        }
        span => Ok(Some(span)),
    }
}

/// The time between two lines of progress; 1 s without a text.
///
/// # Errors
/// Below [`LEAST_INTERVAL`], or no span of time.
pub fn validate_interval(text: Option<&str>) -> Result<Nanos, ConfigError> {
    const FLAG: &str = "--interval";
    let Some(text) = text else { return Ok(Nanos::SECOND) };
    let interval = read(FLAG, text)?;
    if interval < LEAST_INTERVAL {
        let what = "counters are published every 100 ms, and an interval cannot be shorter";
        return Err(ConfigError::new(FLAG, text, what, "--interval 1, or --quiet for no lines at all"));
    }
    Ok(interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_a_wait_but_no_duration() {
        assert_eq!(validate_wait("--settle", Some("0"), Nanos::SECOND), Ok(Nanos(0)));
        assert_eq!(validate_wait("--settle", None, Nanos::SECOND), Ok(Nanos::SECOND));
        assert_eq!(validate_span("--duration", Some("500ms")), Ok(Some(Nanos::from_millis(500))));
        assert_eq!(validate_span("--duration", Some("0s")).unwrap_err().flag, "--duration 0s");
        assert!(validate_span("--duration", Some("ever")).unwrap_err().remedy.contains("500ms"));
    }

    #[test]
    fn an_interval_lasts_a_tenth_of_a_second() {
        assert_eq!(validate_interval(Some("100ms")), Ok(LEAST_INTERVAL));
        for text in ["0", "99ms", "-1"] {
            assert_eq!(validate_interval(Some(text)).unwrap_err().flag, format!("--interval {text}"));
        }
    }
}
