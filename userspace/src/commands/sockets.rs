//! The sockets of one side: opened for every seat in the best mode that can be had, or in the one demanded.

use super::Failure;
use super::placement::Seat;
use crate::config::{Modes, Rings, XskChoice};
use crate::finding::{Code, Finding, Severity};
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

/// MiB of a huge page on x86-64 and arm64, and how many more than needed are advised: each socket rounds up.
const HUGE_PAGE_MIB: u64 = 2;
const SPARE_HUGE_PAGES: u64 = 8;

/// What sockets are asked for.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// The interface.
    pub iface: &'a str,
    /// The modes that were asked for.
    pub modes: Modes,
    /// Rings and packet memory of each.
    pub memory: Memory,
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
        // Fewer chunks than entries would leave the ring half unused: it is no longer than they fill.
        let filled = rings.frames.map_or(ring, |chunks| 1 << chunks.max(1).ilog2());
        let ring = rings.ring.unwrap_or(ring.min(filled));
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
    pub fn new(facts: &'a InterfaceFacts, modes: Modes, memory: Memory) -> Self {
        let advertised = facts.xdp_features.map(|features| features.contains(XdpFeatures::XSK_ZEROCOPY));
        Self { iface: &facts.name, modes, memory, zero_copy_advertised: advertised }
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
            Err((queue, error)) if mode == BindMode::ZeroCopy && wanted.modes.xsk == XskChoice::Auto => {
                notes.push(fell_back(wanted.iface, queue, &error));
            }
            Err((queue, error)) => return Err(refusal(wanted, seats, queue, mode, &error).into()),
        }
    }
    Err(refusal(wanted, seats, 0, BindMode::Copy, &OpenError::Unsupported).into())
}

/// Zero-copy is tried unless the driver has said that it cannot: its word is a hint, the bind decides.
fn modes_to_try(wanted: &Wanted<'_>) -> Vec<BindMode> {
    match (wanted.modes.xsk, wanted.zero_copy_advertised) {
        (XskChoice::ZeroCopy, _) => vec![BindMode::ZeroCopy],
        (XskChoice::Copy, _) | (XskChoice::Auto, Some(false)) => vec![BindMode::Copy],
        (XskChoice::Auto, _) => vec![BindMode::ZeroCopy, BindMode::Copy],
    }
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

fn fell_back(iface: &str, queue: u32, error: &OpenError) -> Finding {
    Finding::new(Code::CopyMode, Severity::Info, format!("{iface} queue {queue}"), "zero-copy cannot be had; copy mode is used")
        .why(format!("the kernel refused zero-copy: {error}"))
        .remedy("--xsk-mode copy to say so at once; a figure in copy mode is the kernel's copying, not the NIC's limit")
}

fn refusal(wanted: &Wanted<'_>, seats: &[Seat], queue: u32, mode: BindMode, error: &OpenError) -> Finding {
    let on = format!("{} queue {queue}", wanted.iface);
    let fail = |code, what: &str| Finding::new(code, Severity::Fail, on.clone(), what);
    let bytes = wanted.memory.bytes();
    // Of all sockets: what is reserved for one would only let the next one fail.
    let memory = (bytes * seats.len() as u64).div_ceil(1 << 20);
    match error {
        OpenError::Busy => fail(Code::QueueBusy, "another AF_XDP socket holds the queue")
            .why("a queue serves one socket at a time; whose it is the kernel does not tell")
            .remedy("end the other program (ss --xdp -p may name it), or take another queue with --queues"),
        OpenError::Unsupported if mode == BindMode::ZeroCopy => {
            fail(Code::ZeroCopyRefused, "the driver does not offer zero-copy on this queue")
                .why("zero-copy needs support in the driver, and an XDP program in native mode on most of them")
                .remedy("--xsk-mode copy, or --xsk-mode auto to take what there is")
        }
        OpenError::Refused { why, .. } if mode == BindMode::ZeroCopy => {
            fail(Code::ZeroCopyRefused, "zero-copy is refused on this queue")
                .why(format!("the kernel said: {why}; virtio says so when its device has no platform IOMMU flag, mlx5 for queues outside its XSK range"))
                .remedy("--xsk-mode copy, or --xsk-mode auto to take what there is")
        }
        OpenError::Permission => fail(Code::CapabilityMissing, "an AF_XDP socket was refused: CAP_NET_RAW is missing")
            .why("raw packet sockets need it")
            .remedy("run it with sudo, or give the binary the capability with setcap"),
        OpenError::NoMemory if wanted.memory.hugepages => {
            fail(Code::Hugepages, &format!("no huge pages for {memory} MiB of packet memory"))
                .why("huge pages must be reserved before they can be used")
                .remedy(format!("sysctl vm.nr_hugepages={}, or leave --hugepages out", memory.div_ceil(HUGE_PAGE_MIB) + SPARE_HUGE_PAGES))
        }
        OpenError::NoMemory => fail(Code::NoMemory, &format!("no memory for {memory} MiB of packet memory and its rings"))
            .why("packet memory is pinned: it counts against RLIMIT_MEMLOCK without CAP_IPC_LOCK, and cannot be swapped")
            .remedy("fewer chunks with --frames, a smaller --ring, fewer queues with --queues, or ulimit -l unlimited"),
        OpenError::NoInterface => fail(Code::InterfaceGone, "the interface is gone").remedy("ip link"),
        OpenError::Down => fail(Code::InterfaceDown, "the interface is down").remedy(format!("ip link set {} up", wanted.iface)),
        OpenError::Unsupported => fail(Code::KernelTooOld, "the kernel does not offer AF_XDP on this interface")
            .why("AF_XDP in copy mode needs CONFIG_XDP_SOCKETS and nothing of the driver")
            .remedy("a kernel of 5.9 or later with CONFIG_XDP_SOCKETS=y"),
        OpenError::Refused { what, why } => fail(Code::System, &format!("the socket was refused while {what}"))
            .why(why.clone())
            .remedy("other --ring, --frames or --queues"),
    }
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
