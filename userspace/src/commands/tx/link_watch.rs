//! The link while frames are sent, as the device tells it. In copy mode the kernel completes what it drops for want of
//! a carrier, so the sockets do not notice.

use crate::host::carrier::{self, Carrier};
use crate::units::Nanos;

/// How often the carrier is looked at: it bounds the error of the time that it was away. Losses between two looks are
/// counted by the kernel.
const PERIOD: Nanos = Nanos::from_millis(50);

/// How often the link was lost, and for how long in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outages {
    /// Losses of carrier.
    pub count: u32,
    /// Time without it.
    pub away: Nanos,
}

/// Watches one interface.
pub struct LinkWatch {
    ifindex: u32,
    losses_before: Option<u32>,
    losses: Option<u32>,
    since: Option<Nanos>,
    outages: Outages,
    next: Nanos,
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
            self.see(now, carrier::read(self.ifindex));
        }
    }

    fn see(&mut self, now: Nanos, carrier: Option<Carrier>) {
        let Some(Carrier { up, losses }) = carrier else { return };
        self.losses = losses;
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

    /// What it came to until `now`.
    #[must_use]
    pub fn finish(mut self, now: Nanos) -> Outages {
        self.see(now, carrier::read(self.ifindex));
        let away = self.since.map_or(Nanos(0), |since| now - since);
        let counted = self.losses.zip(self.losses_before).map_or(0, |(now, before)| now.wrapping_sub(before));
        Outages { count: self.outages.count.max(counted), away: self.outages.away + away }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> LinkWatch {
        LinkWatch::begin(u32::MAX, Nanos(0))
    }

    fn carrier(up: bool, losses: u32) -> Option<Carrier> {
        Some(Carrier { up, losses: Some(losses) })
    }

    #[test]
    fn absences_add_up_and_the_last_one_lasts_to_the_end() {
        let mut watch = watch();
        let looks = [(10, true), (20, false), (30, false), (40, true), (50, false)];
        looks.into_iter().for_each(|(at, up)| watch.see(Nanos(at), carrier(up, 0)));
        assert_eq!(watch.finish(Nanos(57)), Outages { count: 2, away: Nanos(27) });
    }

    #[test]
    fn a_loss_between_two_looks_is_counted() {
        let mut watch = watch();
        watch.losses_before = Some(3);
        watch.see(Nanos(10), carrier(true, 3));
        watch.see(Nanos(20), carrier(true, 4));
        assert_eq!(watch.finish(Nanos(30)), Outages { count: 1, away: Nanos(0) });
    }
}
