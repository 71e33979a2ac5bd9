//! ethtool's netlink family: link speed, channels and features. All need no privilege and are absent where a driver has
//! nothing to say. Source: Documentation/networking/ethtool-netlink.rst.

use netlink_bindings::ethtool::Request;
use netlink_socket2::NetlinkSocket;
use std::collections::BTreeSet;
use std::io;

/// ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_MSG_FEATURES_GET and ETHTOOL_MSG_CHANNELS_GET of linux/ethtool_netlink.h. Set here because the bindings
/// (0.3.5) count the commands of this family wrongly: theirs would be the *set* of link modes and of EEE.
const LINKMODES_GET: u8 = 4;
const FEATURES_GET: u8 = 11;
const CHANNELS_GET: u8 = 17;
/// ethtool's SPEED_UNKNOWN: no link, or a device without a speed.
const SPEED_UNKNOWN: u32 = u32::MAX;
/// ethtool counts in Mbit/s.
const MEGABIT: u64 = 1_000_000;

/// The negotiated speed in bit/s, as the driver claims it.
pub(super) fn speed_bps(ifindex: u32) -> Option<u64> {
    let mut request = Request::new().op_linkmodes_get_do();
    request.header_mut().cmd = LINKMODES_GET;
    request.encode().nested_header().push_dev_index(ifindex).end_nested();
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request).ok()?;
    let megabits = reply.recv_one().ok()?.get_speed().ok()?;
    (megabits != SPEED_UNKNOWN && megabits != 0).then(|| u64::from(megabits) * MEGABIT)
}

/// Queues in use: combined channels serve both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Channels {
    pub rx: u32,
    pub tx: u32,
    pub combined: u32,
}

/// The channels in use (`ethtool -l`).
pub(super) fn channels(ifindex: u32) -> io::Result<Channels> {
    let mut request = Request::new().op_channels_get_do();
    request.header_mut().cmd = CHANNELS_GET;
    request.encode().nested_header().push_dev_index(ifindex).end_nested();
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    let channels = reply.recv_one().map_err(io::Error::from)?;
    Ok(Channels {
        rx: channels.get_rx_count().unwrap_or(0),
        tx: channels.get_tx_count().unwrap_or(0),
        combined: channels.get_combined_count().unwrap_or(0),
    })
}

/// The names of the features that are on (`ethtool -k`, with the kernel's own names); None where the kernel does not
/// tell.
pub(super) fn active_features(ifindex: u32) -> Option<BTreeSet<String>> {
    let mut request = Request::new().op_features_get_do();
    request.header_mut().cmd = FEATURES_GET;
    request.encode().nested_header().push_dev_index(ifindex).end_nested();
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request).ok()?;
    let features = reply.recv_one().ok()?;
    // The list is of those that are on, each with its name; without a mask, none carries a value.
    let bits = features.get_active().ok()?.get_bits().ok()?;
    Some(bits.get_bit().filter_map(|bit| Some(bit.get_name().ok()?.to_string_lossy().into_owned())).collect())
}
