//! Entries about what was sent, and about the run as a whole. Texts only.

use super::{By, End, Entry, said};

pub(super) const IN_FLIGHT: Entry = Entry {
    meaning: "Frames were given to the driver and not completed by the end of the run. They do not count as sent.",
    cause: "They may be on the wire or in the driver's queue: its link is down, or it completes late.",
    remedy: "Check the link; a driver that never completes them needs a reset (`ip link set IF down`, then `up`).",
    said: &[said(By::Sender, End::Warned)],
};

pub(super) const TX_STALLED: Entry = Entry {
    meaning: "The driver completed nothing for so long that the run was given up.",
    cause: "For five seconds every chunk was with the driver and none came back although the link was up: a driver or device that hangs, or an older kernel that keeps the descriptors that it refuses.",
    remedy: "`ip link set IF down`, then `up`; `--xsk-mode copy` or another queue to tell driver and device apart.",
    said: &[said(By::Sender, End::Failed)],
};

pub(super) const INVALID_DESCRIPTORS: Entry = Entry {
    meaning: "The kernel refused frames that were put on the transmit ring.",
    cause: "A frame was longer than the driver takes.",
    remedy: "A smaller `--size`.",
    said: &[said(By::Sender, End::Failed)],
};

pub(super) const SHORTFALL: Entry = Entry {
    meaning: "The rate that was asked for was not held: frames were due and not sent.",
    cause: "The sender was descheduled, or the path does not take the rate. A run is never stretched to hide it.",
    remedy: "A lower `--rate`, more `--queues`, or a core of its own with `--cores`; `--fail-if 'shortfall>0'` to fail on it.",
    said: &[said(By::Sender, End::Warned)],
};

pub(super) const ABOVE_LINE_RATE: Entry = Entry {
    meaning: "The figure is above what the link can carry, by more than two clocks can differ.",
    cause: "The frames did not all pass the wire, or the link's speed is not what it says.",
    remedy: "Compare with the counters of `ethtool -S IF` on both ends.",
    said: &[said(By::Either, End::Failed)],
};

pub(super) const DEVICE_DISAGREES: Entry = Entry {
    meaning: "The device's own counter and the books differ by more than other traffic explains.",
    cause: "Frames passed one of the two and not the other: a driver that completes what it does not send, or that does not count what XDP takes.",
    remedy: "Run again with nothing else on the interface; believe the sink's count.",
    said: &[said(By::Either, End::Warned)],
};

pub(super) const BOOKS_UNBALANCED: Entry = Entry {
    meaning: "The sums of the books do not come out.",
    cause: "A counter is wrong, or frames came from somewhere else.",
    remedy: "Do not trust this run, and please report it with the JSON Report.",
    said: &[said(By::Either, End::Failed)],
};

pub(super) const FAIL_IF: Entry = Entry {
    meaning: "A condition of `--fail-if` holds, or no Report of this run can answer it.",
    cause: "The user asked for it. A condition that cannot be answered must not pass in silence.",
    remedy: "Read the figure that is quoted; where it is unknown, the Report says why (`lost_absent`).",
    said: &[said(By::Either, End::Failed)],
};

pub(super) const INTERRUPTED: Entry = Entry {
    meaning: "The run was ended by a signal. The Report is that of the time until then.",
    cause: "Ctrl-C, or SIGTERM from a supervisor. Before the first frame there is nothing to report, and that is an error.",
    remedy: "Nothing, where it was meant.",
    said: &[said(By::Either, End::Noted), said(By::Either, End::Failed)],
};

pub(super) const NO_FAR_END: Entry = Entry {
    meaning: "Frames are sent on an interface that has no wire and no single far end: what is completed may have gone nowhere.",
    cause: "A dummy interface swallows every frame, and a bridge those that no port of it takes, without a counter.",
    remedy: "A NIC, or one end of a veth pair; `xsk-gen demo` for a run without a NIC.",
    said: &[said(By::Sender, End::Warned)],
};

pub(super) const STREAM_UNNUMBERED: Entry = Entry {
    meaning: "The frames of a stream carry no probe: the sender counts them, and no sink can tell them from others.",
    cause: "The shortest of them does not hold the headers, the 18 bytes of the probe and the FCS.",
    remedy: "A larger size, as the finding names it; or leave it so, and do without the loss of that stream.",
    said: &[said(By::Sender, End::Warned)],
};

pub(super) const FOREIGN_SOURCE: Entry = Entry {
    meaning: "Frames do not come from the interface's own MAC.",
    cause: "`--src-mac` or a stream names another address, or varies it. Virtual functions and most hypervisors drop such frames (MAC anti-spoofing) after the driver has completed them.",
    remedy: "Leave the source MAC out, or allow it at the physical function: `ip link set PF vf N spoofchk off`.",
    said: &[said(By::Sender, End::Warned)],
};
