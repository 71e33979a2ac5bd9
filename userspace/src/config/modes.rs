//! How frames are to move: modes that were asked for. What was obtained is the Report's business.

use super::ConfigError;
use super::number::Whole;
use std::str::FromStr;

/// Where the XDP program is to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum XdpChoice {
    /// In the driver where it can redirect, else in the stack.
    #[default]
    Auto,
    /// In the driver, or not at all.
    Native,
    /// In the stack, over socket buffers.
    Generic,
}

/// How the AF_XDP socket is to move frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum XskChoice {
    /// Zero-copy where the driver can, else copy.
    #[default]
    Auto,
    /// The NIC reads and writes our memory, or nothing.
    ZeroCopy,
    /// The kernel copies.
    Copy,
}

/// The modes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    /// Where the XDP program is to run.
    pub xdp: XdpChoice,
    /// How the socket is to move frames.
    pub xsk: XskChoice,
    /// Frames that one busy poll of a socket takes at the most; None where sockets do not poll.
    pub busy_poll: Option<u32>,
    /// Whether the driver may ask to be woken; without it each turn makes a system call.
    pub need_wakeup: bool,
    /// Whether an XDP program of someone else is taken off where one of ours is to be attached.
    pub replace: bool,
}

/// Frames of one busy poll unless told otherwise: what a driver handles between two looks at anything else.
pub const DEFAULT_BUSY_POLL: &str = "64";

/// Documented limit: the kernel keeps it in 16 bits (SO_BUSY_POLL_BUDGET).
const BUSY_POLL: Whole = Whole {
    flag: "--busy-poll",
    least: 1,
    most: u16::MAX as u64,
    why: "a busy poll takes so many frames at the most",
    remedy: "--busy-poll, which is 64, or another number",
};

/// The budget of busy polling; None without a text.
///
/// # Errors
/// No number of frames that the kernel takes.
pub fn validate_busy_poll(text: Option<&str>) -> Result<Option<u32>, ConfigError> {
    text.map(|text| BUSY_POLL.read_u32(text)).transpose()
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            xdp: XdpChoice::Auto,
            xsk: XskChoice::Auto,
            busy_poll: None,
            need_wakeup: true,
            replace: false,
        }
    }
}

impl XdpChoice {
    /// The names on the command line.
    pub const NAMES: [&str; 3] = ["auto", "native", "generic"];
}

impl FromStr for XdpChoice {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "auto" => Ok(Self::Auto),
            "native" => Ok(Self::Native),
            "generic" => Ok(Self::Generic),
            _ => Err(ConfigError::new("--xdp-mode", text, "no such mode", Self::NAMES.join(", "))),
        }
    }
}

impl XskChoice {
    /// The names on the command line.
    pub const NAMES: [&str; 3] = ["auto", "zerocopy", "copy"];
}

impl FromStr for XskChoice {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "auto" => Ok(Self::Auto),
            "zerocopy" => Ok(Self::ZeroCopy),
            "copy" => Ok(Self::Copy),
            _ => Err(ConfigError::new("--xsk-mode", text, "no such mode", Self::NAMES.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_poll_has_a_budget_that_the_kernel_takes() {
        assert_eq!(
            (validate_busy_poll(None), validate_busy_poll(Some(DEFAULT_BUSY_POLL))),
            (Ok(None), Ok(Some(64)))
        );
        for text in ["0", "-1", "65536", "", "many"] {
            assert!(validate_busy_poll(Some(text)).unwrap_err().flag.starts_with("--busy-poll"), "{text}");
        }
    }

    #[test]
    fn every_name_is_a_mode_and_nothing_else_is() {
        assert!(XdpChoice::NAMES.iter().all(|name| name.parse::<XdpChoice>().is_ok()));
        assert!(XskChoice::NAMES.iter().all(|name| name.parse::<XskChoice>().is_ok()));
        assert_eq!("fast".parse::<XdpChoice>().unwrap_err().remedy, "auto, native, generic");
        assert_eq!("Copy".parse::<XskChoice>().unwrap_err().flag, "--xsk-mode Copy");
    }
}
