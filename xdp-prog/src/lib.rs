//! The kernel side of xsk-gen as userspace sees it: the compiled XDP programs, the names in them, and the layouts of
//! bpf/layouts.h. Knows no loader, interface or socket.

mod shape;
mod stamp;
pub mod table;

pub use shape::{Check, MAX_CHECKS, MAX_HEADER_BYTES, MAX_SHAPES, SHAPES_BYTES, Shape, shapes_to_bytes};
pub use stamp::Stamp;

/// What the programs are told before they are loaded, besides shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Config {
    /// UDP destination port of ours; 0 means that no UDP is ours.
    pub udp_port: u16,
    /// Take frames of this EtherType although they are not ours; 0 means none.
    pub ether_type: u16,
    /// Take only frames whose outermost VLAN tag has this id.
    pub vlan: Option<u16>,
    /// How many shapes are told; no more than [`MAX_SHAPES`] are.
    pub shapes: u16,
    /// Count and drop in the program, redirect nothing.
    pub count_only: bool,
    /// Take every frame.
    pub any: bool,
    /// Of every frame, leave ARP and IPv6 neighbour discovery to the stack.
    pub leave_neighbours: bool,
    /// Put `struct xsk_gen_stamp` in front of each frame that goes to a socket.
    pub stamp: bool,
    /// Ours are probes that a reflector sent back, and [`Config::udp_port`] is where they come from.
    pub back: bool,
}

/// Length of `struct xsk_gen_config` in bytes.
pub const CONFIG_BYTES: usize = 14;

impl Config {
    /// `struct xsk_gen_config`, which is the whole of .rodata.
    #[must_use]
    pub fn to_bytes(self) -> [u8; CONFIG_BYTES] {
        let [p, q] = self.udp_port.to_ne_bytes();
        let [e, f] = self.ether_type.to_ne_bytes();
        let [v, w] = self.vlan.unwrap_or(0).to_ne_bytes();
        let [s, t] = self.shapes.to_ne_bytes();
        let [count_only, any, with_vlan, leave] =
            [self.count_only, self.any, self.vlan.is_some(), self.leave_neighbours].map(u8::from);
        [p, q, e, f, v, w, s, t, count_only, any, with_vlan, leave, u8::from(self.stamp), u8::from(self.back)]
    }
}

/// `enum xsk_gen_counter`: the index of each counter in a queue's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Counter {
    /// Recognised as ours.
    Ours,
    /// Of ours, sent to the queue's AF_XDP socket.
    Redirected,
    /// Of ours, dropped because the queue has no socket.
    NoSocket,
    /// Of ours, counted and dropped (count-only).
    Counted,
    /// Control frames of ours, passed: in count-only, or without a socket.
    Control,
    /// Not ours, passed.
    Passed,
    /// Passed: headers that are cut or contradict themselves.
    Malformed,
    /// Passed: our port or EtherType behind a stack that is not parsed, or a fragment.
    Unsupported,
    /// Bytes of ours, without FCS.
    Bytes,
    /// Not ours, but asked for: redirected or counted.
    Taken,
    /// Bytes of those, without FCS.
    TakenBytes,
    /// Probes dropped because the frame had no room for its stamp.
    NoRoom,
    /// By the device-bound program: frames that the device hashed by their headers.
    Hashed,
    /// By the same: frames for which the device has no time of receipt.
    Untimed,
}

impl Counter {
    /// All of them, in order of index.
    pub const ALL: [Self; COUNTERS] = [
        Self::Ours,
        Self::Redirected,
        Self::NoSocket,
        Self::Counted,
        Self::Control,
        Self::Passed,
        Self::Malformed,
        Self::Unsupported,
        Self::Bytes,
        Self::Taken,
        Self::TakenBytes,
        Self::NoRoom,
        Self::Hashed,
        Self::Untimed,
    ];
}

/// Counters in a row.
pub const COUNTERS: usize = 14;

/// "XG": the first two bytes of a probe.
pub const MAGIC: u16 = 0x5847;
/// IEEE Std 802, local experimental EtherType 1.
pub const ETHERTYPE: u16 = 0x88B5;
/// The stream of a control frame.
pub const CONTROL_STREAM: u16 = 0xFFFF;
/// Length of a probe in bytes.
pub const PROBE_BYTES: usize = 18;
/// Receive queues that the maps hold unless another number is asked for.
pub const MAX_QUEUES: u32 = 256;

/// The program that takes frames of ours off the interface.
pub const RX_PROGRAM: &str = "xsk_gen_rx";
/// The program that passes everything.
pub const PASS_PROGRAM: &str = "xsk_gen_pass";
/// XSKMAP of sockets by receive queue.
pub const SOCKETS_MAP: &str = "xsks";
/// Per-CPU array of counter rows by receive queue.
pub const COUNTERS_MAP: &str = "counters";
/// The global of type `struct xsk_gen_config`.
pub const CONFIG_GLOBAL: &str = "cfg";
/// The global of type `struct xsk_gen_shape[]`.
pub const SHAPES_GLOBAL: &str = "shapes";
/// The section that is all of that global.
pub const SHAPES_SECTION: &str = ".rodata.shapes";

/// Loaders read the ELF headers in place, which takes their alignment.
#[repr(C, align(8))]
struct Aligned<B: ?Sized>(B);

static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/xsk_gen.bpf.o")));

static BOUND_OBJECT: &Aligned<[u8]> =
    &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/xsk_gen_bound.bpf.o")));

static BUILD_OBJECT: &Aligned<[u8]> =
    &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/xsk_gen_build.bpf.o")));

