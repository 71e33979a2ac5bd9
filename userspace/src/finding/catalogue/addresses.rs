//! Entries about addresses and VLAN tags: who answers for them, and what becomes of them on the way. Texts only.

use super::{By, End, Entry, said};

pub(super) const UNRESOLVED: Entry = Entry {
    meaning: "Nobody answered for the destination's address, or for its gateway's. Nothing was sent but the question.",
    cause: "`--resolve` asks by ARP or neighbour discovery, tagged as the frames are, for three seconds. The station is not there, is in another VLAN, or does not answer whoever has the source address.",
    remedy: "Check that it can be reached (`ping -I IF IP`), `--vlan` and `--src-ip`, or name its MAC with `--dst-mac`.",
    said: &[said(By::Sender, End::Blocked)],
};

pub(super) const ANSWERED_BY_KERNEL: Entry = Entry {
    meaning: "An address of `--answer` is the interface's own: the kernel answers for it already, and the sink does not.",
    cause: "Two answers for one address would be one too many.",
    remedy: "Leave it out of `--answer`.",
    said: &[said(By::Sink, End::Noted)],
};

pub(super) const VLAN_FILTER: Entry = Entry {
    meaning: "Frames with VLAN tags are expected, and the interface drops those of ids that no VLAN interface has registered.",
    cause: "Its feature `rx-vlan-filter` is on: the NIC compares ids with a table that VLAN interfaces fill, before any program sees the frame, and counts what it drops elsewhere or not at all.",
    remedy: "`ethtool -K IF rx-vlan-filter off`, or `ip link add link IF name IF.100 type vlan id 100` and `ip link set IF.100 up`.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const VLAN_OFFLOAD: Entry = Entry {
    meaning: "Frames with VLAN tags are expected, and the interface takes the outermost tag out before the XDP program sees them.",
    cause: "Its feature `rx-vlan-hw-parse` is on, as it is on most NICs. The sink then counts frames that are 4 bytes shorter, and does not see the id.",
    remedy: "`ethtool -K IF rxvlan off`.",
    said: &[said(By::Sink, End::Warned)],
};
