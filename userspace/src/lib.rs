//! xsk-gen turns a validated configuration into numbered frames, moves them through one narrow port, and turns
//! what happened into one Report whose books balance. README.md has the map of the rooms.

pub mod capture;
pub mod cli;
pub mod commands;
pub mod config;
pub mod engine;
pub mod finding;
pub mod frame;
pub mod host;
pub mod measure;
pub mod memory_port;
pub mod pace;
pub mod port;
pub mod private_net;
pub mod render;
pub mod report;
pub mod sys;
pub mod units;
pub mod xdp;
pub mod xsk;
