//! What a sink takes: seats, packet memory and sockets, asked for before anything is attached and opened after it.

use super::attach::{Attached, Ports, bind};
use crate::commands::placement::{self, From as End, Seat};
use crate::commands::sockets::{Memory, Wanted};
use crate::commands::{Failure, afford, ground};
use crate::config::{DEFAULT_RX_RING, RxConfig};
use crate::finding::{Code, Finding, Severity};
use crate::host::netdev::Direction;
use crate::host::{InterfaceFacts, process};
use crate::report::XskModeUsed;
use crate::xsk;

/// Asks before the program is attached, which resets some links, whether the sockets can be had with what is there
/// now. Queues that the driver may only bring with the program are judged when they are there.
///
/// # Errors
/// What they lack.
pub fn affordable(config: &RxConfig, facts: &InterfaceFacts) -> Result<(), Failure> {
    match seats(config, facts) {
        Ok(seats) if !config.count_only => {
            afford::check(&facts.name, seats.len(), memory(config, chunk(facts)))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Bytes of a chunk that holds the longest frame; None when none does.
#[must_use]
pub fn chunk(facts: &InterfaceFacts) -> Option<u32> {
    ground::longest_frames(facts.mtu).into_iter().find_map(xsk::chunk_for)
}

fn memory(config: &RxConfig, chunk: Option<u32>) -> Memory {
    Memory::of(&config.rings, DEFAULT_RX_RING, chunk.unwrap_or(xsk::MAX_CHUNK_BYTES))
}

/// The sockets and their memory; in count-only there are neither.
///
/// # Errors
/// Why they cannot be had.
pub fn ports(
    config: &RxConfig,
    facts: &InterfaceFacts,
    seats: &[Seat],
    chunk: Option<u32>,
    attached: &mut Attached,
) -> Result<(Ports, Memory), Failure> {
    if config.count_only {
        let none = Ports { ports: Vec::new(), mode: XskModeUsed::None, notes: Vec::new() };
        return Ok((none, Memory::default()));
    }
    let memory = memory(config, chunk);
    afford::check(&facts.name, seats.len(), memory)?;
    afford::foretell(&config.output, "rx", seats.len(), memory);
    let mut ports = bind(&Wanted::new(facts, config.modes, memory, Direction::Rx), seats, attached)?;
    ports.notes.extend(chunk.is_none().then(|| jumbo(facts)));
    Ok((ports, memory))
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

fn jumbo(facts: &InterfaceFacts) -> Finding {
    Finding::new(
        Code::SizeAboveChunk,
        Severity::Warn,
        facts.name.clone(),
        format!("the MTU of {} is above one chunk of packet memory", facts.mtu),
    )
    .why("frames above 3,844 bytes (FCS included) do not fit a chunk of 4,096 and are dropped")
    .remedy(format!("smaller frames on the sender, or ip link set {} mtu 3800", facts.name))
}
