//! Bursts, plans and random arrivals as an independent receiver sees them: when frames say that they were due, when they
//! came, and what the Reports of both ends say was asked.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::packet::{Arrival, Recorder, gaps_ns, median};
use support::{End, NetLab, Report, only, reports, tx_and_rx};

const RUN: Duration = Duration::from_secs(30);
const MS: u64 = 1_000_000;
/// Measurements in which only the time was wrong are made so often.
const TRIES: usize = 3;

/// A run to its end: the sender's Report, and what arrived.
fn sent(lab: &NetLab, args: &[&str]) -> (Report, Vec<Arrival>) {
    let recorder = Recorder::start(lab.namespace(End::B), End::B.interface());
    let mac = lab.mac(End::B);
    let tx = lab.start(End::A, "tx", &[&["--json", "--dst-mac", &mac], args].concat());
    let tx = only(&reports(&tx.wait(RUN).expect_code(0)));
    tx.check_full_books();
    let arrivals = recorder.finish();
    assert_eq!(tx.known("completed"), arrivals.len() as u64, "{tx}");
    (tx, arrivals)
}

/// When each frame was due, by its own word, in ns from the first.
fn due_ns(arrivals: &[Arrival]) -> Vec<u64> {
    arrivals.iter().map(|arrival| arrival.probe.sent_ns - arrivals[0].probe.sent_ns).collect()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn bursts_come_back_to_back_and_keep_the_rate() {
    const BURST: usize = 10;
    let mut seen = Vec::new();
    for _ in 0..TRIES {
        let Some(lab) = NetLab::new(1) else { return };
        let (tx, arrivals) = sent(&lab, &["--rate", "10kpps", "--burst", "10", "--duration", "2"]);
        assert_eq!(tx.known("completed") + tx.known("shortfall"), 20_000, "{tx}");
        assert_eq!(tx.at("/offered/burst"), 10, "{tx}");
        let due = due_ns(&arrivals);
        for (at, time) in due.iter().enumerate().filter(|_| tx.known("shortfall") == 0) {
            assert_eq!(*time, (at / BURST) as u64 * MS, "frame {at}");
        }
        let gaps = gaps_ns(&arrivals);
        let (between, within): (Vec<f64>, Vec<f64>) = gaps.iter().partition(|gap| **gap > 0.5e6);
        let (apart, together) = (median(&between), median(&within));
        let bursts = arrivals.len() as f64 / BURST as f64;
        // A sender that was held up sends several at once.
        let whole = (0.5..1.05).contains(&(between.len() as f64 / bursts));
        if whole && (apart / 1e6 - 1.0).abs() < 0.05 && together < 20e3 {
            return;
        }
        seen.push((bursts, between.len(), apart, together));
    }
    panic!("bursts by their frames and by the gaps between them, ns between two, ns within: {seen:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_plan_is_followed_step_by_step() {
    const PLAN: &str = "2kpps:1s,off:500ms,ramp 1kpps-5kpps:1s";
    let Some(lab) = NetLab::new(1) else { return };
    let (tx, arrivals) = sent(&lab, &["--plan", PLAN, "--interval", "500ms"]);
    assert_eq!(tx.at("/duration_s"), 2.5, "{tx}");
    assert_eq!(tx.text("/offered/plan"), PLAN);
    assert!((tx.at("/offered/rate_pps").as_f64().unwrap() - 2_000.0).abs() < 1e-6, "{tx}");
    assert!((tx.known("completed") + tx.known("shortfall")).abs_diff(5_000) <= 1, "{tx}");
    let due = due_ns(&arrivals);
    let short = usize::try_from(tx.known("shortfall")).unwrap();
    let within = |from: u64, to: u64| due.iter().filter(|time| (from * MS..to * MS).contains(time)).count();
    assert!(within(0, 1_000) + short >= 2_000 && within(0, 1_000) <= 2_000, "{}", within(0, 1_000));
    assert!(due.iter().take_while(|time| **time < 1_000 * MS).all(|time| time % (MS / 2) == 0));
    assert_eq!(within(1_000, 1_500), 0);
    // A ramp's first half has the mean of 1 and 3 kpps, its second that of 3 and 5.
    assert!(within(1_500, 2_000).abs_diff(1_000) <= 2 + short, "{}", within(1_500, 2_000));
    assert!(within(2_000, 2_500).abs_diff(2_000) <= 2 + short, "{}", within(2_000, 2_500));
    // What comes is what was due, give or take the sender's delay, and the sender has seen the pause as well.
    let pause = gaps_ns(&arrivals).into_iter().fold(0.0, f64::max);
    let own = tx.at("/gaps_ns/max").as_f64().unwrap();
    assert!(pause > 480e6 && own > 480e6, "{pause} {own}");
    rows_say_what_was_asked(&tx);
}

/// Rows of half a second, of 2 kpps for two of them, nothing for one, and a ramp.
fn rows_say_what_was_asked(tx: &Report) {
    let rows = tx.at("/intervals").as_array().unwrap();
    let figure = |row: &serde_json::Value, key: &str| row[key].as_f64().unwrap();
    let frames: f64 = rows.iter().map(|row| figure(row, "asked_pps") * figure(row, "length_s")).sum();
    assert!((frames - 5_000.0).abs() < 2.0, "{frames}: {tx}");
    let first = figure(&rows[0], "asked_pps");
    assert!((first / 2_000.0 - 1.0).abs() < 0.05, "{tx}");
    let least = rows.iter().map(|row| figure(row, "asked_pps")).fold(f64::MAX, f64::min);
    assert!(least < 200.0, "{tx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_tells_when_its_frames_left_and_how_late() {
    let Some(lab) = NetLab::new(1) else { return };
    for (rate, paced) in [("20kpps", true), ("max", false)] {
        let (tx, _) = sent(&lab, &["--rate", rate, "--count", "10000"]);
        assert_eq!(tx.text("/gaps_ns/kind"), "departure");
        let kernels =
            std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        let trusted = cfg!(target_arch = "x86_64") && kernels.unwrap().trim() == "tsc";
        assert_eq!(tx.text("/setup/clock"), if trusted { "tsc" } else { "monotonic" });
        assert_eq!(tx.at("/gaps_ns/count"), 9_999, "{tx}");
        // All gaps together are the time from the first frame to the last.
        let sum = tx.at("/gaps_ns/mean").as_f64().unwrap() * 9_999.0;
        let window = tx.at("/duration_s").as_f64().unwrap() * 1e9;
        // The window of a rate ends with the last slot, and the last frame may be late.
        let late = if paced { tx.at("/send_delay_ns/max").as_f64().unwrap() } else { 0.0 };
        assert!(sum <= window + late && (!paced || sum > 0.95 * window), "{sum} of {window}");
        if paced {
            assert_eq!(tx.at("/send_delay_ns/count"), 10_000, "{tx}");
            assert!(tx.at("/send_delay_ns/p50").as_f64().unwrap() < 50_000.0, "{tx}");
        } else {
            assert!(tx.at("/send_delay_ns").is_null(), "{tx}");
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn random_arrivals_are_a_series_that_its_seed_names() {
    let Some(lab) = NetLab::new(1) else { return };
    let args = ["--rate", "5kpps", "--arrivals", "poisson", "--duration", "2", "--seed"];
    let series = |seed| {
        let (tx, arrivals) = sent(&lab, &[&args[..], &[seed]].concat());
        assert_eq!(tx.text("/offered/arrivals"), "poisson");
        let told = tx.known("completed") + tx.known("shortfall");
        // Five sigma of 10,000.
        assert!(told.abs_diff(10_000) <= 500, "{tx}");
        due_ns(&arrivals)
    };
    let (first, again, other) = (series("7"), series("7"), series("8"));
    // What a held-up sender left out is missing in one of them.
    let common = first.iter().filter(|time| again.binary_search(time).is_ok()).count();
    assert!(common * 10 > first.len() * 9, "{common} of {}", first.len());
    let common = first.iter().filter(|time| other.binary_search(time).is_ok()).count();
    assert!(common * 10 < first.len(), "{common} of {}", first.len());
    // Of exponential gaps the deviation is the mean.
    let gaps: Vec<f64> = first.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    assert!((deviation / mean - 1.0).abs() < 0.1, "{deviation} of {mean}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_sink_is_told_how_frames_follow_each_other() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    let pair = |args: &[&str]| {
        let args = [&["--sink", "v1", "--json"], args].concat();
        tx_and_rx(&lab.start(End::A, "tx", &args).wait(RUN).expect_code(0))
    };
    let plan = ["--plan", "1kpps:100ms,off:100ms", "--duration", "400ms"];
    let bursts = ["--rate", "5kpps", "--burst", "5", "--count", "500"];
    let random = ["--rate", "5kpps", "--arrivals", "poisson", "--count", "500"];
    for args in [&plan[..], &bursts, &random] {
        let (tx, rx) = pair(args);
        [&tx, &rx].into_iter().for_each(Report::check_full_books);
        for field in ["/offered/plan", "/offered/burst", "/offered/arrivals", "/offered/rate_pps"] {
            assert_eq!(tx.at(field), rx.at(field), "{args:?} {field}");
        }
        assert_eq!(rx.known("unexplained"), 0, "{rx}");
    }
}
