//! The catalogue of findings: for every code what it means in general, how it comes about, what to do, and how a
//! command ends that says it. Knows nothing of a single case, which a Finding itself describes.

mod addresses;
mod capture;
mod host;
mod interface;
mod modes;
mod received;
mod sent;

use super::{Code, Severity};

/// What is known of a code before it is ever said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it says, in one or two sentences.
    pub meaning: &'static str,
    /// How it comes about.
    pub cause: &'static str,
    /// What to type or change, in general; a Finding has the remedy for its case.
    pub remedy: &'static str,
    /// Who says it, and how the command ends then; never empty.
    pub said: &'static [Said],
}

/// One way in which a code is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// The commands that say it.
    pub by: By,
    /// How they end.
    pub end: End,
}

/// The commands that say a finding. A pair (`tx --sink`, and `demo`) has a sender and a sink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The sending end.
    Sender,
    /// The receiving end.
    Sink,
    /// Both.
    Either,
    /// `demo` alone.
    Demo,
}

/// How a command ends that says a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Before the run, as usage.
    Usage,
    /// Before the run: this host or interface cannot do it.
    Blocked,
    /// The run failed, or did not begin although nothing stood in the way.
    Failed,
    /// The run goes on; a figure may mean something else than it seems to.
    Warned,
    /// The run goes on; no figure is touched.
    Noted,
}

impl By {
    /// The commands, as they are typed.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Sender => "tx, demo",
            Self::Sink => "rx, tx --sink, demo",
            Self::Either => "tx, rx, demo",
            Self::Demo => "demo",
        }
    }
}

impl End {
    /// The severity that the finding has then.
    #[must_use]
    pub fn severity(self) -> Severity {
        match self {
            Self::Usage | Self::Blocked | Self::Failed => Severity::Fail,
            Self::Warned => Severity::Warn,
            Self::Noted => Severity::Info,
        }
    }

    /// The exit code that the command ends with, if nothing else is said.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Warned | Self::Noted => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Blocked => 3,
        }
    }

    /// What becomes of the run.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Usage | Self::Blocked => "error before the run",
            Self::Failed => "error, and the run counts as failed",
            Self::Warned => "warning; the run goes on",
            Self::Noted => "note; the run goes on",
        }
    }
}

const fn said(by: By, end: End) -> Said {
    Said { by, end }
}

