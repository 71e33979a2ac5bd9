//! What a sender offers: the configuration made concrete by the interface's and the peer's addresses.

use super::discover::Peer;
use crate::commands::Failure;
use crate::commands::placement::Seat;
use crate::config::{Addressing, Family, TxConfig};
use crate::finding::{Code, Finding, Severity};
use crate::frame::{Addresses, FrameError, L3, Stack, Start, StreamSpec};
use crate::host::{InterfaceFacts, machine};
use crate::pace::Limits;
use crate::report::Offered;
use crate::units::{FrameRate, RateError, RateSpec};
use macaddr::MacAddr6;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// Everything that the frames of a run have in common.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Names the run on both sides.
    pub id: String,
    /// The run's tag.
    pub run: u16,
    /// Headers of the first flow.
    pub stack: Stack,
    /// Asked rate over all spaces; None for max.
    pub rate: Option<FrameRate>,
    /// Sequence spaces: one a queue.
    pub spaces: u16,
    clock: u16,
    started_unix_ns: u64,
    config: TxConfig,
}

/// The UDP port by which our frames are known; None for plain Ethernet.
pub fn udp_port(config: &TxConfig) -> Option<u16> {
    (!config.address.l2).then_some(config.address.port)
}

/// A tag that two runs hardly share. The standard library's hash keys are random, which is all that is needed.
pub fn random_tag() -> u16 {
    let hash = RandomState::new().build_hasher().finish();
    (hash >> 48) as u16
}

/// The stack of the configured addresses, completed by the interface's own and the peer's.
pub fn stack(config: &TxConfig, facts: &InterfaceFacts, peer: &Peer) -> Stack {
    let address = &config.address;
    let src_mac = address.src_mac.or(facts.mac).unwrap_or(MacAddr6::nil());
    Stack { src_mac, dst_mac: peer.mac, vlans: address.vlans.clone(), l3: l3(address, facts, peer) }
}

/// Of each address: the stated one, else the interface's or the peer's own, else the one set aside for benchmarks.
fn l3(address: &Addressing, facts: &InterfaceFacts, peer: &Peer) -> L3 {
    let family = address.family();
    let of_family = |ip: &IpAddr| ip.is_ipv4() == (family == Family::V4);
    let own = if family == Family::V4 { facts.ipv4.map(IpAddr::V4) } else { facts.ipv6.map(IpAddr::V6) };
    let src = address.src_ip.or(own).or_else(|| address.default_src_ip());
    let dst = address.dst_ip.or(peer.ip.filter(of_family)).or_else(|| address.default_dst_ip());
    let (src_port, dst_port) = (address.src_port, address.port);
    match (family, src, dst) {
        (Family::V4, Some(IpAddr::V4(src)), Some(IpAddr::V4(dst))) => L3::V4 { src, dst, src_port, dst_port },
        (Family::V6, Some(IpAddr::V6(src)), Some(IpAddr::V6(dst))) => L3::V6 { src, dst, src_port, dst_port },
        _ => L3::Ethernet,
    }
}

/// A stream that cannot be built, as a finding. The configuration has refused what can be refused without the
/// interface.
pub fn unbuildable(error: &FrameError) -> Finding {
    Finding::new(Code::System, Severity::Fail, "the stream", "its frames cannot be built")
        .why(error.to_string())
        .remedy("another --size, --flows or set of addresses")
}

/// A rate that is none on this link.
pub fn no_rate(facts: &InterfaceFacts, rate: RateSpec, error: &RateError) -> Finding {
    Finding::new(Code::NoLinkSpeed, Severity::Fail, format!("--rate {rate}"), error.to_string())
        .why(format!("{} has no speed that a percentage could be taken of", facts.name))
        .remedy("--rate in pps or bps, for instance 1Mpps or 10Gbps")
}

