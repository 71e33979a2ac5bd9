//! Entry point: parse, dispatch, exit code.

use clap::Parser;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use xsk_gen::cli::{Cli, Command};
use xsk_gen::commands::man::ManError;
use xsk_gen::commands::{
    Failure, Interrupt, completions, deliver, demo, dry_run, explain, man, rx, schema, tell, tx,
};
use xsk_gen::config::{ConfigError, DemoConfig, Output, RxConfig, TxConfig};
use xsk_gen::report::Report;

/// Why a command did not come to a result.
enum Trouble {
    /// The arguments cannot be meant. Exit code 2.
    Usage(ConfigError),
    /// The result could not be written. Exit code 1.
    Output(io::Error),
    /// A directory of pages could not be written. Exit code 1.
    Pages(String),
}

impl From<ConfigError> for Trouble {
    fn from(e: ConfigError) -> Self {
        Self::Usage(e)
    }
}

impl From<io::Error> for Trouble {
    fn from(e: io::Error) -> Self {
        Self::Output(e)
    }
}

impl From<ManError> for Trouble {
    fn from(e: ManError) -> Self {
        match e {
            ManError::Usage(e) => Self::Usage(e),
            ManError::Io(e) => Self::Output(e),
            ManError::Directory(..) => Self::Pages(e.to_string()),
        }
    }
}

impl Trouble {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(e) => {
                say(format_args!("{e}"));
                ExitCode::from(2)
            }
            // A reader that has seen enough, such as `head`, is no failure.
            Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Self::Output(e) => {
                say(format_args!("the result cannot be written: {}", e.kind()));
                ExitCode::FAILURE
            }
            Self::Pages(why) => {
                say(format_args!("the pages cannot be written to {why}"));
                ExitCode::FAILURE
            }
        }
    }
}

/// An error on stderr; one that is closed or full is nobody's failure.
fn say(error: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "error: {error}");
}

/// A run that can be interrupted, and its result.
fn measure(output: &Output, run: impl FnOnce(&Interrupt) -> Result<Vec<Report>, Failure>) -> ExitCode {
    match Interrupt::on_signals() {
        Ok(interrupt) => deliver(output, || run(&interrupt)),
        Err(error) => {
            let failure = Failure::system("signals", "Ctrl-C could not be prepared for", &error);
            tell(failure.findings());
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Trouble> {
    let out = &mut io::stdout();
    match command {
        Command::Tx(args) => {
            let (nothing_sent, write) = (args.dry_run, args.write.clone());
            let config = TxConfig::try_from(*args)?;
            if nothing_sent {
                return Ok(dry_run::run(&config, write.as_deref(), out)?);
            }
            return Ok(measure(&config.output, |interrupt| tx::run(&config, interrupt)));
        }
        Command::Rx(args) => {
            let config = RxConfig::try_from(*args)?;
            return Ok(measure(&config.output, |interrupt| rx::run(&config, interrupt)));
        }
        Command::Reflect(args) => {
            let config = RxConfig::try_from(*args)?;
            return Ok(measure(&config.output, |interrupt| rx::run(&config, interrupt)));
        }
        Command::Demo(args) => {
            let config = DemoConfig::try_from(*args)?;
            return Ok(measure(&config.tx.output, |interrupt| demo::run(&config, interrupt)));
        }
        Command::Explain(args) => explain::run(&args, out)?,
        Command::Schema => schema::run(out)?,
        Command::Completions(args) => completions::run(args.shell, out)?,
        Command::Man(args) => man::run(&args, out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    run(Cli::parse().command).unwrap_or_else(|trouble| trouble.exit_code())
}
