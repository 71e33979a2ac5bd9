//! Entries about captures: those that are sent, and those that a sink writes. Texts only.

use super::{By, End, Entry, said};

pub(super) const FILE: Entry = Entry {
    meaning: "The capture of `--pcap` cannot be read, or only in part.",
    cause: "It ends within a record, since whoever wrote it was killed or the disk was full; it is damaged, or it went away after the arguments were read. The whole frames before that place are sent.",
    remedy: "A capture that was written to its end, on a disk that works.",
    said: &[said(By::Sender, End::Warned), said(By::Sender, End::Failed), said(By::Sender, End::Blocked)],
};

pub(super) const LEFT_OUT: Entry = Entry {
    meaning: "Frames of the capture were not sent. An error where none of them could be.",
    cause: "A snap length cut them, so that they are not what was on the wire; or they are above the interface's MTU or one chunk of packet memory, or no Ethernet frames.",
    remedy: "Capture whole frames (`tcpdump -s 0`), and set the MTU of both ends for longer ones.",
    said: &[said(By::Sender, End::Warned), said(By::Sender, End::Failed)],
};

pub(super) const TIMES: Entry = Entry {
    meaning: "Recorded times go back, or are missing. Such a frame is sent right behind the one before it.",
    cause: "A clock was set while it was captured, several queues were written one after another, or the format keeps no times.",
    remedy: "Put the capture in the order of its times (`reordercap`), or send it at a `--rate`.",
    said: &[said(By::Sender, End::Warned)],
};

pub(super) const SLOW: Entry = Entry {
    meaning: "The capture could not be read as fast as it was to be sent.",
    cause: "The disk is slower than the rate, or the reading thread had to share a core. What was late for it is shortfall.",
    remedy: "A file in memory (`/dev/shm`), a lower rate, or one more core.",
    said: &[said(By::Sender, End::Warned)],
};

pub(super) const INCOMPLETE: Entry = Entry {
    meaning: "The file of `--write` does not hold every frame that it was to hold.",
    cause: "Frames came faster than they could be written, or writing failed, as on a full disk. The count of a sink never waits for the file, and is not touched.",
    remedy: "A faster disk or `/dev/shm`, a shorter `--write-snap`, or `--write-count`.",
    said: &[said(By::Sink, End::Warned)],
};
