//! `--resolve`: the MAC that frames for the destination IP go to, from the kernel or by asking on the link. Knows no
//! sink.

use super::discover::Peer;
use super::offer;
use crate::commands::Failure;
use crate::commands::failure::system_finding;
use crate::commands::interrupt::Interrupt;
use crate::commands::notice::notice;
use crate::config::TxConfig;
use crate::finding::{Code, Finding, Severity};
use crate::frame::neighbour::{self, Said, Station};
use crate::frame::{L3, Stack};
use crate::host::{InterfaceFacts, neighbour as kernel};
use crate::sys::clock::monotonic;
use crate::sys::packet_socket::PacketSocket;
use crate::units::Nanos;
use macaddr::MacAddr6;
use std::io;
use std::net::IpAddr;

/// How long an answer is waited for: three times as long as the kernel itself does (`mcast_solicit`, a second each).
const PATIENCE: Nanos = Nanos(3_000_000_000);
/// How often the question goes out meanwhile.
const PERIOD: Nanos = Nanos::from_millis(250);
/// How long one look at the socket may sleep: an interrupt is seen within it.
const LOOK: Nanos = Nanos::from_millis(50);
/// Longer than any question or answer: IPv6, ICMPv6 with a few options, and two tags.
const BUFFER_BYTES: usize = 512;
/// Frames looked at before the clock is: others on a busy link ask and answer too.
const FRAMES_A_LOOK: usize = 256;

/// What is asked, by whom and in which network.
struct Search<'a> {
    facts: &'a InterfaceFacts,
    us: Station,
    /// Whom frames for the destination go to: itself, or a gateway.
    hop: IpAddr,
    to: IpAddr,
    vlans: &'a [u16],
}

/// Finds the next hop's MAC.
///
/// # Errors
/// [`Code::AddressUnresolved`] when nobody answers; what the kernel refused.
pub fn next_hop(config: &TxConfig, facts: &InterfaceFacts, interrupt: &Interrupt) -> Result<Peer, Failure> {
    let nobody = Peer { mac: MacAddr6::broadcast(), ip: None, answered: false };
    let stack = offer::stack(config, facts, &nobody);
    let Some((from, to)) = addresses(&stack) else { return Err(without_ip(facts).into()) };
    let us = Station { mac: stack.src_mac, ip: from };
    let mut search = Search { facts, us, hop: to, to, vlans: &stack.vlans };
    let mut found = None;
    // Routes and neighbours of an untagged interface say nothing of a tagged network.
    if search.untagged() {
        search.hop = kernel::gateway(facts, to)?.unwrap_or(to);
        found = kernel::known(facts, search.hop)?.map(|mac| (mac, "from the kernel's neighbour table"));
    }
    let (mac, means) = match found {
        Some(found) => found,
        None => (search.ask(interrupt)?, search.means()),
    };
    let via = if search.hop == to { String::new() } else { format!(", via the gateway {}", search.hop) };
    let shown = mac.to_string().to_lowercase();
    notice(config.output.quiet, "tx", format_args!("{to} is at {shown}, {means}{via}"));
    Ok(Peer { mac, ip: Some(to), answered: false })
}

fn addresses(stack: &Stack) -> Option<(IpAddr, IpAddr)> {
    match stack.l3 {
        L3::V4 { src, dst, .. } => Some((src.into(), dst.into())),
        L3::V6 { src, dst, .. } => Some((src.into(), dst.into())),
        L3::Ethernet => None,
    }
}

