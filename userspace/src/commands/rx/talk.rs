//! The sink's side of the conversation: answers HELLO, notes START and END, lets switches learn.

use super::heard::Heard;
use crate::commands::control_link::{ControlLink, Message};
use crate::engine::{self, ControlFrame, Latch, Shape};
use crate::finding::{Code, Finding};
use crate::frame::{Control, End, Here, L3, Stack, Start, control};
use crate::host::{InterfaceFacts, machine};
use crate::sys::clock::monotonic;
use crate::units::Nanos;
use macaddr::MacAddr6;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// How often switches are reminded where the sink is: well within the 300 s after which they forget (IEEE 802.1D).
const LEARN_PERIOD: Nanos = Nanos(60_000_000_000);
/// Messages heard in one turn and on one way: more than honest senders say in a hundred turns.
const MESSAGES_A_TURN: usize = 256;
/// A pause between two turns that is none of ours: the process was stopped, or had no core.
const STALL: Nanos = Nanos::from_millis(100);
/// How long after such a pause there may still be messages from within it.
const BACKLOG: Nanos = Nanos::SECOND;
/// Runs of which is remembered what was said, at the most: foreign frames must not fill memory.
const MAX_RUNS: usize = engine::MAX_RUNS;

/// Both ways on which control frames come, and what they have said.
pub struct Talk {
    link: ControlLink,
    frames: Receiver<ControlFrame>,
    latch: Arc<Latch>,
    mac: MacAddr6,
    ip: Option<IpAddr>,
    queues: u32,
    host: String,
    /// Whether an END is answered: a forwarder leaves it to be said again, for the sink behind it.
    acknowledges: bool,
    /// By the number of the run.
    heard: BTreeMap<u32, Heard>,
    next_learn: Nanos,
    /// Since when nothing escapes the sink.
    since: Nanos,
    last_turn: Nanos,
    /// When the last pause ended that was none of ours, and how long it was.
    stalled: Option<(Nanos, Nanos)>,
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
            host: machine::host().name,
            acknowledges: true,
            heard: BTreeMap::new(),
            next_learn: Nanos(0),
            since: monotonic(),
            last_turn: monotonic(),
            stalled: None,
        }
    }

    /// The same, without an answer to an END unless it `acknowledges`.
    #[must_use]
    pub fn acknowledging(self, acknowledges: bool) -> Self {
        Self { acknowledges, ..self }
    }

    /// What was heard of the run of that number.
    #[must_use]
    pub fn heard(&self, epoch: u32) -> Option<&Heard> {
        self.heard.get(&epoch)
    }

    /// Hears everything that has come, and answers.
    ///
    /// # Errors
    /// When the interface gives no more frames. One that does not take an answer now is asked again.
    pub fn turn(&mut self, now: Nanos) -> Result<(), Finding> {
        let stopped = now - std::mem::replace(&mut self.last_turn, now);
        if stopped > STALL {
            self.stalled = Some((now, stopped));
        }
        for frame in self.frames.try_iter().take(MESSAGES_A_TURN).collect::<Vec<_>>() {
            // What cannot be understood is of another version, or was made up: it is counted as control, no more.
            if let Ok(control) = control::decode(&frame.body) {
                self.hear(Message { run: frame.run, control }, now);
            }
        }
        for _ in 0..MESSAGES_A_TURN {
            match self.link.receive() {
                Ok(Some(message)) => self.hear(message, now),
                Ok(None) => break,
                // The socket says so once and goes on when the interface does; the watch over the link tells
                // of it.
                Err(finding) if finding.code == Code::LinkLost => break,
                Err(finding) => return Err(finding),
            }
        }
        if now >= self.next_learn {
            self.next_learn = now + LEARN_PERIOD;
            self.learn();
        }
        Ok(())
    }

    /// Hears what is left when the workers have ended, as far as they had room to hand it on.
    pub fn hear_the_rest(&mut self, now: Nanos) {
        // An interface that is gone has been told of.
        let _ = self.turn(now);
        for frame in self.frames.try_iter().collect::<Vec<_>>() {
            if let Ok(control) = control::decode(&frame.body) {
                self.hear(Message { run: frame.run, control }, now);
            }
        }
    }

    fn hear(&mut self, Message { run, control }: Message, now: Nanos) {
        match control {
            Control::Hello(hello) => {
                if let Some(stack) = hello.addresses.answer(self.mac) {
                    let here = self.here();
                    self.offer(&stack, run, &here);
                }
            }
            Control::Start(start) => self.begun(run, start, now),
            Control::End(end) => {
                let last = end.part + 1 == end.parts;
                self.ended(run, end, now);
                if last && self.acknowledges {
                    self.acknowledge(run);
                }
            }
            Control::Here(_) | Control::Heard | Control::Learn => {}
        }
    }

    /// A START: of the latched run, of one that may now be latched, or of a sender that was started again under the
    /// latched tag. Any other is of a run whose turn it is not.
    fn begun(&mut self, run: u16, start: Start, now: Nanos) {
        let shape = Shape { flows: start.flows.clone().into(), spaces: start.spaces.max(1) };
        let latched = self.heard.get(&self.latch.epoch());
        let again = latched.is_some_and(|known| known.run == run && known.precedes(&start));
        let epoch = if again { Some(self.latch.renew(run, now)) } else { self.latch.claim(run, now) };
        if let Some(epoch) = epoch {
            self.latch.announce(epoch, shape);
            self.entry(epoch, run).start = Some(start);
        }
    }

    /// An END: of the latched run, or late of the last one under its tag. Of a run that was never latched it says
    /// nothing that is asked for.
    pub fn ended(&mut self, run: u16, end: End, now: Nanos) {
        let listened = self.listened(now);
        let latched = (self.latch.run() == Some(run)).then(|| self.latch.epoch());
        let earlier = || self.heard.iter().rev().find(|(_, known)| known.run == run).map(|(epoch, _)| *epoch);
        if let Some(epoch) = latched.or_else(earlier) {
            self.entry(epoch, run).end(end, listened);
            self.latch.conclude(epoch);
        }
    }

    /// For how long the sink had listened when that was said which is heard now. What waited while this
    /// process was stopped was said earlier than it is heard, by nobody knows how much.
    fn listened(&self, now: Nanos) -> Nanos {
        let late =
            self.stalled.filter(|(end, _)| now - *end < BACKLOG).map_or(Nanos(0), |(_, length)| length);
        now - self.since - late
    }

    /// Tells the sender that its END has come, all of it, so that it need not go on saying so.
    fn acknowledge(&mut self, run: u16) {
        let known = self.heard.values().rev().find(|known| known.run == run);
        let complete = known.filter(|known| known.totals().is_some());
        let start = complete.and_then(|known| known.start.as_ref());
        if let Some(stack) = start.and_then(|start| start.addresses.answer(self.mac)) {
            self.offer(&stack, run, &Control::Heard);
        }
    }

    fn entry(&mut self, epoch: u32, run: u16) -> &mut Heard {
        if self.heard.len() >= MAX_RUNS && !self.heard.contains_key(&epoch) {
            self.heard.pop_first();
        }
        self.heard.entry(epoch).or_insert_with(|| Heard::of(run))
    }

    fn here(&self) -> Control {
        Control::Here(Here {
            mac: self.mac.to_string(),
            ip: self.ip.map(|ip| ip.to_string()),
            queues: self.queues,
            host: self.host.clone(),
        })
    }

    /// One broadcast frame of our EtherType, which hosts ignore and switches learn from.
    fn learn(&mut self) {
        let stack =
            Stack { src_mac: self.mac, dst_mac: MacAddr6::broadcast(), vlans: Vec::new(), l3: L3::Ethernet };
        self.offer(&stack, 0, &Control::Learn);
    }

    /// Sends what is a courtesy: a full queue or a link that is away must not end the run.
    fn offer(&mut self, stack: &Stack, run: u16, control: &Control) {
        let _ = self.link.send(stack, run, control);
    }
}
