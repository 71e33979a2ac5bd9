//! What a sender offers: the configuration made concrete by the interface's and the peer's addresses.

use super::course::course;
use super::discover::Peer;
use crate::commands::Failure;
use crate::commands::placement::Seat;
use crate::config::{Spacing, StreamPlan, TxConfig};
use crate::engine::{LaneBooks, TxBooks};
use crate::finding::{Code, Finding, Severity};
use crate::frame::layer::Layer;
use crate::frame::layout::Defaults;
use crate::frame::{self, Addresses, FrameError, L3, Place, Stack, Start, StreamSpec};
use crate::host::{InterfaceFacts, machine};
use crate::pace::{Course, Limits, Pacer};
use crate::report::{Arrivals, Offered};
use crate::units::{FrameSize, RateError, RateSpec};
use macaddr::MacAddr6;
use std::collections::BTreeSet;
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
    /// Headers of the control frames.
    pub stack: Stack,
    /// What the streams leave open.
    defaults: Defaults,
    /// When frames are to be sent, over all workers.
    course: Course,
    /// Workers: one a queue.
    pub workers: u16,
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

/// The plain stack of the control frames: addresses of the first stream's outermost headers, as far as it states
/// them, else the configured ones, completed by the interface's own and the peer's.
pub fn stack(config: &TxConfig, facts: &InterfaceFacts, peer: &Peer) -> Stack {
    let open = defaults(config, facts, peer);
    let first = config.streams.first();
    let layers = first.map_or(&[][..], |stream| &stream.layers);
    let Some(Layer::Ethernet(ethernet)) = layers.first() else {
        return Stack { src_mac: open.src_mac, dst_mac: open.dst_mac, vlans: Vec::new(), l3: L3::Ethernet };
    };
    Stack {
        src_mac: ethernet.src.unwrap_or(open.src_mac),
        dst_mac: ethernet.dst.unwrap_or(open.dst_mac),
        vlans: first.map(StreamPlan::vlans).unwrap_or_default(),
        l3: l3(layers, &open),
    }
}

fn l3(layers: &[Layer], open: &Defaults) -> L3 {
    let (src_port, dst_port) = (open.src_port, open.dst_port);
    let ip = layers.iter().find_map(|layer| match layer {
        Layer::Ipv4(ip) => {
            let (src, dst) = (ip.src.unwrap_or(open.v4.0), ip.dst.unwrap_or(open.v4.1));
            Some(L3::V4 { src, dst, src_port, dst_port })
        }
        Layer::Ipv6(ip) => {
            let (src, dst) = (ip.src.unwrap_or(open.v6.0), ip.dst.unwrap_or(open.v6.1));
            Some(L3::V6 { src, dst, src_port, dst_port })
        }
        _ => None,
    });
    ip.unwrap_or(L3::Ethernet)
}

/// What streams leave open: of each address the stated one, else the interface's or the peer's own, else the one
/// set aside for benchmarks.
pub fn defaults(config: &TxConfig, facts: &InterfaceFacts, peer: &Peer) -> Defaults {
    let address = &config.address;
    let v4 = |ip: Option<IpAddr>| if let Some(IpAddr::V4(ip)) = ip { Some(ip) } else { None };
    let v6 = |ip: Option<IpAddr>| if let Some(IpAddr::V6(ip)) = ip { Some(ip) } else { None };
    let set_aside = Defaults::BENCHMARK;
    Defaults {
        src_mac: address.src_mac.or(facts.mac).unwrap_or(MacAddr6::nil()),
        dst_mac: peer.mac,
        v4: (
            v4(address.src_ip).or(facts.ipv4).unwrap_or(set_aside.v4.0),
            v4(address.dst_ip).or_else(|| v4(peer.ip)).unwrap_or(set_aside.v4.1),
        ),
        v6: (
            v6(address.src_ip).or(facts.ipv6).unwrap_or(set_aside.v6.0),
            v6(address.dst_ip).or_else(|| v6(peer.ip)).unwrap_or(set_aside.v6.1),
        ),
        src_port: address.src_port,
        dst_port: address.port,
    }
}

/// A stream that cannot be built, as a finding. The configuration has refused what can be refused without the
/// interface.
pub fn unbuildable(error: &FrameError) -> Finding {
    Finding::new(Code::System, Severity::Fail, "the stream", "its frames cannot be built")
        .why(error.to_string())
        .remedy("xsk-gen tx --dry-run shows the streams without an interface")
}

