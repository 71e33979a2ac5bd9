//! The first lines of a run: where, in which modes, and what is offered.

use super::words::{UNKNOWN, kind, list, plural, scaled, seconds, timestamps, xdp_mode, xsk_mode};
use crate::report::{Arrivals, Interface, Offered, OfferedPcap, Setup, Timestamps, XskModeUsed};
use crate::units::{grouped, si};

/// A title and labelled lines, each ended by a line feed: the interface, the modes obtained, the workers, and the
/// offered load in frames a second, layer 1 and layer 2. `offered` is None where this side was not told.
#[must_use]
pub fn header(command: &str, interface: &Interface, setup: &Setup, offered: Option<&Offered>) -> String {
    let mut out = title(command, interface);
    let mut line = |label: &str, what: String| out.push_str(&labelled(label, &what));
    line("modes", modes(setup));
    line("workers", workers(setup));
    if let Some(Timestamps { source, why }) = &setup.timestamps {
        line("times", format!("{}: {why}", timestamps(*source)));
    }
    line("offered", offered.map_or_else(|| UNKNOWN.to_owned(), load));
    if let Some(addresses) = offered.and_then(addresses) {
        line("", addresses);
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
    let polling = match (setup.busy_poll, setup.busy_poll_budget) {
        (false, _) => String::new(),
        (true, None) => ", busy polling".to_owned(),
        (true, Some(budget)) => format!(", busy polling of {}", plural(budget.into(), "frame")),
    };
    format!("{}, {}{wakeup}{polling}", xdp_mode(setup.xdp_mode), xsk_mode(setup.xsk_mode))
}

fn workers(setup: &Setup) -> String {
    let interrupts = setup.irq_cores.as_ref().map_or_else(|| UNKNOWN.to_owned(), |cores| list(cores));
    let pages = if setup.hugepages { ", huge pages" } else { "" };
    let clock = setup.clock.as_ref().map_or_else(String::new, |clock| format!(", clock {clock}"));
    format!(
        "queues {}; cores {}; interrupts on {interrupts}; batch {}, ring {}{pages}{clock}",
        list(&setup.queues),
        list(&setup.cores),
        setup.batch,
        grouped(setup.ring_size.into()),
    )
}

fn load(offered: &Offered) -> String {
    let rate = rate(offered);
    let count = offered.count.map(|n| plural(n, "frame"));
    let time = offered.duration_s.map(|s| seconds(Some(s)));
    let limits: Vec<String> = [count, time].into_iter().flatten().collect();
    let limits = if limits.is_empty() { "until stopped".to_owned() } else { limits.join(" or ") };
    if let Some(pcap) = &offered.pcap {
        return format!("{}, {rate}, {}", capture(pcap), passes(pcap, &limits));
    }
    let flows = offered.flows.map_or_else(String::new, |n| format!(", {}", plural(n, "flow")));
    let streams = if offered.streams > 1 { format!(", {} streams", offered.streams) } else { String::new() };
    let size = match (offered.size_bytes, offered.mean_size_bytes) {
        (Some(size), _) => format!("{} bytes with FCS", grouped(size.into())),
        (None, Some(mean)) => format!("{mean:.1} bytes with FCS on average"),
        (None, None) => format!("{UNKNOWN} bytes with FCS"),
    };
    format!("{size}, {rate}, {limits}{flows}{streams}")
}

fn rate(offered: &Offered) -> String {
    let bits = |bps| scaled(bps, "bit/s");
    match offered.pcap.as_ref().and_then(|pcap| pcap.speed) {
        // Exact: it is what was typed.
        Some(1.0) => return "at the recorded times".to_owned(),
        Some(speed) => return format!("at {speed} times the recorded speed"),
        None => {}
    }
    let figures = match (offered.rate_pps, offered.rate_l1_bps, offered.rate_l2_bps) {
        (Some(pps), None, None) => si(pps, "pps"),
        (Some(pps), l1, l2) => format!("{} (L1 {}, L2 {})", si(pps, "pps"), bits(l1), bits(l2)),
        (None, Some(l1), _) => format!("L1 {}", bits(Some(l1))),
        (None, None, Some(l2)) => format!("L2 {}", bits(Some(l2))),
        (None, None, None) => "as fast as it goes".to_owned(),
    };
    match (&offered.plan, offered.arrivals, offered.burst) {
        (Some(plan), ..) => format!("{figures} in the mean by the plan {plan}"),
        (None, Arrivals::Poisson, _) => format!("{figures} in the mean, Poisson arrivals"),
        (None, Arrivals::Constant, 0..=1) => figures,
        (None, Arrivals::Constant, burst) => format!("{figures} in bursts of {burst}"),
    }
}

fn capture(pcap: &OfferedPcap) -> String {
    match (pcap.frames, pcap.bytes) {
        (Some(frames), Some(bytes)) => {
            format!("{} ({}, {} bytes with FCS)", pcap.file, plural(frames, "frame"), grouped(bytes))
        }
        _ => pcap.file.clone(),
    }
}

fn passes(pcap: &OfferedPcap, limits: &str) -> String {
    match pcap.loops {
        Some(1) => "once".to_owned(),
        Some(n) => format!("{} times", grouped(n)),
        None => format!("again and again, {limits}"),
    }
}

/// None of a capture, whose frames have their own.
fn addresses(offered: &Offered) -> Option<String> {
    let macs = format!("{} → {}", offered.src_mac.as_ref()?, offered.dst_mac.as_ref()?);
    let vlans: String = offered.vlans.iter().map(|id| format!(", VLAN {id}")).collect();
    let end = |ip: &Option<String>, port: Option<u16>| Some((ip.clone()?, port?));
    let from = end(&offered.src_ip, offered.src_port);
    let checks = if offered.verify { "" } else { ", not verified" };
    Some(match (from, end(&offered.dst_ip, offered.dst_port)) {
        (Some((src, src_port)), Some((dst, dst_port))) => {
            format!("{macs}{vlans}, {src} port {src_port} → {dst} port {dst_port}{checks}")
        }
        _ => format!("{macs}{vlans}, no IP{checks}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Report;

    fn replay(change: impl Fn(&mut Offered, &mut OfferedPcap)) -> String {
        let sample = include_str!("../../../tests/samples/report-full.json");
        let report: Report = serde_json::from_str(sample).unwrap();
        let mut offered = report.offered.unwrap();
        (offered.rate_pps, offered.rate_l1_bps, offered.rate_l2_bps, offered.duration_s) =
            (None, None, None, None);
        (offered.src_mac, offered.size_bytes) = (None, None);
        let mut pcap = OfferedPcap {
            file: "a.pcap".to_owned(),
            frames: Some(1_000),
            bytes: Some(64_000),
            loops: Some(1),
            speed: Some(1.0),
            late_s: 0.0,
        };
        change(&mut offered, &mut pcap);
        offered.pcap = Some(pcap);
        assert_eq!(addresses(&offered), None);
        load(&offered)
    }

    #[test]
    fn a_capture_is_told_with_its_timing_and_its_passes() {
        assert_eq!(
            replay(|_, _| {}),
            "a.pcap (1,000 frames, 64,000 bytes with FCS), at the recorded times, once"
        );
        let twice = replay(|_, pcap| (pcap.speed, pcap.loops) = (Some(2.5), Some(3)));
        assert!(twice.ends_with(", at 2.5 times the recorded speed, 3 times"), "{twice}");
        let endless = replay(|offered, pcap| {
            (pcap.frames, pcap.speed, pcap.loops) = (None, None, None);
            (offered.rate_l1_bps, offered.duration_s) = (Some(1e9), Some(2.0));
        });
        assert_eq!(endless, "a.pcap, L1 1.000 Gbit/s, again and again, 2.000 s");
        let fast = replay(|_, pcap| pcap.speed = None);
        assert!(fast.ends_with(", as fast as it goes, once"), "{fast}");
    }
}
