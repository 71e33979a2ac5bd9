//! Entries about XDP programs, sockets and the modes that were or were not to be had. Texts only.

use super::{By, End, Entry, said};

pub(super) const MTU_ABOVE_XDP: Entry = Entry {
    meaning: "The MTU is too large for an XDP program in native mode.",
    cause: "In native mode a frame must fit the driver's receive buffers, and some drivers take no program that sees frames of several buffers.",
    remedy: "`ip link set IF mtu 1500` (veth: on the other end as well), or `--xdp-mode generic`.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const NATIVE_REFUSED: Entry = Entry {
    meaning: "Native XDP was demanded and cannot be had, or no XDP mode is left to try.",
    cause: "The driver takes no XDP program, or not in its present setting.",
    remedy: "`--xdp-mode generic`, which every interface takes, or leave `--xdp-mode` out.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const GENERIC_XDP: Entry = Entry {
    meaning: "The XDP program runs in the stack and not in the driver.",
    cause: "The driver took no program in native mode. Generic mode works everywhere, and costs a packet structure and a copy for each frame, so the figure is the stack's and not the NIC's.",
    remedy: "A driver with native XDP for the NIC's own figure; `--xdp-mode native` to insist.",
    said: &[said(By::Sink, End::Warned)],
};

pub(super) const ZERO_COPY_REFUSED: Entry = Entry {
    meaning: "Zero-copy was demanded and cannot be had on this queue.",
    cause: "It needs support in the driver, and on most of them an XDP program in native mode. virtio refuses it without the platform IOMMU flag, mlx5 outside its XSK queues.",
    remedy: "`--xsk-mode copy`, or `--xsk-mode auto` to take what there is.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const COPY_MODE: Entry = Entry {
    meaning: "Zero-copy cannot be had; the kernel copies each frame.",
    cause: "The driver does not offer zero-copy on this queue, not with these settings, or not for frames of so many chunks.",
    remedy: "`--xsk-mode copy` to say so at once. A figure in copy mode is the kernel's copying, not the NIC's limit.",
    said: &[said(By::Either, End::Noted)],
};

pub(super) const BUSY_POLL_INTERRUPTS: Entry = Entry {
    meaning: "`--busy-poll` was asked for, and interrupts go on beside the polling.",
    cause: "The kernel leaves a queue to the poller only while `napi_defer_hard_irqs` and `gro_flush_timeout` of the interface are set.",
    remedy: "`echo 2 > /sys/class/net/IF/napi_defer_hard_irqs` and `echo 200000 > /sys/class/net/IF/gro_flush_timeout`. Where a core can be spared, `echo 1 > /sys/class/net/IF/threaded` gives the polling to a kernel thread instead: pin it to that core, never to a worker's.",
    said: &[said(By::Either, End::Noted)],
};

pub(super) const XDP_OCCUPIED: Entry = Entry {
    meaning: "Another XDP program holds the interface. It is left alone.",
    cause: "An interface runs one XDP program, and taking another's off would break what that one does. It is tried for half a second, and longer for a program of xsk-gen, since a killed process's program stays for a moment. A running xsk-gen is never replaced.",
    remedy: "End the program that attached it, or `--replace` to take it off.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const XDP_REPLACED: Entry = Entry {
    meaning: "Another XDP program was taken off the interface, as `--replace` asks; it is not put back.",
    cause: "The interface was held by a program that is named, and `--replace` was given.",
    remedy: "Attach the other program again where it is still needed; leave `--replace` out to be refused instead.",
    said: &[said(By::Either, End::Warned)],
};

pub(super) const QUEUE_BUSY: Entry = Entry {
    meaning: "Another AF_XDP socket holds the queue.",
    cause: "A queue serves one socket at a time: another program, or a second xsk-gen. Whose it is the kernel does not tell.",
    remedy: "End the other program (`ss --xdp -p` may name it), or take another queue with `--queues`.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const REDIRECT_SILENT: Entry = Entry {
    meaning: "The program redirected frames to sockets, and they did not arrive.",
    cause: "Some drivers take a program in native mode and drop what it redirects without a word; native mode is then no proof that a sink works. Within 200 ms a sink falls back to generic mode by itself, unless native was demanded.",
    remedy: "`--xdp-mode generic`, or another driver.",
    said: &[said(By::Sink, End::Warned), said(By::Sink, End::Failed)],
};
