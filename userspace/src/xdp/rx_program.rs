//! The receive program: takes frames of ours off the interface and into AF_XDP sockets, or counts them. Knows neither
//! what a probe says nor who reads the sockets.

use super::AttachMode;
use super::counters::QueueCounters;
use super::loaded::Loaded;
use super::refusal::Refusal;
use super::trouble::{self, Target};
use crate::finding::Finding;
use aya::maps::{MapData, MapError, PerCpuArray, XskMap};
use std::os::fd::AsRawFd;
use xdp_prog::{COUNTERS, COUNTERS_MAP, Config, MAX_SHAPES, RX_PROGRAM, SOCKETS_MAP, Shape};

/// How the receive program is loaded: which frames it takes, and what becomes of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RxOptions {
    /// UDP destination port of ours, or of what comes back the source port; None when only EtherType 0x88B5 is.
    pub udp_port: Option<u16>,
    /// Stacks beyond the plain ones that frames of ours come in; the first [`xdp_prog::MAX_SHAPES`] count.
    pub shapes: Vec<Shape>,
    /// Take only frames whose outermost VLAN tag has this id.
    pub vlan: Option<u16>,
    /// Take frames of this EtherType, behind up to two tags, although they are not ours.
    pub ether_type: Option<u16>,
    /// Take every frame but those that the stack needs to be reached: ARP and IPv6 neighbour discovery.
    pub any: bool,
    /// Count and drop in the program; no socket is needed.
    pub count_only: bool,
    /// Put a [`xdp_prog::Stamp`] in front of each frame that goes to a socket, which whoever reads the socket must know.
    pub stamp: bool,
    /// Ours are probes that a reflector sent back: they come from [`RxOptions::udp_port`].
    pub back: bool,
    /// Receive queues that the interface may have at most: frames on a queue beyond pass uncounted.
    pub queues: u32,
}

impl RxOptions {
    /// Frames of ours in plain stacks, into sockets.
    #[must_use]
    pub const fn plain(udp_port: Option<u16>, queues: u32) -> Self {
        let shapes = Vec::new();
        let (vlan, ether_type, any, count_only, stamp, back) = (None, None, false, false, false, false);
        Self { udp_port, shapes, vlan, ether_type, any, count_only, stamp, back, queues }
    }

    pub(super) fn config(&self) -> Config {
        Config {
            udp_port: self.udp_port.unwrap_or(0),
            ether_type: self.ether_type.unwrap_or(0),
            vlan: self.vlan,
            shapes: u16::try_from(self.shapes.len().min(MAX_SHAPES)).unwrap_or(u16::MAX),
            count_only: self.count_only,
            any: self.any,
            leave_neighbours: self.any,
            stamp: self.stamp,
            back: self.back,
        }
    }
}

/// The receive program in the kernel; dropping it takes it off the interface.
#[derive(Debug)]
pub struct RxProgram {
    loaded: Loaded,
    stamps: bool,
}

impl RxProgram {
    /// Loads the program; it is on no interface yet.
    ///
    /// # Errors
    /// `CapabilityMissing`, `KernelTooOld`, `NoMemory`, or `System` with the verifier's words.
    pub fn load(options: &RxOptions) -> Result<Self, Finding> {
        let loaded = Loaded::load(RX_PROGRAM, options.config(), &options.shapes, options.queues)?;
        Ok(Self { loaded, stamps: options.stamp })
    }

    /// Whether each frame in a socket has a [`xdp_prog::Stamp`] in front of it.
    #[must_use]
    pub const fn stamps(&self) -> bool {
        self.stamps
    }

    /// Attaches it to the interface of that index in the calling thread's network namespace; `iface` names it in
    /// Findings. A real NIC may drop its carrier for seconds.
    ///
    /// # Errors
    /// `XdpOccupied`, `NativeRefused`, `MtuAboveXdp`, `CapabilityMissing`, `InterfaceUnknown`, `NoMemory`,
    /// `KernelTooOld` or `System`; nothing stays attached then.
    pub fn attach(&mut self, ifindex: u32, iface: &str, mode: AttachMode) -> Result<(), Finding> {
        self.loaded.attach(Target { ifindex, iface, mode })
    }

    /// Gives the frames of ours that arrive on `queue` to an AF_XDP socket, which must be bound to that queue. The
    /// kernel takes the entry out again when the socket closes.
    ///
    /// # Errors
    /// `QueueRange` when the maps are smaller, `System` when the kernel takes no such descriptor.
    pub fn set_socket(&mut self, queue: u32, fd: &impl AsRawFd) -> Result<(), Finding> {
        let on = format!("queue {queue}");
        let failed =
            |error: MapError| trouble::map(&*on, "no socket can be set for it", &Refusal::new(&error));
        let map = self.loaded.ebpf.map_mut(SOCKETS_MAP).ok_or_else(|| trouble::not_in_object(SOCKETS_MAP))?;
        let mut sockets: XskMap<&mut MapData> = map.try_into().map_err(failed)?;
        if queue >= sockets.len() {
            return Err(trouble::queue_beyond(queue, sockets.len()));
        }
        sockets.set(queue, fd.as_raw_fd(), 0).map_err(failed)
    }

    /// The counters of the first `queues` queues since the program was loaded: a row a queue, each the sum over CPUs.
    /// A row costs a system call.
    ///
    /// # Errors
    /// `System` when the map cannot be read.
    pub fn counters(&self, queues: u32) -> Result<Vec<QueueCounters>, Finding> {
        let failed =
            |error: MapError| trouble::map(COUNTERS_MAP, "they cannot be read", &Refusal::new(&error));
        let map = self.loaded.ebpf.map(COUNTERS_MAP).ok_or_else(|| trouble::not_in_object(COUNTERS_MAP))?;
        let rows: PerCpuArray<&MapData, [u64; COUNTERS]> = map.try_into().map_err(failed)?;
        let row = |queue| {
            rows.get(&queue, 0)
                .map(|cpus| cpus.iter().copied().map(QueueCounters::from).sum())
                .map_err(failed)
        };
        (0..queues.min(rows.len())).map(row).collect()
    }

    /// Whether the counters can be read at all: a row a CPU, whose number the kernel tells in sysfs only.
    ///
    /// # Errors
    /// `System`, with what to do about it.
    pub fn check_counters(&self) -> Result<(), Finding> {
        self.counters(1).map(|_| ()).map_err(|finding| {
            finding.remedy("mount -t sysfs sysfs /sys, where it is missing: the number of CPUs is read there")
        })
    }

    /// Takes the program off the interface; its counters stay readable.
    pub fn detach(&mut self) {
        self.loaded.detach();
    }
}
