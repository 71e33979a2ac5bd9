//! Programs that run beside the test: their output goes to files, they are waited for with a deadline, and they end
//! with the test. Knows nothing of what they print.

use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Between two looks at something that is waited for.
const PAUSE: Duration = Duration::from_millis(5);

/// The binary under test.
pub fn xsk_gen() -> &'static str {
    env!("CARGO_BIN_EXE_xsk-gen")
}

/// Waits until `holds`; fails with `what` after `deadline`.
pub fn until(what: &str, deadline: Duration, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < deadline, "waited {deadline:?} for: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// `command` with SIGHUP as a terminal's shell hands it on: a suite that runs under nohup ignores it, and so would the
/// program, which is told by that to outlive the terminal.
#[allow(unsafe_code, reason = "the disposition of a child can be set only between fork and exec")]
fn hearing_sighup(command: &mut Command) -> &mut Command {
    // SAFETY: sigaction(2) is async-signal-safe, and the closure does nothing else.
    unsafe {
        command.pre_exec(|| {
            signal(Signal::SIGHUP, SigHandler::SigDfl)?;
            Ok(())
        })
    }
}

/// A program that has been started.
pub struct Running {
    child: Child,
    started: Instant,
    stdout: NamedTempFile,
    stderr: NamedTempFile,
    line: String,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: String,
    /// All of its standard error.
    pub stderr: String,
    /// From its start to its end.
    pub took: Duration,
    /// Its command line.
    pub line: String,
}

impl Running {
    /// Starts `command` with its output in files and no input.
    pub fn start(command: &mut Command) -> Self {
        let (stdout, stderr) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
        let line = line_of(command);
        let child = hearing_sighup(command)
            .stdin(Stdio::null())
            .stdout(stdout.reopen().unwrap())
            .stderr(stderr.reopen().unwrap())
            .spawn()
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        Self { child, started: Instant::now(), stdout, stderr, line }
    }

    /// Starts the binary under test in the namespace of the caller.
    pub fn xsk_gen(args: &[&str]) -> Self {
        Self::start(Command::new(xsk_gen()).args(args))
    }

    /// Its process id; `ip netns exec` and nsenter become the program, so it is the program's own.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap())
    }

    /// Sends a signal to this process alone.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap_or_else(|error| panic!("{}: {signal:?}: {error}", self.line));
    }

    /// Whether it has a handler of its own for a signal: before that, the signal would end it without a word.
    pub fn hears(&self, signal: Signal) -> bool {
        let path = format!("/proc/{}/status", self.pid());
        let status =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {path}: {error}", self.line));
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("SigCgt");
        u64::from_str_radix(caught.trim(), 16).unwrap() & 1 << (signal as u32 - 1) != 0
    }

    /// What it has written to standard error so far.
    pub fn stderr(&self) -> String {
        text(&self.stderr)
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for its end; fails after `deadline`.
    pub fn wait(mut self, deadline: Duration) -> Finished {
        let what = format!("the end of {}", self.line);
        let mut status = None;
        until(&what, deadline, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        Finished {
            status: status.unwrap(),
            stdout: text(&self.stdout),
            stderr: text(&self.stderr),
            took: self.started.elapsed(),
            line: self.line.clone(),
        }
    }

    /// Sends SIGINT, as Ctrl-C does, and waits; `took` is then the time from the signal on.
    pub fn interrupt(self, deadline: Duration) -> Finished {
        self.signal(Signal::SIGINT);
        let asked = self.started.elapsed();
        let finished = self.wait(deadline);
        Finished { took: finished.took.saturating_sub(asked), ..finished }
    }

    /// Kills it without a chance to tidy up.
    pub fn kill(self) {
        self.signal(Signal::SIGKILL);
        self.wait(Duration::from_secs(5));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_running() {
            if std::thread::panicking() {
                eprintln!("still running: {}\n{}", self.line, self.stderr());
            }
            // It has not been reaped, so its pid is still its own.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Finished {
    /// Fails unless it ended with one of these exit codes.
    pub fn expect_code_in(&self, codes: &[i32]) -> &Self {
        let code = self.status.code();
        assert!(codes.iter().any(|c| code == Some(*c)), "{}\n{}\n{}", self.line, self.stdout, self.stderr);
        self
    }

    /// Fails unless it ended with this exit code.
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.status.code(), Some(code), "{}\n{}\n{}", self.line, self.stdout, self.stderr);
        self
    }
}

fn text(file: &NamedTempFile) -> String {
    String::from_utf8_lossy(&fs::read(file.path()).unwrap()).into_owned()
}

fn line_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
