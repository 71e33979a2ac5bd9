//! Pinned threads that take turns: start together, stop, drain, hand the books over.

use super::{Books, Turn, Worker};
use crate::port::PortError;
use crate::units::Nanos;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Sleep between turns when every worker of a thread is dormant: short enough that a receive ring of 8,192 entries
/// does not overflow below 40 Mpps.
const DORMANT_SLEEP: Duration = Duration::from_micros(200);

/// The workers of one thread and the core that it is pinned to.
pub struct Crew {
    /// Core; None leaves the thread where the scheduler puts it.
    pub core: Option<u32>,
    /// Its workers, each with its own queue.
    pub workers: Vec<Box<dyn Worker>>,
}

/// What one worker left behind.
#[derive(Debug)]
pub struct Outcome {
    /// The core it was on.
    pub core: Option<u32>,
    /// Its books.
    pub books: Books,
    /// Why it failed, if it did.
    pub error: Option<PortError>,
}

/// Threads under way.
pub struct Running {
    threads: Vec<JoinHandle<Vec<Outcome>>>,
    busy: Arc<AtomicUsize>,
}

/// What the threads of a run share.
#[derive(Clone)]
struct Shared {
    clock: fn() -> Nanos,
    stop: Arc<AtomicBool>,
    drain: Nanos,
    prepare: fn(),
    together: Arc<Barrier>,
    busy: Arc<AtomicUsize>,
}

struct Post {
    worker: Box<dyn Worker>,
    over: bool,
    error: Option<PortError>,
}

/// Starts a thread a crew, which calls `prepare` before anything else; they begin together, end when every worker has finished or `stop` is set, and then take
/// back what is under way for at most `drain`.
///
/// # Errors
/// When a thread cannot be made.
pub fn start(
    crews: Vec<Crew>,
    clock: fn() -> Nanos,
    stop: Arc<AtomicBool>,
    drain: Nanos,
    prepare: fn(),
) -> io::Result<Running> {
    let busy = Arc::new(AtomicUsize::new(crews.len()));
    let together = Arc::new(Barrier::new(crews.len()));
    let shared = Shared { clock, stop, drain, prepare, together, busy: Arc::clone(&busy) };
    let spawn = |(n, crew): (usize, Crew)| {
        let shared = shared.clone();
        thread::Builder::new().name(format!("worker-{n}")).spawn(move || man(crew, &shared))
    };
    let threads = crews.into_iter().enumerate().map(spawn).collect::<io::Result<_>>()?;
    Ok(Running { threads, busy })
}

impl Running {
    /// Whether every thread has ended.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.busy.load(Acquire) == 0
    }

    /// Waits for the threads. None stands for a thread that panicked.
    #[must_use]
    pub fn join(self) -> Option<Vec<Outcome>> {
        let outcomes: Vec<_> = self.threads.into_iter().map(JoinHandle::join).collect();
        outcomes.into_iter().collect::<Result<Vec<_>, _>>().ok().map(|o| o.into_iter().flatten().collect())
    }
}

/// Counts the thread out however it ends.
struct CountOut<'a>(&'a AtomicUsize);

impl Drop for CountOut<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Release);
    }
}

/// A thread's life.
fn man(crew: Crew, shared: &Shared) -> Vec<Outcome> {
    let _count_out = CountOut(&shared.busy);
    (shared.prepare)();
    let pinned =
        crew.core.filter(|core| core_affinity::set_for_current(core_affinity::CoreId { id: *core as usize }));
    let mut posts: Vec<Post> =
        crew.workers.into_iter().map(|worker| Post { worker, over: false, error: None }).collect();
    shared.together.wait();
    work(&mut posts, shared);
    drain(&mut posts, shared);
    posts
        .into_iter()
        .map(|p| Outcome { core: pinned, books: p.worker.into_books(), error: p.error })
        .collect()
}

fn work(posts: &mut [Post], shared: &Shared) {
    let mut now = (shared.clock)();
    posts.iter_mut().for_each(|post| post.worker.begin(now));
    while !shared.stop.load(Relaxed) && posts.iter().any(|post| !post.over) {
        let mut dormant = true;
        for post in posts.iter_mut().filter(|post| !post.over) {
            let turn = post.worker.turn(now);
            let then = (shared.clock)();
            post.worker.book(&turn, now, then);
            now = then;
            dormant &= turn == Turn::Dormant;
            post.settle(turn, now);
        }
        if dormant {
            thread::sleep(DORMANT_SLEEP);
            now = (shared.clock)();
        }
    }
    posts.iter_mut().filter(|post| !post.over).for_each(|post| post.worker.end(now));
}

impl Post {
    /// Ends the worker that has finished or failed.
    fn settle(&mut self, turn: Turn, now: Nanos) {
        self.error = match turn {
            Turn::Finished => None,
            Turn::Failed(error) => Some(error),
            Turn::Worked | Turn::Empty | Turn::Dormant => return,
        };
        self.over = true;
        self.worker.end(now);
    }
}

/// Turn by turn, so that a worker whose frames never come back leaves the others of its thread their time.
fn drain(posts: &mut [Post], shared: &Shared) {
    let deadline = (shared.clock)() + shared.drain;
    posts.iter_mut().for_each(|post| post.over = false);
    while posts.iter().any(|post| !post.over) {
        let now = (shared.clock)();
        for post in posts.iter_mut().filter(|post| !post.over) {
            // A port without its device gives nothing back: one look for what it had given.
            let gone = post.error == Some(PortError::Gone);
            post.over = post.worker.drain(now) || gone || now >= deadline;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TxBooks;

    /// Needs so many turns to drain, and has been given so many.
    struct Slow(u64, u64);

    impl Worker for Slow {
        fn begin(&mut self, _now: Nanos) {}
        fn turn(&mut self, _now: Nanos) -> Turn {
            Turn::Finished
        }
        fn book(&mut self, _turn: &Turn, _from: Nanos, _to: Nanos) {}
        fn end(&mut self, _now: Nanos) {}
        fn drain(&mut self, _now: Nanos) -> bool {
            self.1 += 1;
            self.1 >= self.0
        }
        fn into_books(self: Box<Self>) -> Books {
            Books::Tx(TxBooks { completed: self.1, ..TxBooks::default() })
        }
    }

    #[test]
    fn one_that_never_drains_leaves_the_others_their_time() {
        let workers: Vec<Box<dyn Worker>> = vec![Box::new(Slow(u64::MAX, 0)), Box::new(Slow(5, 0))];
        let crews = vec![Crew { core: None, workers }];
        let running = start(crews, monotonic, Arc::default(), Nanos::from_millis(20), || {}).unwrap();
        let turns = |outcome: Outcome| match outcome.books {
            Books::Tx(books) => books.completed,
            Books::Rx(_) | Books::Trip(..) => 0,
        };
        let drained: Vec<u64> = running.join().unwrap().into_iter().map(turns).collect();
        assert!(drained[0] > 5 && drained[1] == 5, "{drained:?}");
    }

    /// Every look is a millisecond later.
    fn monotonic() -> Nanos {
        use std::sync::atomic::AtomicU64;
        static NOW: AtomicU64 = AtomicU64::new(0);
        Nanos(NOW.fetch_add(1_000_000, Relaxed))
    }
}
