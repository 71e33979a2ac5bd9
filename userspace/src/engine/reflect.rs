//! Where a receiving worker's frames come from: a port that keeps them, or one that sends them back turned round.

use crate::frame::{probe, swap};
use crate::port::{EchoPort, Forward, PortError, RxDrops, RxFrame, RxPort};
use macaddr::MacAddr6;

/// What a receiving worker needs of its port.
pub trait Inlet {
    /// Whether frames leave again.
    const ECHOES: bool;
    /// Whether they leave for somewhere else: each probe once, and the frames that tell a sink of the run as well.
    const ONWARD: bool = false;
    /// Shows up to `max` frames that have arrived to `look`, which hears whether there is room for one more to leave, and
    /// of those that do says where their probe lies; returns how many arrived.
    fn take(
        &mut self,
        max: usize,
        look: impl FnMut(RxFrame<'_>, bool) -> Option<usize>,
    ) -> Result<usize, PortError>;
    /// Takes back frames that have left; how many.
    fn reclaim(&mut self) -> Result<usize, PortError>;
    /// Has the driver look at what is to leave.
    fn kick(&mut self) -> Result<(), PortError>;
    /// Whether nothing is under way.
    fn idle(&self) -> bool;
    /// What was dropped in front of the port so far; None when it cannot be read.
    fn dropped(&self) -> Option<RxDrops>;
}

impl<P: RxPort> Inlet for P {
    const ECHOES: bool = false;

    #[inline]
    fn take(
        &mut self,
        max: usize,
        mut look: impl FnMut(RxFrame<'_>, bool) -> Option<usize>,
    ) -> Result<usize, PortError> {
        self.recv(max, |frame| {
            look(frame, false);
        })
    }

    fn reclaim(&mut self) -> Result<usize, PortError> {
        Ok(0)
    }

    fn kick(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn idle(&self) -> bool {
        true
    }

    fn dropped(&self) -> Option<RxDrops> {
        self.drops()
    }
}

/// A port that sends back what it is told to, turned round.
pub struct Reflector<E> {
    port: E,
    own: MacAddr6,
}

impl<E> Reflector<E> {
    /// Frames that went to a group leave from `own`.
    pub const fn new(port: E, own: MacAddr6) -> Self {
        Self { port, own }
    }
}

impl<E: EchoPort> Inlet for Reflector<E> {
    const ECHOES: bool = true;

    #[inline]
    fn take(
        &mut self,
        max: usize,
        mut look: impl FnMut(RxFrame<'_>, bool) -> Option<usize>,
    ) -> Result<usize, PortError> {
        let own = self.own;
        self.port.turn(max, |bytes, room| {
            let frame = RxFrame { bytes, wire_len: bytes.len(), xdp_ns: None, nic_ns: None };
            let Some(at) = look(frame, room) else { return Forward::Drop };
            swap(bytes, own);
            if let Some(bytes) = bytes.get_mut(at..) {
                probe::turn(bytes);
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
    use crate::frame::{Inspector, L3, Probe, Stack, StreamId, Template, probe};
    use crate::units::{FrameSize, Nanos};
    use std::collections::VecDeque;
    use std::sync::mpsc::sync_channel;
    use std::sync::{Arc, Mutex};

    const SENDER: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 1);
    const OWN: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 2);

    /// Gives frames, and has room for so many to leave.
    #[derive(Default)]
    struct Port {
        frames: VecDeque<Vec<u8>>,
        room: usize,
        left: Arc<Mutex<Vec<Vec<u8>>>>,
        in_flight: usize,
    }

    impl EchoPort for Port {
        fn turn(
            &mut self,
            max: usize,
            mut edit: impl FnMut(&mut [u8], bool) -> Forward,
        ) -> Result<usize, PortError> {
            let n = max.min(self.frames.len());
            for mut frame in self.frames.drain(..n) {
                if edit(&mut frame, self.in_flight < self.room) == Forward::Send {
                    self.left.lock().unwrap().push(frame);
                    self.in_flight += 1;
                }
            }
            Ok(n)
        }

        fn kick(&mut self) -> Result<(), PortError> {
            Ok(())
        }

        fn reclaim(&mut self) -> Result<usize, PortError> {
            Ok(std::mem::take(&mut self.in_flight))
        }

        fn in_flight(&self) -> usize {
            self.in_flight
        }

        fn drops(&self) -> Option<RxDrops> {
            None
        }
    }

    fn frame(run: u16, seq: u32) -> Vec<u8> {
        let stack = Stack { src_mac: SENDER, dst_mac: OWN, vlans: Vec::new(), l3: L3::Ethernet };
        let mut frame = Template::new(&stack, FrameSize::MIN).unwrap().into_bytes();
        let at = stack.headers().probe;
        let probe = Probe { run, stream: StreamId::new(0, true), seq, clock: 0, sent: 0 };
        probe.write((&mut frame[at..at + probe::LEN]).try_into().unwrap());
        frame
    }

    /// What a reflector makes of frames when 8 may be under way, and what left it.
    fn reflected(frames: impl Iterator<Item = Vec<u8>>) -> (RxTally, Vec<Vec<u8>>) {
        let port = Port { frames: frames.collect(), room: 8, ..Port::default() };
        let left = Arc::clone(&port.left);
        let spec = RxSpec {
            queue: 0,
            batch: 12,
            inspector: Inspector::plain(None, true),
            others: false,
            timing: Some(crate::measure::Sampling::ALL),
            clock_id: 0,
            clock: || Nanos(1),
        };
        let (control, _messages) = sync_channel(1);
        let latch = Arc::new(Latch::new(Some(7)));
        let mut worker = RxWorker::new(Reflector::new(port, OWN), spec, latch, control, Arc::default());
        while worker.turn(Nanos(1)) == Turn::Worked {}
        assert!(worker.drain(Nanos(2)));
        let Books::Rx(mut tallies) = Box::new(worker).into_books() else { panic!("a receiver's books") };
        let left = left.lock().unwrap().clone();
        (tallies.remove(0), left)
    }

    #[test]
    fn each_probe_goes_back_or_is_counted_and_nothing_else_leaves() {
        // Turns of 12: the first and the second have room for 8 of theirs.
        let foreign = [frame(8, 0), vec![0; 60], Vec::new()];
        let (tally, left) = reflected((0..24).map(|seq| frame(7, seq)).chain(foreign));
        assert_eq!((tally.probes, tally.received()), (24, 27));
        let echo = tally.echo;
        assert_eq!((echo.submitted, echo.ring_full, echo.completed), (16, 8, 16));
        assert_eq!((echo.bytes, left.len()), (16 * 64, 16));
        for frame in &left {
            assert_eq!((&frame[..6], &frame[6..12]), (SENDER.as_bytes(), OWN.as_bytes()));
        }
    }

    #[test]
    fn what_has_come_back_does_not_go_back_again() {
        let (_, left) = reflected([frame(7, 0), frame(7, 1)].into_iter());
        assert_eq!(left.len(), 2);
        let (tally, again) = reflected(left.into_iter());
        assert_eq!((tally.probes, tally.received(), again.len()), (0, 2, 0));
    }

    #[test]
    fn duplicates_go_back_and_gaps_stay_gaps() {
        let (tally, left) = reflected([0, 1, 1, 4].into_iter().map(|seq| frame(7, seq)));
        let counts = tally.spaces[&0];
        assert_eq!((counts.unique, counts.duplicate, left.len()), (3, 1, 4));
    }
}
