//! The table of rooms: what each may import. A room that is not in it, or an import that its row does not name, is
//! a decision: change the table with a reason. Knows nothing of files.

/// Crates that only name or shape data; every room may use them.
const VOCABULARY: &[&str] = &["bitflags", "macaddr", "schemars", "serde", "serde_json", "strum", "thiserror"];

/// Parts of std that reach outside the process or read a clock; no pure room may use them.
const EDGES_OF_STD: &[&str] = &[
    "env",
    "fs",
    "net::TcpListener",
    "net::TcpStream",
    "net::UdpSocket",
    "os",
    "process",
    "thread",
    "time::Instant",
    "time::SystemTime",
];

/// What a room is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Data in, data out: no system call, no clock, no file.
    Pure,
    /// Touches the machine, and may therefore use all of std.
    Edge,
    /// Joins the others and may import everything.
    Top,
}

/// One row.
#[derive(Debug)]
pub struct Room {
    /// Name of its file or folder under userspace/src.
    pub name: &'static str,
    /// What it is.
    pub nature: Nature,
    /// Rooms that it may import.
    imports: &'static [&'static str],
    /// Crates that it may use besides [`VOCABULARY`].
    crates: &'static [&'static str],
}

use Nature::{Edge, Pure, Top};

const fn room(
    name: &'static str,
    nature: Nature,
    imports: &'static [&'static str],
    crates: &'static [&'static str],
) -> Room {
    Room { name, nature, imports, crates }
}

const ROOMS: &[Room] = &[
    room("units", Pure, &["finding", "config"], &[]),
    room("finding", Pure, &["units", "config"], &[]),
    // Streams are chosen as headers and formulas; a stream file is TOML, and a name that is no field has near ones.
    room("config", Pure, &["units", "finding", "frame"], &["strsim", "toml"]),
    // Streams are plain tables, whose layout the kernel side shares. ARP and neighbour discovery are built and read by a
    // crate that does it well.
    room("frame", Pure, &["units"], &["etherparse", "xdp_prog"]),
    room("pace", Pure, &["units"], &[]),
    room("measure", Pure, &["units"], &["base64", "hdrhistogram"]),
    room("report", Pure, &["units", "finding", "measure"], &[]),
    room("render", Pure, &["units", "finding", "measure", "report"], &[]),
    room("port", Pure, &["units"], &[]),
    // A pcap file is one of its media.
    room("memory_port", Edge, &["units", "port"], &[]),
    // It reads ahead and writes behind on threads of its own, which make the due times of what they read.
    room("capture", Edge, &["units", "pace", "sys"], &["pcap_file"]),
    // Its workers are pinned threads. They take frames from slabs of a capture, and put them into such.
    room(
        "engine",
        Edge,
        &["units", "finding", "port", "frame", "pace", "measure", "capture"],
        &["core_affinity", "crossbeam_utils"],
    ),
    // It strips the stamps that the XDP program puts in front of frames.
    room(
        "xsk",
        Edge,
        &["units", "finding", "port", "sys"],
        &["libbpf_sys", "libc", "nix", "xdp_prog", "xsk_rs"],
    ),
    room("sys", Edge, &["units"], &["libc", "nix", "signal_hook"]),
    room("xdp", Edge, &["units", "finding", "sys"], &["aya", "libbpf_rs", "libc", "nix", "xdp_prog"]),
    room(
        "host",
        Edge,
        &["units", "finding", "report", "sys"],
        &[
            "caps",
            "core_affinity",
            "humantime",
            "libc",
            "netlink_bindings",
            "netlink_socket2",
            "nix",
            "procfs",
            "strsim",
        ],
    ),
    room("commands", Top, &[], &[]),
    room("cli", Top, &[], &[]),
    room("private_net", Top, &[], &[]),
    room("lib", Top, &[], &[]),
    room("main", Top, &[], &[]),
];

/// The row of a room.
pub fn find(name: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.name == name)
}

impl Room {
    /// Whether it may import `other`. Tests of a room may also use every pure room, to build their cases.
    pub fn may_import(&self, other: &str, in_test: bool) -> bool {
        let pure_case = || find(other).is_some_and(|room| room.nature == Pure || room.name == "memory_port");
        self.nature == Top || self.name == other || self.imports.contains(&other) || (in_test && pure_case())
    }

    /// Whether it may use the crate `name`, a dependency of the package.
    pub fn may_use(&self, name: &str) -> bool {
        self.nature == Top || VOCABULARY.contains(&name) || self.crates.contains(&name)
    }

    /// Whether it may use `path`, which begins behind `std::`.
    pub fn may_use_std(&self, path: &str) -> bool {
        let within = |edge: &str| path == edge || path.starts_with(&format!("{edge}::"));
        self.nature != Pure || !EDGES_OF_STD.iter().any(|edge| within(edge))
    }

    /// Whether it may lift the ban on unsafe code.
    pub fn may_allow_unsafe(&self) -> bool {
        matches!(self.name, "xsk" | "sys")
    }
}
