//! The sockets of one side: opened for every seat in the best mode that can be had, or in the one demanded.

use super::placement::Seat;
use super::{Failure, refused_socket};
use crate::config::{Modes, Rings, XskChoice};
use crate::finding::{Code, Finding, Severity};
use crate::host::netdev::Direction;
use crate::host::{InterfaceFacts, XdpFeatures};
use crate::report::XskModeUsed;
use crate::sys::words::words;
use crate::sys::xdp_socket;
use crate::xsk::{self, BindMode, OpenError, Opened, SocketSpec};
use std::os::fd::RawFd;

/// Microseconds that a busy poll may last: the value of the kernel's own example (Documentation/networking/af_xdp.rst,
/// SO_BUSY_POLL).
const BUSY_POLL_USECS: u32 = 20;

/// What sockets are asked for.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// The interface.
    pub iface: &'a str,
    /// Its index.
    pub ifindex: u32,
    /// Its driver's name; None where it does not say.
    pub driver: Option<&'a str>,
    /// The modes that were asked for.
    pub modes: Modes,
    /// Rings and packet memory of each.
    pub memory: Memory,
    /// Which way its frames go.
    pub direction: Direction,
    /// Whether the driver says that it can do zero-copy with frames as long as these; None on kernels that do not tell.
    pub zero_copy_advertised: Option<bool>,
    /// Chunks that the driver lets a frame take in zero-copy mode, where that is known and fewer than the longest takes.
    pub too_few_chunks: Option<u32>,
}

/// Rings and packet memory of one socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// Entries of the transmit or receive ring.
    pub ring: u32,
    /// Chunks.
    pub chunks: u32,
    /// Bytes a chunk.
    pub chunk_bytes: u32,
    /// Bytes of the longest frame, without FCS; above what a chunk holds a frame takes several.
    pub longest_frame: u32,
    /// Whether packet memory lies in huge pages.
    pub hugepages: bool,
    /// Bytes of the tables in which the worker of this socket books times, at the most.
    pub table_bytes: u64,
}

impl Memory {
    /// What was asked for, else `ring` entries and twice as many chunks, so that a ring can be refilled while another
    /// ring's worth is under way. A frame of several chunks takes as many of both.
    #[must_use]
    pub fn of(rings: &Rings, ring: u32, longest_frame: u32) -> Self {
        let ring = rings.entries(ring);
        let chunks = rings.frames.unwrap_or(ring.saturating_mul(2));
        let chunk_bytes = xsk::chunk_for(longest_frame);
        Self { ring, chunks, chunk_bytes, longest_frame, hugepages: rings.hugepages, table_bytes: 0 }
    }

    /// Chunks that the longest frame takes.
    #[must_use]
    pub fn chunks_a_frame(self) -> u32 {
        xsk::chunks_for(self.longest_frame, self.chunk_bytes)
    }

    /// The same for frames of one chunk only.
    #[must_use]
    pub fn of_one_chunk(self) -> Self {
        Self { longest_frame: self.longest_frame.min(xsk::chunk_holds(self.chunk_bytes)), ..self }
    }

    /// Bytes of packet memory.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.chunks) * u64::from(self.chunk_bytes)
    }
}

impl<'a> Wanted<'a> {
    /// Sockets on the interface.
    #[must_use]
    pub fn new(facts: &'a InterfaceFacts, modes: Modes, memory: Memory, direction: Direction) -> Self {
        let advertised = facts.xdp_features.map(|features| features.contains(XdpFeatures::XSK_ZEROCOPY));
        let too_few = facts.zero_copy_chunks.filter(|chunks| *chunks < memory.chunks_a_frame());
        let driver = facts.driver.as_deref();
        Self {
            iface: &facts.name,
            ifindex: facts.ifindex,
            driver,
            modes,
            memory,
            direction,
            zero_copy_advertised: advertised.map(|advertised| advertised && too_few.is_none()),
            too_few_chunks: too_few,
        }
    }
}

/// Open sockets, one a seat and in their order.
pub struct Sockets {
    /// The sockets.
    pub opened: Vec<Opened>,
    /// The mode that all of them are in.
    pub mode: XskModeUsed,
    /// The memory that they have: that of shorter frames where a sink could not have longer ones.
    pub memory: Memory,
    /// What was not as it could have been.
    pub notes: Vec<Finding>,
}

