//! What a sink writes to a capture file, made valid. Knows no file but by its name.

use super::ConfigError;
use super::number::Whole;
use std::path::PathBuf;
use strum::EnumString;

const SNAP: Whole = Whole {
    flag: "--write-snap",
    least: 14,
    most: 262_144,
    why: "less than an Ethernet header tells nothing, and readers take no more than 262,144 bytes",
    remedy: "--write-snap 96, or leave it out to keep whole frames",
};

const COUNT: Whole = Whole {
    flag: "--write-count",
    least: 1,
    most: u64::MAX,
    why: "a capture of no frames tells nothing",
    remedy: "--write-count 1000, or leave it out",
};

/// Which frames are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Written {
    /// Those that count: frames of the run.
    #[default]
    Ours,
    /// All that reach the sockets: also control frames, and those that are rejected.
    All,
}

/// A capture that a sink writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The file; its ending says the format.
    pub file: PathBuf,
    /// Bytes of each frame to keep at the most.
    pub snap: u32,
    /// Frames to write; None without a limit.
    pub count: Option<u64>,
    /// Which ones.
    pub what: Written,
}

impl Written {
    /// The choices as typed.
    pub const NAMES: [&'static str; 2] = ["ours", "all"];
}

impl Recording {
    /// A recording as typed.
    ///
    /// # Errors
    /// No numbers, or numbers that leave nothing to write.
    pub fn validate(
        file: PathBuf,
        snap: Option<&str>,
        count: Option<&str>,
        what: Option<&str>,
    ) -> Result<Self, ConfigError> {
        let most = u32::try_from(SNAP.most).unwrap_or(u32::MAX);
        let what = what.map(str::parse).transpose().map_err(|_| {
            ConfigError::bare("--write-what", "it is neither ours nor all", "--write-what all")
        })?;
        Ok(Self {
            file,
            snap: snap.map_or(Ok(most), |text| SNAP.read_u32(text))?,
            count: COUNT.read_given(count)?,
            what: what.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_frames_of_ours_unless_asked_otherwise() {
        let recording = |snap, count, what| Recording::validate("f".into(), snap, count, what);
        let plain = recording(None, None, None).unwrap();
        assert_eq!((plain.snap, plain.count, plain.what), (262_144, None, Written::Ours));
        let some = recording(Some("96"), Some("5"), Some("all")).unwrap();
        assert_eq!((some.snap, some.count, some.what), (96, Some(5), Written::All));
        assert_eq!(recording(Some("13"), None, None).unwrap_err().flag, "--write-snap 13");
        assert_eq!(recording(None, Some("0"), None).unwrap_err().flag, "--write-count 0");
        assert_eq!(recording(None, None, Some("some")).unwrap_err().flag, "--write-what");
        assert!(Written::NAMES.iter().all(|name| name.parse::<Written>().is_ok()));
    }
}
