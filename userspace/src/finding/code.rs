//! The stable names of trouble, for scripts. Knows nothing of when each is said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// What kind of trouble: a stable name for scripts.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Code {
    /// No interface of that name.
    InterfaceUnknown,
    /// No interface was named and none, or more than one, would do.
    InterfaceChoice,
    /// The interface is administratively down.
    InterfaceDown,
    /// The interface is up but has no carrier.
    NoCarrier,
    /// The loopback interface cannot carry AF_XDP traffic.
    Loopback,
    /// A capability is missing.
    CapabilityMissing,
    /// Memory cannot be locked for the rings and buffers.
    Memlock,
    /// The kernel lacks something that the command needs.
    KernelTooOld,
    /// No such queue.
    QueueRange,
    /// No such core, or not ours to use.
    CoreRange,
    /// A stream's frames have no room for a probe.
    StreamUnnumbered,
    /// Frames come from another MAC than the interface's.
    ForeignSource,
    /// The frame does not fit the interface's MTU.
    SizeAboveMtu,
    /// The frame takes more chunks than can be had.
    SizeAboveChunk,
    /// The MTU is too large for the XDP mode.
    MtuAboveXdp,
    /// Native XDP was demanded and cannot be had.
    NativeRefused,
    /// Generic XDP is in use.
    GenericXdp,
    /// Zero-copy was demanded and cannot be had.
    ZeroCopyRefused,
    /// Copy mode is in use.
    CopyMode,
    /// Sockets poll the driver, and interrupts go on beside that.
    BusyPollInterrupts,
    /// Another XDP program holds the interface.
    XdpOccupied,
    /// Another AF_XDP socket holds the queue.
    QueueBusy,
    /// Huge pages were asked for and are not there.
    Hugepages,
    /// A packet buffer or ring could not be had.
    NoMemory,
    /// No sink answered, and no destination was given.
    SinkNotFound,
    /// Nobody answered for the destination's address.
    AddressUnresolved,
    /// An address that is to be answered for is the interface's own.
    AnsweredByKernel,
    /// The interface may drop frames with VLAN tags that nobody registered.
    VlanFilter,
    /// The interface takes VLAN tags out of frames.
    VlanOffload,
    /// The output file cannot be written.
    OutputFile,
    /// The link went down within the run.
    LinkLost,
    /// The interface disappeared within the run.
    InterfaceGone,
    /// Frames of ours arrived on a queue that no socket serves.
    NoSocket,
    /// Frames had no room in front of them for the XDP program's stamp.
    NoStampRoom,
    /// Frames bore no time of receipt by the NIC, which was asked for it.
    NicTimesAbsent,
    /// Frames were lost because the receiver did not keep up.
    ReceiverSlow,
    /// Frames were lost and no counter says where.
    LossUnexplained,
    /// Frames were lost on the way, and a device's counter says where.
    DeviceDrops,
    /// The sum of the books does not come out.
    BooksUnbalanced,
    /// Frames were still in flight at the deadline.
    InFlight,
    /// The kernel refused descriptors.
    InvalidDescriptors,
    /// The asked rate was not held.
    Shortfall,
    /// The figure is above what the link can carry.
    AboveLineRate,
    /// The device's own counter disagrees.
    DeviceDisagrees,
    /// Nothing was received.
    NothingReceived,
    /// Of what was sent on a round trip nothing came back.
    ReflectorSilent,
    /// Frames of ours carried bad checksums or bytes.
    Corrupted,
    /// Frames of another run arrived within this one.
    OtherRun,
    /// The condition of --fail-if holds.
    FailIf,
    /// A rate in percent was asked on a link without a speed.
    NoLinkSpeed,
    /// The run was ended by a signal.
    Interrupted,
    /// More workers than cores, or a core is shared.
    CoresShared,
    /// The program redirected frames and none of them reached a socket.
    RedirectSilent,
    /// The driver completed nothing for so long that the run was given up.
    TxStalled,
    /// The sender's END did not come, so what it sent is not known.
    EndMissing,
    /// Frames of ours came in a stack of headers that the XDP program does not parse.
    NotParsed,
    /// Another XDP program was taken off the interface, as --replace asks.
    XdpReplaced,
    /// A privilege that is not needed any more could not be given up.
    PrivilegeKept,
    /// A sink saw more runs than it tells one by one.
    RunsLeftOut,
    /// A sink takes frames that this host is reached by.
    TakesAll,
    /// Frames leave on an interface behind which there may be nothing.
    NoFarEnd,
    /// A capture cannot be read, or only in part.
    CaptureFile,
    /// Frames of a capture were not sent.
    CaptureLeftOut,
    /// Times of a capture go back or are missing.
    CaptureTimes,
    /// A capture could not be read as fast as it was to be sent.
    CaptureSlow,
    /// A capture that a sink writes does not hold every frame.
    CaptureIncomplete,
    /// A system call failed in a way that has no finding of its own.
    System,
}

impl Code {
    /// The name as it stands in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Every code, in the order of their declaration.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::VARIANTS.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_json() {
        for code in Code::all() {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        }
        assert!(Code::all().count() > 40);
    }
}
