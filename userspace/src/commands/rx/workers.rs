//! The workers of a sink, a reflector or a forwarder: one a queue.

use super::onward::Onward;
use super::recording::Recording;
use super::{Sink, matching};
use crate::commands::placement::Seat;
use crate::config::Role;
use crate::engine::{Forwarder, Progress, Reflector, RxSpec, RxWorker, Worker};
use crate::host::machine;
use crate::measure::Sampling;
use crate::port::relay::Relay;
use crate::sys::clock::monotonic;
use crate::xsk::XskRx;
use macaddr::MacAddr6;
use std::sync::Arc;

impl Sink<'_> {
    /// The workers with their cores.
    pub(super) fn workers(&mut self, progress: &[Arc<Progress>]) -> Vec<(u32, Box<dyn Worker>)> {
        let inspector = matching::inspector(self.config);
        let ports = std::mem::take(&mut self.ports);
        let mut onward = self.onward.as_mut().map(Onward::ways).unwrap_or_default().into_iter();
        let worker = |((port, seat), progress): ((XskRx, &Seat), &Arc<Progress>)| {
            let spec = RxSpec {
                queue: seat.queue,
                batch: self.config.batch,
                inspector: inspector.clone(),
                others: self.takes_others(),
                timing: self.config.timing.map(Sampling::one_in),
                clock_id: machine::clock_id(),
                clock: monotonic,
            };
            let (latch, control) = (Arc::clone(&self.latch), self.control.clone());
            let tap = self.recording.as_ref().and_then(Recording::tap);
            let progress = Arc::clone(progress);
            let worker: Box<dyn Worker> = match (self.config.role, onward.next()) {
                (Role::Forwarder, Some(way)) => {
                    let port = Forwarder::new(Relay::new(port, way.port, way.longest), way.own, way.to);
                    Box::new(RxWorker::new(port, spec, latch, control, progress))
                }
                (Role::Reflector, _) => {
                    let own = self.facts.mac.unwrap_or_else(MacAddr6::nil);
                    let port = Reflector::new(port.into_echo(), own);
                    Box::new(RxWorker::new(port, spec, latch, control, progress))
                }
                _ => Box::new(RxWorker::new(port, spec, latch, control, progress).with_tap(tap)),
            };
            (seat.core, worker)
        };
        ports.into_iter().zip(&self.seats).zip(progress).map(worker).collect()
    }
}
