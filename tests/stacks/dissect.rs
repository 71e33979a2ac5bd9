//! Frames of `tx --dry-run --write`, and what tshark reads in them. Nothing of xsk-gen takes part in the reading.

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A capture file that a dry run has written.
pub struct Capture {
    folder: TempDir,
}

/// One frame: the values of the fields that were asked for, in their order.
pub type Frame = Vec<String>;

/// Runs the binary under test and gives what it printed.
pub fn dry_run(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xsk-gen"));
    let output = command.args(["tx", "--dry-run"]).args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

impl Capture {
    /// The first `count` frames of a stream file.
    pub fn of(streams: &str, count: usize) -> Self {
        let capture = Self { folder: tempfile::tempdir().unwrap() };
        let file = capture.folder.path().join("streams.toml");
        std::fs::write(&file, streams).unwrap();
        let (file, path, count) = (file.to_str().unwrap(), capture.path(), count.to_string());
        dry_run(&["--stream", file, "--write", path.to_str().unwrap(), "--count", &count]);
        capture
    }

    /// Where it lies.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("frames.pcap")
    }

    /// What tshark reads of these fields, frame by frame.
    pub fn read(&self, fields: &[&str]) -> Vec<Frame> {
        read(&self.path(), fields)
    }
}

/// Fields in which tshark says what is wrong with a frame: that it is malformed, and what its expert notes.
pub const FAULTS: [&str; 3] = ["_ws.malformed", "_ws.expert.severity", "_ws.expert.message"];

/// The lowest of the expert's severities that says anything of the bytes: a warning (PI_WARN of epan/proto.h). Below it
/// are remarks on what a lone frame would be in a conversation.
const WARNING: u64 = 0x0060_0000;

/// The probe behind an ARP packet, where others have zeros.
const TRAILER: &str = "Didn't find padding of zeros, and an undecoded trailer exists.";

/// What is wrong by the fields of [`FAULTS`], with which `frame` begins.
pub fn fault(frame: &Frame) -> Option<String> {
    let [malformed, severities, notes] = frame.first_chunk().unwrap();
    let severe = severities.split(',').filter(|severity| !severity.is_empty());
    let severe = severe.map(|severity| severity.parse::<u64>().unwrap()).any(|severity| severity >= WARNING);
    let wrong = !malformed.is_empty() || severe && !notes.starts_with(TRAILER);
    wrong.then(|| format!("{malformed} {notes}"))
}

/// Reads a capture with tshark, all checksums validated.
pub fn read(path: &Path, fields: &[&str]) -> Vec<Frame> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(path).args(["-n", "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]);
    for layer in ["ip", "udp", "tcp"] {
        tshark.args(["-o", &format!("{layer}.check_checksum:TRUE")]);
    }
    // What a frame is within a conversation is no business of these tests; each one stands alone.
    tshark.args(["-o", "tcp.analyze_sequence_numbers:FALSE", "-o", "ip.defragment:FALSE"]);
    tshark.args(["-d", "udp.port==9,data"]);
    tshark.args(fields.iter().flat_map(|field| ["-e", field]));
    let done = tshark.output().unwrap_or_else(|error| panic!("tshark, which these tests need: {error}"));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}
