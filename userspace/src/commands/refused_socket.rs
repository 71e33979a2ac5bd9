//! A socket that the kernel refused, as a finding: which driver, queue and mode, why, and what to type. Opens
//! nothing.

use super::afford::{self, Need};
use super::placement::Seat;
use super::sockets::Wanted;
use super::taken_queues;
use crate::finding::{Code, Finding, Severity};
use crate::host::memory;
use crate::xsk::{BindMode, OpenError};

/// The driver, for people.
fn driver(wanted: &Wanted<'_>) -> String {
    wanted.driver.map_or_else(|| "the driver".to_owned(), |name| format!("the driver {name}"))
}

/// Zero-copy was tried and refused.
pub fn fell_back(wanted: &Wanted<'_>, queue: u32, error: &OpenError) -> Finding {
    Finding::new(Code::CopyMode, Severity::Info, format!("{} queue {queue}", wanted.iface), "zero-copy cannot be had; copy mode is used")
        .why(format!("zero-copy is refused with {}: {error}", driver(wanted)))
        .remedy("--xsk-mode copy to say so at once; a figure in copy mode is the kernel's copying, not the NIC's limit")
}

/// The finding for a socket of `seats` that was refused on `queue`.
pub fn refusal(
    wanted: &Wanted<'_>,
    seats: &[Seat],
    queue: u32,
    mode: BindMode,
    error: &OpenError,
) -> Finding {
    let on = format!("{} queue {queue}", wanted.iface);
    let fail = |code, what: &str| Finding::new(code, Severity::Fail, on.clone(), what);
    match error {
        OpenError::Busy => taken_queues::busy(wanted, seats, queue),
        OpenError::Unsupported if mode == BindMode::ZeroCopy => {
            fail(Code::ZeroCopyRefused, &format!("{} does not offer zero-copy on queue {queue}", driver(wanted)))
                .why("zero-copy needs support in the driver, and an XDP program in native mode on most of them")
                .remedy("--xsk-mode copy, or --xsk-mode auto to take what there is")
        }
        OpenError::Refused { why, .. } if mode == BindMode::ZeroCopy => {
            fail(Code::ZeroCopyRefused, &format!("{} refuses zero-copy on queue {queue}", driver(wanted)))
                .why(format!("the kernel said: {why}; virtio says so when its device has no platform IOMMU flag, mlx5 for queues outside its XSK range"))
                .remedy("--xsk-mode copy, or --xsk-mode auto to take what there is")
        }
        OpenError::Permission => fail(Code::CapabilityMissing, "an AF_XDP socket was refused: CAP_NET_RAW is missing")
            .why("raw packet sockets need it")
            .remedy("run it with sudo, or give the binary the capability with setcap"),
        OpenError::NoMemory if wanted.memory.hugepages => {
            // Of all sockets: what is reserved for one would only let the next one fail.
            afford::no_huge_pages(on, seats.len(), wanted.memory, memory::huge_pages())
        }
        OpenError::NoMemory => fail(Code::NoMemory, &format!("no memory for {} MiB of packet memory and its rings", Need::of(wanted.memory, seats.len()).mib()))
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
