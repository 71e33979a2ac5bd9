//! What a command is about to do, in a line on stderr: a user who waits should know for what.

use std::fmt::Display;
use std::io::{self, Write};

/// Says it, unless `quiet`. A closed stderr is nobody's failure.
pub fn notice(quiet: bool, side: &str, what: impl Display) {
    if !quiet {
        let _ = writeln!(io::stderr(), "{side}  {what}");
    }
}
