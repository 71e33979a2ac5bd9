//! Entry point: parse, dispatch, exit code.

use clap::Parser;
use std::io;
use std::process::ExitCode;
use xsk_gen::cli::{Cli, Command};
use xsk_gen::commands::man::ManError;
use xsk_gen::commands::{completions, man, schema};
use xsk_gen::config::{ConfigError, DemoConfig, RxConfig, TxConfig};

/// Why the command did not succeed, by exit code.
enum Failure {
    /// 2: the arguments cannot be meant.
    Usage(ConfigError),
    /// 1: the result could not be written to stdout.
    Output(io::Error),
    /// 1: a directory of pages could not be written.
    Pages(String),
    /// 1: this build has no engine for the command.
    NotBuilt(&'static str),
}

impl From<ConfigError> for Failure {
    fn from(e: ConfigError) -> Self {
        Self::Usage(e)
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Self::Output(e)
    }
}

impl From<ManError> for Failure {
    fn from(e: ManError) -> Self {
        match e {
            ManError::Usage(e) => Self::Usage(e),
            ManError::Io(e) => Self::Output(e),
            ManError::Directory(..) => Self::Pages(e.to_string()),
        }
    }
}

impl Failure {
    fn report(&self) -> ExitCode {
        match self {
            Self::Usage(e) => {
                eprintln!("error: {e}");
                ExitCode::from(2)
            }
            // A reader that has seen enough, such as `head`, is no failure.
            Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Output(e) => {
                eprintln!("error: the result cannot be written: {}", e.kind());
                ExitCode::FAILURE
            }
            Self::Pages(why) => {
                eprintln!("error: the pages cannot be written to {why}");
                ExitCode::FAILURE
            }
            Self::NotBuilt(command) => {
                eprintln!("error: {command} is not built into this binary");
                ExitCode::FAILURE
            }
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    let out = &mut io::stdout().lock();
    match command {
        Command::Tx(args) => TxConfig::try_from(*args).map(|_| ())?,
        Command::Rx(args) => RxConfig::try_from(*args).map(|_| ())?,
        Command::Demo(args) => DemoConfig::try_from(*args).map(|_| ())?,
        Command::Schema => return Ok(schema::run(out)?),
        Command::Completions(args) => return Ok(completions::run(args.shell, out)?),
        Command::Man(args) => return Ok(man::run(&args, out)?),
    }
    Err(Failure::NotBuilt("sending and receiving"))
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
