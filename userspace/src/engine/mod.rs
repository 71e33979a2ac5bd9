//! One turn of work over a port, and the threads that take turns. It knows frames, pacing and measuring; it knows no
//! interface, no socket and no Report. Time is an argument.

mod departures;
mod echo_tally;
mod feed;
mod latch;
mod load;
mod onward;
mod progress;
mod reflect;
mod replay;
mod run;
mod rx;
mod sender;
mod tally;
mod times;
mod trip;
mod tx;

pub use departures::PackedDepartures;
pub use echo_tally::EchoTally;
pub use feed::{Feed, LaneBooks};
pub use latch::{Latch, SILENCE_AFTER_END, Shape};
pub use load::Load;
pub use onward::Forwarder;
pub use progress::Progress;
pub use reflect::{Inlet, Reflector};
pub use replay::{ReplaySpec, ReplayWorker};
pub use run::{Crew, Outcome, Running, start};
pub use rx::{ControlFrame, MAX_RUNS, RxSpec, RxWorker};
pub use tally::RxTally;
pub use times::{MAX_FOLLOWED_SPACES, Times};
pub use trip::{Returns, TripWorker};
pub use tx::{TxBooks, TxWorker};

use crate::port::PortError;
use crate::units::Nanos;

/// What one turn came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// It moved frames.
    Worked,
    /// There was nothing to do; there may be at any moment.
    Empty,
    /// There has been nothing for so long that the thread may sleep a little.
    Dormant,
    /// The worker has done what it was made for.
    Finished,
    /// The port is gone; the worker can do no more.
    Failed(PortError),
}

/// All that [`run`](start) knows of a worker. Called once a turn, so dispatch is dynamic.
pub trait Worker: Send {
    /// Called once, before the first turn.
    fn begin(&mut self, now: Nanos);
    /// One turn of work.
    fn turn(&mut self, now: Nanos) -> Turn;
    /// Books what a turn cost, right after it.
    fn book(&mut self, turn: &Turn, from: Nanos, to: Nanos);
    /// Called once, when the run ends: by itself, by a signal or by an error.
    fn end(&mut self, now: Nanos);
    /// One turn of taking back what is still under way; true when nothing is.
    fn drain(&mut self, now: Nanos) -> bool;
    /// The worker's books.
    fn into_books(self: Box<Self>) -> Books;
}

/// The books of one worker.
#[derive(Debug)]
pub enum Books {
    /// Of a sender.
    Tx(TxBooks),
    /// Of a receiver: a tally a run, oldest first.
    Rx(Vec<RxTally>),
    /// Of both in one: what was sent, where the worker sends, and what came back of it.
    Trip(Option<TxBooks>, Vec<RxTally>),
}
