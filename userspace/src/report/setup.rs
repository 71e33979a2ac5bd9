//! What was obtained: host, interface, path, modes, queues and cores. Facts only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Kernel release.
    pub kernel: String,
    /// Machine architecture.
    pub arch: String,
    /// CPU model; null where the kernel does not say.
    pub cpu_model: Option<String>,
    /// Cores that this process may use.
    pub cores: u32,
    /// Version of xsk-gen.
    pub version: String,
}

/// The interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its index in its namespace.
    pub ifindex: u32,
    /// What kind of NIC it is.
    pub kind: Kind,
    /// Its driver; null where unknown.
    pub driver: Option<String>,
    /// Its MAC.
    pub mac: Option<String>,
    /// Its MTU.
    pub mtu: u32,
    /// Link speed in bit/s; null where there is none.
    pub speed_bps: Option<u64>,
    /// Its NUMA node; null where it has none.
    pub numa_node: Option<u32>,
}

/// What kind of NIC an interface is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A PCI function on bare metal.
    Physical,
    /// The physical function of an SR-IOV NIC.
    SriovPf,
    /// A virtual function of an SR-IOV NIC.
    SriovVf,
    /// A real PCI function in a guest.
    Passthrough,
    /// virtio, vmxnet3, xen-netfront and their like.
    Paravirtual,
    /// e1000, rtl8139 and their like, emulated by a hypervisor.
    Emulated,
    /// veth, tap, bridge, bond and their like.
    Virtual,
    /// The evidence does not decide.
    Unknown,
}

/// Where the frames travelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Path {
    /// The verdict.
    pub verdict: PathVerdict,
    /// What it rests on.
    pub evidence: String,
}

/// The verdict on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathVerdict {
    /// A cable or switch.
    Wire,
    /// The switch inside one NIC.
    NicSwitch,
    /// A hypervisor's switch.
    Vswitch,
    /// Both ends on this host.
    SameHost,
    /// Not known.
    Unknown,
}

/// How the XDP program is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum XdpModeUsed {
    /// In the driver.
    Native,
    /// In the stack, over socket buffers.
    Generic,
    /// No program is attached.
    None,
}

/// How the AF_XDP socket moves frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum XskModeUsed {
    /// The NIC reads and writes our memory.
    Zerocopy,
    /// The kernel copies.
    Copy,
    /// No socket is bound.
    None,
}

/// Which engine sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// AF_XDP sockets.
    Xsk,
    /// Live frames from inside the kernel.
    Live,
}

/// What was obtained, not what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// How the XDP program is attached.
    pub xdp_mode: XdpModeUsed,
    /// How the sockets move frames.
    pub xsk_mode: XskModeUsed,
    /// Which engine sends; null on rx.
    pub engine: Option<Engine>,
    /// Whether the driver asks to be woken.
    pub need_wakeup: bool,
    /// Whether the sockets prefer busy polling.
    pub busy_poll: bool,
    /// Frames that one busy poll takes at the most; null where they do not.
    #[serde(default)]
    pub busy_poll_budget: Option<u32>,
    /// What the workers' clock is made of: `tsc` is the time stamp counter between readings of CLOCK_MONOTONIC, `monotonic` the
    /// readings alone. Null from older programs.
    #[serde(default)]
    pub clock: Option<String>,
    /// Queues served.
    pub queues: Vec<u32>,
    /// Cores of the workers, one an entry.
    pub cores: Vec<u32>,
    /// Cores that take the interface's interrupts; null where unknown.
    pub irq_cores: Option<Vec<u32>>,
    /// Frames a turn at the most.
    pub batch: u32,
    /// Entries of the transmit or receive ring of each queue.
    pub ring_size: u32,
    /// Bytes a chunk of packet memory.
    pub chunk_bytes: u32,
    /// Chunks a queue.
    pub chunks: u32,
    /// Whether packet memory lies in huge pages.
    pub hugepages: bool,
    /// The interface's NAPI settings; null where unknown.
    pub napi: Option<Napi>,
    /// Who took the times at which frames arrived; null where none are received.
    #[serde(default)]
    pub timestamps: Option<Timestamps>,
}

/// Who took the times at which frames arrived, besides the worker. Each figure names its own clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timestamps {
    /// The best that frames bore.
    pub source: TimestampSource,
    /// What it rests on, or why there is none better.
    pub why: String,
}

/// Who takes times of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimestampSource {
    /// The NIC as well as the XDP program, for some frames at least.
    Nic,
    /// The XDP program.
    Xdp,
    /// Nobody.
    None,
}

/// NAPI settings of the interface.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Napi {
    /// Empty polls before interrupts are enabled again.
    pub defer_hard_irqs: Option<u32>,
    /// Nanoseconds before GRO is flushed.
    pub gro_flush_timeout_ns: Option<u64>,
    /// Whether polling has a kernel thread of its own.
    pub threaded: Option<bool>,
}
