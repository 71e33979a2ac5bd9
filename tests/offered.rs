//! The offered load is the asked load: what arrives at an independent receiver, how it is spaced, and that a sender that
//! was held up says what it did not send and does not catch up without limit.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sys::signal::Signal;
use std::time::Duration;
use support::packet::{Arrival, Recorder, gaps_ns, median};
use support::{End, NetLab, Report, Running, only, reports, until};

const RUN: Duration = Duration::from_secs(30);
const SECONDS: f64 = 3.0;
/// Of what was asked, what may be neither sent nor told as shortfall.
const UNTOLD: f64 = 0.001;
/// Measurements in which only the time was wrong are made so often.
const TRIES: usize = 3;

/// A sender with an independent receiver at the other end, and no sink.
struct Sending {
    lab: NetLab,
    recorder: Recorder,
    tx: Running,
}

impl Sending {
    /// Begins to send for [`SECONDS`] at a rate; None when the test is skipped.
    fn start(rate: &str) -> Option<Self> {
        let lab = NetLab::new(1)?;
        let recorder = Recorder::start(lab.namespace(End::B), End::B.interface());
        let (mac, seconds) = (lab.mac(End::B), SECONDS.to_string());
        let tx =
            lab.start(End::A, "tx", &["--json", "--dst-mac", &mac, "--rate", rate, "--duration", &seconds]);
        Some(Self { lab, recorder, tx })
    }

    /// Waits for the first frames.
    fn under_way(&self) {
        until("tx to send", Duration::from_secs(10), || self.tx.stderr().contains("sending frames"));
        self.lab.wait_for_frames(End::B, 100);
    }

    /// The Report of the sender, which ends with this exit code, and what arrived.
    fn finish(self, code: i32) -> (Report, Vec<Arrival>) {
        let tx = only(&reports(&self.tx.wait(RUN).expect_code(code)));
        tx.check_full_books();
        (tx, self.recorder.finish())
    }
}

/// Fails unless frames and shortfall together are what was asked, at `pps`, to one frame or [`UNTOLD`].
fn check_offered(tx: &Report, pps: f64) {
    let window = tx.at("/duration_s").as_f64().unwrap();
    assert!((window - SECONDS).abs() < 1e-6, "{tx}");
    let asked = pps * SECONDS;
    let told = (tx.known("completed") + tx.known("shortfall")) as f64;
    eprintln!("{pps} pps: {} of {asked} frames, {} shortfall", tx.known("completed"), tx.known("shortfall"));
    assert!((told - asked).abs() <= (asked * UNTOLD).max(1.0), "asked {asked}, told {told}: {tx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_and_shortfall_are_what_was_asked() {
    for (rate, pps) in [("1pps", 1.0), ("100pps", 100.0), ("10kpps", 10e3), ("100kpps", 100e3)] {
        let Some(sending) = Sending::start(rate) else { return };
        let (tx, arrivals) = sending.finish(0);
        check_offered(&tx, pps);
        assert_eq!(tx.known("completed"), arrivals.len() as u64, "{rate}: {tx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn ten_kilobits_are_ten_kilobits() {
    // 64 bytes are 672 bits on the wire with preamble and gap, and 512 without.
    for (rate, bits) in [("10kbps", 672.0), ("10kbps-l2", 512.0)] {
        let pps = 10e3 / bits;
        let Some(sending) = Sending::start(rate) else { return };
        let (tx, arrivals) = sending.finish(0);
        check_offered(&tx, pps);
        assert_eq!(tx.known("completed"), arrivals.len() as u64, "{rate}: {tx}");
        let spacing = median(&gaps_ns(&arrivals));
        assert!((spacing * pps / 1e9 - 1.0).abs() < 0.01, "{rate}: a frame every {spacing} ns");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_are_spaced_and_do_not_leave_in_bursts() {
    const SPACING_NS: f64 = 100_000.0;
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let Some(sending) = Sending::start("10kpps") else { return };
        let (_, arrivals) = sending.finish(0);
        let off: Vec<f64> = gaps_ns(&arrivals).iter().map(|gap| (gap - SPACING_NS).abs()).collect();
        let middle = median(&off);
        if middle <= SPACING_NS / 10.0 {
            return;
        }
        seen.push(middle);
    }
    panic!("the median gap is off by so many ns of {SPACING_NS}: {seen:?}");
}

/// The most frames that arrived within 10 ms, from the end of the longest silence on.
fn busiest_after_silence(arrivals: &[Arrival]) -> usize {
    const WINDOW_NS: i64 = 10_000_000;
    let silence = arrivals.windows(2).enumerate().max_by_key(|(_, pair)| pair[1].at_ns - pair[0].at_ns);
    let after = &arrivals[silence.unwrap().0 + 1..];
    let mut first = 0;
    let mut most = 0;
    for (last, arrival) in after.iter().enumerate() {
        while arrival.at_ns - after[first].at_ns >= WINDOW_NS {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn after_a_stall_nothing_is_caught_up_beyond_the_credit() {
    const STALL: Duration = Duration::from_millis(200);
    for (rate, pps) in [("10kpps", 10e3), ("100kpps", 100e3)] {
        let Some(sending) = Sending::start(rate) else { return };
        sending.under_way();
        sending.tx.signal(Signal::SIGSTOP);
        std::thread::sleep(STALL);
        sending.tx.signal(Signal::SIGCONT);
        let (tx, arrivals) = sending.finish(0);
        check_offered(&tx, pps);
        // The credit is a millisecond, or a batch. It may be had twice: a turn that was interrupted sends what was due
        // when it began.
        let credit = (pps / 1e3).max(64.0);
        let most = busiest_after_silence(&arrivals);
        assert!(most as f64 <= pps / 100.0 + 2.0 * credit, "{rate}: {most} frames within 10 ms");
        // A little less than the stall: the signals do not come at once.
        let shortfall = tx.known("shortfall") as f64;
        assert!(shortfall >= pps * 0.9 * STALL.as_secs_f64() - credit, "{rate}: {shortfall}: {tx}");
    }
}
