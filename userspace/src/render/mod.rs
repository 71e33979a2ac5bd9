//! The Report shown: text for people, JSON for programs. Shows what is there and computes nothing; a figure that is
//! not known reads `unknown`, never 0.

mod books;
mod header;
mod json;
mod latency;
mod progress;
mod table;
mod text;
mod words;

pub use header::header;
pub use json::json;
pub use progress::interval_line;
pub use text::text;
