//! The second interface of a forwarder, by which frames leave: its sockets, and the program that some drivers want beside
//! them.

use super::means;
use crate::commands::placement::Seat;
use crate::commands::sockets::{Memory, Sockets, Wanted};
use crate::commands::{Failure, Interrupt, afford, ground, tx};
use crate::config::{DEFAULT_TX_RING, Out, RxConfig};
use crate::finding::{Code, Finding, Severity};
use crate::host::InterfaceFacts;
use crate::host::netdev::Direction;
use crate::xsk::{Opened, XskTx};
use macaddr::MacAddr6;

/// Sockets to send by, one a receiving seat.
pub struct Onward {
    own: MacAddr6,
    to: Option<MacAddr6>,
    longest: usize,
    ports: Vec<XskTx>,
    _program: Option<tx::Attached>,
}

/// By what and how one worker sends on.
pub struct Way {
    /// The port.
    pub port: XskTx,
    /// The longest frame, without FCS.
    pub longest: usize,
    /// The MAC that frames leave from.
    pub own: MacAddr6,
    /// Where they go; None for where they were going.
    pub to: Option<MacAddr6>,
}

impl Onward {
    /// Checks the interface, opens a socket for each of the receiving `seats`, and waits for its link.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn open(
        config: &RxConfig,
        out: &Out,
        (receiving, seats): (&InterfaceFacts, &[Seat]),
        notes: &mut Vec<Finding>,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let facts = survey(config, out, (receiving, seats), interrupt)?;
        let longest = means::memory(config, receiving).longest_frame;
        let memory = Memory::of(&config.rings, DEFAULT_TX_RING, longest);
        afford::check(&facts.name, seats.len(), memory)?;
        let leaving: Vec<Seat> = (0..).zip(seats).map(|(queue, seat)| Seat { queue, ..*seat }).collect();
        let wanted = Wanted::new(&facts, config.modes, memory, Direction::Tx);
        let (sockets, program) = tx::open_sockets(&wanted, &facts, &leaving, notes, interrupt)?;
        let Sockets { opened, notes: of_sockets, .. } = sockets;
        notes.extend(of_sockets);
        ground::wait_for_carrier(&facts, config.wait_link, interrupt)?;
        Ok(Self {
            own: facts.mac.unwrap_or_else(MacAddr6::nil),
            to: out.dst_mac,
            longest: longest as usize,
            ports: opened.into_iter().map(Opened::into_tx).collect(),
            _program: program,
        })
    }

    /// What each worker needs of it, in the order of the seats; once.
    pub fn ways(&mut self) -> Vec<Way> {
        let Self { own, to, longest, .. } = *self;
        let ports = std::mem::take(&mut self.ports);
        ports.into_iter().map(|port| Way { port, longest, own, to }).collect()
    }
}

/// The interface, where it can send on what comes in by `receiving` on those `seats`. Asked before a program is attached to
/// either, and again behind that.
///
/// # Errors
/// What stands in the way.
pub fn survey(
    config: &RxConfig,
    out: &Out,
    (receiving, seats): (&InterfaceFacts, &[Seat]),
    interrupt: &Interrupt,
) -> Result<InterfaceFacts, Failure> {
    let facts = ground::survey(&out.iface, config.wait_link, interrupt)?;
    check(&facts, receiving, seats.len())?;
    Ok(facts)
}

/// Whether frames that come in by `receiving` on so many queues can leave by the interface.
fn check(facts: &InterfaceFacts, receiving: &InterfaceFacts, queues: usize) -> Result<(), Finding> {
    let on = format!("--out {}", facts.name);
    if facts.ifindex == receiving.ifindex {
        let what = format!("it is the interface {} that frames come in by", receiving.name);
        return Err(Finding::new(Code::InterfaceChoice, Severity::Fail, on, what)
            .why("frames leave by another interface than the one that they come in by")
            .remedy("another interface, or leave --out out to send them back"));
    }
    let available = facts.tx_queues as usize;
    if available < queues {
        let what = format!("{available} queue(s) send, and frames come in on {queues}");
        return Err(Finding::new(Code::QueueRange, Severity::Fail, on, what)
            .why("each queue that receives sends on by a queue of its own")
            .remedy(format!(
                "--queues with no more than {available}, or ethtool -L {} combined {queues}",
                facts.name
            )));
    }
    if facts.mtu < receiving.mtu {
        let what = format!("its MTU of {} is below that of {}, {}", facts.mtu, receiving.name, receiving.mtu);
        return Err(Finding::new(Code::SizeAboveMtu, Severity::Fail, on, what)
            .why("longer frames would come in and be dropped on the way out, in silence")
            .remedy(format!("ip link set {} mtu {}", facts.name, receiving.mtu)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture::facts;

    #[test]
    fn what_cannot_be_sent_on_is_refused() {
        let (near, far) = (facts("eth0", 2), InterfaceFacts { tx_queues: 2, ..facts("eth1", 3) });
        let code = |far: &InterfaceFacts, queues| check(far, &near, queues).err().map(|finding| finding.code);
        assert_eq!(code(&far, 2), None);
        assert_eq!(code(&far, 3), Some(Code::QueueRange));
        assert_eq!(code(&near, 2), Some(Code::InterfaceChoice));
        assert_eq!(code(&InterfaceFacts { mtu: near.mtu - 1, ..far }, 2), Some(Code::SizeAboveMtu));
    }
}
