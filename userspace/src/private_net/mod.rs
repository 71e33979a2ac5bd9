//! Two private network namespaces with a cable between them, for runs without a NIC. They have no name and no mount:
//! they live as long as this process holds them, so nothing is left behind even by kill -9. Knows nothing of what
//! runs in them.

mod namespace;
mod veth;

pub use namespace::Namespace;
pub use veth::{Shape, veth_pair};

use crate::finding::Finding;
use crate::host::InterfaceFacts;
use std::num::NonZeroU32;

/// The MTU that veth has by itself, and most of Ethernet.
pub const DEFAULT_MTU: u32 = 1_500;

/// Two namespaces and a veth pair between them, both ends up and with carrier.
#[derive(Debug)]
pub struct PrivateNet {
    /// The first end.
    pub a: PrivateEnd,
    /// The second end.
    pub b: PrivateEnd,
}

/// One end: a namespace with one veth in it.
#[derive(Debug)]
pub struct PrivateEnd {
    /// Where it is.
    pub namespace: Namespace,
    /// The veth, as its namespace shows it.
    pub interface: InterfaceFacts,
}

impl PrivateNet {
    /// Both ends, called `xg0` and `xg1`, with `queues` receive and transmit queues each.
    ///
    /// # Errors
    /// `capability-missing` without CAP_SYS_ADMIN, `kernel-too-old` without namespaces or veth, `no-carrier` when the
    /// cable does not come up, `system` for anything else.
    pub fn new(queues: NonZeroU32) -> Result<Self, Finding> {
        Self::with_mtu(queues, DEFAULT_MTU)
    }

    /// The same with another MTU, of up to 65,535 bytes, at both ends.
    ///
    /// # Errors
    /// As of [`PrivateNet::new`].
    pub fn with_mtu(queues: NonZeroU32, mtu: u32) -> Result<Self, Finding> {
        let (a, b) = (Namespace::new()?, Namespace::new()?);
        let [first, second] = veth_pair(&a, &b, Shape { queues, mtu }, ["xg0", "xg1"])?;
        let (a, b) =
            (PrivateEnd { namespace: a, interface: first }, PrivateEnd { namespace: b, interface: second });
        Ok(Self { a, b })
    }
}
