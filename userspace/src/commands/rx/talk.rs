//! The sink's side of the conversation: answers HELLO, notes START and END, lets switches learn.

use super::heard::Heard;
use crate::commands::control_link::{ControlLink, Message};
use crate::engine::{ControlFrame, Latch, Shape};
use crate::finding::Finding;
use crate::frame::{Control, Here, L3, Stack, control};
use crate::host::{InterfaceFacts, machine};
use crate::units::Nanos;
use macaddr::MacAddr6;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// How often switches are reminded where the sink is: well within the 300 s after which they forget (IEEE 802.1D).
const LEARN_PERIOD: Nanos = Nanos(60_000_000_000);
/// Runs that are remembered at the most: foreign frames must not fill memory.
const MAX_RUNS: usize = 1024;

/// Both ways on which control frames come, and what they have said.
pub struct Talk {
    link: ControlLink,
    frames: Receiver<ControlFrame>,
    latch: Arc<Latch>,
    mac: MacAddr6,
    ip: Option<IpAddr>,
    queues: u32,
    heard: BTreeMap<u16, Heard>,
    next_learn: Nanos,
}

impl Talk {
    /// A conversation on the interface: over `link`, and over what the workers hand on as `frames`.
    pub fn new(
        link: ControlLink,
        frames: Receiver<ControlFrame>,
        latch: Arc<Latch>,
        facts: &InterfaceFacts,
        queues: u32,
    ) -> Self {
        Self {
            link,
            frames,
            latch,
            mac: facts.mac.unwrap_or(MacAddr6::nil()),
            ip: facts.ipv4.map(IpAddr::V4).or(facts.ipv6.map(IpAddr::V6)),
            queues,
            heard: BTreeMap::new(),
            next_learn: Nanos(0),
        }
    }

    /// What was heard of a run.
    #[must_use]
    pub fn heard(&self, run: u16) -> Option<&Heard> {
        self.heard.get(&run)
    }

    /// Hears everything that has come, and answers.
    ///
    /// # Errors
    /// When the interface no longer takes or gives frames.
    pub fn turn(&mut self, now: Nanos) -> Result<(), Finding> {
        while let Ok(frame) = self.frames.try_recv() {
            // What cannot be understood is of another version, or was made up: it is counted as control, no more.
            if let Ok(control) = control::decode(&frame.body) {
                self.hear(Message { run: frame.run, control }, now)?;
            }
        }
        while let Some(message) = self.link.receive()? {
            self.hear(message, now)?;
        }
        if now >= self.next_learn {
            self.next_learn = now + LEARN_PERIOD;
            self.learn()?;
        }
        Ok(())
    }

    fn hear(&mut self, Message { run, control }: Message, now: Nanos) -> Result<(), Finding> {
        match control {
            Control::Hello(hello) => {
                let Some(stack) = hello.addresses.answer(self.mac) else { return Ok(()) };
                return self.link.send(&stack, run, &self.here());
            }
            Control::Start(start) => {
                let shape = Shape { flows: start.flows.max(1), spaces: start.spaces.max(1) };
                if self.latch.admits(run, now) {
                    self.latch.announce(shape);
                    self.entry(run).start(start);
                }
            }
            Control::End(end) => {
                self.entry(run).end(end);
                if self.latch.run() == Some(run) {
                    self.latch.conclude();
                }
            }
            Control::Here(_) | Control::Learn => {}
        }
        Ok(())
    }

    fn entry(&mut self, run: u16) -> &mut Heard {
        if self.heard.len() >= MAX_RUNS && !self.heard.contains_key(&run) {
            let current = self.latch.run();
            self.heard.retain(|known, _| Some(*known) == current);
        }
        self.heard.entry(run).or_default()
    }

    fn here(&self) -> Control {
        Control::Here(Here {
            mac: self.mac.to_string(),
            ip: self.ip.map(|ip| ip.to_string()),
            queues: self.queues,
            host: machine::host().name,
        })
    }

    /// One broadcast frame of our EtherType, which hosts ignore and switches learn from.
    fn learn(&mut self) -> Result<(), Finding> {
        let stack =
            Stack { src_mac: self.mac, dst_mac: MacAddr6::broadcast(), vlans: Vec::new(), l3: L3::Ethernet };
        self.link.send(&stack, 0, &Control::Learn)
    }
}
