//! Which frames a sink takes for ours, beside those of EtherType 0x88B5.

use super::number::Whole;
use super::{ConfigError, DEFAULT_PORT};

/// What a sink looks for. The magic number of the probe is always asked for as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// The UDP destination port; None for EtherType 0x88B5 alone.
    pub udp_port: Option<u16>,
}

impl Default for Match {
    fn default() -> Self {
        Self { udp_port: Some(DEFAULT_PORT) }
    }
}

/// What `--match` says.
///
/// # Errors
/// Any form but `udp port N` and `l2`.
pub fn validate_match(text: &str) -> Result<Match, ConfigError> {
    const FLAG: &str = "--match";
    const FORMS: &str = "--match 'udp port 9' or --match l2";
    const PORT: Whole = Whole {
        flag: "--match udp port",
        least: 1,
        most: 65_535,
        why: "UDP ports have 16 bits, and 0 means none",
        remedy: FORMS,
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["l2"] => Ok(Match { udp_port: None }),
        ["udp", "port", port] => PORT.read_u16(port).map(|port| Match { udp_port: Some(port) }),
        _ => Err(ConfigError::new(FLAG, text, "there is no such match", FORMS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_forms_and_no_other() {
        assert_eq!(validate_match("udp port 5000"), Ok(Match { udp_port: Some(5_000) }));
        assert_eq!(validate_match(" udp  port 9 "), Ok(Match::default()));
        assert_eq!(validate_match("l2"), Ok(Match { udp_port: None }));
        for text in [
            "",
            "udp",
            "udp port",
            "udp port 9 or 10",
            "tcp port 9",
            "port 9",
            "L2",
            "udp port 0",
            "udp port x",
        ] {
            let error = validate_match(text).unwrap_err();
            assert!(error.flag.starts_with("--match") && error.remedy.contains("udp port 9"), "{error}");
        }
    }
}
