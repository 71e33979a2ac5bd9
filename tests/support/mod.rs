//! Helpers of the tests that run the real binary in network namespaces of their own. They know the command line and
//! the JSON of the Report, and nothing of the library.

#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod faulty_wire;
mod lab;
pub mod middle;
pub mod other_program;
pub mod packet;
mod process;
mod reports;

pub use faulty_wire::{Faults, FaultyWire, WireBooks};
pub use lab::{End, NetLab, ip, sink};
pub use process::{Finished, Running, until, xsk_gen};
pub use reports::{Report, only, reports, tx_and_rx};

/// Whether a test that needs root may go on. Without root it is skipped, and says so; once XSK_GEN_REQUIRE_ROOT=1 says
/// that it must run, it fails.
pub fn require_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    let must = std::env::var("XSK_GEN_REQUIRE_ROOT").is_ok_and(|value| value == "1");
    assert!(root || !must, "this test needs root: sudo scripts/test.sh");
    if !root {
        eprintln!("skipped: it needs root: sudo scripts/test.sh");
    }
    root
}
