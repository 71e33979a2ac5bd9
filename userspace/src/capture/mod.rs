//! Capture files: frames read ahead of a sender, and frames kept of what a sink receives, through preallocated slabs, so
//! that no worker ever waits for a file. Knows no port, no probe and no Report.

mod feed;
mod fit;
#[cfg(test)]
mod fixture;
mod reader;
mod reel;
mod slab;
mod tap;
mod writer;

pub use feed::{Feeder, Queues, Tally, look, open};
pub use fit::{Fit, LeftOut};
pub use reader::CaptureError;
pub use reel::{Next, Reel};
pub use slab::{Mark, Slab};
pub use tap::Tap;
pub use writer::{Format, Recorder, Recording, WriteSpec};
