//! START and END on the wire: what is offered, and what was sent.

use super::Aftermath;
use super::offer::Offer;
use crate::commands::control_link::ControlLink;
use crate::engine::{Books, TxBooks};
use crate::finding::Finding;
use crate::frame::{Control, End, SpaceTotal};
use std::thread;
use std::time::Duration;

/// STARTs sent: one may be lost, and three cost nothing.
const STARTS: u32 = 3;
/// Pause behind each START: time for the sink to wake up and to know the flows before the first frame.
const START_PAUSE: Duration = Duration::from_millis(5);
/// ENDs sent, and the pause between them: together a tenth of a second, longer than a burst of loss.
const ENDS: u32 = 10;
const END_PAUSE: Duration = Duration::from_millis(10);

/// Says what will come.
///
/// # Errors
/// When no frame can be sent.
pub fn start(link: &mut ControlLink, offer: &Offer) -> Result<(), Finding> {
    let start = Control::Start(offer.start());
    repeat(STARTS, START_PAUSE, || link.send(&offer.stack, offer.run, &start))
}

/// What was sent, for a sink to close its books with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastWord {
    /// Tag of the run.
    pub run: u16,
    /// The totals.
    pub parts: Vec<End>,
}

/// Puts together what was sent.
pub fn last_word(offer: &Offer, aftermath: &Aftermath) -> LastWord {
    let books: Vec<&TxBooks> = tx_books(aftermath).collect();
    let total = |b: &&TxBooks| SpaceTotal { space: b.space, built: b.built, completed: b.completed };
    let spaces: Vec<_> = books.iter().map(total).collect();
    let window = books.iter().map(|b| b.window.0).max().unwrap_or(0);
    LastWord { run: offer.run, parts: End::split(&spaces, aftermath.device_drops(), window) }
}

/// Says what was sent.
///
/// # Errors
/// When no frame can be sent, for instance because the interface is gone.
pub fn end(link: &mut ControlLink, offer: &Offer, word: &LastWord) -> Result<(), Finding> {
    let parts: Vec<_> = word.parts.iter().cloned().map(Control::End).collect();
    repeat(ENDS, END_PAUSE, || parts.iter().try_for_each(|part| link.send(&offer.stack, offer.run, part)))
}

/// Says it so many times, with a pause behind each: one that gets out is enough. A link that was away fails the first
/// even when it is back.
fn repeat(times: u32, pause: Duration, mut say: impl FnMut() -> Result<(), Finding>) -> Result<(), Finding> {
    let mut result = Ok(());
    for n in 0..times {
        let said = say();
        result = if n == 0 { said } else { result.or(said) };
        thread::sleep(pause);
    }
    result
}

/// The senders' books.
pub fn tx_books(aftermath: &Aftermath) -> impl Iterator<Item = &TxBooks> {
    aftermath.outcomes.iter().filter_map(|outcome| match &outcome.books {
        Books::Tx(books) => Some(books),
        Books::Rx(_) => None,
    })
}

impl Aftermath {
    /// Frames that the device dropped on transmit within the run, by its own counter.
    pub fn device_drops(&self) -> Option<u64> {
        let (before, after) = (self.before.1?, self.after.1?);
        Some(after.since(before).tx_dropped)
    }
}
