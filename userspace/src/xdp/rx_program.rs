//! The receive program: takes frames of ours off the interface and into AF_XDP sockets, or counts them. Knows neither
//! what a probe says nor who reads the sockets.

use super::AttachMode;
use super::bound::Bound;
use super::counters::QueueCounters;
use super::loaded::{Loaded, persistently};
use super::refusal::Refusal;
use super::trouble::{self, Target};
use crate::finding::Finding;
use aya::maps::{Map, MapData, MapError, PerCpuArray, XskMap};
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
    /// The same for one device alone, while nothing has refused it.
    bound: Option<Bound>,
    refused: Option<String>,
    /// Whether that one is the one that is or was attached last.
    on_bound: bool,
    stamps: bool,
}

impl RxProgram {
    /// Loads the program; it is on no interface yet.
    ///
    /// # Errors
    /// `CapabilityMissing`, `KernelTooOld`, `NoMemory`, or `System` with the verifier's words.
    pub fn load(options: &RxOptions) -> Result<Self, Finding> {
        let loaded = Loaded::load(RX_PROGRAM, options.config(), &options.shapes, options.queues)?;
        let (bound, refused, on_bound) = (None, None, false);
        Ok(Self { loaded, bound, refused, on_bound, stamps: options.stamp })
    }

    /// Loads it beside a program that runs on the interface of that index alone, in native mode, and asks its driver when
    /// the device received a frame and whether it hashed it. Where that one is refused, now or when it is attached,
    /// [`RxProgram::metadata_refused`] says why, and the usual program does what it does without.
    ///
    /// # Errors
    /// As [`RxProgram::load`].
    pub fn load_with_metadata(options: &RxOptions, ifindex: u32) -> Result<Self, Finding> {
        let mut program = Self::load(options)?;
        match Bound::load(ifindex, options.config(), &options.shapes, options.queues) {
            Ok(bound) => program.bound = Some(bound),
            Err(refusal) => program.refused = Some(refusal.reason()),
        }
        Ok(program)
    }

    /// Whether the program that is attached, or was last, asks the driver what it knows of a frame.
    #[must_use]
    pub const fn reads_metadata(&self) -> bool {
        self.on_bound
    }

    /// Why no program that does so could be had, although it was asked for.
    #[must_use]
    pub fn metadata_refused(&self) -> Option<&str> {
        self.refused.as_deref()
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
        let target = Target { ifindex, iface, mode };
        self.on_bound = mode == AttachMode::Native && self.attach_bound(target)?;
        if self.on_bound { Ok(()) } else { self.loaded.attach(target) }
    }

    /// Attaches the program that is bound to its device, where there is one: whether it is on. An interface that another
    /// program holds refuses the usual one as well, which then says so.
    fn attach_bound(&mut self, target: Target<'_>) -> Result<bool, Finding> {
        let Some(bound) = &mut self.bound else { return Ok(false) };
        match persistently(target, || Ok(bound.attach(target)))? {
            Ok(()) => Ok(true),
            Err((refusal, seen)) if refusal.is_held() => Err(trouble::attach(target, &refusal, &seen)),
            Err((refusal, _)) => {
                (self.bound, self.refused) = (None, Some(refusal.reason()));
                Ok(false)
            }
        }
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
        let map = match &mut self.bound {
            Some(bound) if self.on_bound => &mut bound.sockets,
            _ => self.loaded.ebpf.map_mut(SOCKETS_MAP).ok_or_else(|| trouble::not_in_object(SOCKETS_MAP))?,
        };
        let mut sockets: XskMap<&mut MapData> = map.try_into().map_err(failed)?;
        if queue >= sockets.len() {
            return Err(trouble::queue_beyond(queue, sockets.len()));
        }
        sockets.set(queue, fd.as_raw_fd(), 0).map_err(failed)
    }

    /// The counters of the first `queues` queues since the program was loaded: a row a queue, each the sum over CPUs.
    /// A row costs a system call, or two with a program that is bound to its device.
    ///
    /// # Errors
    /// `System` when the map cannot be read.
    pub fn counters(&self, queues: u32) -> Result<Vec<QueueCounters>, Finding> {
        let map = self.loaded.ebpf.map(COUNTERS_MAP).ok_or_else(|| trouble::not_in_object(COUNTERS_MAP))?;
        let mut rows = rows(map, queues)?;
        if let Some(bound) = &self.bound {
            // Of a run that changed the program both have counted.
            let more = self::rows(&bound.counters, queues)?;
            rows.iter_mut().zip(more).for_each(|(row, more)| *row = *row + more);
        }
        Ok(rows)
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
        self.bound.iter_mut().for_each(Bound::detach);
    }
}

/// The first rows of a map of counters.
fn rows(map: &Map, queues: u32) -> Result<Vec<QueueCounters>, Finding> {
    let failed = |error: MapError| trouble::map(COUNTERS_MAP, "they cannot be read", &Refusal::new(&error));
    let rows: PerCpuArray<&MapData, [u64; COUNTERS]> = map.try_into().map_err(failed)?;
    let row = |queue| {
        rows.get(&queue, 0).map(|cpus| cpus.iter().copied().map(QueueCounters::from).sum()).map_err(failed)
    };
    (0..queues.min(rows.len())).map(row).collect()
}
