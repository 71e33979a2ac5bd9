//! What a sink takes: seats, packet memory and sockets, asked for before anything is attached and opened after it.

use super::attach::{Attached, Ports, bind};
use crate::commands::placement::{self, From as End, Seat};
use crate::commands::sockets::{Memory, Wanted};
use crate::commands::{Failure, afford, ground};
use crate::config::{DEFAULT_RX_RING, RxConfig};
use crate::finding::{Code, Finding, Severity};
use crate::host::netdev::Direction;
use crate::host::{InterfaceFacts, XdpFeatures, process};
use crate::report::XskModeUsed;
use crate::units::CHUNK_HOLDS_BYTES;
use crate::xdp::AttachMode;

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

/// Chunks that hold the longest frame, or of which it takes several.
fn memory(config: &RxConfig, facts: &InterfaceFacts) -> Memory {
    let [longest, _] = ground::longest_frames(facts.mtu);
    Memory::of(&config.rings, DEFAULT_RX_RING, longest)
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
    afford::foretell(&config.output, "rx", seats.len(), memory);
    let mut ports = bind(&Wanted::new(facts, config.modes, memory, Direction::Rx), seats, attached)?;
    ports.notes.extend(jumbo(facts, attached.mode, ports.mode, ports.memory));
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

/// Frames that the MTU lets through and that do not reach these sockets, in one finding.
fn jumbo(facts: &InterfaceFacts, xdp: AttachMode, xsk: XskModeUsed, memory: Memory) -> Option<Finding> {
    let [_, longest] = ground::longest_frames(facts.mtu);
    let (why, remedy) = match dropped(facts, xdp, xsk, memory)? {
        _ if longest <= CHUNK_HOLDS_BYTES => return None,
        reason => reason,
    };
    let what = format!(
        "the MTU of {} is above one chunk of packet memory, and longer frames are dropped",
        facts.mtu
    );
    Some(
        Finding::new(Code::SizeAboveChunk, Severity::Warn, facts.name.clone(), what)
            .why(format!("frames above 3,844 bytes (FCS included) take several chunks of 4,096; {why}"))
            .remedy(format!(
                "{remedy}; or smaller frames on the sender, or ip link set {} mtu 3800",
                facts.name
            )),
    )
}

/// Why frames of several chunks do not come out of the sockets, and what would let them; None where they do.
fn dropped(
    facts: &InterfaceFacts,
    xdp: AttachMode,
    xsk: XskModeUsed,
    memory: Memory,
) -> Option<(String, &'static str)> {
    let driver = facts.driver.as_deref().unwrap_or("the driver");
    let chunks = memory.chunks_a_frame();
    if chunks == 1 && xsk == XskModeUsed::Zerocopy {
        return Some((format!("{driver} has none of those in zero-copy mode"), "--xsk-mode copy"));
    }
    if chunks == 1 {
        return Some((
            "this kernel has none of those, which came with Linux 6.6".to_owned(),
            "a later kernel",
        ));
    }
    if memory.ring.min(memory.chunks) < chunks {
        let why =
            format!("the ring of {} and {} chunks hold no frame of {chunks}", memory.ring, memory.chunks);
        return Some((why, "a longer --ring, more --frames"));
    }
    let advertised = facts.xdp_features.is_none_or(|features| features.contains(XdpFeatures::RX_SG));
    (xdp == AttachMode::Native && !advertised).then(|| {
        let why = format!("{driver} gives none of those to a program in native mode (NETDEV_XDP_ACT_RX_SG)");
        (why, "--xdp-mode generic")
    })
}
