//! The netdev netlink family: XDP features, real queues and NAPI instances of an interface. Absent before Linux 6.3
//! (queues and NAPI 6.8); then every answer is "unknown", never "none". Source: Documentation/netlink/specs/netdev.yaml.

use bitflags::bitflags;
use netlink_bindings::netdev::{QueueType, Request};
use netlink_socket2::{NetlinkSocket, ReplyError};
use std::io;

bitflags! {
    /// What a driver says that it can do with XDP: enum netdev_xdp_act of include/uapi/linux/netdev.h.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct XdpFeatures: u64 {
        /// Aborted, drop, pass and tx.
        const BASIC = 1;
        /// XDP_REDIRECT, which an AF_XDP receiver rests on.
        const REDIRECT = 1 << 1;
        /// Takes redirected frames of others.
        const NDO_XMIT = 1 << 2;
        /// AF_XDP in zero-copy mode.
        const XSK_ZEROCOPY = 1 << 3;
        /// Programs that run on the NIC.
        const HW_OFFLOAD = 1 << 4;
        /// Frames of several buffers on receive.
        const RX_SG = 1 << 5;
        /// Frames of several buffers on transmit.
        const NDO_XMIT_SG = 1 << 6;
    }
}

bitflags! {
    /// What a driver tells an XDP program of a frame: enum netdev_xdp_rx_metadata of the same file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RxMetadata: u64 {
        /// When the device received it.
        const TIMESTAMP = 1;
        /// Its RSS hash.
        const HASH = 1 << 1;
        /// Its VLAN tag.
        const VLAN_TAG = 1 << 2;
    }
}

/// What a driver says of XDP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XdpAbilities {
    /// Its features.
    pub features: XdpFeatures,
    /// Chunks that a frame may take in zero-copy mode; None where it has none, or the kernel does not tell (before 6.6).
    pub zero_copy_chunks: Option<u32>,
    /// What it tells a program of a frame; None where the kernel does not tell (before 6.6).
    pub rx_metadata: Option<RxMetadata>,
}

/// What the driver can do with XDP; None where the kernel does not tell.
#[must_use]
pub fn xdp_abilities(ifindex: u32) -> Option<XdpAbilities> {
    let mut request = Request::new().op_dev_get_do();
    request.encode().push_ifindex(ifindex);
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request).ok()?;
    let device = reply.recv_one().ok()?;
    let features = XdpFeatures::from_bits_retain(device.get_xdp_features().ok()?);
    let rx_metadata = device.get_xdp_rx_metadata_features().ok().map(RxMetadata::from_bits_retain);
    Some(XdpAbilities { features, zero_copy_chunks: device.get_xdp_zc_max_segs().ok(), rx_metadata })
}

/// Queues in use, by direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Queues {
    pub rx: u32,
    pub tx: u32,
}

/// The queues that the device has configured; zeroes while it is down.
pub(super) fn queues(ifindex: u32) -> io::Result<Queues> {
    let mut queues = Queues::default();
    each_queue(ifindex, |queue| match queue.direction {
        Direction::Rx => queues.rx += 1,
        Direction::Tx => queues.tx += 1,
    })?;
    Ok(queues)
}

/// Receive or transmit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Receive.
    Rx,
    /// Transmit.
    Tx,
}

/// One queue as the kernel gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Its number within its direction.
    pub id: u32,
    /// Which way frames go.
    pub direction: Direction,
    /// Whether an AF_XDP socket is bound to it.
    pub has_xsk: bool,
}

/// Every configured queue of the interface; None where the kernel does not tell (before 6.8), empty while it is down.
#[must_use]
pub fn queue_list(ifindex: u32) -> Option<Vec<Queue>> {
    let mut list = Vec::new();
    each_queue(ifindex, |queue| list.push(queue)).ok()?;
    Some(list)
}

fn each_queue(ifindex: u32, mut visit: impl FnMut(Queue)) -> Result<(), ReplyError> {
    let mut request = Request::new().op_queue_get_dump();
    request.encode().push_ifindex(ifindex);
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    while let Some(queue) = reply.recv().transpose()? {
        let direction = match queue.get_type().map(u64::from).map(QueueType::from_value) {
            Ok(Some(QueueType::Rx)) => Direction::Rx,
            Ok(Some(QueueType::Tx)) => Direction::Tx,
            _ => continue,
        };
        let Ok(id) = queue.get_id() else { continue };
        visit(Queue { id, direction, has_xsk: queue.get_xsk().is_ok() });
    }
    Ok(())
}

/// One NAPI instance; what this kernel does not tell is None.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NapiInstance {
    pub irq: Option<u32>,
    pub defer_hard_irqs: Option<u32>,
    pub gro_flush_timeout_ns: Option<u64>,
    pub threaded: Option<bool>,
}

/// The NAPI instances of the interface; empty where there are none or the kernel does not tell.
pub(super) fn napi_instances(ifindex: u32) -> Vec<NapiInstance> {
    read_napi(ifindex).unwrap_or_default()
}

fn read_napi(ifindex: u32) -> Result<Vec<NapiInstance>, ReplyError> {
    let mut request = Request::new().op_napi_get_dump();
    request.encode().push_ifindex(ifindex);
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    let mut instances = Vec::new();
    while let Some(napi) = reply.recv().transpose()? {
        instances.push(NapiInstance {
            irq: napi.get_irq().ok(),
            defer_hard_irqs: napi.get_defer_hard_irqs().ok(),
            gro_flush_timeout_ns: napi.get_gro_flush_timeout().ok().map(u64::from),
            // 2 is "threaded and busy polling".
            threaded: napi.get_threaded().ok().map(|mode| mode != 0),
        });
    }
    Ok(instances)
}