impl Search<'_> {
    /// VLAN id 0 names no network, only a priority.
    fn untagged(&self) -> bool {
        self.vlans.iter().all(|id| *id == 0)
    }

    fn means(&self) -> &'static str {
        if self.hop.is_ipv4() { "by ARP" } else { "by neighbour discovery" }
    }

    /// Asks until somebody answers.
    fn ask(&self, interrupt: &Interrupt) -> Result<MacAddr6, Failure> {
        let tags = neighbour::tags(self.vlans);
        let Some(question) = neighbour::question(self.us, self.hop, &tags) else {
            return Err(without_ip(self.facts).into());
        };
        let failed =
            |what: &str, error: &io::Error| Failure::from(system_finding(&self.facts.name, what, error));
        let socket = self
            .socket()
            .map_err(|e| failed("a packet socket for finding the destination's MAC was refused", &e))?;
        let deadline = monotonic() + PATIENCE;
        let mut next = Nanos(0);
        let mut asked = 0u32;
        while monotonic() < deadline && !interrupt.raised() {
            if monotonic() >= next {
                match socket.send(&question) {
                    // A full queue empties by itself.
                    Err(e) if !is_full(&e) => {
                        return Err(failed("the destination's MAC could not be asked for", &e));
                    }
                    sent => asked += u32::from(sent.is_ok()),
                }
                next = monotonic() + PERIOD;
            }
            socket.wait(LOOK).map_err(|e| failed("an answer could not be waited for", &e))?;
            let heard = self.hear(&socket).map_err(|e| failed("an answer could not be received", &e))?;
            if let Some(mac) = heard {
                return Ok(mac);
            }
        }
        if interrupt.raised() {
            return Err(Failure::interrupted(&self.facts.name));
        }
        Err(self.nobody(asked).into())
    }

    fn socket(&self) -> io::Result<PacketSocket> {
        let socket = PacketSocket::open_for_neighbours(self.facts.ifindex)?;
        // The answer comes to the MAC that asked, and in its network: a NIC that filters either drops it, unless it is
        // promiscuous.
        if !self.untagged() || Some(self.us.mac) != self.facts.mac {
            socket.set_promiscuous(true)?;
        }
        Ok(socket)
    }

    /// The MAC in the answer, if it is among the next frames.
    fn hear(&self, socket: &PacketSocket) -> io::Result<Option<MacAddr6>> {
        let mut buf = [0; BUFFER_BYTES];
        for _ in 0..FRAMES_A_LOOK {
            let Some(frame) = socket.recv(&mut buf)?.and_then(|n| buf.get(..n)) else { return Ok(None) };
            if let Some(heard) = neighbour::read(frame)
                && heard.is_in(self.vlans)
                && let Said::Answer(station) = heard.said
                && station.ip == self.hop
            {
                return Ok(Some(station.mac));
            }
        }
        Ok(None)
    }

    fn nobody(&self, asked: u32) -> Finding {
        let Self { facts, us, hop, to, vlans } = self;
        let whose = if hop == to { String::new() } else { format!(", the gateway to {to},") };
        let ids = vlans.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
        let network = if vlans.is_empty() { String::new() } else { format!(" in VLAN {ids}") };
        let what =
            format!("nobody answered for {hop}{whose}{network} within {:.0} s", PATIENCE.as_secs_f64());
        let kind = if hop.is_ipv4() { "ARP requests" } else { "neighbour solicitations" };
        let mac = us.mac.to_string().to_lowercase();
        let why =
            format!("{asked} {kind} from {} at {mac} had no answer; without a MAC nothing was sent", us.ip);
        let remedy = if vlans.is_empty() {
            format!(
                "ping -I {} {hop} to see whether it can be reached, --src-ip, or name its MAC with --dst-mac",
                facts.name
            )
        } else {
            "--vlan and --src-ip of the network that it is in, or name its MAC, or that of the gateway there, with --dst-mac".to_owned()
        };
        Finding::new(Code::AddressUnresolved, Severity::Fail, facts.name.clone(), what)
            .why(why)
            .remedy(remedy)
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}

/// What the configuration has refused already.
fn without_ip(facts: &InterfaceFacts) -> Finding {
    let what = "source and destination IP do not go together, so no MAC can be asked for";
    Finding::new(Code::AddressUnresolved, Severity::Fail, facts.name.clone(), what)
        .why("a question for an address comes from one of the same family")
        .remedy("--src-ip and --dst-ip, both IPv4 or both IPv6")
}
