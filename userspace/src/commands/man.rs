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
    let cli = built();
    for command in cli.get_subcommands().filter(|command| !command.is_hide_set()) {
        page_of(command).generate_to(dir)?;
    }
    page_of(&cli).generate_to(dir).map(drop)
}

fn built() -> clap::Command {
    let mut cli = Cli::command().disable_help_subcommand(true);
    cli.build();
    cli
}

/// A page whose footer names the program and its version: left alone, that of a subcommand says "tx" and no version.
fn page_of(command: &clap::Command) -> Man {
    Man::new(command.clone()).source(concat!("xsk-gen ", env!("CARGO_PKG_VERSION"))).manual("xsk-gen manual")
}

fn write_one(page: Option<&str>, out: &mut impl Write) -> Result<(), ManError> {
    let cli = built();
    let Some(page) = page else { return Ok(page_of(&cli).render(out)?) };
    match cli.find_subcommand(page) {
        Some(command) => Ok(page_of(command).render(out)?),
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
    fn each_footer_names_the_program_and_its_version() {
        let footer = concat!("\"xsk-gen ", env!("CARGO_PKG_VERSION"), "\"");
        let cli = Cli::command();
        let names = cli.get_subcommands().map(|command| Some(command.get_name()));
        for name in names.chain([None]) {
            let text = page(name).unwrap();
            let title = text.lines().find(|line| line.starts_with(".TH ")).unwrap();
            assert!(title.contains(footer) && !text.contains(".SH VERSION\nv\n"), "{name:?}: {title}");
        }
    }

    #[test]
    fn a_directory_gets_a_page_a_command() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("man1");
        run(&ManArgs { page: None, dir: Some(made.clone()) }, &mut Vec::new()).unwrap();
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let text = std::fs::read_to_string(made.join(format!("xsk-gen-{name}.1"))).unwrap();
            assert_eq!(text, page(Some(name)).unwrap(), "{name}: the same page either way");
        }
        assert_eq!(std::fs::read_to_string(made.join("xsk-gen.1")).unwrap(), page(None).unwrap());
        let in_the_way = ManArgs { page: None, dir: Some(made.join("xsk-gen.1")) };
        let error = run(&in_the_way, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("xsk-gen.1: ") && !error.contains("os error"), "{error}");
    }
}
