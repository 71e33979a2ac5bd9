//! A sink that runs for ever, over a port that gives one frame at a time.

use super::*;
use crate::engine::latch::SILENCE;
use crate::frame::{L3, Stack, StreamId, Template, probe};
use crate::port::{RxFrame, RxPort};
use crate::units::FrameSize;
use macaddr::MacAddr6;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};

/// Gives the frame that was put there last, once.
#[derive(Clone, Default)]
struct Port(Arc<Mutex<Option<Vec<u8>>>>);

impl Port {
    fn put(&self, frame: Option<Vec<u8>>) -> Option<Vec<u8>> {
        std::mem::replace(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), frame)
    }
}

impl RxPort for Port {
    fn recv(&mut self, _: usize, mut visit: impl FnMut(RxFrame<'_>)) -> Result<usize, PortError> {
        let Some(bytes) = self.put(None) else { return Ok(0) };
        visit(RxFrame { bytes: &bytes, wire_len: bytes.len(), xdp_ns: None, nic_ns: None });
        Ok(1)
    }

    fn drops(&self) -> Option<RxDrops> {
        None
    }
}

/// The first frame of a run.
fn first_of(run: u16) -> Vec<u8> {
    let mac = MacAddr6::new(2, 0, 0, 0, 0, 1);
    let stack = Stack { src_mac: mac, dst_mac: mac, vlans: Vec::new(), l3: L3::Ethernet };
    let mut frame = Template::new(&stack, FrameSize::MIN).unwrap().into_bytes();
    let at = stack.headers().probe;
    let first = Probe { run, stream: StreamId::new(0, true), seq: 0, clock: 0, sent: 0 };
    first.write((&mut frame[at..at + probe::LEN]).try_into().unwrap());
    frame
}

#[test]
fn an_endless_sink_keeps_the_last_runs_and_the_sums_of_all() {
    const RUNS: u16 = 1_100;
    let port = Port::default();
    let latch = Arc::new(Latch::new(None));
    let spec = RxSpec {
        queue: 3,
        batch: 64,
        inspector: Inspector::plain(None, true),
        others: false,
        timing: Some(Sampling::ALL),
        clock_id: 0,
        clock: || Nanos(1),
    };
    let (control, _messages) = sync_channel(1);
    let mut worker = RxWorker::new(port.clone(), spec, Arc::clone(&latch), control, Arc::default());
    for run in 0..RUNS {
        assert!(latch.claim(run, Nanos(u64::from(run) * SILENCE.0)).is_some());
        port.put(Some(first_of(run)));
        worker.turn(Nanos(1));
    }
    let Books::Rx(tallies) = Box::new(worker).into_books() else { panic!("a receiver's books") };
    assert_eq!(tallies.len(), MAX_RUNS + 1);
    assert_eq!((tallies[0].epoch, tallies[0].queue), (RxTally::FORGOTTEN, Some(3)));
    assert!(tallies[1..].iter().map(|tally| tally.run).eq((RUNS - 1024..RUNS).map(Some)));
    assert_eq!(tallies.iter().map(RxTally::received).sum::<u64>(), u64::from(RUNS));
}
