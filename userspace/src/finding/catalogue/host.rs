//! Entries about the machine, the process and its files. Texts only.

use super::{By, End, Entry, said};

pub(super) const CAPABILITY_MISSING: Entry = Entry {
    meaning: "A capability is missing, and is named.",
    cause: "AF_XDP and packet sockets need CAP_NET_RAW, attaching needs CAP_NET_ADMIN, XDP programs need CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN), and demo needs CAP_SYS_ADMIN for its namespaces. A container has few of them even for root.",
    remedy: "Run it with sudo, or once `sudo setcap cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep \"$(command -v xsk-gen)\"`.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const PRIVILEGE_KEPT: Entry = Entry {
    meaning: "A privilege that the run hardly needs could not be given up, and stays until the process ends.",
    cause: "Once all is set up every capability is dropped. Kernels before 5.19 read the map of an XDP program only with CAP_BPF where kernel.unprivileged_bpf_disabled is set, and a security module may forbid the change itself.",
    remedy: "Nothing has to be done: no figure depends on it. A kernel of 5.19 or later lets CAP_BPF go.",
    said: &[said(By::Either, End::Noted)],
};

pub(super) const MEMLOCK: Entry = Entry {
    meaning: "The packet memory that was asked for is above the limit on locked memory.",
    cause: "The kernel charges AF_XDP packet memory to the user's locked memory, unless the process has CAP_IPC_LOCK.",
    remedy: "`ulimit -l KIB` with the figure that is named, CAP_IPC_LOCK, or a smaller `--frames` or `--ring`.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const NO_MEMORY: Entry = Entry {
    meaning: "The memory for packets and rings is not there.",
    cause: "Packet memory is pinned and cannot be swapped. What all queues need together is above what the machine or the control group has left, or the kernel or the driver refused its own share.",
    remedy: "A smaller `--frames` (the largest that fits is named), a smaller `--ring`, fewer `--queues`, or a higher memory.max.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const HUGEPAGES: Entry = Entry {
    meaning: "Huge pages were asked for and too few are free.",
    cause: "They must be reserved before they can be used, and other processes may hold those that were.",
    remedy: "`sysctl vm.nr_hugepages=N` with the figure that is named, or leave `--hugepages` out.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const KERNEL_TOO_OLD: Entry = Entry {
    meaning: "The kernel lacks something that the command needs.",
    cause: "It is older than 5.18, or was built without AF_XDP sockets, BPF, network namespaces or veth. `--busy-poll` needs 5.11.",
    remedy: "A kernel of 5.18 or later with CONFIG_XDP_SOCKETS=y and CONFIG_BPF_SYSCALL=y.",
    said: &[said(By::Either, End::Blocked)],
};

pub(super) const CORE_RANGE: Entry = Entry {
    meaning: "A core does not exist or is not this process's to use; as a warning, a worker could not be pinned to its core.",
    cause: "`--cores` names it, and taskset, a cpuset or a container leaves it out.",
    remedy: "`--cores` with some of those that are named, or start it with another taskset or cpuset.",
    said: &[said(By::Either, End::Blocked), said(By::Either, End::Warned)],
};

pub(super) const CORES_SHARED: Entry = Entry {
    meaning: "Several queues, or sender and sink, share a core.",
    cause: "There are fewer cores than queues, or only one core for both ends. Workers spin, so they take turns on it.",
    remedy: "More cores with `--cores`, or fewer `--queues`.",
    said: &[said(By::Either, End::Warned)],
};

pub(super) const OUTPUT_FILE: Entry = Entry {
    meaning: "The file of `--output` or `--write`, or stdout, cannot be written.",
    cause: "The folder is not there or not writable, or the disk is full. Files are opened before the run; that of `--output` is written after it.",
    remedy: "Another path, or make room and check the permissions of its folder.",
    said: &[said(By::Either, End::Blocked), said(By::Either, End::Failed)],
};

pub(super) const SYSTEM: Entry = Entry {
    meaning: "A system call failed in a way that has no finding of its own.",
    cause: "The kernel's or the driver's own words are quoted.",
    remedy: "Run it again; if it stays, report it with the output of `xsk-gen --version` and `uname -r`.",
    said: &[said(By::Either, End::Blocked), said(By::Either, End::Failed)],
};
