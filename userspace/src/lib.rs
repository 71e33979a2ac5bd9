//! xsk-gen turns a validated configuration into numbered frames, moves them through one narrow port, and turns
//! what happened into one Report whose books balance. README.md has the map of the rooms.

pub mod finding;
pub mod frame;
pub mod measure;
pub mod pace;
pub mod port;
pub mod report;
pub mod units;
