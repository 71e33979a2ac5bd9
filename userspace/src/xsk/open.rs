//! Opening one socket: packet memory, rings, bind, and the retry that the kernel's asynchronous release needs.

use super::{XskBack, XskRx, XskTx, chunks_for};
use crate::sys::huge_page;
use crate::sys::words::words;
use crate::sys::xdp_socket;
use std::error::Error;
use std::ffi::CString;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use thiserror::Error as ThisError;
use xsk_rs::config::{
    BindFlags, FrameSize, Interface, LibxdpFlags, QueueSize, SocketConfig, UmemConfig, UmemConfigBuilder,
};
use xsk_rs::umem::frame::FrameDesc;
use xsk_rs::{CompQueue, FillQueue, RxQueue, Socket, TxQueue, Umem};

/// How long a bind is tried again while the queue is busy. The kernel releases a closed socket's queue
/// asynchronously: 20 to 100 ms were measured on a quiet machine, and several times that on a busy one.
const BUSY_PATIENCE: Duration = Duration::from_millis(900);
/// Pause between two tries.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// How frames move between our memory and the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindMode {
    /// The NIC reads and writes our memory.
    ZeroCopy,
    /// The kernel copies.
    Copy,
}

/// What to open.
#[derive(Debug, Clone)]
pub struct SocketSpec {
    /// Interface name, in the calling thread's network namespace.
    pub iface: String,
    /// Queue to bind to.
    pub queue: u32,
    /// Entries of the transmit (or receive) ring; a power of two.
    pub ring: u32,
    /// Chunks of packet memory.
    pub chunks: u32,
    /// Bytes a chunk; 2,048 or 4,096.
    pub chunk_bytes: u32,
    /// Bytes of the longest frame, without FCS. Above what a chunk holds a frame takes several chunks, which the kernel
    /// (6.6 or later) and in zero-copy mode the driver must offer.
    pub longest_frame: u32,
    /// Whether packet memory is to lie in huge pages.
    pub hugepages: bool,
    /// How to bind.
    pub mode: BindMode,
    /// Whether the driver may sleep and ask to be woken.
    pub need_wakeup: bool,
}

impl SocketSpec {
    /// Chunks that the longest frame takes.
    #[must_use]
    pub fn chunks_a_frame(&self) -> u32 {
        chunks_for(self.longest_frame, self.chunk_bytes)
    }

    /// Whether frames take several chunks.
    #[must_use]
    pub fn multi_buffer(&self) -> bool {
        self.chunks_a_frame() > 1
    }
}

/// Why a socket could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum OpenError {
    /// Another socket holds the queue.
    #[error("another AF_XDP socket holds the queue")]
    Busy,
    /// The driver or the kernel does not offer this mode.
    #[error("the driver does not offer this mode")]
    Unsupported,
    /// Not allowed.
    #[error("not permitted")]
    Permission,
    /// Memory for chunks or rings could not be had or locked.
    #[error("no memory for chunks or rings")]
    NoMemory,
    /// The interface is not there.
    #[error("no such interface")]
    NoInterface,
    /// The interface is down.
    #[error("the interface is down")]
    Down,
    /// A value that the kernel or xsk-rs refuses.
    #[error("{what}: {why}")]
    Refused {
        /// The step.
        what: &'static str,
        /// The reason in words.
        why: String,
    },
}

/// The pieces of an open socket, before they become a port.
pub struct Opened {
    pub(super) umem: Umem,
    pub(super) chunks: Vec<FrameDesc>,
    pub(super) tx: TxQueue,
    pub(super) rx: RxQueue,
    pub(super) fill: FillQueue,
    pub(super) completions: CompQueue,
    pub(super) spec: SocketSpec,
}

impl Opened {
    /// The mode that the kernel says the socket is in; as asked for where it does not say.
    #[must_use]
    pub fn mode(&self) -> BindMode {
        match xdp_socket::options(self.tx.fd().as_raw_fd()) {
            Ok(options) if options.zerocopy => BindMode::ZeroCopy,
            Ok(_) => BindMode::Copy,
            Err(_) => self.spec.mode,
        }
    }

    /// A transmit port over the socket.
    #[must_use]
    pub fn into_tx(self) -> XskTx {
        XskTx::new(self)
    }

    /// A receive port over the socket: every chunk is given to the fill ring.
    ///
    /// # Errors
    /// [`OpenError::Refused`] when the fill ring does not take every chunk.
    pub fn into_rx(self) -> Result<XskRx, OpenError> {
        XskRx::new(self)
    }

    /// Both: each has half of the chunks.
    ///
    /// # Errors
    /// [`OpenError::Refused`] when the fill ring does not take its half.
    pub fn into_both(self) -> Result<(XskTx, XskBack), OpenError> {
        let Self { umem, chunks, tx, rx, fill, completions, spec } = self;
        let (sending, receiving) = chunks.split_at(chunks.len() / 2);
        let rx = XskBack::of(umem.clone(), receiving, (rx, fill), (), spec.clone())?;
        Ok((XskTx::of(umem, sending.to_vec(), (tx, completions), None, spec), rx))
    }
}

/// Opens and binds a socket. The queue's release by an earlier socket is waited for, within bounds; packet memory is
/// made anew for each try, since a failed bind leaves it bound to the attempt.
///
/// # Errors
/// See [`OpenError`].
pub fn open(spec: &SocketSpec) -> Result<Opened, OpenError> {
    let deadline = Instant::now() + BUSY_PATIENCE;
    loop {
        match open_once(spec) {
            Err(OpenError::Busy) if Instant::now() < deadline => std::thread::sleep(BUSY_PAUSE),
            result => return result,
        }
    }
}

