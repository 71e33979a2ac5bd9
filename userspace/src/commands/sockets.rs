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

/// Microseconds that a busy poll may last, and frames that it may take: the values of the kernel's own example
/// (Documentation/networking/af_xdp.rst, SO_BUSY_POLL).
const BUSY_POLL_USECS: u32 = 20;
const BUSY_POLL_BUDGET: u32 = 64;

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
    /// Whether the driver says that it can do zero-copy; None on kernels that do not tell.
    pub zero_copy_advertised: Option<bool>,
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
    /// Whether packet memory lies in huge pages.
    pub hugepages: bool,
}

impl Memory {
    /// What was asked for, else `ring` entries and twice as many chunks, so that a ring can be refilled while another
    /// ring's worth is under way.
    #[must_use]
    pub fn of(rings: &Rings, ring: u32, chunk_bytes: u32) -> Self {
        let ring = rings.entries(ring);
        let chunks = rings.frames.unwrap_or(ring.saturating_mul(2));
        Self { ring, chunks, chunk_bytes, hugepages: rings.hugepages }
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
        let driver = facts.driver.as_deref();
        Self {
            iface: &facts.name,
            ifindex: facts.ifindex,
            driver,
            modes,
            memory,
            direction,
            zero_copy_advertised: advertised,
        }
    }
}

/// Open sockets, one a seat and in their order.
pub struct Sockets {
    /// The sockets.
    pub opened: Vec<Opened>,
    /// The mode that all of them are in.
    pub mode: XskModeUsed,
    /// What was not as it could have been.
    pub notes: Vec<Finding>,
}

/// Opens a socket for each seat.
///
/// # Errors
/// When one cannot be opened in any mode that is allowed.
pub fn open(wanted: &Wanted<'_>, seats: &[Seat]) -> Result<Sockets, Failure> {
    let mut notes = Vec::new();
    for mode in modes_to_try(wanted) {
        match open_all(wanted, seats, mode) {
            Ok(opened) => return Ok(finish(opened, notes)),
            Err((queue, error)) if falls_back(wanted, mode, &error) => {
                notes.push(refused_socket::fell_back(wanted, queue, &error));
            }
            Err((queue, error)) => {
                return Err(refused_socket::refusal(wanted, seats, queue, mode, &error).into());
            }
        }
    }
    Err(refused_socket::refusal(wanted, seats, 0, BindMode::Copy, &OpenError::Unsupported).into())
}

/// Zero-copy is tried unless the driver has said that it cannot: its word is a hint, the bind decides.
fn modes_to_try(wanted: &Wanted<'_>) -> Vec<BindMode> {
    match (wanted.modes.xsk, wanted.zero_copy_advertised) {
        (XskChoice::ZeroCopy, _) => vec![BindMode::ZeroCopy],
        (XskChoice::Copy, _) | (XskChoice::Auto, Some(false)) => vec![BindMode::Copy],
        (XskChoice::Auto, _) => vec![BindMode::ZeroCopy, BindMode::Copy],
    }
}

/// A queue that another socket holds is not to be had in another mode either.
fn falls_back(wanted: &Wanted<'_>, mode: BindMode, error: &OpenError) -> bool {
    mode == BindMode::ZeroCopy && wanted.modes.xsk == XskChoice::Auto && *error != OpenError::Busy
}

fn open_all(wanted: &Wanted<'_>, seats: &[Seat], mode: BindMode) -> Result<Vec<Opened>, (u32, OpenError)> {
    let open_one = |seat: &Seat| {
        let spec = SocketSpec {
            iface: wanted.iface.to_owned(),
            queue: seat.queue,
            ring: wanted.memory.ring,
            chunks: wanted.memory.chunks,
            chunk_bytes: wanted.memory.chunk_bytes,
            hugepages: wanted.memory.hugepages,
            mode,
            need_wakeup: wanted.modes.need_wakeup,
        };
        xsk::open(&spec).map_err(|error| (seat.queue, error))
    };
    seats.iter().map(open_one).collect()
}

/// What was obtained is the kernel's word, not the flag of the bind.
fn finish(opened: Vec<Opened>, notes: Vec<Finding>) -> Sockets {
    let every = opened.iter().all(|socket| socket.mode() == BindMode::ZeroCopy);
    let mode = if every { XskModeUsed::Zerocopy } else { XskModeUsed::Copy };
    Sockets { opened, mode, notes }
}

/// Lets a socket drive the NIC's polling, where `--busy-poll` asks for it.
///
/// # Errors
/// [`Code::KernelTooOld`] when the kernel does not know the option.
pub fn prefer_busy_poll(iface: &str, fd: RawFd) -> Result<(), Finding> {
    xdp_socket::prefer_busy_poll(fd, BUSY_POLL_USECS, BUSY_POLL_BUDGET).map_err(|error| {
        Finding::new(Code::KernelTooOld, Severity::Fail, iface, "busy polling cannot be had")
            .why(format!(
                "SO_PREFER_BUSY_POLL is there since Linux 5.11 and needs CAP_NET_ADMIN: {}",
                words(&error)
            ))
            .remedy("leave --busy-poll out")
    })
}
