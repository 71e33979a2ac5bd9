//! `man`: manual pages from the command line's own help. Knows the command line only.

use crate::cli::{Cli, ManArgs};
use crate::config::ConfigError;
use clap::CommandFactory;
use clap_mangen::Man;
use std::io::{self, Write};
use std::path::Path;
use thiserror::Error;

/// Why there is no page.
#[derive(Debug, Error)]
pub enum ManError {
    /// No command of that name.
    #[error(transparent)]
    Usage(#[from] ConfigError),
    /// The directory cannot be made or written.
    #[error("{0}: {kind}", kind = .1.kind())]
    Directory(String, io::Error),
    /// The output cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes one page to `out`, or all pages to a directory, which is made where it is missing.
///
/// # Errors
/// An unknown command, or what writing gives.
pub fn run(args: &ManArgs, out: &mut impl Write) -> Result<(), ManError> {
    match &args.dir {
        Some(dir) => write_all(dir).map_err(|e| ManError::Directory(dir.display().to_string(), e)),
        None => write_one(args.page.as_deref(), out),
    }
}

fn write_all(dir: &Path) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    clap_mangen::generate_to(Cli::command(), dir)
}

fn write_one(page: Option<&str>, out: &mut impl Write) -> Result<(), ManError> {
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    let Some(page) = page else { return Ok(Man::new(cli).render(out)?) };
    match cli.find_subcommand(page) {
        Some(command) => Ok(Man::new(command.clone()).render(out)?),
        None => Err(unknown(page, &cli).into()),
    }
}

fn unknown(page: &str, cli: &clap::Command) -> ConfigError {
    let names: Vec<&str> = cli.get_subcommands().map(clap::Command::get_name).collect();
    ConfigError::new("man", page, "there is no such command", format!("one of {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: Option<&str>) -> Result<String, ManError> {
        let mut out = Vec::new();
        write_one(name, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_page_is_the_commands_own() {
        let tx = page(Some("tx")).unwrap();
        assert!(tx.contains(".TH xsk-gen-tx 1"), "{tx}");
        assert!(tx.contains("4\\-byte FCS"));
        assert!(page(None).unwrap().contains("AF_XDP traffic generator"));
        assert!(matches!(page(Some("fly")), Err(ManError::Usage(e)) if e.remedy.contains("demo")));
    }

    #[test]
    fn a_directory_gets_a_page_a_command() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("man1");
        run(&ManArgs { page: None, dir: Some(made.clone()) }, &mut Vec::new()).unwrap();
        for command in Cli::command().get_subcommands() {
            assert!(
                made.join(format!("xsk-gen-{}.1", command.get_name())).is_file(),
                "{}",
                command.get_name()
            );
        }
        assert!(made.join("xsk-gen.1").is_file());
        let in_the_way = ManArgs { page: None, dir: Some(made.join("xsk-gen.1")) };
        let error = run(&in_the_way, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("xsk-gen.1: ") && !error.contains("os error"), "{error}");
    }
}
