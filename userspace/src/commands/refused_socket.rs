//! A socket that the kernel refused, as a finding: which driver, queue and mode, why, and what to type. Opens
//! nothing.

use super::afford::{self, Need};
use super::placement::Seat;
use super::sockets::Wanted;
use super::taken_queues;
use crate::config::XskChoice;
use crate::finding::{Code, Finding, Severity};
use crate::host::memory;
use crate::host::netdev::Direction;
use crate::units::{CHUNK_HOLDS_BYTES, FCS_BYTES, grouped};
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

/// Zero-copy is there, but not for frames of so many chunks: known from what the driver says.
pub fn frames_too_long(wanted: &Wanted<'_>) -> Option<Finding> {
    let most = wanted.too_few_chunks.filter(|_| wanted.modes.xsk == XskChoice::Auto)?;
    let what = "zero-copy cannot be had for frames as long as these; copy mode is used";
    let remedy = match wanted.direction {
        Direction::Tx => format!("--size {} at the most for zero-copy", whole_frame(most)),
        Direction::Rx => {
            format!("ip link set {} mtu 1500 for zero-copy, where no longer frames come", wanted.iface)
        }
    };
    Some(
        Finding::new(Code::CopyMode, Severity::Info, wanted.iface, what)
            .why(limit(wanted, most))
            .remedy(remedy),
    )
}

/// What a driver says of frames in zero-copy mode.
fn limit(wanted: &Wanted<'_>, most: u32) -> String {
    let chunks = wanted.memory.chunks_a_frame();
    format!(
        "{} takes {most} chunk(s) of packet memory a frame in zero-copy mode, and the longest here take {chunks}",
        driver(wanted)
    )
}

/// The longest frame, with FCS, that fits `chunks` chunks.
fn whole_frame(chunks: u32) -> u32 {
    chunks.saturating_mul(CHUNK_HOLDS_BYTES).saturating_add(FCS_BYTES)
}

/// Frames of several chunks were demanded and cannot be had, where those of one could.
pub fn no_multi_buffer(wanted: &Wanted<'_>, on: String, mode: BindMode) -> Finding {
    let chunks = wanted.memory.chunks_a_frame();
    let size = grouped(u64::from(wanted.memory.longest_frame) + u64::from(FCS_BYTES));
    let what = format!("a frame of {size} bytes takes {chunks} chunks of packet memory, which cannot be had");
    let most = wanted.too_few_chunks.unwrap_or(1);
    let (why, remedy) = match mode {
        BindMode::ZeroCopy => (limit(wanted, most), "--xsk-mode auto, which takes copy mode for them"),
        BindMode::Copy => (
            "frames of several chunks (XDP_USE_SG) are there since Linux 6.6, and this kernel refuses them"
                .to_owned(),
            "a kernel of 6.6 or later",
        ),
    };
    let most = if mode == BindMode::ZeroCopy { most } else { 1 };
    Finding::new(Code::SizeAboveChunk, Severity::Fail, on, what)
        .why(why)
        .remedy(format!("--size {} at the most, or {remedy}", whole_frame(most)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::sockets::Memory;
    use crate::config::{Modes, Rings};
    use crate::host::{InterfaceFacts, XdpFeatures, fixture};

    /// An interface whose driver lets a frame take so many chunks in zero-copy mode.
    fn facts(chunks: Option<u32>) -> InterfaceFacts {
        InterfaceFacts {
            driver: Some("ice".to_owned()),
            xdp_features: Some(XdpFeatures::XSK_ZEROCOPY),
            zero_copy_chunks: chunks,
            ..fixture::facts("v0", 2)
        }
    }

    fn wanted(facts: &InterfaceFacts, xsk: XskChoice, direction: Direction) -> Wanted<'_> {
        let modes = Modes { xsk, ..Modes::default() };
        Wanted::new(facts, modes, Memory::of(&Rings::default(), 64, 9_014), direction)
    }

    #[test]
    fn a_driver_that_takes_fewer_chunks_than_a_frame_has_is_not_asked_for_zero_copy_and_that_is_told() {
        let (few, enough) = (facts(Some(2)), facts(Some(3)));
        let tx = wanted(&few, XskChoice::Auto, Direction::Tx);
        assert_eq!((tx.zero_copy_advertised, tx.too_few_chunks), (Some(false), Some(2)));
        let note = frames_too_long(&tx).unwrap();
        assert_eq!(note.code, Code::CopyMode);
        assert!(note.why.contains("ice takes 2 chunk(s)") && note.remedy.contains("--size 7684"), "{note:?}");
        let rx = frames_too_long(&wanted(&few, XskChoice::Auto, Direction::Rx)).unwrap();
        assert!(rx.remedy.contains("ip link set v0 mtu 1500"), "{rx:?}");
        assert_eq!(frames_too_long(&wanted(&few, XskChoice::Copy, Direction::Rx)), None);
        let enough = wanted(&enough, XskChoice::Auto, Direction::Tx);
        assert_eq!((enough.zero_copy_advertised, frames_too_long(&enough)), (Some(true), None));
    }

    #[test]
    fn frames_of_several_chunks_that_cannot_be_had_name_the_longest_that_can() {
        let facts = facts(Some(1));
        let wanted = wanted(&facts, XskChoice::ZeroCopy, Direction::Tx);
        let zero_copy = no_multi_buffer(&wanted, "v0".to_owned(), BindMode::ZeroCopy);
        assert_eq!(zero_copy.code, Code::SizeAboveChunk);
        assert!(zero_copy.what.contains("9,018 bytes takes 3 chunks"), "{zero_copy:?}");
        assert!(zero_copy.remedy.contains("--size 3844") && zero_copy.remedy.contains("--xsk-mode auto"));
        let copy = no_multi_buffer(&wanted, "v0".to_owned(), BindMode::Copy);
        assert!(copy.why.contains("Linux 6.6") && copy.remedy.contains("--size 3844"), "{copy:?}");
    }
}
