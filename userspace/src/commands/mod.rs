//! What each command does, from its configuration to its exit code.

pub mod completions;
pub mod man;
pub mod schema;
pub mod verdict;
