//! Whole numbers within limits: each flag's limits and their reason stand in one table row.

use super::ConfigError;
use crate::units::grouped;
use std::num::IntErrorKind;

/// The limits of one flag's number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    pub flag: &'static str,
    pub least: u64,
    pub most: u64,
    /// Why numbers outside the limits are refused.
    pub why: &'static str,
    pub remedy: &'static str,
}

impl Whole {
    /// The number that `text` stands for, within the limits.
    pub fn read(&self, text: &str) -> Result<u64, ConfigError> {
        let refuse = |what: String| Err(ConfigError::new(self.flag, text, what, self.remedy));
        match text.parse::<u64>() {
            Ok(n) if n >= self.least && n <= self.most => Ok(n),
            Ok(_) => refuse(self.outside()),
            Err(e) if *e.kind() == IntErrorKind::PosOverflow => {
                refuse(format!("it is too large; {}", self.limits()))
            }
            Err(_) => refuse("it is not a whole number".to_owned()),
        }
    }

    /// The same for a flag that may be left out.
    pub fn read_given(&self, text: Option<&str>) -> Result<Option<u64>, ConfigError> {
        text.map(|text| self.read(text)).transpose()
    }

    /// The same for numbers that fit 32 bits by their limits.
    pub fn read_u32(&self, text: &str) -> Result<u32, ConfigError> {
        Ok(u32::try_from(self.read(text)?).unwrap_or(u32::MAX))
    }

    /// The same for numbers that fit 16 bits by their limits.
    pub fn read_u16(&self, text: &str) -> Result<u16, ConfigError> {
        Ok(u16::try_from(self.read(text)?).unwrap_or(u16::MAX))
    }

    fn outside(&self) -> String {
        format!("{}; {}", self.why, self.limits())
    }

    fn limits(&self) -> String {
        format!("it takes {} to {}", grouped(self.least), grouped(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Whole = Whole { flag: "--n", least: 1, most: 65_535, why: "no", remedy: "--n 1" };

    #[test]
    fn limits_are_inclusive() {
        assert_eq!((WHOLE.read("1"), WHOLE.read("65535")), (Ok(1), Ok(65_535)));
        for text in ["18446744073709551616", "99999999999999999999"] {
            let what = Err("it is too large; it takes 1 to 65,535".to_owned());
            assert_eq!(WHOLE.read(text).map_err(|e| e.what), what);
        }
        for text in ["0", "65536", "18446744073709551615"] {
            assert_eq!(WHOLE.read(text).map_err(|e| e.what), Err("no; it takes 1 to 65,535".to_owned()));
        }
        for text in ["", "-1", "1.5", "one", "1k"] {
            assert_eq!(WHOLE.read(text).map_err(|e| e.what), Err("it is not a whole number".to_owned()));
        }
    }
}
