//! Whether the memory of all sockets can be had, computed before any of it is asked for. Allocates and opens nothing.

use super::Failure;
use super::notice::notice;
use super::sockets::Memory;
use crate::config::Output;
use crate::finding::{Code, Finding, Severity};
use crate::host::memory::{HugePages, Room};
use crate::host::{memory, process};
use crate::units::grouped;

const MIB: u64 = 1 << 20;
/// Bytes of an entry that is a whole descriptor (`struct xdp_desc`), in a transmit or receive ring.
const DESCRIPTOR: u64 = 16;
/// Bytes of an entry that is an address, in a fill or completion ring.
const ADDRESS: u64 = 8;
/// What is noted of each chunk: the kernel's `struct xdp_buff_xsk`, 128 bytes or a little more or less with its
/// version, and our own descriptor and its place in the list of free ones.
const NOTES: u64 = 192;
/// Huge pages beside those that are needed: some socket that is just closing may still hold its own.
const SPARE_BYTES: u64 = 16 * MIB;

/// Bytes that all sockets of one side need together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// Packet memory, which is pinned.
    pub packets: u64,
    /// Four rings a socket, what is noted of each chunk, and tables of times.
    pub rings: u64,
}

impl Need {
    /// Of `sockets` sockets.
    #[must_use]
    pub fn of(memory: Memory, sockets: usize) -> Self {
        let sockets = u64::try_from(sockets).unwrap_or(u64::MAX);
        let chunks = u64::from(memory.chunks);
        // A completion for each chunk, and a fill ring of twice that; every socket has both rings of descriptors.
        let addresses = chunks.next_power_of_two().saturating_mul(3 * ADDRESS);
        let descriptors = u64::from(memory.ring).saturating_mul(2 * DESCRIPTOR);
        let rings = addresses.saturating_add(descriptors).saturating_add(chunks.saturating_mul(NOTES));
        let rings = rings.saturating_add(memory.table_bytes);
        Self { packets: memory.bytes().saturating_mul(sockets), rings: rings.saturating_mul(sockets) }
    }

    /// Both.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.packets.saturating_add(self.rings)
    }

    /// Both in MiB, for messages.
    #[must_use]
    pub fn mib(self) -> String {
        grouped(self.bytes().div_ceil(MIB))
    }
}

/// Packet memory that takes noticeably long to pin and to free.
const LONG: u64 = 1 << 30;

