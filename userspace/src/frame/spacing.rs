//! How a sender's frames follow each other, as its START tells.

use serde::{Deserialize, Serialize};

/// By default evenly, frame by frame: so do senders that do not tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spacing {
    /// Frames that follow back to back.
    pub burst: u32,
    /// Whether the times are those of a Poisson process.
    pub poisson: bool,
    /// Rates that change, as the user wrote them.
    pub plan: Option<String>,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { burst: 1, poisson: false, plan: None }
    }
}
