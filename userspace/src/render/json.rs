//! Reports as JSON. The order of fields is the type's own, so that two runs can be compared line by line.

use crate::report::Report;
use std::io::{self, Write};

/// One Report as an object; several, or none, as an array. Ends with a line feed.
///
/// # Errors
/// What writing to `out` gives.
pub fn json(reports: &[Report], out: &mut impl Write) -> io::Result<()> {
    match reports {
        [report] => serde_json::to_writer_pretty(&mut *out, report)?,
        several => serde_json::to_writer_pretty(&mut *out, several)?,
    }
    writeln!(out)
}
