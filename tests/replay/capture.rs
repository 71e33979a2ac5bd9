//! Captures made with tcpdump, and read and written here from the format's definition (draft-ietf-opsawg-pcap): nothing
//! of xsk-gen takes part.

use crate::support::{End, Finished, NetLab, Running, until};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempPath;

pub const DEADLINE: Duration = Duration::from_secs(30);
const HEADER_BYTES: usize = 24;
const RECORD_BYTES: usize = 16;

/// One frame and when it was captured, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub at: u64,
    pub bytes: Vec<u8>,
}

/// A tcpdump at an end, writing nanoseconds. `way` is `in`, or `inout` for both directions.
pub struct Tcpdump {
    running: Running,
    file: TempPath,
}

impl Tcpdump {
    pub fn start(lab: &NetLab, end: End, way: &str) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let mut command = lab.command(end, "tcpdump");
        // -Z: the file belongs to root. Immediate mode and -U: a frame is written when it has come, so that the file's
        // size tells how far it is. -s: each place of the ring is as long, and thousands are to fit.
        command.args([
            "-i",
            end.interface(),
            "-n",
            "-s",
            "2048",
            "-B",
            "32768",
            "-U",
            "-Z",
            "root",
            "-Q",
            way,
        ]);
        let file_name = file.to_str().unwrap();
        command.args(["--immediate-mode", "--time-stamp-precision", "nano", "-w", file_name]);
        let running = Running::start(&mut command);
        until("tcpdump to listen", DEADLINE, || running.stderr().contains("listening on"));
        Self { running, file }
    }

    /// What it has captured, once nothing more comes; and the file.
    pub fn stop(self) -> (Vec<Frame>, TempPath) {
        let mut before = 0;
        until("the frames to be captured", DEADLINE, || {
            std::thread::sleep(Duration::from_millis(150));
            let now = fs::metadata(&self.file).unwrap().len();
            std::mem::replace(&mut before, now) == now
        });
        let done = self.running.interrupt(DEADLINE);
        assert!(done.stderr.contains("\n0 packets dropped by kernel"), "{}", done.stderr);
        (read(&self.file), self.file)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The frames of a pcap file with nanoseconds in this machine's byte order.
pub fn read(file: &Path) -> Vec<Frame> {
    let bytes = fs::read(file).unwrap();
    assert_eq!(u32_at(&bytes, 0), 0xA1B2_3C4D, "no pcap file with nanoseconds");
    let (mut frames, mut at) = (Vec::new(), HEADER_BYTES);
    while at < bytes.len() {
        let [seconds, nanos, len] = [0, 4, 8].map(|field| u32_at(&bytes, at + field));
        let (from, to) = (at + RECORD_BYTES, at + RECORD_BYTES + len as usize);
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(nanos);
        frames.push(Frame { at: time, bytes: bytes[from..to].to_vec() });
        at = to;
    }
    frames
}

/// A pcap file with nanoseconds of frames, each with the length that it had on the wire.
pub fn written<'a>(frames: impl IntoIterator<Item = (&'a Frame, usize)>) -> TempPath {
    let header: [u32; 6] = [0xA1B2_3C4D, 2 | 4 << 16, 0, 0, 65_535, 1];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (frame, wire_len) in frames {
        let words =
            [frame.at / 1_000_000_000, frame.at % 1_000_000_000, frame.bytes.len() as u64, wire_len as u64];
        bytes.extend(words.iter().flat_map(|word| u32::try_from(*word).unwrap().to_le_bytes()));
        bytes.extend(&frame.bytes);
    }
    let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    fs::write(&file, bytes).unwrap();
    file
}

/// Frames of these lengths without FCS, `gap` nanoseconds apart, each numbered behind an EtherType for local use.
pub fn made(lens: impl IntoIterator<Item = usize>, gap: u64) -> Vec<Frame> {
    let frame = |(n, len): (u32, usize)| {
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xB6];
        bytes.extend(n.to_be_bytes());
        bytes.resize(len, 0x55);
        Frame { at: 1_000_000_000 + u64::from(n) * gap, bytes }
    };
    (0..).zip(lens).map(frame).collect()
}

/// The same frames as a file, whole.
pub fn whole(frames: &[Frame]) -> TempPath {
    written(frames.iter().map(|frame| (frame, frame.bytes.len())))
}

/// Replays a file from end A while end B is captured: how it ended, and what arrived.
pub fn replay(lab: &NetLab, file: &Path, args: &[&str]) -> (Finished, Vec<Frame>) {
    let tcpdump = Tcpdump::start(lab, End::B, "in");
    let fixed = ["--pcap", file.to_str().unwrap(), "--json", "--quiet"];
    let sent = lab.start(End::A, "tx", &[&fixed[..], args].concat()).wait(DEADLINE);
    (sent, tcpdump.stop().0)
}

/// Fails unless they are the same frames in the same order, whatever their times.
pub fn check_same(after: &[Frame], before: &[Frame]) {
    let (after, before) = (bytes_of(after), bytes_of(before));
    assert_eq!(after.len(), before.len(), "so many frames came");
    let other = after.iter().zip(&before).position(|(after, before)| after != before);
    assert_eq!(other, None, "the number of the first frame that is another one");
}

/// The bytes of frames, padded to what Ethernet sends at the least.
pub fn bytes_of(frames: &[Frame]) -> Vec<Vec<u8>> {
    let padded = |frame: &Frame| {
        let mut bytes = frame.bytes.clone();
        bytes.resize(bytes.len().max(60), 0);
        bytes
    };
    frames.iter().map(padded).collect()
}

/// A file of Wireshark's tools from another.
pub fn editcap(args: &[&str], from: &Path) -> TempPath {
    let file = tempfile::Builder::new().suffix(".pcapng").tempfile().unwrap().into_temp_path();
    let done = Command::new("editcap").args(args).arg(from).arg(&file).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    file
}