impl Code {
    /// Its entry of the catalogue.
    #[must_use]
    pub fn entry(self) -> &'static Entry {
        match self {
            Self::InterfaceUnknown => &interface::UNKNOWN,
            Self::InterfaceChoice => &interface::CHOICE,
            Self::InterfaceDown => &interface::DOWN,
            Self::NoCarrier => &interface::NO_CARRIER,
            Self::Loopback => &interface::LOOPBACK,
            Self::LinkLost => &interface::LINK_LOST,
            Self::InterfaceGone => &interface::GONE,
            Self::NoLinkSpeed => &interface::NO_LINK_SPEED,
            Self::AddressUnresolved => &addresses::UNRESOLVED,
            Self::AnsweredByKernel => &addresses::ANSWERED_BY_KERNEL,
            Self::VlanFilter => &addresses::VLAN_FILTER,
            Self::VlanOffload => &addresses::VLAN_OFFLOAD,
            Self::QueueRange => &interface::QUEUE_RANGE,
            Self::SizeAboveMtu => &interface::SIZE_ABOVE_MTU,
            Self::SizeAboveChunk => &interface::SIZE_ABOVE_CHUNK,
            Self::SinkNotFound => &interface::SINK_NOT_FOUND,
            Self::CapabilityMissing => &host::CAPABILITY_MISSING,
            Self::PrivilegeKept => &host::PRIVILEGE_KEPT,
            Self::Memlock => &host::MEMLOCK,
            Self::NoMemory => &host::NO_MEMORY,
            Self::Hugepages => &host::HUGEPAGES,
            Self::KernelTooOld => &host::KERNEL_TOO_OLD,
            Self::CoreRange => &host::CORE_RANGE,
            Self::CoresShared => &host::CORES_SHARED,
            Self::OutputFile => &host::OUTPUT_FILE,
            Self::System => &host::SYSTEM,
            Self::MtuAboveXdp => &modes::MTU_ABOVE_XDP,
            Self::NativeRefused => &modes::NATIVE_REFUSED,
            Self::GenericXdp => &modes::GENERIC_XDP,
            Self::ZeroCopyRefused => &modes::ZERO_COPY_REFUSED,
            Self::CopyMode => &modes::COPY_MODE,
            Self::BusyPollInterrupts => &modes::BUSY_POLL_INTERRUPTS,
            Self::XdpOccupied => &modes::XDP_OCCUPIED,
            Self::XdpReplaced => &modes::XDP_REPLACED,
            Self::QueueBusy => &modes::QUEUE_BUSY,
            Self::RedirectSilent => &modes::REDIRECT_SILENT,
            Self::InFlight => &sent::IN_FLIGHT,
            Self::TxStalled => &sent::TX_STALLED,
            Self::InvalidDescriptors => &sent::INVALID_DESCRIPTORS,
            Self::Shortfall => &sent::SHORTFALL,
            Self::AboveLineRate => &sent::ABOVE_LINE_RATE,
            Self::DeviceDisagrees => &sent::DEVICE_DISAGREES,
            Self::BooksUnbalanced => &sent::BOOKS_UNBALANCED,
            Self::FailIf => &sent::FAIL_IF,
            Self::Interrupted => &sent::INTERRUPTED,
            Self::NothingReceived => &received::NOTHING,
            Self::ReflectorSilent => &received::REFLECTOR_SILENT,
            Self::NoSocket => &received::NO_SOCKET,
            Self::NoStampRoom => &received::NO_STAMP_ROOM,
            Self::NicTimesAbsent => &received::NIC_TIMES_ABSENT,
            Self::NotParsed => &received::NOT_PARSED,
            Self::ReceiverSlow => &received::SLOW,
            Self::DeviceDrops => &received::DEVICE_DROPS,
            Self::LossUnexplained => &received::LOSS_UNEXPLAINED,
            Self::EndMissing => &received::END_MISSING,
            Self::Corrupted => &received::CORRUPTED,
            Self::OtherRun => &received::OTHER_RUN,
            Self::TakesAll => &received::TAKES_ALL,
            Self::RunsLeftOut => &received::RUNS_LEFT_OUT,
            Self::NoFarEnd => &sent::NO_FAR_END,
            Self::StreamUnnumbered => &sent::STREAM_UNNUMBERED,
            Self::ForeignSource => &sent::FOREIGN_SOURCE,
            Self::CaptureFile => &capture::FILE,
            Self::CaptureLeftOut => &capture::LEFT_OUT,
            Self::CaptureTimes => &capture::TIMES,
            Self::CaptureSlow => &capture::SLOW,
            Self::CaptureIncomplete => &capture::INCOMPLETE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_code_has_an_entry_of_its_own() {
        let meanings: BTreeSet<_> = Code::all().map(|code| code.entry().meaning).collect();
        assert_eq!(meanings.len(), Code::all().count(), "two codes share an entry");
    }

    #[test]
    fn each_entry_is_in_whole_sentences_that_fit_a_table() {
        for code in Code::all() {
            let Entry { meaning, cause, remedy, said } = code.entry();
            for text in [meaning, cause, remedy] {
                let whole = text.ends_with('.') && text.chars().next().is_some_and(|c| !c.is_lowercase());
                assert!(whole && !text.contains('|') && !text.contains("  "), "{code:?}: {text}");
            }
            assert!(!said.is_empty(), "{code:?}");
        }
    }

    #[test]
    fn exit_codes_are_those_of_the_readme() {
        for (end, severity, exit_code) in [
            (End::Noted, Severity::Info, 0),
            (End::Warned, Severity::Warn, 0),
            (End::Failed, Severity::Fail, 1),
            (End::Usage, Severity::Fail, 2),
            (End::Blocked, Severity::Fail, 3),
        ] {
            assert_eq!((end.severity(), end.exit_code()), (severity, exit_code));
        }
    }
}
