//! The command line as clap structs, and their way into the configuration. Texts stay texts here: what they mean,
//! and what is wrong with them, is the configuration's business.

mod demo;
mod explain;
mod groups;
mod headers;
mod recording;
mod reflect;
mod replay;
mod rx;
mod timing;
mod tx;

pub use demo::DemoArgs;
pub use explain::ExplainArgs;
pub use groups::{AddressArgs, LoadArgs, OutputArgs, ProbeArgs, SocketArgs};
pub use headers::HeaderArgs;
pub use recording::RecordingArgs;
pub use reflect::ReflectArgs;
pub use replay::ReplayArgs;
pub use rx::RxArgs;
pub use timing::TimingArgs;
pub use tx::TxArgs;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

const ABOUT: &str = "AF_XDP traffic generator and sink: what a NIC really gives, in frames, and why";

/// Lines are as long as their paragraphs: clap wraps them to the terminal.
const LONG_ABOUT: &str = "\
AF_XDP traffic generator and sink: what a NIC really gives, in frames, and why.

Sends numbered Ethernet frames through AF_XDP sockets, counts and verifies them at the other end, and prints one \
Report whose books balance: rate, loss and where it happened, latency, and the CPU it took.

  xsk-gen rx --iface IF    on one host, and
  xsk-gen tx --iface IF    on the other: they find each other
  xsk-gen demo             needs no NIC: both ends of a veth pair

Sizes are Ethernet frame lengths including the 4-byte FCS (RFC 2544): 64 is the shortest.";

const AFTER_HELP: &str = "\
The result goes to stdout, progress and warnings to stderr. Exit codes:
  0  done
  1  the run failed, or a --fail-if condition held
  2  usage
  3  this host or interface cannot do it";

/// Where a word in brackets on stderr is explained: behind the help of each command that makes findings.
const EXPLAIN: &str =
    "The word in [brackets] behind a warning or an error is its code: xsk-gen explain CODE.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "xsk-gen",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 110
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate frames and send them out of an interface
    Tx(Box<TxArgs>),
    /// Receive frames on an interface: count, verify, measure
    Rx(Box<RxArgs>),
    /// Send the frames of a run back to where they came from: the far end of a round trip
    Reflect(Box<ReflectArgs>),
    /// Try it without a NIC: tx and rx on a veth pair in private network namespaces
    Demo(Box<DemoArgs>),
    /// Explain a finding by its code, or list them all
    Explain(ExplainArgs),
    /// Print the JSON Schema (2020-12) of the Report
    Schema,
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print a manual page, or write them all to a directory
    Man(ManArgs),
}

/// What `completions` takes.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell that is to complete xsk-gen's arguments
    pub shell: clap_complete::Shell,
}

/// What `man` takes.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command to describe; xsk-gen itself without one
    #[arg(value_name = "COMMAND")]
    pub page: Option<String>,
    /// Write every page to this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    pub dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests;
