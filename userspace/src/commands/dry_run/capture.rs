//! The frames that a sender would send, as a pcap file: built by the very code that sends. Knows no stream's meaning.

use crate::commands::Failure;
use crate::engine::Feed;
use crate::finding::{Code, Finding, Severity};
use crate::frame::Stream;
use crate::port::{Slot, Source};
use crate::sys::words::words;
use crate::units::FrameSize;
use pcap_file::PcapError;
use pcap_file::pcap::{PcapPacket, PcapWriter};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// Writes the first `frames` frames of the streams, which take turns by `pattern`.
///
/// # Errors
/// [`Code::OutputFile`]: a file that cannot be opened; or one that could not be filled, which is then removed.
pub fn write(path: &Path, streams: Vec<Stream>, pattern: Vec<u16>, frames: u64) -> Result<(), Failure> {
    let refused = |what: &str, error: &io::Error| {
        Finding::new(Code::OutputFile, Severity::Fail, format!("--write {}", path.display()), what)
            .why(words(error))
            .remedy("another path, or make room and check the permissions of its folder")
    };
    let file = File::create(path).map_err(|error| refused("it cannot be opened for writing", &error))?;
    let regular = file.metadata().is_ok_and(|about| about.is_file());
    fill(file, Feed::new(streams, pattern, 1), frames).map_err(|error| {
        if regular {
            // A part of what was asked for would be taken for all of it.
            let _ = fs::remove_file(path);
        }
        Failure::Failed(vec![refused("the frames could not be written", &error)])
    })
}

fn fill(file: File, mut feed: Feed, frames: u64) -> io::Result<()> {
    let mut writer = PcapWriter::new(BufWriter::new(file)).map_err(reason)?;
    let mut buffer = vec![0; FrameSize::MAX.in_memory()];
    for number in 0..frames {
        let Some(frame) = feed.next_len().and_then(|len| buffer.get_mut(..len)) else { break };
        feed.write(Slot(0), frame);
        // Nothing is sent: the times only keep the order.
        let packet = PcapPacket::new(Duration::from_micros(number), length(frame), frame);
        writer.write_packet(&packet).map_err(reason)?;
    }
    writer.into_writer().flush()
}

/// [`FrameSize::MAX`] is far below 2^32.
fn length(frame: &[u8]) -> u32 {
    u32::try_from(frame.len()).unwrap_or(u32::MAX)
}

fn reason(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}
