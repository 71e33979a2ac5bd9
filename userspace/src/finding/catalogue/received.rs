//! Entries about what was received, and what was not. Texts only.

use super::{By, End, Entry, said};

pub(super) const NOTHING: Entry = Entry {
    meaning: "No frame of a run was received; a warning where a signal ended the sink before one came.",
    cause: "The sender does not run, does not reach this interface, sends to another port, or under another `--run-tag`.",
    remedy: "Check the sender, `--port` and `--run-tag`; the finding says how many frames the program saw.",
    said: &[said(By::Sink, End::Failed), said(By::Sink, End::Warned)],
};

pub(super) const REFLECTOR_SILENT: Entry = Entry {
    meaning: "Of the frames that `tx --round-trip` sent none came back; a warning where a signal ended the run.",
    cause: "No `xsk-gen reflect` runs at the other end, it takes another `--port` or stack of headers, it follows another run, or the frames are longer than it sends back.",
    remedy: "`xsk-gen reflect --iface IF` at the other end, with the same `--port` or `--match`, `--stream` and header flags; its own Report says what it received.",
    said: &[said(By::Sender, End::Failed), said(By::Sender, End::Warned)],
};

pub(super) const NO_SOCKET: Entry = Entry {
    meaning: "Frames of ours arrived on a queue that no socket serves, and were dropped there.",
    cause: "The NIC spreads frames over its receive queues, and an AF_XDP socket sees only its own.",
    remedy: "Leave `--queues` out, so that all are served.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const NO_STAMP_ROOM: Entry = Entry {
    meaning: "Frames of ours had no room in front of them for the time that the XDP program puts there, and were dropped.",
    cause: "The driver leaves fewer than 16 bytes in front of a frame, or its own metadata takes them; XDP asks for 256.",
    remedy: "`--xdp-mode generic`, where the stack makes the room, or `--count-only`, which needs none.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const NIC_TIMES_ABSENT: Entry = Entry {
    meaning: "The time at which the NIC received a frame was asked for and is not there.",
    cause: "The driver does not advertise receive times for XDP programs (`netdev`, xdp-rx-metadata-features), or the kernel refused the program that is bound to the device, which exists in native mode alone; or the device takes no times until it is told to. veth hands on those of other NICs.",
    remedy: "Leave `--timestamps` out: the XDP program takes the times then. `ethtool -T IF` shows what the device can do, and `hwstamp_ctl -i IF -r 1` (of linuxptp) has it time every frame.",
    said: &[said(By::Sink, End::Blocked), said(By::Sink, End::Warned), said(By::Sink, End::Noted)],
};

pub(super) const NOT_PARSED: Entry = Entry {
    meaning: "Frames of ours came in a stack of headers that the XDP program does not read, and went to the kernel instead.",
    cause: "Something on the way added a tunnel, more VLAN tags or IP options, or fragmented them.",
    remedy: "Take it off the way, or send frames with plainer headers.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const SLOW: Entry = Entry {
    meaning: "Frames were dropped by the kernel because the receiver did not keep up.",
    cause: "Its worker was descheduled or too slow: no chunk was free, or the receive ring was full.",
    remedy: "A core of its own with `--cores`, a larger `--ring` and `--frames`, more queues, or a lower rate.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const DEVICE_DROPS: Entry = Entry {
    meaning: "A device's own counter says that it dropped frames.",
    cause: "Its queue was full, its link away, a frame above an MTU on the way, or its far side took none. A driver completes such frames, so they count as sent.",
    remedy: "A lower rate, larger device rings (`ethtool -G`), the same MTU on both ends.",
    said: &[said(By::Either, End::Warned)],
};

pub(super) const LOSS_UNEXPLAINED: Entry = Entry {
    meaning: "Frames were lost, and no counter of either end says where.",
    cause: "They left the sender's driver and did not reach the sink's socket: a switch, a cable, or a NIC that does not count what it drops.",
    remedy: "Compare `ethtool -S IF` of both ends, and the switch's counters, before and after a run.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const END_MISSING: Entry = Entry {
    meaning: "The sender's END did not come, so what it sent is not known and the loss is null.",
    cause: "The sender was killed, the link was lost at the end, or the last frames were all dropped.",
    remedy: "Run again; let tx end by itself or with Ctrl-C.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const CORRUPTED: Entry = Entry {
    meaning: "Frames of ours arrived with wrong bytes: a checksum or a length that does not fit (they count as rejected, and so as lost), or a number that was never sent (the loss is then not known).",
    cause: "A cable, a NIC, or something on the way that rewrites frames or leaves checksums to offload: frames that a kernel's stack sends over a veth or a virtio NIC have only the part of the UDP checksum that offload begins with.",
    remedy: "Suspect those in turn; `ethtool -K PEER tx off` where a kernel's stack sends; `--no-verify` on both ends leaves UDP checksums out.",
    said: &[said(By::Sink, End::Failed)],
};

pub(super) const OTHER_RUN: Entry = Entry {
    meaning: "Frames of another run arrived within this one.",
    cause: "Two senders use the same port. They share the link, so the figures are not of this run alone.",
    remedy: "End the other sender, or give one of the pairs another `--port`.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const RUNS_LEFT_OUT: Entry = Entry {
    meaning: "A sink that saw very many runs tells the last of them one by one, and of the older ones only the sums.",
    cause: "Each run is a Report; a sink that is left running for months must not fill memory with them.",
    remedy: "Nothing, or end the sink between series of runs, with `--idle-timeout` for instance.",
    said: &[said(By::Sink, End::Noted)],
};

pub(super) const TAKES_ALL: Entry = Entry {
    meaning: "The sink takes frames, with `--match any` or an EtherType of IP or ARP, from an interface that this host is reached through.",
    cause: "The interface has the default route or carries an ssh session of the caller. What the sink takes the stack does not see, so connections hang until the sink ends.",
    remedy: "Another interface, a VLAN of the test's own (`'vlan N any'`), or `'udp port N'`; with `--duration` the sink ends by itself.",
    said: &[said(By::Sink, End::Warned)],
};