/// The program that makes frames, compiled: an ELF object, aligned to 8 bytes. See [`table`].
#[must_use]
pub fn build_object() -> &'static [u8] {
    &BUILD_OBJECT.0
}

/// The same programs as [`object`] for one device alone, whose driver they ask what it knows of a frame: an ELF object,
/// aligned to 8 bytes. It calls kernel functions, and must be loaded for that device.
#[must_use]
pub fn bound_object() -> &'static [u8] {
    &BOUND_OBJECT.0
}

/// The compiled programs: an ELF object, aligned to 8 bytes.
#[must_use]
pub fn object() -> &'static [u8] {
    &OBJECT.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUTS: &str = include_str!("../bpf/layouts.h");

    fn defined(name: &str) -> u32 {
        let after = |line: &'static str| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' ');
        let value = LAYOUTS.lines().find_map(after).expect("a #define of that name").trim();
        match value.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).expect("a hexadecimal number"),
            None => value.parse().expect("a decimal number"),
        }
    }

    /// NO_SOCKET as NoSocket.
    fn camel(name: &str) -> String {
        let word = |word: &str| format!("{}{}", &word[..1], word[1..].to_lowercase());
        name.split('_').map(word).collect()
    }

    #[test]
    fn constants_agree_with_the_c_side() {
        assert_eq!(defined("XSK_GEN_MAGIC"), u32::from(MAGIC));
        assert_eq!(defined("XSK_GEN_ETHERTYPE"), u32::from(ETHERTYPE));
        assert_eq!(defined("XSK_GEN_CONTROL_STREAM"), u32::from(CONTROL_STREAM));
        assert_eq!(defined("XSK_GEN_MAX_QUEUES"), MAX_QUEUES);
        assert_eq!(defined("XSK_GEN_MAX_SHAPES") as usize, MAX_SHAPES);
        assert_eq!(defined("XSK_GEN_MAX_CHECKS") as usize, MAX_CHECKS);
        assert_eq!(defined("XSK_GEN_MAX_HEADER") as usize, MAX_HEADER_BYTES);
        assert!(LAYOUTS.contains(&format!("sizeof(struct xsk_gen_config) == {CONFIG_BYTES},")));
        assert!(LAYOUTS.contains(&format!("sizeof(struct xsk_gen_shape) == {},", SHAPES_BYTES / MAX_SHAPES)));
        assert!(LAYOUTS.contains(&format!("sizeof(struct xsk_gen_probe) == {PROBE_BYTES},")));
        assert!(LAYOUTS.contains(&format!("sizeof(struct xsk_gen_stamp) == {},", Stamp::BYTES)));
        assert!(LAYOUTS.contains(&format!("sizeof(struct xsk_gen_queue) == {COUNTERS} * ")));
    }

    /// The names of a struct's members, in order.
    fn members(name: &str) -> Vec<&'static str> {
        let body = LAYOUTS.split_once(&format!("struct {name} {{")).expect("the struct").1;
        let body = body.split_once("};").expect("its end").0;
        body.lines().filter_map(|line| line.split_once(';')?.0.split_whitespace().nth(1)).collect()
    }

    #[test]
    fn the_configuration_is_written_member_by_member() {
        let names = [
            "udp_port",
            "ether_type",
            "vlan",
            "shapes",
            "count_only",
            "any",
            "with_vlan",
            "leave_neighbours",
            "stamp",
            "back",
        ];
        assert_eq!(members("xsk_gen_config"), names);
        let config = Config { udp_port: 0x0101, ether_type: 0x0202, vlan: Some(0x0303), ..Config::default() };
        assert_eq!(config.to_bytes(), [1, 1, 2, 2, 3, 3, 0, 0, 0, 0, 1, 0, 0, 0]);
        let config = Config { shapes: 0x0404, count_only: true, any: true, ..Config::default() };
        assert_eq!(config.to_bytes(), [0, 0, 0, 0, 0, 0, 4, 4, 1, 1, 0, 0, 0, 0]);
        assert_eq!(Config { leave_neighbours: true, ..Config::default() }.to_bytes()[11], 1);
        assert_eq!(Config { stamp: true, ..Config::default() }.to_bytes()[12..], [1, 0]);
        assert_eq!(Config { back: true, ..Config::default() }.to_bytes()[12..], [0, 1]);
        assert_eq!(members("xsk_gen_check"), ["at", "mask", "value", "pad"]);
    }

    #[test]
    fn counters_agree_with_the_c_side() {
        let body = LAYOUTS.split_once("enum xsk_gen_counter {").expect("the enum").1;
        let body = body.split_once("XSK_GEN_COUNTERS").expect("its last entry").0;
        let c_side: Vec<String> =
            body.split(',').filter_map(|entry| entry.trim().strip_prefix("XSK_GEN_")).map(camel).collect();
        let rust_side: Vec<String> = Counter::ALL.iter().map(|counter| format!("{counter:?}")).collect();
        assert_eq!(c_side, rust_side);
        assert!(Counter::ALL.iter().enumerate().all(|(index, counter)| *counter as usize == index));
    }

    #[test]
    fn each_object_is_an_aligned_elf_that_names_no_folder_of_the_build() {
        let folders =
            [env!("CARGO_MANIFEST_DIR"), env!("OUT_DIR").split("/build/").next().expect("a first part")];
        for object in [object(), bound_object()] {
            assert!(object.starts_with(b"\x7fELF"));
            assert_eq!(object.as_ptr().align_offset(8), 0);
            for folder in folders {
                assert!(!object.windows(folder.len()).any(|window| window == folder.as_bytes()), "{folder}");
            }
        }
    }
}
