//! Where to send: the stated MAC, that of the destination IP, the known other end of a veth, or the sink that answers
//! a HELLO.

use super::{offer, resolve};
use crate::commands::Failure;
use crate::commands::control_link::ControlLink;
use crate::commands::interrupt::Interrupt;
use crate::commands::notice::notice;
use crate::config::TxConfig;
use crate::finding::{Code, Finding, Severity};
use crate::frame::{Addresses, Control, Hello};
use crate::host::InterfaceFacts;
use crate::sys::clock::monotonic;
use crate::units::Nanos;
use macaddr::MacAddr6;
use std::net::IpAddr;

/// How long an answer is waited for.
const PATIENCE: Nanos = Nanos(10_000_000_000);
/// How often a HELLO goes out meanwhile.
const PERIOD: Nanos = Nanos::from_millis(250);
/// How long one look at the socket may sleep: an interrupt is seen within it.
const LOOK: Nanos = Nanos::from_millis(50);

/// Who is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its MAC.
    pub mac: MacAddr6,
    /// Its IP, where it has told.
    pub ip: Option<IpAddr>,
    /// Whether it has answered a HELLO, so that it is known to be a sink of ours.
    pub answered: bool,
}

/// Finds the destination.
///
/// # Errors
/// [`Code::SinkNotFound`] when nobody answers; those of [`resolve::next_hop`].
pub fn destination(
    config: &TxConfig,
    facts: &InterfaceFacts,
    known: Option<Peer>,
    link: &mut ControlLink,
    run: u16,
    interrupt: &Interrupt,
) -> Result<Peer, Failure> {
    if config.resolve {
        // Also where the sink is known: there may be a router between the two.
        return resolve::next_hop(config, facts, interrupt);
    }
    let stated = config.address.dst_mac.map(|mac| Peer { mac, ip: None, answered: false });
    match stated.or(known).or_else(|| veth_peer(facts)) {
        Some(peer) => Ok(peer),
        None => ask(config, facts, link, run, interrupt),
    }
}

/// The other end of a veth in this namespace. One in another namespace must be asked for like any other sink.
fn veth_peer(facts: &InterfaceFacts) -> Option<Peer> {
    let ifindex = facts.veth_peer.filter(|peer| peer.same_netns)?.ifindex;
    let peer = InterfaceFacts::list().ok()?.into_iter().find(|other| other.ifindex == ifindex)?;
    Some(Peer { mac: peer.mac?, ip: peer.ipv4.map(IpAddr::V4), answered: false })
}

fn ask(
    config: &TxConfig,
    facts: &InterfaceFacts,
    link: &mut ControlLink,
    run: u16,
    interrupt: &Interrupt,
) -> Result<Peer, Failure> {
    let everyone =
        offer::stack(config, facts, &Peer { mac: MacAddr6::broadcast(), ip: None, answered: false });
    notice(config.output.quiet, "tx", format_args!("asking for a sink on {}", facts.name));
    let hello = Control::Hello(Hello { addresses: Addresses::of(&everyone) });
    let deadline = monotonic() + PATIENCE;
    let mut next = Nanos(0);
    while monotonic() < deadline && !interrupt.raised() {
        if monotonic() >= next {
            link.send(&everyone, run, &hello)?;
            next = monotonic() + PERIOD;
        }
        link.wait(LOOK)?;
        while let Some(message) = link.receive()? {
            if let Control::Here(here) = message.control
                && message.run == run
                && let Ok(mac) = here.mac.parse()
            {
                return Ok(Peer { mac, ip: here.ip.and_then(|ip| ip.parse().ok()), answered: true });
            }
        }
    }
    Err(if interrupt.raised() { Failure::interrupted(&facts.name) } else { nobody(facts).into() })
}

fn nobody(facts: &InterfaceFacts) -> Finding {
    let what = format!("no sink answered on {} within {:.0} s", facts.name, PATIENCE.as_secs_f64());
    Finding::new(Code::SinkNotFound, Severity::Fail, facts.name.clone(), what)
        .why("without a destination MAC every frame would be flooded by the switches on the way, so none was sent")
        .remedy("start `xsk-gen rx --iface …` on the other end first, or name the receiver with --dst-mac")
}
