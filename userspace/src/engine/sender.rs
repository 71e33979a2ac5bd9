//! What every sending worker keeps beside its frames: the link's absences, stalls of the driver, and how submitted frames
//! divide in the end. Knows no frame and no schedule.

use crate::port::PortError;
use crate::units::Nanos;

/// How long a driver with a link may complete nothing while frames are due and no chunk is free: a pause of a switch
/// lasts milliseconds, a reset of a NIC a second or two.
const PATIENCE: Nanos = Nanos(5_000_000_000);

/// Absences and stalls.
#[derive(Debug, Default)]
pub(super) struct Holdups {
    /// How often the link was lost, and for how long in all.
    pub outages: u32,
    pub outage: Nanos,
    away_since: Option<Nanos>,
    /// Since when frames are due and cannot be submitted.
    blocked: Option<Nanos>,
}

impl Holdups {
    /// Frames were due, and `sent` of them submitted. None is usual at full speed, for microseconds: every chunk is
    /// under way. A driver that gives none back while the link is there (`link_away` is another's word) is given up.
    pub fn submitted(&mut self, sent: usize, link_away: bool, now: Nanos) -> Result<(), PortError> {
        if sent > 0 {
            self.blocked = None;
            return Ok(());
        }
        let away = link_away || self.away_since.is_some();
        let since = *self.blocked.get_or_insert(now);
        if away {
            self.blocked = Some(now);
        } else if now - since >= PATIENCE {
            return Err(PortError::Stalled(PATIENCE));
        }
        Ok(())
    }

    /// The driver was kicked; a link that is down is booked and waited out.
    pub fn kicked(&mut self, result: Result<(), PortError>, now: Nanos) -> Result<(), PortError> {
        match result {
            Err(PortError::LinkDown) => {
                if self.away_since.is_none() {
                    self.away_since = Some(now);
                    self.outages += 1;
                }
            }
            Ok(()) => self.over(now),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The link is back, or the run over.
    pub fn over(&mut self, now: Nanos) {
        if let Some(since) = self.away_since.take() {
            self.outage = self.outage + (now - since);
        }
    }
}

/// How many of `submitted` frames left, and how many are in flight, of which `back` came back and `invalid` were
/// refused. Newer kernels complete refused descriptors, older ones keep them. Fewer missing than refused is proof of the
/// first; otherwise the second is assumed, which is wrong only where a newer kernel's driver also lost as many frames
/// as were refused.
pub(super) fn divide(submitted: u64, back: u64, invalid: u64) -> (u64, u64) {
    let missing = submitted.saturating_sub(back);
    let completed = if missing < invalid { back.saturating_sub(invalid) } else { back };
    (completed, submitted.saturating_sub(invalid + completed))
}

#[cfg(test)]
mod tests {
    use super::divide;

    #[test]
    fn refused_frames_do_not_count_as_sent_on_either_kernel() {
        let cases =
            (0..6).flat_map(|left| (0..6).flat_map(move |lost| (0..6).map(move |bad| (left, lost, bad))));
        for (left, lost, bad) in cases {
            let submitted = left + lost + bad;
            assert_eq!(divide(submitted, left, bad), (left, lost), "an older kernel");
            let (completed, in_flight) = divide(submitted, left + bad, bad);
            assert_eq!(completed + in_flight + bad, submitted);
            if lost < bad || bad == 0 {
                assert_eq!((completed, in_flight), (left, lost), "a newer kernel");
            }
        }
    }
}
