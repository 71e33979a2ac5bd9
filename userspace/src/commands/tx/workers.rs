//! Where a sender's workers sit, and what they are: one a queue, which sends streams or a capture, and on a round trip
//! receives as well.

use super::trip::{self, Trip};
use super::{Sender, offer};
use crate::commands::Failure;
use crate::commands::placement::{self, From as End, Seat};
use crate::commands::sockets::Memory;
use crate::config::{DEFAULT_TX_RING, TxConfig};
use crate::engine::{
    Crew, Feed, PackedDepartures, Progress, ReplaySpec, ReplayWorker, TripWorker, TxWorker, Worker,
};
use crate::frame::Stream;
use crate::host::{InterfaceFacts, process};
use crate::xsk::XskTx;
use std::sync::Arc;

/// The queues with their cores, those that send first; how many do; and the packet memory of each.
///
/// # Errors
/// Queues or cores that are not there.
pub fn places(
    config: &TxConfig,
    facts: &InterfaceFacts,
    longest: u32,
) -> Result<(Vec<Seat>, usize, Memory), Failure> {
    let cores = placement::cores(config.placement.cores.as_deref(), &process::allowed_cores(), End::Lowest)?;
    let asked = config.placement.queues.as_deref();
    if config.round_trip {
        // Frames may come back on any receive queue.
        let queues = placement::queues(&facts.name, asked, facts.rx_queues, u32::MAX)?;
        let sending = queues.iter().filter(|queue| **queue < facts.tx_queues).count().min(cores.len()).max(1);
        return Ok((placement::seats(&queues, &cores), sending, trip::memory(config, longest)));
    }
    // Only flow by flow would several queues keep the order of a capture: they must be asked for.
    let limit = if config.replay.is_some() { 1 } else { u32::try_from(cores.len()).unwrap_or(u32::MAX) };
    let queues = placement::queues(&facts.name, asked, facts.tx_queues, limit)?;
    let table_bytes = if config.replay.is_some() { 0 } else { PackedDepartures::TABLE_BYTES };
    let memory = Memory { table_bytes, ..Memory::of(&config.rings, DEFAULT_TX_RING, longest) };
    Ok((placement::seats(&queues, &cores), queues.len(), memory))
}

impl Sender<'_> {
    /// The workers, by core.
    pub(super) fn crews(&mut self, progress: &[Arc<Progress>]) -> Result<Vec<Crew>, Failure> {
        let mut workers: Vec<(u32, Box<dyn Worker>)> = Vec::new();
        let ports = std::mem::take(&mut self.ports);
        if let Some(replay) = &mut self.replay {
            let queues = u16::try_from(ports.len()).unwrap_or(u16::MAX);
            let (reels, timing) = replay.start(self.config.count, queues)?;
            let (batch, duration) = (self.config.batch, self.config.duration);
            let seated = (0u16..).zip(ports).zip(reels).zip(self.seats.iter().zip(progress));
            workers.extend(seated.map(|(((worker, port), reel), (seat, progress))| {
                let spec = ReplaySpec { worker, batch, duration, timing, slots: port.slots() };
                let worker = ReplayWorker::new(port, reel, spec, Arc::clone(progress));
                (seat.core, Box::new(worker) as Box<dyn Worker>)
            }));
            return Ok(placement::crews(workers));
        }
        let senders: Result<Vec<_>, Failure> = (0u16..)
            .zip(ports)
            .zip(progress)
            .map(|((number, port), progress)| self.sender(number, port, Arc::clone(progress)))
            .collect();
        match &mut self.trip {
            Some(trip) => workers.extend(both(senders?, trip, progress)),
            None => {
                let seated = senders?.into_iter().zip(&self.seats);
                workers.extend(seated.map(|(worker, seat)| (seat.core, Box::new(worker) as Box<dyn Worker>)));
            }
        }
        Ok(placement::crews(workers))
    }

    /// The worker that sends the streams' share of one queue.
    fn sender(&self, number: u16, port: XskTx, progress: Arc<Progress>) -> Result<TxWorker<XskTx>, Failure> {
        let streams: Result<Vec<_>, _> = self.offer.streams(number).iter().map(Stream::new).collect();
        let streams = streams.map_err(|e| offer::unbuildable(&e))?;
        let feed = Feed::new(streams, self.config.streams.pattern(), port.slots());
        let pacer = self.offer.pacer(number);
        Ok(TxWorker::new(port, feed, number, pacer, progress))
    }
}

/// Each receiving half with the sending one of its queue, where that sends.
fn both(
    senders: Vec<TxWorker<XskTx>>,
    trip: &mut Trip,
    sent: &[Arc<Progress>],
) -> Vec<(u32, Box<dyn Worker>)> {
    let returns = trip.returns(sent);
    let senders = senders.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    let halves = trip.receivers().into_iter().zip(senders);
    let worker =
        |((core, rx), tx)| (core, Box::new(TripWorker::new(tx, rx, Arc::clone(&returns))) as Box<dyn Worker>);
    halves.map(worker).collect()
}
