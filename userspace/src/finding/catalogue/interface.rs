//! Entries about the interface, its link and what is at its other end. Texts only.

use super::{By, End, Entry, said};

pub(super) const UNKNOWN: Entry = Entry {
    meaning: "There is no interface of that name.",
    cause: "Names are looked up in the network namespace that the program runs in, alternative names included.",
    remedy: "`ip link` lists them; `ip netns exec NAME xsk-gen …` runs in another namespace.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const CHOICE: Entry = Entry {
    meaning: "No interface was named, and none or more than one would do.",
    cause: "Without `--iface` rx takes the only interface that is up, has carrier and carries neither the default route nor an ssh session.",
    remedy: "Name one: `rx --iface IF`. The candidates are listed.",
    said: &[said(By::Sink, End::Usage)],
};

pub(super) const DOWN: Entry = Entry {
    meaning: "The interface is administratively down.",
    cause: "Nobody has brought it up, or somebody has taken it down; no frame enters or leaves it.",
    remedy: "`ip link set IF up`.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const NO_CARRIER: Entry = Entry {
    meaning: "The interface is up but has no carrier: first a note that it is waited for, then an error.",
    cause: "No cable, a far end that is down, or a driver that needs longer to bring the link up; attaching an XDP program drops the link for seconds on many NICs.",
    remedy: "Check cable and far end with `ethtool IF`; `--wait-link 30` waits longer.",
    said: &[said(By::Either, End::Noted), said(By::Either, End::Blocked)],
};

pub(super) const LOOPBACK: Entry = Entry {
    meaning: "The loopback interface cannot carry this test.",
    cause: "It has no driver that an XDP program or an AF_XDP socket could work with, and no wire behind it.",
    remedy: "`xsk-gen demo` for a run without a NIC, or `--iface` with another interface.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const LINK_LOST: Entry = Entry {
    meaning: "The link went down within the run.",
    cause: "A cable, the far end, or somebody who took the interface down. Both ends go on and say how long it was away. A warning where it went after the sender's END, when nothing was lost by it.",
    remedy: "Check cable and far end, and run again.",
    said: &[said(By::Either, End::Failed), said(By::Sink, End::Warned)],
};

pub(super) const GONE: Entry = Entry {
    meaning: "The interface disappeared, before the run or within it.",
    cause: "It was removed, renamed, moved to another network namespace, or its driver was unloaded. Within a run the figures are those up to that moment.",
    remedy: "Bring the interface back and run again.",
    said: &[said(By::Either, End::Blocked), said(By::Either, End::Failed)],
};

pub(super) const NO_LINK_SPEED: Entry = Entry {
    meaning: "A rate in per cent was asked for on a link without a speed.",
    cause: "Virtual interfaces have no speed, or one that means nothing, so there is nothing to take a percentage of.",
    remedy: "`--rate` in frames or bits a second, for instance `1Mpps` or `10Gbps`.",
    said: &[said(By::Sender, End::Blocked)],
};

pub(super) const QUEUE_RANGE: Entry = Entry {
    meaning: "The interface does not have a queue that was asked for.",
    cause: "An AF_XDP socket is bound to one queue, and `--queues` names one that is not there.",
    remedy: "`--queues` with those that are named, or more queues with `ethtool -L IF combined N`.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const SIZE_ABOVE_MTU: Entry = Entry {
    meaning: "The frame is above the interface's MTU; within a run, the frames that tell the sink what will come are.",
    cause: "The MTU counts what follows the Ethernet header and the first VLAN tag. Drivers drop longer frames in silence, so they are refused.",
    remedy: "A smaller `--size`, or `ip link set IF mtu N` on both ends.",
    said: &[said(By::Sender, End::Blocked), said(By::Either, End::Failed)],
};

pub(super) const SIZE_ABOVE_CHUNK: Entry = Entry {
    meaning: "Frames take more chunks of packet memory than kernel, driver or ring let a frame have: an error for what tx is to send, a warning where rx has an MTU that lets such frames through.",
    cause: "A chunk holds 3,844 bytes of a frame, FCS included, and a longer one takes several. The kernel has that since 6.6; in zero-copy mode the driver limits how many, and in native mode not every driver gives such frames to an XDP program.",
    remedy: "`--xsk-mode auto`, which takes copy mode for them; `--xdp-mode generic` on the receiving side; or `--size 3844` at the most.",
    said: &[said(By::Sender, End::Blocked), said(By::Sink, End::Warned)],
};

pub(super) const SINK_NOT_FOUND: Entry = Entry {
    meaning: "No sink answered, and no destination was given. Nothing was sent but the question.",
    cause: "Without `--dst-mac` tx asks for a sink by broadcast and waits for ten seconds. Without a destination every frame would be flooded by the switches on the way.",
    remedy: "Start `xsk-gen rx --iface IF` on the other end first, or name the receiver with `--dst-mac`.",
    said: &[said(By::Sender, End::Blocked)],
};
