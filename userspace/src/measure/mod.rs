//! What was received, and how long it took: numbers come in, books come out. Knows no frame layout, no port
//! and no clock.

pub mod jitter;
pub mod latency;
pub mod packed;
pub mod sampling;
pub mod seq;
pub mod sizes;
pub mod summary;

pub use jitter::{Jitter, MeanJitter};
pub use latency::Latency;
pub use packed::PackedLatency;
pub use sampling::Sampling;
pub use seq::{Seen, SequenceBooks, SequenceCounts};
pub use sizes::Sizes;
pub use summary::{DelayVariation, Summary};
