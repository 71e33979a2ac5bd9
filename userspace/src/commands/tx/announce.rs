//! START and END on the wire: what is offered, and what was sent.

use super::Aftermath;
use super::offer::Offer;
use crate::commands::control_link::ControlLink;
use crate::engine::{Books, LaneBooks, TxBooks};
use crate::finding::{Code, Finding};
use crate::frame::{Control, End, SpaceTotal};
use crate::sys::clock::monotonic;
use crate::units::Nanos;
use std::thread;
use std::time::Duration;

/// STARTs sent: one may be lost, and three cost nothing.
const STARTS: u32 = 3;
/// Pause behind each START: time for the sink to wake up and to know the flows before the first frame.
const START_PAUSE: Duration = Duration::from_millis(5);
/// ENDs sent, and the pause between them: together a tenth of a second, longer than a burst of loss.
const ENDS: u32 = 10;
const END_PAUSE: Nanos = Nanos::from_millis(10);
/// For how long a sink that is known to be there is told again, and how often: it may have been stopped, or
/// have lost all of the ENDs in a full ring.
const ANSWER_PATIENCE: Nanos = Nanos::from_millis(400);
const LATE_END_PAUSE: Nanos = Nanos::from_millis(50);
/// The same after Ctrl-C, counted from there: the Report comes within a second.
const INTERRUPT_PATIENCE: Nanos = Nanos::from_millis(700);

/// Messages thrown away before the END: more than come in a run of an honest network.
const STALE_MESSAGES: usize = 256;

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
    let numbered = |b: &&TxBooks| {
        let spaces = offer.spaces(b).filter(|(_, _, lane)| lane.numbered);
        let total = |(space, _, lane): (u16, u16, LaneBooks)| SpaceTotal {
            space,
            built: lane.built,
            completed: lane.completed,
        };
        spaces.map(total).collect::<Vec<_>>()
    };
    let spaces: Vec<_> = books.iter().flat_map(numbered).collect();
    let window = books.iter().map(|b| b.window.0).max().unwrap_or(0);
    let shortfall = Some(books.iter().map(|b| b.shortfall).sum());
    let parts = End::split(&spaces, aftermath.device_drops(), window).into_iter();
    LastWord { run: offer.run, parts: parts.map(|part| End { shortfall, ..part }).collect() }
}

/// Who is told the END, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Farewell {
    /// When the first START was said.
    pub began: Nanos,
    /// Whether the receiver is known to be a sink of ours, which will say that it has heard.
    pub sink_answers: bool,
    /// When the user asked for the end, who is then waiting for it.
    pub interrupted: Option<Nanos>,
}

impl Farewell {
    /// Until when the END is said again to a sink that has not answered.
    fn patience(&self, now: Nanos) -> Nanos {
        match self.interrupted {
            _ if !self.sink_answers => now,
            Some(asked) => (asked + INTERRUPT_PATIENCE).min(now + ANSWER_PATIENCE),
            None => now + ANSWER_PATIENCE,
        }
    }
}

/// Says what was sent: so many times, or until a sink has said that it has heard; to a sink that is known to
/// be there and does not answer, for longer: it may have been stopped for a while.
///
/// # Errors
/// When no frame can be sent, for instance because the interface is gone.
pub fn end(
    link: &mut ControlLink,
    offer: &Offer,
    word: &LastWord,
    farewell: Farewell,
) -> Result<(), Finding> {
    // An answer that is there already answers something else.
    (0..STALE_MESSAGES).map_while(|_| link.receive().ok().flatten()).for_each(drop);
    let mut result = Ok(());
    for n in 0..ENDS {
        let said = say_end(link, offer, word, farewell.began);
        result = if n == 0 { said } else { result.or(said) };
        if heard(link, offer.run, END_PAUSE) {
            return result;
        }
    }
    if result.as_ref().is_err_and(|finding| finding.code == Code::InterfaceGone) {
        return result;
    }
    let until = farewell.patience(monotonic());
    while monotonic() < until {
        result = result.or(say_end(link, offer, word, farewell.began));
        if heard(link, offer.run, LATE_END_PAUSE) {
            break;
        }
    }
    result
}

fn say_end(link: &mut ControlLink, offer: &Offer, word: &LastWord, began: Nanos) -> Result<(), Finding> {
    let age_ns = Some((monotonic() - began).0);
    word.parts.iter().try_for_each(|part| {
        link.send(&offer.stack, offer.run, &Control::End(End { age_ns, ..part.clone() }))
    })
}

/// Whether a sink says within `pause` that it has heard the END of `run`. Without an answer the pause is
/// waited out.
fn heard(link: &mut ControlLink, run: u16, pause: Nanos) -> bool {
    let until = monotonic() + pause;
    while monotonic() < until {
        match link.receive() {
            Ok(Some(message)) if message.run == run && message.control == Control::Heard => return true,
            Ok(Some(_)) => {}
            // A link that does not receive has no answer either; sending says why.
            Ok(None) | Err(_) => {
                let left = until - monotonic();
                if link.wait(left).is_err() {
                    thread::sleep(Duration::from_nanos(left.0));
                }
            }
        }
    }
    false
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
        Books::Trip(books, _) => books.as_ref(),
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
