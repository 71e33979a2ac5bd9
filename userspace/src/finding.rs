//! One vocabulary of trouble: every failure and warning is a [`Finding`], written once and used by preflight, mapped
//! system-call errors and the Report. Knows nothing of where it is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; changes no figure.
    Info,
    /// A figure may be lower than it could be, or mean something else than it seems to.
    Warn,
    /// The command cannot do its job, or a figure is wrong.
    Fail,
}

/// What kind of trouble: a stable name for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
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
    /// The frame does not fit the interface's MTU.
    SizeAboveMtu,
    /// The frame does not fit one chunk.
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
    /// The output file cannot be written.
    OutputFile,
    /// The link went down within the run.
    LinkLost,
    /// The interface disappeared within the run.
    InterfaceGone,
    /// Frames of ours arrived on a queue that no socket serves.
    NoSocket,
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
    /// A system call failed in a way that has no finding of its own.
    System,
}

impl Code {
    /// The name as it stands in JSON.
    #[must_use]
    pub fn name(self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => format!("{self:?}"),
        }
    }
}

/// One piece of trouble, complete: a reader needs nothing else to act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The stable name.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What happened, in one sentence.
    pub what: String,
    /// The interface, queue, core, file or flag that it is about.
    pub on: String,
    /// Why it matters or how it comes about.
    pub why: String,
    /// What to type or change.
    pub remedy: String,
}

impl Finding {
    /// A finding with its three sentences; `on` names the subject.
    pub fn new(code: Code, severity: Severity, on: impl Into<String>, what: impl Into<String>) -> Self {
        Self { code, severity, what: what.into(), on: on.into(), why: String::new(), remedy: String::new() }
    }

    /// Adds why it matters.
    #[must_use]
    pub fn why(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Info => "note",
            Severity::Warn => "warning",
            Severity::Fail => "error",
        };
        write!(f, "{word}: {}: {} [{}]", self.on, self.what, self.code.name())?;
        if !self.why.is_empty() {
            write!(f, "\n  why: {}", self.why)?;
        }
        if !self.remedy.is_empty() {
            write!(f, "\n  try: {}", self.remedy)?;
        }
        Ok(())
    }
}
