//! `completions`: a script that lets a shell complete the arguments. Knows the command line only.

use crate::cli::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};

/// Writes the completion script for `shell`.
///
/// # Errors
/// What writing to `out` gives.
pub fn run(shell: Shell, out: &mut impl Write) -> io::Result<()> {
    // The generator panics where writing fails, so that it gets a buffer, which cannot.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "xsk-gen", &mut script);
    out.write_all(&script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_learns_every_flag_of_tx() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            let mut script = Vec::new();
            run(shell, &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            let command = Cli::command();
            let flags =
                command.find_subcommand("tx").unwrap().get_arguments().filter_map(clap::Arg::get_long);
            for flag in flags {
                assert!(script.contains(flag), "{shell}: --{flag}");
            }
        }
    }
}
