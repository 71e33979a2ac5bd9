//! Writes what taps keep to a pcap or pcapng file, on a thread of its own. An error ends the recording and nothing else.

use super::reader::words;
use super::slab::{Mark, SLABS, Slab};
use super::tap::{Shared, Tap};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// if_tsresol of pcapng for nanoseconds.
const NANOSECONDS: u8 = 9;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// pcap with nanoseconds.
    Pcap,
    /// pcapng with nanoseconds.
    PcapNg,
}

impl Format {
    /// pcapng where the name ends in `.pcapng`, else pcap.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let ng = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pcapng"));
        if ng { Self::PcapNg } else { Self::Pcap }
    }
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteSpec {
    /// The format.
    pub format: Format,
    /// The interface that frames arrive on.
    pub iface: String,
    /// Bytes kept of each frame at the most.
    pub snap: u32,
    /// Frames to write; None without a limit.
    pub count: Option<u64>,
    /// Whether frames are kept that do not count: control frames and rejected ones.
    pub all: bool,
    /// The wall clock's lead over the workers' clock, in nanoseconds.
    pub wall_lead_ns: u64,
}

/// A recording under way.
pub struct Recorder {
    spec: WriteSpec,
    full: SyncSender<Slab>,
    shared: Arc<Shared>,
    thread: JoinHandle<(u64, Option<String>)>,
}

/// What a recording came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    /// Frames in the file.
    pub written: u64,
    /// Frames that are not, although they were asked for.
    pub missed: u64,
    /// Why writing ended early.
    pub error: Option<String>,
}

impl Recorder {
    /// Begins to write into `file`.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub fn start(file: File, spec: WriteSpec) -> io::Result<Self> {
        let (full, slabs) = sync_channel(SLABS);
        let shared = Arc::new(Shared::new(SLABS));
        let (to, with) = (Arc::clone(&shared), spec.clone());
        let write = move || Writing { left: with.count, spec: with, written: 0 }.run(file, &slabs, &to);
        let thread = thread::Builder::new().name("recording".to_owned()).spawn(write)?;
        Ok(Self { spec, full, shared, thread })
    }

    /// A tap for one worker.
    #[must_use]
    pub fn tap(&self) -> Tap {
        let snap = usize::try_from(self.spec.snap).unwrap_or(usize::MAX);
        Tap::new(self.full.clone(), Arc::clone(&self.shared), snap, self.spec.all)
    }

    /// Waits until all that was kept is written. Every tap must have been dropped.
    #[must_use]
    pub fn finish(self) -> Recording {
        drop(self.full);
        let (written, error) =
            self.thread.join().unwrap_or_else(|_| (0, Some("its thread ended unexpectedly".to_owned())));
        Recording { written, missed: self.shared.missed.load(Relaxed), error }
    }
}

/// The thread's state.
struct Writing {
    spec: WriteSpec,
    left: Option<u64>,
    written: u64,
}

/// What the library writes to: it goes to the file a slab at a time, so that what is in the file is whole.
#[derive(Clone, Default)]
struct Buffer(Rc<RefCell<Vec<u8>>>);

/// A file of either format.
enum Sink {
    Pcap(PcapWriter<Buffer>),
    PcapNg(Box<PcapNgWriter<Buffer>>),
}

impl Writing {
    fn run(mut self, mut file: File, slabs: &Receiver<Slab>, shared: &Shared) -> (u64, Option<String>) {
        let buffer = Buffer::default();
        let begun = Sink::begin(buffer.clone(), &self.spec);
        let mut open = begun.and_then(|sink| buffer.empty_into(&mut file).map(|()| sink));
        while let Ok(slab) = slabs.recv() {
            let frames = slab.len() as u64;
            let wanted = self.left.map_or(frames, |left| left.min(frames));
            open = open.and_then(|mut sink| {
                self.put(&mut sink, &slab, wanted)?;
                buffer.empty_into(&mut file)?;
                Ok(sink)
            });
            if open.is_ok() {
                self.written += wanted;
                self.left = self.left.map(|left| left - wanted);
            } else {
                shared.missed.fetch_add(wanted, Relaxed);
            }
            if open.is_err() || self.left == Some(0) {
                shared.over.store(true, Relaxed);
            }
            shared.give(slab);
        }
        (self.written, open.err().map(|error| reason(&error)))
    }

    /// Puts the first `wanted` frames of a slab into the buffer.
    fn put(&self, sink: &mut Sink, slab: &Slab, wanted: u64) -> Result<(), PcapError> {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        for (mark, bytes) in (0..slab.len().min(wanted)).filter_map(|n| slab.frame(n)) {
            sink.write(mark, bytes, self.spec.wall_lead_ns)?;
        }
        Ok(())
    }
}

impl Buffer {
    fn empty_into(&self, file: &mut File) -> Result<(), PcapError> {
        let mut bytes = self.0.borrow_mut();
        let written = file.write_all(&bytes).map_err(PcapError::IoError);
        bytes.clear();
        written
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn begin(to: Buffer, spec: &WriteSpec) -> Result<Self, PcapError> {
        match spec.format {
            Format::Pcap => {
                let header = PcapHeader {
                    snaplen: spec.snap,
                    datalink: DataLink::ETHERNET,
                    ts_resolution: TsResolution::NanoSecond,
                    endianness: Endianness::native(),
                    ..PcapHeader::default()
                };
                PcapWriter::with_header(to, header).map(Self::Pcap)
            }
            Format::PcapNg => {
                let mut writer = PcapNgWriter::with_endianness(to, Endianness::native())?;
                let options = vec![
                    InterfaceDescriptionOption::IfName(Cow::Borrowed(&spec.iface)),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ];
                let description =
                    InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: spec.snap, options };
                writer.write_pcapng_block(description)?;
                Ok(Self::PcapNg(Box::new(writer)))
            }
        }
    }

    fn write(&mut self, mark: Mark, bytes: &[u8], wall_lead_ns: u64) -> Result<(), PcapError> {
        let timestamp = Duration::from_nanos(mark.at.0.saturating_add(wall_lead_ns));
        let original_len = mark.wire_len.max(mark.len);
        match self {
            Self::Pcap(writer) => writer.write_packet(&PcapPacket::new(timestamp, original_len, bytes)),
            Self::PcapNg(writer) => writer.write_pcapng_block(EnhancedPacketBlock {
                interface_id: 0,
                timestamp,
                original_len,
                data: Cow::Borrowed(bytes),
                options: Vec::new(),
            }),
        }
        .map(drop)
    }
}

fn reason(error: &PcapError) -> String {
    match error {
        PcapError::IoError(error) => words(error),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
