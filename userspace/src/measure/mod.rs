//! What was received, and how long it took: numbers come in, books come out. Knows no frame layout, no port
//! and no clock.

pub mod latency;
pub mod seq;
pub mod sizes;

pub use latency::{Latency, PackedLatency, Summary};
pub use seq::{Seen, SequenceBooks, SequenceCounts};
pub use sizes::Sizes;
