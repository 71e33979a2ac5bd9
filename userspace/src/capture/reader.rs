//! Records of a pcap or pcapng file, one after another, over anything that reads: link type, time and lengths made the
//! same for both formats. Knows nothing of what becomes of a record.

use crate::units::Nanos;
use pcap_file::pcap::{PcapReader, RawPcapPacket};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::borrow::Cow;
use std::io::{self, Chain, Cursor, ErrorKind, Read};
use thiserror::Error;

/// The first bytes of a pcapng file: the type of its section header block, the same in both byte orders
/// (draft-ietf-opsawg-pcapng, section 4.1).
const PCAPNG_MAGIC: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
/// Time stamps of pcapng are microseconds unless their interface says otherwise (if_tsresol).
const DEFAULT_RESOLUTION: u8 = 6;
/// Set in if_tsresol where the resolution is a power of two and not of ten.
const POWER_OF_TWO: u8 = 0x80;
const NANOS_A_SECOND: u128 = 1_000_000_000;

/// Why a capture gives no (further) frame.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CaptureError {
    /// The operating system's reason.
    #[error("it cannot be read: {0}")]
    Io(String),
    /// A pipe, device or folder: a capture is read from its beginning more than once.
    #[error("it is no regular file, and a capture is read from its beginning more than once")]
    NoFile,
    /// Nothing in it.
    #[error("it is empty")]
    Empty,
    /// Another kind of file.
    #[error("it is neither a pcap nor a pcapng file")]
    NoCapture,
    /// A header without records.
    #[error("it holds no frame")]
    NoFrame,
    /// Frames of something else than Ethernet.
    #[error("its frames are of link type {0}, and an Ethernet interface sends only ETHERNET")]
    LinkType(String),
    /// The file ends within a record, or the record's length is wrong.
    #[error("record {0} is cut short")]
    Cut(u64),
    /// A record that cannot be read.
    #[error("record {record} is damaged: {why}")]
    Damaged {
        /// Its number, from 1.
        record: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// One record.
#[derive(Debug)]
pub struct Record<'a> {
    /// What was captured of the frame.
    pub bytes: Cow<'a, [u8]>,
    /// Its length on the wire, without FCS.
    pub wire_len: u32,
    /// When it was captured (Unix time), where the record tells.
    pub at: Option<Nanos>,
    /// Its link type, where that is not Ethernet.
    pub foreign: Option<DataLink>,
}

/// The first bytes, which say what it is, and the rest.
type Whole<R> = Chain<Cursor<[u8; 4]>, R>;

/// A capture that is being read.
pub struct Records<R: Read> {
    format: Format<R>,
    /// Records so far.
    count: u64,
}

enum Format<R: Read> {
    Pcap(PcapReader<Whole<R>>),
    PcapNg(Box<PcapNgReader<Whole<R>>>, Vec<Source>),
}

/// What an interface description of pcapng says of its records.
#[derive(Debug, Clone, Copy)]
struct Source {
    link: DataLink,
    snap_len: u32,
    resolution: u8,
    offset_s: i64,
}

impl<R: Read> Records<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// What is no capture, cannot be read, or holds other frames than Ethernet's.
    pub fn new(mut reader: R) -> Result<Self, CaptureError> {
        let mut begin = Vec::new();
        let read = reader.by_ref().take(PCAPNG_MAGIC.len() as u64).read_to_end(&mut begin);
        read.map_err(|error| CaptureError::Io(words(&error)))?;
        let magic: [u8; 4] = match begin.try_into() {
            Ok(magic) => magic,
            Err(short) if short.is_empty() => return Err(CaptureError::Empty),
            Err(_) => return Err(CaptureError::NoCapture),
        };
        let whole = Cursor::new(magic).chain(reader);
        let format = if magic == PCAPNG_MAGIC {
            let reader = PcapNgReader::new(whole).map_err(|error| header(&error))?;
            Format::PcapNg(Box::new(reader), Vec::new())
        } else {
            Format::Pcap(PcapReader::new(whole).map_err(|error| header(&error))?)
        };
        let records = Self { format, count: 0 };
        match &records.format {
            Format::Pcap(reader) => match foreign(reader.header().datalink) {
                Some(other) => Err(CaptureError::LinkType(link_name(other))),
                None => Ok(records),
            },
            Format::PcapNg(..) => Ok(records),
        }
    }

    /// Shows the next record to `visit`; None at the end.
    ///
    /// # Errors
    /// A record that is cut or damaged, or a file that cannot be read: nothing comes behind it.
    pub fn next<T>(&mut self, visit: impl FnOnce(Record<'_>) -> T) -> Result<Option<T>, CaptureError> {
        let number = self.count + 1;
        let found = match &mut self.format {
            Format::Pcap(reader) => next_of_pcap(reader, visit),
            Format::PcapNg(reader, sources) => next_of_pcapng(reader, sources, visit),
        };
        self.count = number;
        found.map_err(|error| broken(number, &error))
    }
}

