//! Where a forwarding worker's frames come from and go to: what arrives on one interface leaves by another, once.

use super::Inlet;
use crate::frame::wire::ethernet;
use crate::port::{EchoPort, Forward, PortError, RxDrops, RxFrame};
use macaddr::MacAddr6;

/// A port that sends on what it is told to.
pub struct Forwarder<E> {
    port: E,
    own: MacAddr6,
    to: Option<MacAddr6>,
}

impl<E> Forwarder<E> {
    /// Frames leave from the MAC `own`, to `to` where that is stated, else to where they were going.
    pub const fn new(port: E, own: MacAddr6, to: Option<MacAddr6>) -> Self {
        Self { port, own, to }
    }
}

impl<E: EchoPort> Inlet for Forwarder<E> {
    const ECHOES: bool = true;
    const ONWARD: bool = true;

    #[inline]
    fn take(
        &mut self,
        max: usize,
        mut look: impl FnMut(RxFrame<'_>, bool) -> Option<usize>,
    ) -> Result<usize, PortError> {
        let (own, to) = (self.own, self.to);
        self.port.turn(max, |bytes, room| {
            let frame = RxFrame { bytes, wire_len: bytes.len(), xdp_ns: None, nic_ns: None };
            if look(frame, room).is_none() {
                return Forward::Drop;
            }
            if let Some(source) = bytes.get_mut(ethernet::SOURCE..ethernet::ETHER_TYPE) {
                source.copy_from_slice(own.as_bytes());
            }
            if let Some((to, destination)) = to.zip(bytes.get_mut(..ethernet::SOURCE)) {
                destination.copy_from_slice(to.as_bytes());
            }
            Forward::Send
        })
    }

    fn reclaim(&mut self) -> Result<usize, PortError> {
        self.port.reclaim()
    }

    fn kick(&mut self) -> Result<(), PortError> {
        self.port.kick()
    }

    fn idle(&self) -> bool {
        self.port.in_flight() == 0
    }

    fn dropped(&self) -> Option<RxDrops> {
        self.port.drops()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Books, Latch, RxSpec, RxTally, RxWorker, Turn, Worker};
    use crate::frame::{
        Control, End, Inspector, L3, Probe, SpaceTotal, Stack, StreamId, Template, control, probe,
    };
    use crate::memory_port::{Event, Faults, MemoryRx, MemoryTx, wire};
    use crate::port::relay::Relay;
    use crate::port::{Slot, Source, TxPort};
    use crate::units::{FrameSize, Nanos};
    use std::sync::mpsc::sync_channel;
    use std::sync::{Arc, Mutex};

    const OWN: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 2);
    const TO: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 3);

    struct Given(Vec<Vec<u8>>);

    impl Source for Given {
        fn next_len(&mut self) -> Option<usize> {
            self.0.first().map(Vec::len)
        }
        fn write(&mut self, _slot: Slot, buf: &mut [u8]) {
            buf.copy_from_slice(&self.0.remove(0));
        }
    }

    fn stack() -> Stack {
        Stack { src_mac: TO, dst_mac: OWN, vlans: Vec::new(), l3: L3::Ethernet }
    }

    fn frame(seq: u32) -> Vec<u8> {
        let mut frame = Template::new(&stack(), FrameSize::MIN).unwrap().into_bytes();
        let at = stack().headers().probe;
        let probe = Probe { run: 7, stream: StreamId::new(0, true), seq, clock: 0, sent: 0 };
        probe.write((&mut frame[at..at + probe::LEN]).try_into().unwrap());
        frame
    }

    fn end(run: u16, said: u64) -> Vec<u8> {
        let total = SpaceTotal { space: 0, built: 2, completed: 2 };
        let end = End::split(&[total], None, 1).remove(0);
        control::encode(&stack(), run, 0, 1, Nanos(said), &Control::End(end)).unwrap()
    }

    /// A forwarder with wires at both sides.
    struct Bench {
        sender: MemoryTx,
        worker: RxWorker<Forwarder<Relay<MemoryRx, MemoryTx>>>,
        left: Arc<Mutex<Vec<Vec<u8>>>>,
        /// Behind the forwarder; nobody reads it.
        _far: Vec<MemoryRx>,
    }

    impl Bench {
        fn new() -> Self {
            let left = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&left);
            let tap = move |_: Event, bytes: &[u8]| seen.lock().unwrap().push(bytes.to_vec());
            let (sender, mut near) = wire(1, 64, 64, Faults::none(1), |_, _| {});
            let (out, far) = wire(1, 64, 64, Faults::none(1), tap);
            let spec = RxSpec {
                queue: 0,
                batch: 64,
                inspector: Inspector::plain(None, true),
                others: false,
                timing: None,
                clock_id: 0,
                clock: || Nanos(1),
            };
            let port = Forwarder::new(Relay::new(near.remove(0), out, 2_048), OWN, Some(TO));
            let latch = Arc::new(Latch::new(None));
            let worker = RxWorker::new(port, spec, latch, sync_channel(1).0, Arc::default());
            Self { sender, worker, left, _far: far }
        }

        /// What leaves when such frames come.
        fn come(&mut self, frames: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
            self.sender.reclaim(|_| {});
            self.sender.send(frames.len(), &mut Given(frames)).unwrap();
            while self.worker.turn(Nanos(1)) == Turn::Worked {}
            std::mem::take(&mut *self.left.lock().unwrap())
        }

        fn tally(mut self) -> RxTally {
            assert!(self.worker.drain(Nanos(2)));
            let Books::Rx(mut tallies) = Box::new(self.worker).into_books() else { panic!("a receiver's") };
            tallies.remove(0)
        }
    }

    #[test]
    fn each_probe_and_what_tells_of_the_run_leave_once() {
        let mut bench = Bench::new();
        let hello = control::encode(&stack(), 7, 0, 1, Nanos(1), &Control::Learn).unwrap();
        let left = bench.come(vec![frame(0), frame(1), frame(1), hello, end(7, 5), end(8, 6), end(7, 7)]);
        // Two probes, and both ENDs of the run.
        assert_eq!(left.len(), 4);
        for frame in &left {
            assert_eq!((&frame[..6], &frame[6..12]), (TO.as_bytes(), OWN.as_bytes()));
        }
        assert_eq!(left[0][12..], frame(0)[12..], "the rest is as it came");
        assert!(bench.come(left).is_empty(), "it came round");
        let tally = bench.tally();
        let echo = tally.echo;
        assert_eq!((tally.probes, echo.submitted, echo.withheld, echo.control), (5, 4, 3, 2));
        assert_eq!((echo.ring_full, echo.completed), (0, 4));
    }
}
