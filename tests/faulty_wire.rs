//! A wire with known faults between tx and rx: the Report's loss, duplicates, reordering and delay are those that the
//! wire itself counted and was told to make.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::{End, Faults, FaultyWire, NetLab, Report, WireBooks, only, reports, sink, until};

const RUN: Duration = Duration::from_secs(40);
/// Measurements in which only the time was wrong are made so often.
const TRIES: usize = 3;

/// One run over a wire: what tx and rx say, and what the wire says.
struct Run {
    tx: Report,
    rx: Report,
    wire: WireBooks,
}

/// Sends over a wire with `faults`; None when the test is skipped.
fn over(faults: Faults, args: &[&str]) -> Option<Run> {
    let lab = NetLab::new(1)?;
    let wire = FaultyWire::between(&lab, faults);
    let rx = sink(&lab, &[]);
    let mac = lab.mac(End::B);
    let tx = lab.start(End::A, "tx", &[&["--json", "--quiet", "--dst-mac", &mac], args].concat());
    let tx = only(&reports(&tx.wait(RUN).expect_code(0)));
    // The frames that say the total are the last ones on the wire.
    let mut arrived = 0;
    until("the wire to be empty", Duration::from_secs(5), || {
        std::thread::sleep(Duration::from_millis(50));
        arrived == std::mem::replace(&mut arrived, lab.rx_packets(End::B))
    });
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
    tx.check_full_books();
    rx.check_full_books();
    Some(Run { tx, rx, wire: wire.finish() })
}

/// The sink's books are the wire's, whatever it did.
fn check_counts(run: &Run) {
    let Run { tx, rx, wire } = run;
    assert_eq!(tx.known("completed"), wire.came, "{wire:?}\n{tx}");
    assert_eq!(wire.came + wire.doubled - wire.lost, wire.delivered);
    let told = ["completed", "probes", "lost", "duplicate", "reordered", "late"].map(|name| rx.known(name));
    let true_ones = [wire.came, wire.delivered, wire.lost, wire.doubled, wire.reordered, 0];
    assert_eq!(told, true_ones, "{wire:?}\n{rx}");
    assert_eq!((rx.known("kernel_drops"), rx.known("unexplained")), (0, wire.lost), "{rx}");
    let limited = rx.at("/latency_ns/queue_limited").as_str();
    assert_eq!(limited.is_some_and(|why| why.contains(" lost")), wire.lost > 0, "{rx}");
    // Each frame is timed when it comes first.
    assert_eq!(rx.at("/latency_ns/count").as_u64(), Some(rx.known("unique")), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn loss_duplicates_and_reordering_are_those_of_the_wire() {
    let faults = Faults { lose_every: 100, double_every: 150, hold_percent: 25, ..Faults::default() };
    for (seed, flows) in [(1, "1"), (2, "4")] {
        let args = ["--count", "20000", "--rate", "10kpps", "--flows", flows];
        let Some(run) = over(Faults { seed, ..faults }, &args) else { return };
        // Every third double would be of a frame that is lost.
        assert_eq!((run.wire.came, run.wire.lost, run.wire.doubled), (20_000, 200, 133 - 66));
        assert!((4_000..6_000).contains(&run.wire.reordered), "{:?}", run.wire);
        check_counts(&run);
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_wire_without_faults_shows_none() {
    let Some(run) = over(Faults::default(), &["--count", "5000", "--rate", "5kpps"]) else { return };
    assert_eq!((run.wire.lost, run.wire.doubled, run.wire.reordered), (0, 0, 0));
    check_counts(&run);
}

/// The median one-way latency over a wire with so much delay, in ns; counts are checked on the way.
fn median_over(delay: Duration) -> Option<f64> {
    let run = over(Faults { delay, ..Faults::default() }, &["--duration", "3", "--rate", "1kpps"])?;
    check_counts(&run);
    assert_eq!(run.rx.text("/latency_ns/kind"), "one_way", "{}", run.rx);
    Some(run.rx.at("/latency_ns/p50").as_f64().unwrap())
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn five_milliseconds_more_are_five_milliseconds_more() {
    const MORE: Duration = Duration::from_millis(5);
    const ALLOWED_NS: f64 = 300_000.0;
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let Some(without) = median_over(Duration::ZERO) else { return };
        let more = median_over(MORE).unwrap() - without;
        seen.push((without, more));
        if (more - MORE.as_nanos() as f64).abs() <= ALLOWED_NS {
            return;
        }
    }
    panic!("median without the delay, and how much more it was with it, in ns: {seen:?}");
}