/// A rate that is none on this link.
pub fn no_rate(facts: &InterfaceFacts, spacing: &Spacing, rate: RateSpec, error: &RateError) -> Finding {
    let flag = if matches!(spacing, Spacing::Plan(_)) { "--plan" } else { "--rate" };
    Finding::new(Code::NoLinkSpeed, Severity::Fail, format!("{flag} {rate}"), error.to_string())
        .why(format!("{} has no speed that a percentage could be taken of", facts.name))
        .remedy(format!("{flag} in pps or bps, for instance 1Mpps or 10Gbps"))
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
        let course = course(config, facts.line_speed_bps())
            .map_err(|(rate, error)| no_rate(facts, &config.spacing, rate, &error))?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let started_unix_ns = u64::try_from(started.as_nanos()).unwrap_or(0);
        Ok(Self {
            id: format!("{:x}-{run:04x}", started.as_secs()),
            run,
            stack: stack(config, facts, peer),
            defaults: defaults(config, facts, peer),
            course,
            workers: u16::try_from(seats.len()).unwrap_or(u16::MAX),
            clock: machine::clock_id(),
            started_unix_ns,
            config: config.clone(),
        })
    }

    /// What is about to be sent, in words.
    pub fn words(&self) -> String {
        let rate = match (&self.course, &self.config.spacing) {
            (_, Spacing::Plan(plan)) => format!("by the plan {plan}"),
            (Course::Max, _) => "as fast as it goes".to_owned(),
            (Course::Steady(rate, 1), _) => format!("at {rate}"),
            (Course::Steady(rate, burst), _) => format!("at {rate} in bursts of {burst}"),
            (Course::Poisson(rate, _), _) => format!("at {rate} in the mean, at random times"),
            (Course::Plan(_), _) => "by a plan".to_owned(),
        };
        let mac = self.stack.dst_mac.to_string().to_lowercase();
        let size = match self.config.streams.fixed_size() {
            Some(size) => size.with_fcs().to_string(),
            None => {
                let (shortest, longest) = self.config.streams.bounds();
                format!("{} to {}", shortest.with_fcs(), longest.with_fcs())
            }
        };
        format!("sending frames of {size} bytes (FCS included) to {mac} {rate}")
    }

    /// The streams of one worker.
    pub fn streams(&self, worker: u16) -> Vec<StreamSpec> {
        let plans = self.config.streams.streams();
        let spec = |(stream, plan): (u16, &StreamPlan)| StreamSpec {
            layers: plan.layers.clone(),
            defaults: self.defaults,
            modifiers: plan.modifiers.clone(),
            sizes: plan.sizes.clone(),
            flows: plan.flows,
            place: Place { worker, workers: self.workers, stream, streams: self.number_of_streams() },
            run: self.run,
            clock: self.clock,
            verify: self.config.verify,
        };
        (0..).zip(plans).map(spec).collect()
    }

    /// Sequence space, stream and books of each stream of a worker.
    pub fn spaces<'b>(&self, books: &'b TxBooks) -> impl Iterator<Item = (u16, u16, LaneBooks)> + 'b {
        let first = books.worker.saturating_mul(self.number_of_streams());
        (0..).zip(&books.lanes).map(move |(stream, lane)| (first.saturating_add(stream), stream, *lane))
    }

    /// How many streams there are.
    pub fn number_of_streams(&self) -> u16 {
        u16::try_from(self.config.streams.streams().len()).unwrap_or(u16::MAX)
    }

    /// Bytes in front of the outermost IP header, where all streams have one at the same place.
    fn l3_offset(&self) -> Option<u16> {
        let offsets = self.config.streams.streams().iter().map(|plan| plan.layout().ok()?.l3);
        let distinct: BTreeSet<Option<usize>> = offsets.collect();
        let only = distinct.first().copied().flatten().filter(|_| distinct.len() == 1);
        only.and_then(|offset| u16::try_from(offset).ok())
    }

    /// The schedule of one worker.
    pub fn pacer(&self, worker: u16) -> Pacer {
        let limits = Limits { count: self.config.count, duration: self.config.duration };
        Pacer::new(&self.course, limits, self.config.batch, (worker, self.workers))
    }

    fn spacing(&self) -> frame::Spacing {
        let plan = match &self.config.spacing {
            Spacing::Plan(plan) => Some(plan.to_string()),
            _ => None,
        };
        let poisson = matches!(self.course, Course::Poisson(..));
        frame::Spacing { burst: self.course.burst(), poisson, plan }
    }

    /// What a START says.
    pub fn start(&self) -> Start {
        Start {
            id: self.id.clone(),
            started_unix_ns: self.started_unix_ns,
            size_bytes: self.config.streams.fixed_size().map(FrameSize::with_fcs),
            mean_bytes: self.config.streams.mean().bytes_a_frame(),
            rate_pps: self.course.mean_pps(self.config.duration),
            spacing: self.spacing(),
            count: self.config.count,
            duration_ns: self.config.duration.map(|d| d.0),
            flows: self.config.streams.flows(),
            spaces: self.workers.saturating_mul(self.number_of_streams()),
            l3_offset: self.l3_offset(),
            seed: self.config.streams.seed(),
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
    let bits = |bytes: f64| start.rate_pps.map(|pps| pps * bytes * 8.0);
    let addresses = &start.addresses;
    Offered {
        size_bytes: start.size_bytes,
        mean_size_bytes: Some(start.mean_bytes),
        pcap: None,
        rate_pps: start.rate_pps,
        rate_l1_bps: bits(start.mean_bytes + f64::from(crate::units::WIRE_OVERHEAD_BYTES)),
        rate_l2_bps: bits(start.mean_bytes),
        burst: start.spacing.burst,
        arrivals: if start.spacing.poisson { Arrivals::Poisson } else { Arrivals::Constant },
        plan: start.spacing.plan.clone(),
        count: start.count,
        duration_s: start.duration_ns.map(|ns| crate::units::Nanos(ns).as_secs_f64()),
        streams: u16::try_from(start.flows.len()).unwrap_or(u16::MAX),
        flows: Some(start.flows.iter().map(|flows| u64::from(*flows)).sum()),
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