/// One way to open the sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Attempt {
    mode: BindMode,
    memory: Memory,
}

impl Attempt {
    fn several(self) -> bool {
        self.memory.chunks_a_frame() > 1
    }
}

/// Opens a socket for each seat.
///
/// # Errors
/// When one cannot be opened in any mode that is allowed.
pub fn open(wanted: &Wanted<'_>, seats: &[Seat]) -> Result<Sockets, Failure> {
    let attempts = attempts(wanted);
    // Of what was refused on the way to copy mode the first is told.
    let mut note = refused_socket::frames_too_long(wanted);
    for (attempt, left) in attempts.iter().zip((0..attempts.len()).rev()) {
        match open_all(wanted, seats, *attempt) {
            Ok(opened) => return Ok(finish(opened, attempt.memory, note)),
            Err((queue, error)) if left > 0 && goes_on(*attempt, &error) => {
                let refused = || refused_socket::fell_back(wanted, queue, &error);
                note = note.or_else(|| (attempt.mode == BindMode::ZeroCopy).then(refused));
            }
            Err((queue, error)) if only_for_one_chunk(wanted, queue, *attempt, &error) => {
                return Err(refused_socket::no_multi_buffer(wanted, on(wanted, queue), attempt.mode).into());
            }
            Err((queue, error)) => {
                return Err(refused_socket::refusal(wanted, seats, queue, attempt.mode, &error).into());
            }
        }
    }
    Err(refused_socket::refusal(wanted, seats, 0, BindMode::Copy, &OpenError::Unsupported).into())
}

/// In which order what is tried. A sink that cannot have frames of several chunks can do without the longest, and takes
/// copy mode for them where zero-copy has none; a sender cannot.
fn attempts(wanted: &Wanted<'_>) -> Vec<Attempt> {
    let modes = modes_to_try(wanted);
    let with = |memory: Memory| modes.iter().map(move |&mode| Attempt { mode, memory });
    let mut attempts: Vec<_> = with(wanted.memory).collect();
    if wanted.direction == Direction::Rx && wanted.memory.chunks_a_frame() > 1 {
        attempts.extend(with(wanted.memory.of_one_chunk()));
    }
    attempts
}

/// Zero-copy is tried unless the driver has said that it cannot: its word is a hint, the bind decides.
fn modes_to_try(wanted: &Wanted<'_>) -> Vec<BindMode> {
    match (wanted.modes.xsk, wanted.zero_copy_advertised) {
        (XskChoice::ZeroCopy, _) => vec![BindMode::ZeroCopy],
        (XskChoice::Copy, _) | (XskChoice::Auto, Some(false)) => vec![BindMode::Copy],
        (XskChoice::Auto, _) => vec![BindMode::ZeroCopy, BindMode::Copy],
    }
}

/// Whether another way may be open. A queue that another socket holds is not to be had in any; zero-copy may be refused
/// for any reason, and frames of several chunks as a flag that an older kernel does not know.
fn goes_on(attempt: Attempt, error: &OpenError) -> bool {
    match error {
        OpenError::Busy => false,
        OpenError::Refused { .. } | OpenError::Unsupported => true,
        _ => attempt.mode == BindMode::ZeroCopy,
    }
}

/// Whether what was refused is only that frames take several chunks.
fn only_for_one_chunk(wanted: &Wanted<'_>, queue: u32, attempt: Attempt, error: &OpenError) -> bool {
    let single = Attempt { memory: attempt.memory.of_one_chunk(), ..attempt };
    attempt.several()
        && matches!(error, OpenError::Refused { .. } | OpenError::Unsupported)
        && open_one(wanted, queue, single).is_ok()
}

fn on(wanted: &Wanted<'_>, queue: u32) -> String {
    format!("{} queue {queue}", wanted.iface)
}

fn open_all(wanted: &Wanted<'_>, seats: &[Seat], attempt: Attempt) -> Result<Vec<Opened>, (u32, OpenError)> {
    let open = |seat: &Seat| open_one(wanted, seat.queue, attempt).map_err(|error| (seat.queue, error));
    seats.iter().map(open).collect()
}

