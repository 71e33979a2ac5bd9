//! The one-way latency of rx against an independent one: the kernel's receive times of a packet socket, with no sink
//! running, and the stamps in the frames.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::packet::{Recorder, median};
use support::{End, NetLab, only, reports, sink};

const RUN: Duration = Duration::from_secs(30);
/// Measurements in which only the time was wrong are made so often.
const TRIES: usize = 3;
const FRAMES: u64 = 20_000;

fn send(lab: &NetLab) {
    let (mac, count) = (lab.mac(End::B), FRAMES.to_string());
    let args = ["--json", "--quiet", "--dst-mac", &mac, "--count", &count, "--rate", "10kpps"];
    let tx = only(&reports(&lab.start(End::A, "tx", &args).wait(RUN).expect_code(0)));
    assert_eq!(tx.known("completed"), FRAMES, "{tx}");
}

/// The median of what the kernel's receive times say, in ns.
fn of_the_kernel(lab: &NetLab) -> f64 {
    let recorder = Recorder::start(lab.namespace(End::B), End::B.interface());
    send(lab);
    let arrivals = recorder.finish();
    assert_eq!(arrivals.len() as u64, FRAMES);
    let delay = |sent_ns: u64, at_ns: i64| at_ns as f64 - sent_ns as f64;
    median(&arrivals.iter().map(|arrival| delay(arrival.probe.sent_ns, arrival.at_ns)).collect::<Vec<_>>())
}

/// The median that rx gives, in ns.
fn of_the_sink(lab: &NetLab) -> f64 {
    let rx = sink(lab, &[]);
    send(lab);
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
    assert_eq!(rx.text("/latency_ns/kind"), "one_way", "{rx}");
    rx.at("/latency_ns/p50").as_f64().unwrap()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_median_is_that_of_an_independent_receiver() {
    const ALLOWED_NS: f64 = 20_000.0;
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let Some(lab) = NetLab::new(1) else { return };
        let (kernel, sink) = (of_the_kernel(&lab), of_the_sink(&lab));
        eprintln!("median one-way latency: {kernel} ns by the kernel, {sink} ns by rx");
        if (kernel - sink).abs() <= ALLOWED_NS {
            return;
        }
        seen.push((kernel, sink));
    }
    panic!("median one-way latency by the kernel and by rx, in ns: {seen:?}");
}
