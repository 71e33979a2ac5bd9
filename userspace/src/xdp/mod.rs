//! Loads the XDP programs, attaches them so that they go when the process goes, and says who holds an interface.
//! Knows no frame, no ring and no command; sockets are file descriptors to it.

mod bound;
mod counters;
pub mod dry_run;
mod hold;
mod holder;
mod loaded;
mod occupied;
mod pass_program;
mod refusal;
mod rx_program;
mod take_off;
mod trouble;

pub use counters::QueueCounters;
pub use holder::{HeldMode, Holder, holder};
pub use pass_program::PassProgram;
pub use rx_program::{RxOptions, RxProgram};
pub use take_off::{occupant, take_off};
pub use xdp_prog::{Check, MAX_QUEUES, Shape};

use std::fmt;

/// Bytes of the stamp that the receive program puts in front of a frame.
#[expect(clippy::cast_possible_truncation, reason = "sixteen")]
pub const STAMP_BYTES: u32 = xdp_prog::Stamp::BYTES as u32;

/// Where a program is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttachMode {
    /// In the driver, before a socket buffer exists (XDP_FLAGS_DRV_MODE).
    Native,
    /// In the stack, over socket buffers, on any interface (XDP_FLAGS_SKB_MODE).
    Generic,
}

impl fmt::Display for AttachMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native",
            Self::Generic => "generic",
        })
    }
}

/// Keeps libbpf's own words off stderr: what matters of them becomes a Finding. aya speaks through the `log` facade,
/// which stays silent because nothing here installs a logger.
fn quiet() {
    libbpf_rs::set_print(None);
}
