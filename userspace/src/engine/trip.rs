//! The worker of a round trip: one queue, on which it sends what is due and then receives what has come back, in turn and
//! on one core, so that neither half waits for the other to be scheduled.

use super::{Books, Inlet, Progress, RxWorker, Turn, TxWorker, Worker};
use crate::port::TxPort;
use crate::units::Nanos;
use crossbeam_utils::CachePadded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Silence after which what has not come back is taken to be lost: longer than any round trip on one continent.
const PATIENCE: Nanos = Nanos::from_millis(300);
/// The same once as many have come back as were sent: time for duplicates.
const ALL_BACK: Nanos = Nanos::from_millis(20);

/// What the workers of one run know of each other: any of them may receive what another has sent.
#[derive(Debug)]
pub struct Returns {
    /// Workers that have not sent everything.
    sending: AtomicUsize,
    /// When the last frame came back, or the last worker ended its sending.
    heard: CachePadded<AtomicU64>,
    /// Figures of the two halves.
    sent: Vec<Arc<Progress>>,
    back: Vec<Arc<Progress>>,
}

impl Returns {
    /// Of a run whose senders have the figures `sent`, and its receivers `back`.
    #[must_use]
    pub fn new(sent: Vec<Arc<Progress>>, back: Vec<Arc<Progress>>) -> Self {
        Self { sending: AtomicUsize::new(sent.len()), heard: CachePadded::default(), sent, back }
    }

    fn hear(&self, now: Nanos) {
        self.heard.fetch_max(now.0, Relaxed);
    }

    /// A worker has sent everything.
    fn sent_all(&self, now: Nanos) {
        self.hear(now);
        self.sending.fetch_sub(1, Relaxed);
    }

    /// Whether nothing more is to be expected.
    fn over(&self, now: Nanos) -> bool {
        let sum = |halves: &[Arc<Progress>]| halves.iter().map(|half| half.frames()).sum::<u64>();
        let silence = now - Nanos(self.heard.load(Relaxed));
        self.sending.load(Relaxed) == 0
            && silence >= ALL_BACK
            && (silence >= PATIENCE || sum(&self.sent) == sum(&self.back))
    }
}

/// Sends through one port, and receives through another of the same queue what comes back.
pub struct TripWorker<T, R> {
    /// None where the queue only receives.
    tx: Option<TxWorker<T>>,
    rx: RxWorker<R>,
    /// Whether there is more to send.
    sending: bool,
    returns: Arc<Returns>,
}

impl<T: TxPort + Send, R: Inlet + Send> TripWorker<T, R> {
    /// A worker of both halves; `returns` is shared by all workers of the run.
    pub fn new(tx: Option<TxWorker<T>>, rx: RxWorker<R>, returns: Arc<Returns>) -> Self {
        Self { sending: tx.is_some(), tx, rx, returns }
    }

    /// The sending half's turn; once everything is sent it takes completions back.
    fn send(&mut self, now: Nanos) -> Turn {
        let Some(tx) = &mut self.tx else { return Turn::Empty };
        if !self.sending {
            tx.drain(now);
            return Turn::Empty;
        }
        match tx.turn(now) {
            Turn::Finished => {
                self.stop(now);
                Turn::Worked
            }
            turn => turn,
        }
    }

    fn stop(&mut self, now: Nanos) {
        if let Some(tx) = self.tx.as_mut().filter(|_| self.sending) {
            tx.end(now);
            self.sending = false;
            self.returns.sent_all(now);
        }
    }
}

impl<T: TxPort + Send, R: Inlet + Send> Worker for TripWorker<T, R> {
    fn begin(&mut self, now: Nanos) {
        if let Some(tx) = &mut self.tx {
            tx.begin(now);
        }
        self.rx.begin(now);
    }

    fn turn(&mut self, now: Nanos) -> Turn {
        let sent = self.send(now);
        if let Turn::Failed(_) = sent {
            return sent;
        }
        match self.rx.turn(now) {
            Turn::Worked => {
                self.returns.hear(now);
                Turn::Worked
            }
            Turn::Failed(error) => Turn::Failed(error),
            _ if !self.sending && self.returns.over(now) => Turn::Finished,
            // It never sleeps: a frame may come back at any moment.
            _ => sent,
        }
    }

    fn book(&mut self, turn: &Turn, from: Nanos, to: Nanos) {
        if let Some(tx) = &mut self.tx {
            tx.book(turn, from, to);
        }
    }

    fn end(&mut self, now: Nanos) {
        self.stop(now);
        self.rx.end(now);
    }

    fn drain(&mut self, now: Nanos) -> bool {
        let all_left = self.tx.as_mut().is_none_or(|tx| tx.drain(now));
        let nothing_came = self.rx.drain(now);
        if !nothing_came {
            self.returns.hear(now);
        }
        all_left && nothing_came && self.returns.over(now)
    }

    fn into_books(self: Box<Self>) -> Books {
        let Self { tx, rx, .. } = *self;
        Books::Trip(tx.as_ref().map(TxWorker::close), rx.close())
    }
}

#[cfg(test)]
mod tests;
