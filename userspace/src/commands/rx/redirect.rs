//! Whether the driver really hands over what the program redirects: a native attach is no proof of it. Knows
//! counters and time; knows no socket, no program and not what to do about it.

use crate::engine::Progress;
use crate::units::Nanos;
use std::sync::Arc;

/// How long the first frames that were redirected may be under way to a socket: many times what any ring
/// takes.
const PATIENCE: Nanos = Nanos::from_millis(200);

/// What is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirect {
    /// No frame has come out of a socket yet; when frames were first seen to be redirected.
    Open(Option<Nanos>),
    /// Frames come, or the question does not arise.
    Settled,
}

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is not known yet, or was known before.
    Nothing,
    /// The first frame has come out of a socket.
    Proven,
    /// Frames were redirected and none came.
    Silent,
}

impl Redirect {
    /// Looks at what the program has `redirected` so far, and at the workers that read the sockets.
    pub fn look(&mut self, now: Nanos, redirected: u64, workers: &[Arc<Progress>]) -> Verdict {
        let Self::Open(since) = self else { return Verdict::Nothing };
        // A frame that a socket dropped for want of room was handed over as well.
        if workers.iter().any(|worker| worker.arrived() || worker.drops() > 0) {
            return Verdict::Proven;
        }
        if redirected == 0 {
            return Verdict::Nothing;
        }
        let until = *since.get_or_insert(now) + PATIENCE;
        // A worker that has not had its turn since then has had no chance to find them.
        let all_looked = workers.iter().all(|worker| worker.looked() >= until);
        if now >= until && all_looked { Verdict::Silent } else { Verdict::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Latch, RxSpec, RxWorker, Worker};
    use crate::frame::Inspector;
    use crate::port::{PortError, RxDrops, RxFrame, RxPort};
    use std::sync::mpsc::sync_channel;

    /// Gives one frame of no interest once it is asked to.
    struct Port(bool);

    impl RxPort for Port {
        fn recv(&mut self, _: usize, mut visit: impl FnMut(RxFrame<'_>)) -> Result<usize, PortError> {
            if self.0 {
                visit(RxFrame { bytes: &[0; 60], wire_len: 60, xdp_ns: None, nic_ns: None });
            }
            Ok(usize::from(self.0))
        }

        fn drops(&self) -> Option<RxDrops> {
            None
        }
    }

    /// A worker over a port that gives frames or does not, and its progress.
    fn worker(gives: bool) -> (RxWorker<Port>, Arc<Progress>) {
        let progress = Arc::new(Progress::default());
        let spec = RxSpec {
            queue: 0,
            batch: 64,
            inspector: Inspector::plain(Some(9), true),
            others: false,
            timing: Some(crate::measure::Sampling::ALL),
            clock_id: 0,
            clock: || Nanos(1),
        };
        let latch = Arc::new(Latch::new(None));
        (RxWorker::new(Port(gives), spec, latch, sync_channel(1).0, Arc::clone(&progress)), progress)
    }

    const T: Nanos = Nanos::SECOND;

    #[test]
    fn frames_that_are_redirected_and_do_not_come_are_noticed() {
        let (mut worker, progress) = worker(false);
        let workers = [progress];
        let mut redirect = Redirect::Open(None);
        assert_eq!(redirect.look(T, 0, &workers), Verdict::Nothing);
        assert_eq!(redirect.look(T + PATIENCE, 0, &workers), Verdict::Nothing, "nothing was redirected");
        assert_eq!(redirect.look(T, 5, &workers), Verdict::Nothing);
        assert_eq!(redirect.look(T + PATIENCE, 5, &workers), Verdict::Nothing, "the worker had no turn");
        worker.turn(T + PATIENCE);
        assert_eq!(redirect.look(T + PATIENCE, 5, &workers), Verdict::Silent);
    }

    #[test]
    fn one_frame_of_any_kind_proves_it() {
        let (mut worker, progress) = worker(true);
        let workers = [progress];
        let mut redirect = Redirect::Open(None);
        assert_eq!(redirect.look(T, 5, &workers), Verdict::Nothing);
        worker.turn(T + PATIENCE);
        assert_eq!(redirect.look(T + PATIENCE, 5, &workers), Verdict::Proven);
        redirect = Redirect::Settled;
        assert_eq!(redirect.look(T + PATIENCE + PATIENCE, 5, &workers), Verdict::Nothing);
    }
}
