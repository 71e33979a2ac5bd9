//! Bytes of a frame, pure in (stream, sequence number, time): how they are built, changed from one frame to
//! the next, and recognised again. Knows no port, no clock and no counter.

pub mod addresses;
pub mod checksum;
pub mod control;
mod covers;
pub mod flow;
pub mod formula;
pub mod headers;
pub mod inspect;
pub mod layer;
pub mod layout;
pub mod mix;
pub mod neighbour;
mod patch;
mod plausible;
pub mod probe;
pub mod reason;
mod remainder;
pub mod same_flow;
pub mod shape;
pub mod shaped;
pub mod sizes;
pub mod spacing;
pub mod stack;
pub mod stream;
pub mod swap;
pub mod template;
pub mod wire;

#[cfg(test)]
mod reference;

pub use addresses::Addresses;
pub use control::{Control, ControlError, End, Hello, Here, SpaceTotal, Start};
pub use flow::flow_of;
pub use inspect::{Inspected, Inspector};
pub use probe::{Probe, StreamId, extend_sent};
pub use reason::Reason;
pub use shape::Shape;
pub use spacing::Spacing;
pub use stack::{L3, Stack};
pub use stream::{Held, Place, Stream, StreamSpec};
pub use swap::swap;
pub use template::Template;

use thiserror::Error;

/// Why a frame cannot be built as asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Headers and probe do not fit.
    #[error("the headers and the probe need a frame of at least {min} bytes (FCS included)")]
    TooSmall {
        /// The smallest size that would do, FCS included.
        min: u32,
    },
    /// More tags than Ethernet switches, and the XDP program, look behind.
    #[error("{count} VLAN tags; at most {} are supported", stack::MAX_VLANS)]
    TooManyVlans {
        /// How many were asked for.
        count: usize,
    },
    /// Not a VLAN: 4095 is reserved (IEEE 802.1Q) and nothing above fits 12 bits.
    #[error("VLAN id {id} is not in 0 to 4094")]
    VlanId {
        /// The id that was asked for.
        id: u16,
    },
    /// No flow is no stream.
    #[error("a stream needs at least one flow")]
    NoFlows,
    /// Flows differ in IP address and port, and there are none.
    #[error("{flows} flows need IP and UDP headers; a plain Ethernet stream is one flow")]
    FlowsNeedIp {
        /// How many were asked for.
        flows: u32,
    },
    /// Headers that cannot be.
    #[error(transparent)]
    Stack(#[from] layout::StackError),
    /// A field that the stack does not have.
    #[error("the stack has no field {name}")]
    NoField {
        /// Its name.
        name: String,
    },
    /// Two modifiers write the same bits.
    #[error("{name} is set twice")]
    FieldTwice {
        /// The second one's field.
        name: String,
    },
    /// The space is not one of `spaces`, or there are more than the probe's stream field can name.
    #[error("sequence space {space} of {spaces}: spaces are 1 to {}, numbered from 0", probe::MAX_SPACES)]
    Space {
        /// The space's number.
        space: u32,
        /// How many there are.
        spaces: u32,
    },
    /// A control frame must pass every link, so it stays within the common MTU.
    #[error(
        "a control frame of {bytes} bytes is above the MTU of {} that any link carries",
        control::MAX_BYTES
    )]
    ControlTooLarge {
        /// Its length behind the Ethernet header.
        bytes: usize,
    },
    /// The message could not be put into words.
    #[error("a control message cannot be encoded: {0}")]
    Encode(String),
}
