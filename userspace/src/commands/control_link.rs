//! Control frames on one interface, beside the test's own traffic: sent and received through a packet socket.

use super::failure::system_finding;
use crate::finding::{Code, Finding, Severity};
use crate::frame::headers::outermost_vlan;
use crate::frame::{Control, Inspected, Inspector, Stack, control};
use crate::host::{DeviceCounters, InterfaceFacts, machine};
use crate::sys::clock::monotonic;
use crate::sys::packet_socket::PacketSocket;
use crate::units::Nanos;
use std::io;

/// Longer than any control frame: 1,500 bytes of MTU, Ethernet header and tags.
const BUFFER_BYTES: usize = 2048;
/// Frames to our port that are looked at in vain before the caller has its turn again: a few milliseconds' worth.
const FOREIGN_FRAMES: usize = 4096;

/// A control message and the run that it speaks of.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The run's tag.
    pub run: u16,
    /// What it says.
    pub control: Control,
}

/// Sends and receives control frames.
pub struct ControlLink {
    iface: String,
    ifindex: u32,
    socket: PacketSocket,
    inspector: Inspector,
    /// The only VLAN that is heard, where one was asked for.
    vlan: Option<u16>,
    clock: u16,
    number: u32,
}

impl ControlLink {
    /// A link on the interface; frames to `udp_port` (or of our EtherType) are received.
    ///
    /// # Errors
    /// When the packet socket is refused.
    pub fn open(facts: &InterfaceFacts, udp_port: Option<u16>) -> Result<Self, Finding> {
        // Without a UDP port the filter is left at one that no frame carries: port 0 means none (RFC 768).
        let socket = PacketSocket::open_for_ours(facts.ifindex, udp_port.unwrap_or(0))
            .map_err(|e| system_finding(&facts.name, "a packet socket for control frames was refused", &e))?;
        let inspector = Inspector::plain(udp_port, true);
        Ok(Self {
            iface: facts.name.clone(),
            ifindex: facts.ifindex,
            socket,
            inspector,
            vlan: None,
            clock: machine::clock_id(),
            number: 0,
        })
    }

    /// The link, deaf to everything without this id in its outermost VLAN tag.
    #[must_use]
    pub fn within(self, vlan: Option<u16>) -> Self {
        Self { vlan, ..self }
    }

    /// Keeps the interface promiscuous while the link is open.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn promiscuous(&self) -> Result<(), Finding> {
        self.socket
            .set_promiscuous(true)
            .map_err(|e| system_finding(&self.iface, "promiscuous mode was refused", &e))
    }

    /// Sends one control frame.
    ///
    /// # Errors
    /// When it cannot be built or the interface does not take it.
    pub fn send(&mut self, stack: &Stack, run: u16, control: &Control) -> Result<(), Finding> {
        self.number = self.number.wrapping_add(1);
        let failed = |e: io::Error| self.failed("a control frame could not be sent", &e);
        let frame = control::encode(stack, run, self.clock, self.number, monotonic(), control)
            .map_err(|e| failed(io::Error::other(e.to_string())))?;
        self.socket.send(&frame).map_err(failed)
    }

    /// The next control message that has arrived, if any is among the next frames. A flood of foreign frames to our
    /// port must not keep the caller from its other work.
    ///
    /// # Errors
    /// When the socket fails, for instance because the interface is gone.
    pub fn receive(&mut self) -> Result<Option<Message>, Finding> {
        let mut buf = [0; BUFFER_BYTES];
        for _ in 0..FOREIGN_FRAMES {
            let received = self
                .socket
                .recv(&mut buf)
                .map_err(|e| self.failed("control frames could not be received", &e))?;
            let Some(bytes) = received.and_then(|n| buf.get(..n)) else { return Ok(None) };
            if (self.vlan.is_none() || outermost_vlan(bytes) == self.vlan)
                && let Inspected::Control { probe, body } = self.inspector.inspect(bytes)
                && let Ok(control) = control::decode(body)
            {
                return Ok(Some(Message { run: probe.run, control }));
            }
        }
        Ok(None)
    }

    /// Sleeps until something arrives or `timeout` is over.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn wait(&self, timeout: Nanos) -> Result<(), Finding> {
        match self.socket.wait(timeout) {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(e) => Err(system_finding(&self.iface, "control frames could not be waited for", &e)),
        }
    }

    /// A failure as a finding: an interface that is down or gone has words of its own.
    fn failed(&self, what: &str, error: &io::Error) -> Finding {
        if error.raw_os_error() == Some(libc::EMSGSIZE) {
            return Finding::new(Code::SizeAboveMtu, Severity::Fail, &*self.iface, what)
                .why("it is above the interface's MTU; START, which tells the sink what will come, takes about 500 bytes")
                .remedy(format!("ip link set {} mtu 576, or more", self.iface));
        }
        if error.kind() != io::ErrorKind::NetworkDown {
            return system_finding(&self.iface, what, error);
        }
        let down = || {
            Finding::new(
                Code::LinkLost,
                Severity::Fail,
                &*self.iface,
                "the interface went down within the run",
            )
            .why(format!("{what}; the figures are those up to that moment"))
            .remedy(format!("ip link set {} up, and run again", self.iface))
        };
        // Whether it is down or no longer there, the socket says the same.
        DeviceCounters::read(self.ifindex)
            .map_or_else(|gone| Finding { on: self.iface.clone(), ..gone }, |_| down())
    }
}