impl Offer {
    /// Makes the configuration concrete.
    ///
    /// # Errors
    /// A rate in percent on a link without a speed; a stream that cannot be built.
    pub fn new(
        config: &TxConfig,
        facts: &InterfaceFacts,
        peer: &Peer,
        run: u16,
        seats: &[Seat],
    ) -> Result<Self, Failure> {
        let rate = config
            .rate
            .resolve(config.size, facts.line_speed_bps())
            .map_err(|error| no_rate(facts, config.rate, &error))?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started_unix_ns = u64::try_from(started.as_nanos()).unwrap_or(0);
        Ok(Self {
            id: format!("{:x}-{run:04x}", started.as_secs()),
            run,
            stack: stack(config, facts, peer),
            rate,
            spaces: u16::try_from(seats.len()).unwrap_or(u16::MAX),
            clock: machine::clock_id(),
            started_unix_ns,
            config: config.clone(),
        })
    }

    /// What is about to be sent, in words.
    pub fn words(&self) -> String {
        let rate = self.rate.map_or_else(|| "as fast as it goes".to_owned(), |rate| format!("at {rate}"));
        let (size, mac) = (self.config.size.with_fcs(), self.stack.dst_mac.to_string().to_lowercase());
        format!("sending frames of {size} bytes (FCS included) to {mac} {rate}")
    }

    /// The stream of one sequence space.
    pub fn stream(&self, space: u16) -> StreamSpec {
        StreamSpec {
            stack: self.stack.clone(),
            size: self.config.size,
            flows: self.config.flows,
            space,
            spaces: self.spaces,
            run: self.run,
            clock: self.clock,
            verify: self.config.verify,
        }
    }

    /// The limits of one space: an equal share of the count, the first spaces taking the remainder.
    pub fn limits(&self, space: u16) -> Limits {
        let share = |count: u64| {
            let spaces = u64::from(self.spaces);
            count / spaces + u64::from(u64::from(space) < count % spaces)
        };
        Limits { count: self.config.count.map(share), duration: self.config.duration }
    }

    /// What a START says.
    pub fn start(&self) -> Start {
        Start {
            id: self.id.clone(),
            started_unix_ns: self.started_unix_ns,
            size_bytes: self.config.size.with_fcs(),
            rate_pps: self.rate.map(FrameRate::pps),
            count: self.config.count,
            duration_ns: self.config.duration.map(|d| d.0),
            flows: self.config.flows,
            spaces: self.spaces,
            seed: 0,
            batch: self.config.batch,
            verify: self.config.verify,
            addresses: Addresses::of(&self.stack),
        }
    }

    /// What the Report says was offered.
    pub fn offered(&self) -> Offered {
        offered(&self.start(), self.run)
    }
}

/// A START as the Report shows it, on either side.
pub fn offered(start: &Start, run: u16) -> Offered {
    let bits = |bytes: u32| start.rate_pps.map(|pps| pps * f64::from(bytes) * 8.0);
    let addresses = &start.addresses;
    Offered {
        size_bytes: Some(start.size_bytes),
        pcap: None,
        rate_pps: start.rate_pps,
        rate_l1_bps: bits(start.size_bytes.saturating_add(crate::units::WIRE_OVERHEAD_BYTES)),
        rate_l2_bps: bits(start.size_bytes),
        count: start.count,
        duration_s: start.duration_ns.map(|ns| crate::units::Nanos(ns).as_secs_f64()),
        flows: Some(start.flows),
        seed: start.seed,
        run_tag: Some(run),
        batch: start.batch,
        spaces: start.spaces,
        verify: start.verify,
        src_mac: Some(addresses.src_mac.to_lowercase()),
        dst_mac: Some(addresses.dst_mac.to_lowercase()),
        src_ip: addresses.src_ip.map(|ip| ip.to_string()),
        dst_ip: addresses.dst_ip.map(|ip| ip.to_string()),
        src_port: addresses.src_port,
        dst_port: addresses.dst_port,
        vlans: addresses.vlans.clone(),
    }
}
