//! The first lines of a run: where, in which modes, and what is offered.

use super::words::{UNKNOWN, kind, list, plural, scaled, seconds, xdp_mode, xsk_mode};
use crate::report::{Interface, Offered, Setup, XskModeUsed};
use crate::units::{grouped, si};

/// A title and labelled lines, each ended by a line feed: the interface, the modes obtained, the workers, and the
/// offered load in frames a second, layer 1 and layer 2. `offered` is None where this side was not told.
#[must_use]
pub fn header(command: &str, interface: &Interface, setup: &Setup, offered: Option<&Offered>) -> String {
    let mut out = title(command, interface);
    let mut line = |label: &str, what: String| out.push_str(&labelled(label, &what));
    line("modes", modes(setup));
    line("workers", workers(setup));
    line("offered", offered.map_or_else(|| UNKNOWN.to_owned(), load));
    if let Some(offered) = offered {
        line("", addresses(offered));
    }
    out
}

/// One line under a title: `label`, padded, and what it labels.
pub(super) fn labelled(label: &str, what: &str) -> String {
    format!("  {label:<10}{what}\n")
}

fn title(command: &str, interface: &Interface) -> String {
    let driver = interface.driver.as_deref().unwrap_or("driver unknown");
    let speed = interface.speed_bps.map_or_else(|| "no link speed".to_owned(), speed_text);
    let (name, mtu) = (&interface.name, interface.mtu);
    format!("{command} on {name}: {}, {driver}, MTU {mtu}, {speed}\n", kind(interface.kind))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn speed_text(bps: u64) -> String {
    si(bps as f64, "bit/s")
}

fn modes(setup: &Setup) -> String {
    let wakeup = match setup.xsk_mode {
        XskModeUsed::None => "",
        _ if setup.need_wakeup => ", wakes the driver when asked",
        _ => ", wakes the driver each turn",
    };
    let polling = if setup.busy_poll { ", busy polling" } else { "" };
    format!("{}, {}{wakeup}{polling}", xdp_mode(setup.xdp_mode), xsk_mode(setup.xsk_mode))
}

fn workers(setup: &Setup) -> String {
    let interrupts = setup.irq_cores.as_ref().map_or_else(|| UNKNOWN.to_owned(), |cores| list(cores));
    let pages = if setup.hugepages { ", huge pages" } else { "" };
    format!(
        "queues {}; cores {}; interrupts on {interrupts}; batch {}, ring {}{pages}",
        list(&setup.queues),
        list(&setup.cores),
        setup.batch,
        grouped(setup.ring_size.into()),
    )
}

fn load(offered: &Offered) -> String {
    let rate = match offered.rate_pps {
        None => "as fast as it goes".to_owned(),
        Some(pps) => format!(
            "{} (L1 {}, L2 {})",
            si(pps, "pps"),
            scaled(offered.rate_l1_bps, "bit/s"),
            scaled(offered.rate_l2_bps, "bit/s"),
        ),
    };
    let count = offered.count.map(|n| plural(n, "frame"));
    let time = offered.duration_s.map(|s| seconds(Some(s)));
    let limits: Vec<String> = [count, time].into_iter().flatten().collect();
    let limits = if limits.is_empty() { "until stopped".to_owned() } else { limits.join(" or ") };
    let flows = plural(offered.flows, "flow");
    let streams = if offered.streams > 1 { format!(", {} streams", offered.streams) } else { String::new() };
    let size = match offered.size_bytes {
        Some(size) => format!("{} bytes with FCS", grouped(size.into())),
        None => format!("{:.1} bytes with FCS on average", offered.mean_size_bytes),
    };
    format!("{size}, {rate}, {limits}, {flows}{streams}")
}

fn addresses(offered: &Offered) -> String {
    let macs = format!("{} → {}", offered.src_mac, offered.dst_mac);
    let vlans: String = offered.vlans.iter().map(|id| format!(", VLAN {id}")).collect();
    let end = |ip: &Option<String>, port: Option<u16>| Some((ip.clone()?, port?));
    let from = end(&offered.src_ip, offered.src_port);
    let checks = if offered.verify { "" } else { ", not verified" };
    match (from, end(&offered.dst_ip, offered.dst_port)) {
        (Some((src, src_port)), Some((dst, dst_port))) => {
            format!("{macs}{vlans}, {src} port {src_port} → {dst} port {dst_port}{checks}")
        }
        _ => format!("{macs}{vlans}, no IP{checks}"),
    }
}
