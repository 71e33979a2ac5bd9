//! What each command does, from its configuration to its exit code: config → preflight → run → Report.

mod afford;
mod attaching;
mod busy_poll;
pub mod completions;
mod control_link;
mod cross_check;
mod deliver;
pub mod demo;
pub mod dry_run;
pub mod explain;
mod failure;
mod ground;
mod interrupt;
mod link_watch;
mod live;
pub mod man;
mod meter;
mod notice;
mod output_file;
mod pair;
mod placement;
mod privileges;
mod queue_limited;
mod refused_socket;
mod report_parts;
pub mod rx;
pub mod schema;
mod sockets;
mod taken_queues;
pub mod tx;
pub mod verdict;

pub use deliver::{deliver, tell};
pub use failure::Failure;
pub use interrupt::Interrupt;
use output_file::OutputFile;
