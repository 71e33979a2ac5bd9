//! The file of `--output`: opened before the run, written after it. What was in it stays until the new content is
//! complete. Knows nothing of what is written.

use crate::finding::{Code, Finding, Severity};
use crate::sys::words::words;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Folders whose entries stand for what is open already: only in place can they be written.
const OF_THE_SYSTEM: [&str; 2] = ["/dev", "/proc"];

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

    /// Replaces what is in the file; when that fails, the old content is still there.
    ///
    /// # Errors
    /// [`Code::OutputFile`], for instance when the disk is full.
    pub fn write(mut self, bytes: &[u8]) -> Result<(), Finding> {
        let result = self.replace(bytes);
        result.map_err(|error| {
            let finding = refused(&self.path, "the result could not be written", &error);
            self.discard();
            finding
        })
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let about = self.file.metadata()?;
        // A device or pipe has no content that could be lost.
        if !about.is_file() {
            self.file.write_all(bytes)?;
            return self.file.flush();
        }
        if OF_THE_SYSTEM.iter().any(|folder| self.path.starts_with(folder)) {
            return self.in_place(bytes);
        }
        // A symbolic link stays one.
        let path = fs::canonicalize(&self.path)?;
        let made = path.parent().map_or_else(NamedTempFile::new, NamedTempFile::new_in);
        let put = made.and_then(|beside| fill(&beside, &about, bytes).map(|()| beside.persist(&path)));
        match put {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if must_stay(&error.error) => self.in_place(bytes),
            Ok(Err(error)) => Err(error.error),
            Err(error) if must_stay(&error) => self.in_place(bytes),
            Err(error) => Err(error),
        }
    }

    fn in_place(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(bytes)?;
        self.file.flush()
    }
}

/// Makes a file like the one whose place it is to take, with the new content.
fn fill(beside: &NamedTempFile, like: &Metadata, bytes: &[u8]) -> io::Result<()> {
    let mut file = beside.as_file();
    file.write_all(bytes)?;
    // A file system over the network tells only then that it is full.
    file.sync_data()?;
    fchown(file, Some(like.uid()), Some(like.gid()))?;
    file.set_permissions(like.permissions())
}

/// Whether another file cannot be put in its place, although it can be written itself: in a folder that is not ours,
/// or where the file is a mount of its own.
fn must_stay(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::ResourceBusy
    )
}

fn refused(path: &Path, what: &str, error: &io::Error) -> Finding {
    Finding::new(Code::OutputFile, Severity::Fail, format!("--output {}", path.display()), what)
        .why(words(error))
        .remedy("another path, or make room and check the permissions of its folder")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_link_its_file_and_its_mode_stay_and_the_content_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "a longer content than the new one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        OutputFile::open(&link).unwrap().write(b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn an_old_file_is_whole_until_the_new_content_is_and_a_new_one_goes_with_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, "old").unwrap();
        for path in [&old, &new] {
            OutputFile::open(path).unwrap().discard();
        }
        assert_eq!(fs::read(&old).unwrap(), b"old");
        assert!(!new.exists());
    }

    #[test]
    fn devices_are_written_as_they_are() {
        OutputFile::open(Path::new("/dev/null")).unwrap().write(b"new").unwrap();
        let refused = OutputFile::open(Path::new("/dev/full")).unwrap().write(b"new").unwrap_err();
        assert_eq!((refused.code, refused.why.as_str()), (Code::OutputFile, "No space left on device"));
        assert!(Path::new("/dev/full").exists());
    }
}
