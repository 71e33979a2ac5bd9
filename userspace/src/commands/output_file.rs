//! The file of `--output`: opened before the run, written after it.

use crate::finding::{Code, Finding, Severity};
use crate::sys::words::words;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// A file that can be written.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: File,
    /// Whether it was not there before.
    new: bool,
}

impl OutputFile {
    /// Opens the file without touching what is in it.
    ///
    /// # Errors
    /// [`Code::OutputFile`].
    pub fn open(path: &Path) -> Result<Self, Finding> {
        let new = !path.exists();
        match OpenOptions::new().write(true).create(true).truncate(false).open(path) {
            Ok(file) => Ok(Self { path: path.to_owned(), file, new }),
            Err(error) => Err(refused(path, "it cannot be opened for writing", &error)),
        }
    }

    /// Gives the file up when there is nothing to write: one that was made for it goes again.
    pub fn discard(self) {
        if self.new {
            // What cannot be removed is empty, which is no worse than it was meant to be.
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Replaces what is in the file.
    ///
    /// # Errors
    /// [`Code::OutputFile`], for instance when the disk is full.
    pub fn write(mut self, bytes: &[u8]) -> Result<(), Finding> {
        self.replace(bytes).map_err(|error| refused(&self.path, "the result could not be written", &error))
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        // A device or pipe (/dev/stdout) has no length to set.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
            self.file.rewind()?;
        }
        self.file.write_all(bytes)?;
        self.file.flush()
    }
}

fn refused(path: &Path, what: &str, error: &io::Error) -> Finding {
    Finding::new(Code::OutputFile, Severity::Fail, format!("--output {}", path.display()), what)
        .why(words(error))
        .remedy("another path, or make room and check the permissions of its folder")
}
