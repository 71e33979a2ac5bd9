//! The capture that a sink writes: its file is opened before anything is attached, and told of at the end.

use crate::capture::{Format, Recorder, Tap, WriteSpec};
use crate::commands::Failure;
use crate::commands::notice::notice;
use crate::config::{self, Written};
use crate::finding::{Code, Finding, Severity};
use crate::sys::clock::monotonic;
use crate::sys::words::words;
use crate::units::{Nanos, grouped};
use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A recording that is to begin, or is under way.
pub struct Recording {
    plan: config::Recording,
    state: State,
}

enum State {
    /// The file, and whether it was made for this.
    Open(File, bool),
    Running(Recorder),
    /// It could not begin.
    Over,
}

impl Recording {
    /// Opens the file, without touching what is in it.
    ///
    /// # Errors
    /// [`Code::OutputFile`].
    pub fn open(plan: &config::Recording) -> Result<Self, Finding> {
        let new = !plan.file.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&plan.file);
        let file = file.map_err(|error| {
            Finding::new(Code::OutputFile, Severity::Fail, on(&plan.file), "it cannot be opened for writing")
                .why(words(&error))
                .remedy("another path, or check the permissions of its folder")
        })?;
        Ok(Self { plan: plan.clone(), state: State::Open(file, new) })
    }

    /// Begins to write, over what was in the file.
    ///
    /// # Errors
    /// When the thread cannot be made, or the file not emptied.
    pub fn start(&mut self, iface: &str) -> Result<(), Failure> {
        let State::Open(file, _) = std::mem::replace(&mut self.state, State::Over) else { return Ok(()) };
        let failed = |error| Failure::system(on(&self.plan.file), "it could not be written to", &error);
        // A device or pipe has no length.
        if file.metadata().map_err(failed)?.is_file() {
            file.set_len(0).map_err(failed)?;
        }
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let spec = WriteSpec {
            format: Format::of(&self.plan.file),
            iface: iface.to_owned(),
            snap: self.plan.snap,
            count: self.plan.count,
            all: self.plan.what == Written::All,
            wall_lead_ns: (Nanos::from(wall) - monotonic()).0,
        };
        self.state = State::Running(Recorder::start(file, spec).map_err(failed)?);
        Ok(())
    }

    /// A tap for a worker.
    pub fn tap(&self) -> Option<Tap> {
        if let State::Running(recorder) = &self.state { Some(recorder.tap()) } else { None }
    }

    /// Waits until everything is written, once every worker has ended; what is missing in the file.
    pub fn finish(mut self, quiet: bool) -> Option<Finding> {
        let State::Running(recorder) = std::mem::replace(&mut self.state, State::Over) else { return None };
        let recording = recorder.finish();
        let written = grouped(recording.written);
        notice(quiet, "rx", format_args!("{written} frames written to {}", self.plan.file.display()));
        if recording.missed == 0 && recording.error.is_none() {
            return None;
        }
        let missed = grouped(recording.missed);
        let (what, why) = match recording.error {
            Some(error) => (
                format!(
                    "writing ended early: {error}; {written} frames are in it, and at least {missed} are not"
                ),
                "the run went on without it: a count must not depend on a disk",
            ),
            None => (
                format!("{written} frames are in it, and {missed} are not"),
                "they came faster than they could be written, and a count does not wait for a disk",
            ),
        };
        Some(
            Finding::new(Code::CaptureIncomplete, Severity::Warn, on(&self.plan.file), what).why(why).remedy(
                "a file in memory (/dev/shm), a shorter --write-snap, --write-count, or a lower rate",
            ),
        )
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let State::Open(_, true) = self.state {
            // Made for a run that did not begin. What cannot be removed is empty, which does no harm.
            let _ = fs::remove_file(&self.plan.file);
        }
    }
}

fn on(file: &Path) -> String {
    format!("--write {}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(file: &Path) -> config::Recording {
        config::Recording::validate(file.to_owned(), None, None, None).unwrap()
    }

    #[test]
    fn a_run_that_does_not_begin_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old.pcap"), folder.path().join("new.pcap"));
        fs::write(&old, "old").unwrap();
        drop((Recording::open(&plan(&old)).unwrap(), Recording::open(&plan(&new)).unwrap()));
        assert_eq!((fs::read(&old).unwrap(), new.exists()), (b"old".to_vec(), false));
        let refused = Recording::open(&plan(&folder.path().join("none/x.pcap"))).map(drop).unwrap_err();
        assert_eq!((refused.code, refused.why.as_str()), (Code::OutputFile, "No such file or directory"));
    }

    #[test]
    fn what_is_not_in_the_file_is_told() {
        let mut full = Recording::open(&plan(Path::new("/dev/full"))).unwrap();
        full.start("v1").unwrap();
        let mut tap = full.tap().unwrap();
        tap.keep(&[0; 60], 60, Nanos(0));
        drop(tap);
        let finding = full.finish(true).unwrap();
        assert_eq!((finding.code, finding.severity), (Code::CaptureIncomplete, Severity::Warn));
        assert!(finding.what.contains("No space left on device; 0 frames"), "{finding}");
    }
}