fn open_one(wanted: &Wanted<'_>, queue: u32, Attempt { mode, memory }: Attempt) -> Result<Opened, OpenError> {
    xsk::open(&SocketSpec {
        iface: wanted.iface.to_owned(),
        queue,
        ring: memory.ring,
        chunks: memory.chunks,
        chunk_bytes: memory.chunk_bytes,
        longest_frame: memory.longest_frame,
        hugepages: memory.hugepages,
        mode,
        need_wakeup: wanted.modes.need_wakeup,
    })
}

/// What was obtained is the kernel's word, not the flag of the bind.
fn finish(opened: Vec<Opened>, memory: Memory, note: Option<Finding>) -> Sockets {
    let every = opened.iter().all(|socket| socket.mode() == BindMode::ZeroCopy);
    let mode = if every { XskModeUsed::Zerocopy } else { XskModeUsed::Copy };
    Sockets { opened, mode, memory, notes: note.filter(|_| mode == XskModeUsed::Copy).into_iter().collect() }
}

/// Lets a socket drive the NIC's polling, `budget` frames at a time, where `--busy-poll` asks for it.
///
/// # Errors
/// [`Code::KernelTooOld`] when the kernel does not know the option.
pub fn prefer_busy_poll(iface: &str, fd: RawFd, budget: u32) -> Result<(), Finding> {
    xdp_socket::prefer_busy_poll(fd, BUSY_POLL_USECS, budget).map_err(|error| {
        Finding::new(Code::KernelTooOld, Severity::Fail, iface, "busy polling cannot be had")
            .why(format!(
                "SO_PREFER_BUSY_POLL is there since Linux 5.11 and needs CAP_NET_ADMIN: {}",
                words(&error)
            ))
            .remedy("leave --busy-poll out")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture;
    use BindMode::{Copy, ZeroCopy};

    /// What is tried for frames of so many bytes, and whether with several chunks.
    fn tried(xsk: XskChoice, direction: Direction, longest_frame: u32) -> Vec<(BindMode, bool)> {
        let facts = fixture::facts("v0", 2);
        let memory = Memory::of(&Rings::default(), 64, longest_frame);
        let wanted = Wanted::new(&facts, Modes { xsk, ..Modes::default() }, memory, direction);
        attempts(&wanted).iter().map(|attempt| (attempt.mode, attempt.several())).collect()
    }

    #[test]
    fn a_sink_can_do_without_long_frames_and_a_sender_cannot() {
        let (auto, both) = (XskChoice::Auto, [(ZeroCopy, true), (Copy, true)]);
        assert_eq!(tried(auto, Direction::Tx, 9_014), both);
        assert_eq!(
            tried(auto, Direction::Rx, 9_014),
            [&both[..], &[(ZeroCopy, false), (Copy, false)]].concat()
        );
        assert_eq!(tried(auto, Direction::Rx, 3_840), [(ZeroCopy, false), (Copy, false)]);
        assert_eq!(tried(XskChoice::Copy, Direction::Rx, 3_841), [(Copy, true), (Copy, false)]);
        assert_eq!(tried(XskChoice::ZeroCopy, Direction::Tx, 3_841), [(ZeroCopy, true)]);
    }

    #[test]
    fn another_way_is_tried_where_the_flag_may_be_what_was_refused() {
        let memory = Memory::of(&Rings::default(), 64, 9_014);
        let on = |mode, error: &OpenError| goes_on(Attempt { mode, memory }, error);
        let refused = OpenError::Refused { what: "binding the socket", why: "Invalid argument".to_owned() };
        assert!(on(Copy, &refused) && on(Copy, &OpenError::Unsupported));
        assert!(on(ZeroCopy, &OpenError::NoMemory) && !on(Copy, &OpenError::NoMemory));
        assert!(!on(ZeroCopy, &OpenError::Busy) && !on(Copy, &OpenError::Busy));
    }

    #[test]
    fn a_frame_takes_the_fewest_chunks_that_hold_it() {
        let of = |longest| {
            let memory = Memory::of(&Rings::default(), 64, longest);
            (memory.chunk_bytes, memory.chunks_a_frame(), memory.of_one_chunk().longest_frame)
        };
        assert_eq!(of(1_514), (2_048, 1, 1_514));
        assert_eq!((of(3_840), of(9_014)), ((4_096, 1, 3_840), (4_096, 3, 3_840)));
    }
}
