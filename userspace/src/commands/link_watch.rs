//! The link while frames are sent or received, as the device tells it. In copy mode the kernel completes what
//! it drops for want of a carrier, and a receiver only sees silence, so the sockets do not notice. Knows no
//! frame.

use crate::host::carrier::{self, Carrier, Sight};
use crate::units::Nanos;

/// How often the carrier is looked at: it bounds the error of the time that it was away. Losses between two
/// looks are counted by the kernel.
const PERIOD: Nanos = Nanos::from_millis(50);

/// How often the link was lost, and for how long in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outages {
    /// Losses of carrier.
    pub count: u32,
    /// Time without it.
    pub away: Nanos,
    /// Whether the interface was set down within it.
    pub set_down: bool,
}

/// Watches one interface.
pub struct LinkWatch {
    ifindex: u32,
    losses_before: Option<u32>,
    losses: Option<u32>,
    since: Option<Nanos>,
    outages: Outages,
    gone: bool,
    next: Nanos,
}

impl Outages {
    /// What happened, of a time `of`, or of a time that is not known.
    #[must_use]
    pub fn words(&self, of: Option<Nanos>) -> String {
        let how = if self.set_down { "the interface was set down" } else { "the link was lost" };
        let times = if self.count > 1 { format!(" {} times", self.count) } else { String::new() };
        let of = of.map_or_else(String::new, |of| format!(" of {:.3} s", of.as_secs_f64()));
        format!("{how} within the run{times}, for {:.3} s{of}", self.away.as_secs_f64())
    }
}

impl LinkWatch {
    /// Begins at `now`.
    #[must_use]
    pub fn begin(ifindex: u32, now: Nanos) -> Self {
        let mut watch = Self {
            ifindex,
            losses_before: None,
            losses: None,
            since: None,
            outages: Outages::default(),
            gone: false,
            next: now,
        };
        watch.look(now);
        watch.losses_before = watch.losses;
        watch
    }

    /// Looks, when it is time.
    pub fn look(&mut self, now: Nanos) {
        if now >= self.next {
            self.next = now + PERIOD;
            self.see(now, carrier::look(self.ifindex));
        }
    }

    /// Whether the interface was no longer there at the last look.
    #[must_use]
    pub const fn gone(&self) -> bool {
        self.gone
    }

    /// Whether the link was away at the last look.
    #[must_use]
    pub const fn away(&self) -> bool {
        self.since.is_some()
    }

    fn see(&mut self, now: Nanos, sight: Sight) {
        self.gone = sight == Sight::Gone;
        let Sight::There(Carrier { up, admin_up, losses }) = sight else { return };
        self.losses = losses;
        self.outages.set_down |= !admin_up;
        match (up, self.since) {
            (false, None) => {
                self.since = Some(now);
                self.outages.count += 1;
            }
            (true, Some(since)) => {
                self.since = None;
                self.outages.away = self.outages.away + (now - since);
            }
            _ => {}
        }
    }

    /// What it has come to until `now`.
    #[must_use]
    pub fn so_far(&self, now: Nanos) -> Outages {
        let away = self.since.map_or(Nanos(0), |since| now - since);
        let counted = self.losses.zip(self.losses_before).map_or(0, |(now, before)| now.wrapping_sub(before));
        Outages {
            count: self.outages.count.max(counted),
            away: self.outages.away + away,
            set_down: self.outages.set_down,
        }
    }

    /// Looks once more and gives what it came to until `now`; from here on another run is watched. A link
    /// that is away is so for that one too.
    pub fn cut(&mut self, now: Nanos) -> Outages {
        self.see(now, carrier::look(self.ifindex));
        let outages = self.so_far(now);
        self.losses_before = self.losses;
        let away = self.since.is_some();
        self.since = self.since.map(|_| now);
        self.outages = Outages { count: u32::from(away), ..Outages::default() };
        outages
    }

    /// What it came to until `now`.
    #[must_use]
    pub fn finish(mut self, now: Nanos) -> Outages {
        self.cut(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> LinkWatch {
        LinkWatch::begin(u32::MAX, Nanos(0))
    }

    fn carrier(up: bool, losses: u32) -> Sight {
        Sight::There(Carrier { up, admin_up: true, losses: Some(losses) })
    }

    #[test]
    fn absences_add_up_and_the_last_one_lasts_to_the_end() {
        let mut watch = watch();
        let looks = [(10, true), (20, false), (30, false), (40, true), (50, false)];
        looks.into_iter().for_each(|(at, up)| watch.see(Nanos(at), carrier(up, 0)));
        assert_eq!(watch.finish(Nanos(57)), Outages { count: 2, away: Nanos(27), set_down: false });
    }

    #[test]
    fn a_loss_between_two_looks_is_counted() {
        let mut watch = watch();
        watch.losses_before = Some(3);
        watch.see(Nanos(10), carrier(true, 3));
        watch.see(Nanos(20), carrier(true, 4));
        assert_eq!(watch.finish(Nanos(30)), Outages { count: 1, ..Outages::default() });
    }

    #[test]
    fn what_is_set_down_is_told_apart_and_each_run_has_its_own() {
        let mut watch = watch();
        let down = Sight::There(Carrier { up: false, admin_up: false, losses: Some(1) });
        watch.see(Nanos(10), down);
        watch.see(Nanos(30), carrier(true, 1));
        let first = watch.cut(Nanos(40));
        assert_eq!(first, Outages { count: 1, away: Nanos(20), set_down: true });
        assert!(first.words(None).contains("set down"));
        watch.see(Nanos(50), carrier(true, 1));
        assert_eq!(watch.cut(Nanos(60)), Outages::default());
    }

    #[test]
    fn an_interface_that_is_not_there_is_gone() {
        let mut watch = watch();
        assert!(watch.gone());
        watch.see(Nanos(1), carrier(true, 0));
        assert!(!watch.gone());
        watch.see(Nanos(2), Sight::Unknown);
        assert!(!watch.gone(), "no answer is no proof");
    }
}