fn open_once(spec: &SocketSpec) -> Result<Opened, OpenError> {
    let count = NonZeroU32::new(mapped_chunks(spec, huge_page::bytes()))
        .ok_or(refused("packet memory", "no chunks"))?;
    let (umem, mut chunks) =
        Umem::new(umem_config(spec)?, count, spec.hugepages).map_err(|e| from_kernel("packet memory", &e))?;
    chunks.truncate(usize::try_from(spec.chunks).unwrap_or(usize::MAX));
    let name = CString::new(spec.iface.as_str()).map_err(|_| OpenError::NoInterface)?;
    // SAFETY: the UMEM was made above and is bound to no queue yet, so no ring is shared with another socket; the
    // default program is inhibited besides (`socket_config`), which is what the contract asks for when one is.
    let (tx, rx, rings) =
        unsafe { Socket::new(socket_config(spec)?, &umem, &Interface::new(name), spec.queue) }
            .map_err(|e| from_kernel("binding the socket", &e))?;
    let (fill, completions) = rings.ok_or(refused("binding the socket", "it came without its own rings"))?;
    Ok(Opened { umem, chunks, tx, rx, fill, completions, spec: spec.clone() })
}

/// Chunks that are mapped: in huge pages as many as fill them. The kernel maps whole ones in any case, but unmaps only
/// a length of whole ones (munmap(2)), so that each try of a bind would keep its own.
fn mapped_chunks(spec: &SocketSpec, page_bytes: u64) -> u32 {
    let a_page = u32::try_from(page_bytes / u64::from(spec.chunk_bytes.max(1))).unwrap_or(u32::MAX).max(1);
    let whole = spec.chunks.checked_next_multiple_of(a_page).unwrap_or(spec.chunks);
    if spec.hugepages { whole } else { spec.chunks }
}

fn umem_config(spec: &SocketSpec) -> Result<UmemConfig, OpenError> {
    let every_chunk = spec.chunks.checked_next_power_of_two().unwrap_or(u32::MAX);
    // The kernel hands frames over before it publishes which fill entries it took them from (`xsk_flush`), so a ring
    // that just held every chunk would seem full when the first come back: twice as many always have room.
    let fill = every_chunk.saturating_mul(2);
    UmemConfigBuilder::new()
        .frame_size(FrameSize::new(spec.chunk_bytes).map_err(|e| refused("chunk size", &e.to_string()))?)
        .fill_queue_size(ring_size(fill)?)
        .comp_queue_size(ring_size(every_chunk)?)
        .build()
        .map_err(|e| refused("packet memory", &e.to_string()))
}

fn socket_config(spec: &SocketSpec) -> Result<SocketConfig, OpenError> {
    let mut flags = match spec.mode {
        BindMode::ZeroCopy => BindFlags::XDP_ZEROCOPY,
        BindMode::Copy => BindFlags::XDP_COPY,
    };
    if spec.need_wakeup {
        flags |= BindFlags::XDP_USE_NEED_WAKEUP;
    }
    if spec.multi_buffer() {
        flags |= BindFlags::XDP_USE_SG;
    }
    let ring = ring_size(spec.ring)?;
    Ok(SocketConfig::builder()
        .rx_queue_size(ring)
        .tx_queue_size(ring)
        .libxdp_flags(LibxdpFlags::XSK_LIBXDP_FLAGS_INHIBIT_PROG_LOAD)
        .bind_flags(flags)
        .build())
}

fn ring_size(entries: u32) -> Result<QueueSize, OpenError> {
    QueueSize::new(entries).map_err(|e| refused("ring size", &e.to_string()))
}

fn refused(what: &'static str, why: &str) -> OpenError {
    OpenError::Refused { what, why: why.to_owned() }
}

/// The kernel's error behind one of xsk-rs, by what it means for a bind (`xsk_bind`, `xp_assign_dev`).
fn from_kernel(what: &'static str, error: &dyn Error) -> OpenError {
    let Some(cause) = error.source().and_then(|s| s.downcast_ref::<io::Error>()) else {
        return refused(what, &error.to_string());
    };
    match cause.raw_os_error() {
        Some(libc::EBUSY) => OpenError::Busy,
        // 524 is ENOTSUPP, which some drivers let out although it is the kernel's own.
        Some(libc::EOPNOTSUPP | 524) => OpenError::Unsupported,
        Some(libc::EPERM | libc::EACCES) => OpenError::Permission,
        Some(libc::ENOMEM | libc::ENOBUFS) => OpenError::NoMemory,
        Some(libc::ENODEV | libc::ENXIO) => OpenError::NoInterface,
        Some(libc::ENETDOWN) => OpenError::Down,
        _ => refused(what, &words(cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_are_mapped_whole() {
        let mapped = |chunks, chunk_bytes, hugepages| {
            let spec = SocketSpec {
                iface: "v0".to_owned(),
                queue: 0,
                ring: 64,
                chunks,
                chunk_bytes,
                longest_frame: 1_514,
                hugepages,
                mode: BindMode::Copy,
                need_wakeup: true,
            };
            mapped_chunks(&spec, 2 << 20)
        };
        assert_eq!((mapped(1, 2_048, true), mapped(1_024, 2_048, true)), (1_024, 1_024));
        assert_eq!((mapped(513, 4_096, true), mapped(513, 4_096, false)), (1_024, 513));
        assert_eq!((mapped(u32::MAX, 2_048, true), mapped(0, 2_048, true)), (u32::MAX, 0));
    }
}