/// Refuses what the sockets of an interface cannot have: pinned, in huge pages, or at all. What could not be read
/// refuses nothing.
///
/// # Errors
/// [`Code::Memlock`], [`Code::Hugepages`] and [`Code::NoMemory`]: each one that is in the way.
pub fn check(iface: &str, sockets: usize, memory: Memory) -> Result<(), Failure> {
    let need = Need::of(memory, sockets);
    let pool = memory::huge_pages().filter(|_| memory.hugepages);
    let findings: Vec<Finding> = [
        process::memlock().preflight(need.packets),
        pool.and_then(|pool| too_few_pages(iface, sockets, memory, pool)),
        memory::room().and_then(|room| too_little(iface, sockets, memory, &room)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if findings.is_empty() { Ok(()) } else { Err(Failure::Blocked(findings)) }
}

/// Says beforehand that pinning will take its time, as it does in one call that hears no signal: about 0.4 s a GiB.
pub fn foretell(output: &Output, side: &str, sockets: usize, memory: Memory) {
    let bytes = Need::of(memory, sockets).packets;
    if bytes > LONG {
        let mib = bytes >> 20;
        notice(
            output.quiet,
            side,
            format!("pinning {mib} MiB of packet memory, which takes the kernel a while"),
        );
    }
}

fn too_few_pages(iface: &str, sockets: usize, memory: Memory, pool: HugePages) -> Option<Finding> {
    (pages(memory, sockets, pool) > pool.usable()).then(|| no_huge_pages(iface, sockets, memory, Some(pool)))
}

/// Each socket's packet memory is a mapping of its own, of whole pages.
fn pages(memory: Memory, sockets: usize, pool: HugePages) -> u64 {
    memory.bytes().div_ceil(pool.page_bytes.max(1)).saturating_mul(u64::try_from(sockets).unwrap_or(u64::MAX))
}

/// The finding for sockets that do not get their huge pages; without a pool that could be read, of pages of 2 MiB as
/// x86-64 and arm64 have them.
#[must_use]
pub fn no_huge_pages(
    on: impl Into<String>,
    sockets: usize,
    memory: Memory,
    pool: Option<HugePages>,
) -> Finding {
    let unknown = HugePages { page_bytes: 2 * MIB, taken: 0, free: 0, on_demand: 0 };
    let pool = pool.unwrap_or(unknown);
    let needed = pages(memory, sockets, pool);
    let packets = grouped(Need::of(memory, sockets).packets.div_ceil(MIB));
    let spare = (SPARE_BYTES / pool.page_bytes.max(1)).max(1);
    let reserve = pool.taken.saturating_add(needed).saturating_add(spare);
    Finding::new(
        Code::Hugepages,
        Severity::Fail,
        on,
        format!("no huge pages for {packets} MiB of packet memory"),
    )
    .why(format!(
        "it takes {} of {} MiB, and {} can be had: they must be reserved before they can be used",
        grouped(needed),
        grouped(pool.page_bytes / MIB),
        grouped(pool.usable())
    ))
    .remedy(format!("sysctl vm.nr_hugepages={reserve}, or leave --hugepages out"))
}

/// Packet memory in huge pages is out of the ordinary already.
fn ordinary(memory: Memory, sockets: usize) -> u64 {
    let need = Need::of(memory, sockets);
    if memory.hugepages { need.rings } else { need.bytes() }
}

fn too_little(iface: &str, sockets: usize, memory: Memory, room: &Room) -> Option<Finding> {
    let needed = ordinary(memory, sockets);
    (needed > room.bytes).then(|| {
        let what = format!(
            "packet memory and rings need {} MiB, and {} MiB can be had",
            grouped(needed.div_ceil(MIB)),
            grouped(room.bytes / MIB)
        );
        let why = format!(
            "{} chunks of {} bytes and their rings for each of {} queue(s), which cannot be swapped; what can be \
             had is {}",
            grouped(memory.chunks.into()),
            grouped(memory.chunk_bytes.into()),
            grouped(u64::try_from(sockets).unwrap_or(u64::MAX)),
            room.of
        );
        Finding::new(Code::NoMemory, Severity::Fail, iface, what).why(why).remedy(remedy(memory, sockets, room))
    })
}

fn remedy(memory: Memory, sockets: usize, room: &Room) -> String {
    match largest(memory, sockets, room.bytes) {
        Some(fits) if fits.ring < memory.ring => {
            format!(
                "--frames {} --ring {} at the most, or fewer queues with --queues",
                fits.chunks, fits.ring
            )
        }
        Some(fits) => format!("--frames {} at the most, or fewer queues with --queues", fits.chunks),
        None => "end what uses the memory, or take fewer queues with --queues".to_owned(),
    }
}

/// The most chunks, and a ring that they fill, for which `bytes` are enough; None when they are for none.
fn largest(memory: Memory, sockets: usize, bytes: u64) -> Option<Memory> {
    let with = |chunks: u32| Memory { chunks, ring: memory.ring.min(1 << chunks.max(1).ilog2()), ..memory };
    let (mut fitting, mut above) = (0, memory.chunks);
    while above.saturating_sub(fitting) > 1 {
        let middle = fitting + (above - fitting) / 2;
        if ordinary(with(middle), sockets) <= bytes { fitting = middle } else { above = middle }
    }
    (fitting > 0).then(|| with(fitting))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(ring: u32, chunks: u32, hugepages: bool) -> Memory {
        Memory { ring, chunks, chunk_bytes: 4_096, longest_frame: 60, hugepages, table_bytes: 0 }
    }

    fn room(bytes: u64) -> Room {
        Room { bytes, of: "a limit".to_owned() }
    }

    #[test]
    fn all_four_rings_of_each_socket_count() {
        let need = Need::of(of(2_048, 3_000, false), 2);
        // Twice: transmit and receive ring; completions for 4,096 and twice as many fills; the notes.
        let rings = 2 * (2 * 2_048 * 16 + 4_096 * 8 + 8_192 * 8 + 3_000 * 192);
        assert_eq!(need, Need { packets: 2 * 3_000 * 4_096, rings });
    }

    #[test]
    fn tables_of_times_are_ordinary_memory_of_each_socket() {
        let with = |table_bytes| Memory { table_bytes, ..of(2_048, 4_096, true) };
        assert_eq!(ordinary(with(5_000), 3) - ordinary(with(0), 3), 15_000);
    }

    #[test]
    fn the_largest_request_does_not_overflow() {
        let need = Need::of(of(65_536, 4_194_303, false), 64);
        assert_eq!(need.packets, 4_194_303 * 4_096 * 64);
        assert!(need.bytes() > 1 << 40 && need.mib().starts_with("1,1"), "{need:?}");
        assert_eq!(Need::of(of(u32::MAX, u32::MAX, false), usize::MAX).bytes(), u64::MAX);
    }

    #[test]
    fn too_much_says_what_is_needed_what_is_there_and_what_would_fit() {
        let asked = of(2_048, 4_194_303, false);
        let finding = too_little("v0", 8, asked, &room(1 << 30)).unwrap();
        assert_eq!(finding.code, Code::NoMemory);
        assert!(finding.what.contains("137,985 MiB") && finding.what.contains("1,024 MiB"), "{finding:?}");
        let fits = largest(asked, 8, 1 << 30).unwrap();
        assert!(finding.remedy.contains(&format!("--frames {} ", fits.chunks)), "{finding:?}");
        assert_eq!(too_little("v0", 8, fits, &room(1 << 30)), None);
        assert!(
            remedy(asked, 8, &room(1 << 20)).contains("--ring 16"),
            "a ring is no longer than its chunks"
        );
        assert!(remedy(asked, 8, &room(0)).contains("--queues"));
    }

    #[test]
    fn huge_pages_leave_only_the_rings_to_ordinary_memory() {
        let (huge, pool) =
            (of(2_048, 4_096, true), HugePages { page_bytes: 2 * MIB, taken: 3, free: 16, on_demand: 0 });
        assert_eq!(too_little("v0", 2, huge, &room(4 * MIB)), None);
        assert!(too_little("v0", 2, of(2_048, 4_096, false), &room(4 * MIB)).is_some());
        assert_eq!(too_few_pages("v0", 2, huge, pool), None);
        let finding = too_few_pages("v0", 3, huge, pool).unwrap();
        assert_eq!(finding.code, Code::Hugepages);
        // Three that others hold, 24 for us, and 16 MiB to spare.
        assert!(
            finding.remedy.contains("vm.nr_hugepages=35 ") || finding.remedy.contains("=35,"),
            "{finding:?}"
        );
        let gigantic = HugePages { page_bytes: 1 << 30, taken: 0, free: 1, on_demand: 0 };
        assert!(too_few_pages("v0", 2, huge, gigantic).unwrap().remedy.contains("=3,"), "a page a socket");
    }

    proptest! {
        #[test]
        fn what_is_named_fits_and_one_more_does_not(
            chunks in 2u32..4_194_304, ring in 0u32..17, sockets in 1usize..65, bytes in 0u64..1 << 42,
        ) {
            let asked = of(1 << ring, chunks, false);
            if ordinary(asked, sockets) > bytes && let Some(fits) = largest(asked, sockets, bytes) {
                prop_assert!(ordinary(fits, sockets) <= bytes && fits.ring <= fits.chunks);
                let more = of((1 << ring).min(1 << (fits.chunks + 1).ilog2()), fits.chunks + 1, false);
                prop_assert!(ordinary(more, sockets) > bytes);
            }
        }
    }
}
