//! What a sink takes: seats, packet memory and sockets, asked for before anything is attached and opened after it.

use super::attach::{Attached, Ports, bind};
use crate::commands::placement::{self, From as End, Seat};
use crate::commands::sockets::{Memory, Wanted};
use crate::commands::{Failure, afford, ground};
use crate::config::{DEFAULT_RX_RING, Role, RxConfig};
use crate::engine::Times;
use crate::finding::{Code, Finding, Severity};
use crate::host::netdev::Direction;
use crate::host::{InterfaceFacts, XdpFeatures, process};
use crate::report::XskModeUsed;
use crate::units::{CHUNK_HOLDS_BYTES, FCS_BYTES, grouped};
use crate::xdp::{AttachMode, STAMP_BYTES};

/// Asks before the program is attached, which resets some links, whether the sockets can be had with what is there
/// now. Queues that the driver may only bring with the program are judged when they are there.
///
/// # Errors
/// What they lack.
pub fn affordable(config: &RxConfig, facts: &InterfaceFacts) -> Result<(), Failure> {
    match seats(config, facts) {
        Ok(seats) if !config.count_only => afford::check(&facts.name, seats.len(), memory(config, facts)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Bytes in front of each frame: a reflector sends it back as it came, and has none there.
const fn stamp_bytes(role: Role) -> u32 {
    match role {
        Role::Sink => STAMP_BYTES,
        Role::Reflector | Role::Forwarder => 0,
    }
}

/// Chunks that hold the longest frame with its stamp, or of which it takes several.
pub fn memory(config: &RxConfig, facts: &InterfaceFacts) -> Memory {
    let [longest, _] = ground::longest_frames(facts.mtu);
    let memory = Memory::of(&config.rings, DEFAULT_RX_RING, longest.saturating_add(stamp_bytes(config.role)));
    let memory = Memory { table_bytes: config.timing.map_or(0, |_| Times::MOST_BYTES), ..memory };
    // A frame goes back in the chunk that it came in.
    if config.role == Role::Reflector { memory.of_one_chunk() } else { memory }
}

/// The sockets; in count-only there are none.
///
/// # Errors
/// Why they cannot be had.
pub fn ports(
    config: &RxConfig,
    facts: &InterfaceFacts,
    seats: &[Seat],
    attached: &mut Attached,
) -> Result<Ports, Failure> {
    if config.count_only {
        let (mode, memory) = (XskModeUsed::None, Memory::default());
        return Ok(Ports { ports: Vec::new(), mode, memory, notes: Vec::new() });
    }
    let memory = memory(config, facts);
    afford::check(&facts.name, seats.len(), memory)?;
    afford::foretell(&config.output, config.role.command(), seats.len(), memory);
    let mut ports = bind(&Wanted::new(facts, config.modes, memory, Direction::Rx), seats, attached)?;
    ports.notes.extend(jumbo(facts, config.role, (attached.mode, ports.mode), ports.memory));
    Ok(ports)
}

/// Every receive queue has a seat, so that wherever the NIC puts a frame a socket is there.
///
/// # Errors
/// Queues or cores that are not there.
pub fn seats(config: &RxConfig, facts: &InterfaceFacts) -> Result<Vec<Seat>, Finding> {
    let cores = placement::cores(config.placement.cores.as_deref(), &process::allowed_cores(), End::Highest)?;
    let queues =
        placement::queues(&facts.name, config.placement.queues.as_deref(), facts.rx_queues, u32::MAX)?;
    Ok(placement::seats(&queues, &cores))
}

/// Why frames of several chunks do not come out of the sockets.
struct Missing {
    /// Whether that is certain.
    certain: bool,
    why: String,
    /// What would let them through.
    remedy: &'static str,
}

/// Frames that the MTU lets through and that do not reach these sockets, in one finding.
fn jumbo(
    facts: &InterfaceFacts,
    role: Role,
    modes: (AttachMode, XskModeUsed),
    memory: Memory,
) -> Option<Finding> {
    let [_, longest] = ground::longest_frames(facts.mtu);
    let stamp = stamp_bytes(role);
    let Missing { certain, why, remedy } =
        missing(facts, role, modes, memory).filter(|_| longest.saturating_add(stamp) > CHUNK_HOLDS_BYTES)?;
    let holds = grouped(u64::from(CHUNK_HOLDS_BYTES + FCS_BYTES - stamp));
    let are = if certain { "are" } else { "may be" };
    let what = format!(
        "the MTU of {} is above one chunk of packet memory, and longer frames {are} dropped",
        facts.mtu
    );
    Some(
        Finding::new(Code::SizeAboveChunk, Severity::Warn, facts.name.clone(), what)
            .why(format!("frames above {holds} bytes (FCS included) take several chunks of 4,096, and {why}"))
            .remedy(format!(
                "{remedy}; smaller frames on the sender, or ip link set {} mtu 3800",
                facts.name
            )),
    )
}

/// None where they do, as far as is known.
fn missing(
    facts: &InterfaceFacts,
    role: Role,
    (xdp, xsk): (AttachMode, XskModeUsed),
    memory: Memory,
) -> Option<Missing> {
    let driver = facts.driver.as_deref().unwrap_or("the driver");
    let chunks = memory.chunks_a_frame();
    let certainly = |why: String, remedy| Some(Missing { certain: true, why, remedy });
    if role == Role::Reflector {
        return certainly(
            "a reflector sends each frame back in the one that it came in".to_owned(),
            "ip link set the MTU to 3800 at both ends",
        );
    }
    if chunks == 1 && xsk == XskModeUsed::Zerocopy {
        return certainly(format!("{driver} takes none of those in zero-copy mode"), "--xsk-mode copy");
    }
    if chunks == 1 {
        return certainly("this kernel takes none of those".to_owned(), "Linux 6.6 or later");
    }
    if memory.ring.min(memory.chunks) < chunks {
        let (ring, all) = (memory.ring, memory.chunks);
        return certainly(
            format!("a ring of {ring} and {all} chunks hold no frame of {chunks}"),
            "a longer --ring and more --frames",
        );
    }
    // Where the kernel does not tell, nothing is said. Some drivers put the frame into one piece and advertise nothing.
    let advertised = facts.xdp_features.is_none_or(|features| features.contains(XdpFeatures::RX_SG));
    (xdp == AttachMode::Native && !advertised).then(|| Missing {
        certain: false,
        why: format!("{driver} does not say that it gives those to a program in native mode"),
        remedy: "--xdp-mode generic where they do not arrive",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Rings;
    use crate::host::fixture;

    fn told(
        mtu: u32,
        features: Option<XdpFeatures>,
        modes: (AttachMode, XskModeUsed),
        memory: impl Fn(Memory) -> Memory,
    ) -> Option<Finding> {
        let facts = InterfaceFacts { mtu, xdp_features: features, ..fixture::facts("v1", 2) };
        let [longest, _] = ground::longest_frames(mtu);
        jumbo(&facts, Role::Sink, modes, memory(Memory::of(&Rings::default(), 64, longest + STAMP_BYTES)))
    }

    const COPY: (AttachMode, XskModeUsed) = (AttachMode::Native, XskModeUsed::Copy);
    const ZERO_COPY: (AttachMode, XskModeUsed) = (AttachMode::Native, XskModeUsed::Zerocopy);
    const GENERIC: (AttachMode, XskModeUsed) = (AttachMode::Generic, XskModeUsed::Copy);

    #[test]
    fn frames_that_do_not_arrive_are_told_with_their_reason() {
        let refused = told(9_000, None, COPY, Memory::of_one_chunk).unwrap();
        assert_eq!((refused.code, refused.severity), (Code::SizeAboveChunk, Severity::Warn));
        assert!(refused.what.contains("are dropped") && refused.remedy.contains("Linux 6.6"), "{refused:?}");
        let zero_copy = told(9_000, None, ZERO_COPY, Memory::of_one_chunk).unwrap();
        assert!(zero_copy.remedy.contains("--xsk-mode copy"), "{zero_copy:?}");
        let short = told(9_000, None, COPY, |memory| Memory { ring: 2, ..memory }).unwrap();
        assert!(short.why.contains("no frame of 3") && short.remedy.contains("--ring"), "{short:?}");
        let unsaid = told(9_000, Some(XdpFeatures::REDIRECT), COPY, |memory| memory).unwrap();
        assert!(unsaid.what.contains("may be") && unsaid.remedy.contains("--xdp-mode generic"), "{unsaid:?}");
    }

    #[test]
    fn a_reflector_says_that_it_keeps_to_one_chunk() {
        let facts = InterfaceFacts { mtu: 9_000, ..fixture::facts("v1", 2) };
        let memory = Memory::of(&Rings::default(), 64, 9_014).of_one_chunk();
        let told = jumbo(&facts, Role::Reflector, COPY, memory).unwrap();
        assert!(told.what.contains("are dropped") && told.why.contains("a reflector"), "{told:?}");
    }

    #[test]
    fn nothing_is_told_where_they_arrive_or_where_the_mtu_has_none() {
        assert_eq!(told(9_000, Some(XdpFeatures::RX_SG), COPY, |memory| memory), None);
        assert_eq!(told(9_000, Some(XdpFeatures::REDIRECT), GENERIC, |memory| memory), None);
        assert_eq!(told(9_000, None, ZERO_COPY, |memory| memory), None);
        // Frames with two tags would be above a chunk, those without are not.
        for mtu in [1_500, 3_810] {
            assert_eq!(told(mtu, None, COPY, Memory::of_one_chunk), None);
        }
        assert!(told(3_811, None, COPY, Memory::of_one_chunk).is_some());
    }
}