fn next_of_pcap<R: Read, T>(
    reader: &mut PcapReader<R>,
    visit: impl FnOnce(Record<'_>) -> T,
) -> Result<Option<T>, PcapError> {
    let resolution = reader.header().ts_resolution;
    // The raw record: what the library checks besides would refuse a frame that was cut by the snap length.
    let Some(raw) = reader.next_raw_packet() else { return Ok(None) };
    let RawPcapPacket { ts_sec, ts_frac, orig_len, data, .. } = raw?;
    let factor = if resolution == TsResolution::NanoSecond { 1 } else { 1_000 };
    let at = Nanos(u64::from(ts_sec) * 1_000_000_000 + u64::from(ts_frac) * factor);
    Ok(Some(visit(Record { bytes: data, wire_len: orig_len, at: Some(at), foreign: None })))
}

fn next_of_pcapng<R: Read, T>(
    reader: &mut PcapNgReader<R>,
    sources: &mut Vec<Source>,
    visit: impl FnOnce(Record<'_>) -> T,
) -> Result<Option<T>, PcapError> {
    loop {
        let little = reader.section().endianness == Endianness::Little;
        let Some(block) = reader.next_block() else { return Ok(None) };
        let record = match block? {
            Block::SectionHeader(_) => {
                sources.clear();
                continue;
            }
            Block::InterfaceDescription(description) => {
                sources.push(Source::of(&description));
                continue;
            }
            Block::EnhancedPacket(packet) => {
                // The library takes the count of ticks for nanoseconds, whatever they are.
                let ticks = u64::try_from(packet.timestamp.as_nanos()).unwrap_or(u64::MAX);
                let source = source(sources, packet.interface_id)?;
                source.record(packet.data, packet.original_len, Some(ticks))
            }
            Block::Packet(packet) => {
                // Its upper half comes first in either byte order, and the library reads both as one number.
                let ticks = if little { packet.timestamp.rotate_left(32) } else { packet.timestamp };
                let source = source(sources, packet.interface_id.into())?;
                source.record(packet.data, packet.original_len, Some(ticks))
            }
            Block::SimplePacket(packet) => {
                let source = source(sources, 0)?;
                // Its length is not told but follows, and behind it is padding.
                let snap = if source.snap_len == 0 { u32::MAX } else { source.snap_len };
                let captured = packet.original_len.min(snap) as usize;
                let data = clipped(packet.data, captured);
                source.record(data, packet.original_len, None)
            }
            _ => continue,
        };
        return Ok(Some(visit(record)));
    }
}

fn source(sources: &[Source], id: u32) -> Result<Source, PcapError> {
    let found = usize::try_from(id).ok().and_then(|id| sources.get(id));
    found.copied().ok_or(PcapError::InvalidInterfaceId(id))
}

fn clipped(data: Cow<'_, [u8]>, len: usize) -> Cow<'_, [u8]> {
    match data {
        Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(..len).unwrap_or(bytes)),
        Cow::Owned(mut bytes) => {
            bytes.truncate(len);
            Cow::Owned(bytes)
        }
    }
}

impl Source {
    fn of(description: &InterfaceDescriptionBlock<'_>) -> Self {
        let mut source = Self {
            link: description.linktype,
            snap_len: description.snaplen,
            resolution: DEFAULT_RESOLUTION,
            offset_s: 0,
        };
        for option in &description.options {
            match option {
                InterfaceDescriptionOption::IfTsResol(resolution) => source.resolution = *resolution,
                InterfaceDescriptionOption::IfTsOffset(seconds) => source.offset_s = seconds.cast_signed(),
                _ => {}
            }
        }
        source
    }

    fn record<'a>(&self, bytes: Cow<'a, [u8]>, wire_len: u32, ticks: Option<u64>) -> Record<'a> {
        let at = ticks.map(|ticks| self.nanos(ticks));
        Record { bytes, wire_len, at, foreign: foreign(self.link) }
    }

    fn nanos(&self, ticks: u64) -> Nanos {
        let exponent = u32::from(self.resolution & !POWER_OF_TWO);
        let base: u128 = if self.resolution & POWER_OF_TWO == 0 { 10 } else { 2 };
        // Finer than 128 bits can count is no time at all.
        let span = base
            .checked_pow(exponent)
            .map_or(0, |ticks_a_second| u128::from(ticks) * NANOS_A_SECOND / ticks_a_second);
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        let at = i128::try_from(span).unwrap_or(i128::MAX).saturating_add(offset);
        Nanos(u64::try_from(at.max(0)).unwrap_or(u64::MAX))
    }
}

/// The link type, where it is not Ethernet, or Ethernet with an FCS at the end of each frame: that is told in higher bits.
fn foreign(link: DataLink) -> Option<DataLink> {
    (link != DataLink::ETHERNET).then_some(link)
}

/// Its name, as the registry of link types has it.
pub fn link_name(link: DataLink) -> String {
    match link {
        DataLink::Unknown(number) => format!("number {number}"),
        known => format!("{known:?}"),
    }
}

fn header(error: &PcapError) -> CaptureError {
    match error {
        PcapError::IoError(error) if error.kind() != ErrorKind::UnexpectedEof => {
            CaptureError::Io(words(error))
        }
        _ => CaptureError::NoCapture,
    }
}

fn broken(record: u64, error: &PcapError) -> CaptureError {
    match error {
        PcapError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => CaptureError::Cut(record),
        PcapError::IoError(error) => CaptureError::Io(words(error)),
        other => CaptureError::Damaged { record, why: other.to_string() },
    }
}

/// The operating system's reason in words.
pub(super) fn words(error: &io::Error) -> String {
    crate::sys::words::words(error)
}

#[cfg(test)]
mod tests;
