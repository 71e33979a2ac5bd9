//! Captures sent over a veth pair, and captured again at the far end by tcpdump: the same bytes in the same order, at their
//! times or at a rate by their lengths. And captures that a sink writes, against tcpdump's.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

#[path = "replay/capture.rs"]
mod capture;

use capture::{DEADLINE, Frame, Tcpdump, bytes_of, check_same, editcap, made, read, replay, whole, written};
use std::fs;
use std::path::Path;
use support::{End, NetLab, Report, ip, only, reports, sink};

const MS: u64 = 1_000_000;

/// Sizes as mixed as those of real traffic, without FCS.
fn mixed(frames: usize) -> impl Iterator<Item = usize> {
    [60, 1_514, 60, 60, 590, 1_514, 60, 200].into_iter().cycle().take(frames)
}

/// The time between each frame and the next.
fn gaps(frames: &[Frame]) -> Vec<u64> {
    frames.windows(2).map(|pair| pair[1].at - pair[0].at).collect()
}

fn sent(finished: &support::Finished) -> Report {
    let report = only(&reports(finished));
    report.check_full_books();
    report
}

/// Whether every gap above a millisecond is within 5 % of what it was, and the others are not longer than that.
#[expect(clippy::cast_precision_loss, reason = "a comparison")]
fn keeps_gaps(before: &[u64], after: &[u64], speed: f64) -> Result<(), String> {
    assert_eq!(before.len(), after.len());
    for (n, (before, after)) in before.iter().zip(after).enumerate() {
        let (wanted, got) = (*before as f64 / speed, *after as f64);
        if (got - wanted).abs() > (wanted * 0.05).max(MS as f64) {
            return Err(format!("gap {n}: {got} ns and not {wanted}"));
        }
    }
    Ok(())
}

/// Whether frames came `gap` apart, each within ten milliseconds of its time.
fn is_regular(frames: &[Frame], gap: u64) -> Result<(), String> {
    for (n, frame) in (0..).zip(frames) {
        let (at, wanted) = (frame.at - frames[0].at, n * gap);
        if at.abs_diff(wanted) > 10 * MS {
            return Err(format!("frame {n} at {at} ns and not at {wanted}"));
        }
    }
    Ok(())
}

/// A machine that is busy with other things makes a frame late by a slice of its scheduler: one of several replays must
/// be on time. What is wrong by more than that is wrong each time.
fn once_on_time(replay: impl Fn() -> Result<(), String>) {
    let late: Vec<String> = (0..4).map_while(|_| replay().err()).collect();
    assert!(late.len() < 4, "{late:?}");
}

/// Datagrams of several lengths, with pauses between, and what the kernel answers: captured by tcpdump at end B.
fn captured(lab: &NetLab) -> (Vec<Frame>, tempfile::TempPath) {
    ip(lab, End::A, &["address", "add", "198.18.0.1/24", "dev", "v0"]);
    ip(lab, End::B, &["address", "add", "198.18.0.2/24", "dev", "v1"]);
    let tcpdump = Tcpdump::start(lab, End::B, "inout");
    let datagrams =
        "for n in 1 200 1400 60 900 5 333; do head -c $n /dev/zero >/dev/udp/198.18.0.2/9; sleep 0.2; done";
    lab.run(End::A, "bash", &["-c", datagrams]);
    let captured = tcpdump.stop();
    // Without addresses the kernels have nothing to say of their own.
    ip(lab, End::A, &["address", "flush", "dev", "v0"]);
    ip(lab, End::B, &["address", "flush", "dev", "v1"]);
    captured
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_tcpdump_captured_is_sent_again_at_its_times() {
    let Some(lab) = NetLab::new(1) else { return };
    let (before, file) = captured(&lab);
    assert!(before.len() >= 10, "{} frames", before.len());
    for (args, speed) in [(&[][..], 1.0), (&["--pcap-speed", "2"], 2.0)] {
        once_on_time(|| {
            let (finished, after) = replay(&lab, &file, args);
            let report = sent(&finished.expect_code(0));
            check_same(&after, &before);
            assert_eq!(report.known("completed"), before.len() as u64);
            let bytes: usize = bytes_of(&before).iter().map(|frame| frame.len() + 4).sum();
            assert_eq!(report.at("/totals/tx_bytes"), bytes);
            assert_eq!(report.at("/offered/pcap/frames"), before.len());
            assert_eq!(report.at("/offered/size_bytes"), &serde_json::Value::Null);
            keeps_gaps(&gaps(&before), &gaps(&after), speed)
        });
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_other_format_is_the_same_capture() {
    let Some(lab) = NetLab::new(1) else { return };
    let frames = made(mixed(50), 2 * MS);
    for format in ["pcapng", "nsecpcap", "pcap"] {
        let file = editcap(&["-F", format], &whole(&frames));
        once_on_time(|| {
            let (finished, after) = replay(&lab, &file, &[]);
            finished.expect_code(0);
            check_same(&after, &frames);
            is_regular(&after, 2 * MS)
        });
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn every_loop_keeps_the_schedule() {
    let Some(lab) = NetLab::new(1) else { return };
    let frames = made(mixed(10), 40 * MS);
    let file = whole(&frames);
    once_on_time(|| {
        let (finished, after) = replay(&lab, &file, &["--loop", "3"]);
        sent(&finished.expect_code(0));
        check_same(&after, &[&frames[..], &frames, &frames].concat());
        is_regular(&after, 40 * MS)
    });
}

/// UDP of this source port, numbered; a microsecond behind the frame in front of it.
fn numbered(n: u32, port: u16) -> Frame {
    let builder = etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let mut bytes = Vec::new();
    let builder = builder.ipv4([198, 18, 0, 1], [198, 18, 0, 2], 64).udp(port, 9);
    builder.write(&mut bytes, &n.to_be_bytes()).unwrap();
    Frame { at: 1_000_000_000 + u64::from(n) * 1_000, bytes }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn over_several_queues_each_flow_keeps_its_order() {
    let Some(lab) = NetLab::new(2) else { return };
    let frames: Vec<Frame> =
        (0..6_000u32).map(|n| numbered(n, 4_000 + u16::try_from(n * 7 % 16).unwrap())).collect();
    let (finished, after) = replay(&lab, &whole(&frames), &["--queues", "0-1", "--rate", "50kpps"]);
    let report = sent(&finished.expect_code(0));
    assert_eq!(report.known("completed"), frames.len() as u64);
    let of_flow = |frames: &[Frame], port: u16| -> Vec<Vec<u8>> {
        bytes_of(frames).into_iter().filter(|frame| frame[34..36] == port.to_be_bytes()).collect()
    };
    for port in 4_000..4_016 {
        let (sent, came) = (of_flow(&frames, port), of_flow(&after, port));
        assert!(!sent.is_empty() && sent == came, "port {port}: {} of {}", came.len(), sent.len());
    }
    let queues: Vec<u64> = [0, 1].map(|n| report.at(&format!("/queues/{n}/frames")).as_u64().unwrap()).into();
    assert!(queues.iter().all(|frames| *frames > 1_000), "{queues:?}");
    assert_eq!(queues.iter().sum::<u64>(), frames.len() as u64);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_count_and_a_duration_end_an_endless_loop() {
    let Some(lab) = NetLab::new(1) else { return };
    let file = whole(&made(mixed(10), MS));
    let (finished, after) = replay(&lab, &file, &["--loop", "0", "--count", "25"]);
    assert_eq!((sent(&finished.expect_code(0)).known("built"), after.len()), (25, 25));
    let (finished, after) = replay(&lab, &file, &["--loop", "0", "--duration", "300ms"]);
    let report = sent(&finished.expect_code(0));
    let due = report.known("built") + report.known("shortfall");
    assert!((295..=300).contains(&due), "{due} frames of 300");
    assert_eq!(after.len() as u64, report.known("built"));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
#[expect(clippy::cast_precision_loss, reason = "a comparison")]
fn a_rate_in_bits_is_that_of_the_actual_lengths() {
    let Some(lab) = NetLab::new(1) else { return };
    // At 100 Mbit/s of layer 1 they take 0.44 s.
    let frames = made(mixed(10_000), 1);
    let (finished, after) = replay(&lab, &whole(&frames), &["--rate", "100Mbps"]);
    let report = sent(&finished.expect_code(0));
    check_same(&after, &frames);
    let bits: usize = after[1..].iter().map(|frame| (frame.bytes.len() + 24) * 8).sum();
    let rate = bits as f64 * 1e9 / (after[9_999].at - after[0].at) as f64;
    let held = report.known("built") as f64 / (report.known("built") + report.known("shortfall")) as f64;
    assert!(rate <= 103e6 && rate >= 97e6 * held, "{rate} bit/s, {held} of the rate was held");
    let told = report.at("/rates/l1_bps").as_f64().unwrap();
    assert!((told / rate - 1.0).abs() < 0.03, "{told} and {rate} bit/s");
    assert_eq!(report.at("/offered/rate_l1_bps"), 100e6);
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn recorded_times_are_not_run_ahead_of() {
    let Some(lab) = NetLab::new(1) else { return };
    // 153 Mbit/s.
    let frames = made(std::iter::repeat_n(1_514, 5_000), 79_000);
    let (finished, after) = replay(&lab, &whole(&frames), &[]);
    let report = sent(&finished.expect_code(0));
    assert_eq!(after.len(), 5_000);
    let (took, wanted) = (after[4_999].at - after[0].at, 4_999 * 79_000);
    let late = report.at("/offered/pcap/late_s").as_f64().unwrap();
    assert!(took as f64 >= wanted as f64 * 0.98, "{took} ns and not {wanted}");
    assert!(took as f64 <= wanted as f64 * 1.05 + late * 1e9, "{took} ns and not {wanted}, {late} s late");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn what_is_not_sent_is_told() {
    let Some(lab) = NetLab::new(1) else { return };
    let frames = made([60, 61, 1_600, 62, 63, 64], MS);
    let mut parts: Vec<(&Frame, usize)> = frames.iter().map(|frame| (frame, frame.bytes.len())).collect();
    parts[1].1 = 400;
    parts.swap(3, 4);
    let file = written(parts);
    // The last record is cut.
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    let (finished, after) = replay(&lab, &file, &[]);
    let report = sent(&finished.expect_code(0));
    assert_eq!(after.iter().map(|frame| frame.bytes.len()).collect::<Vec<_>>(), [60, 63, 62]);
    for code in ["capture-left-out", "capture-times", "capture-file"] {
        assert!(report.has_finding(code), "{code}: {report}");
    }
    let words = report.to_string();
    assert!(
        words.contains("2 of 5 frames were left out: 1 cut by") && words.contains("MTU of 1500"),
        "{words}"
    );
    assert!(words.contains("record 6 is cut short; the 3 whole frames"), "{words}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_capture_of_which_nothing_can_be_sent_is_a_failure() {
    let Some(lab) = NetLab::new(1) else { return };
    let frames = made([60, 60], MS);
    let file = written(frames.iter().map(|frame| (frame, 400)));
    let (finished, after) = replay(&lab, &file, &[]);
    assert!(sent(&finished.expect_code(1)).has_finding("capture-left-out"));
    assert!(after.is_empty());
}

/// What a sender sends, control frames too, as tcpdump saw it with no sink running.
fn probes(lab: &NetLab, frames: &str) -> (Vec<Frame>, tempfile::TempPath) {
    let tcpdump = Tcpdump::start(lab, End::B, "in");
    let mac = lab.mac(End::B);
    let args = ["--dst-mac", &mac, "--count", frames, "--rate", "5kpps", "--size", "200", "--quiet"];
    lab.start(End::A, "tx", &args).wait(DEADLINE).expect_code(0);
    tcpdump.stop()
}

/// Replays a file into a sink that writes what it receives to `to`; the sink's Report.
fn into_sink(lab: &NetLab, from: &Path, to: &Path, args: &[&str]) -> Report {
    let fixed = ["--write", to.to_str().unwrap()];
    let rx = sink(lab, &[&fixed[..], args].concat());
    let tx = ["--pcap", from.to_str().unwrap(), "--quiet"];
    lab.start(End::A, "tx", &tx).wait(DEADLINE).expect_code(0);
    let report = only(&reports(&rx.interrupt(DEADLINE).expect_code(0)));
    report.check_books();
    report
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sink_writes_what_came_byte_for_byte() {
    let Some(lab) = NetLab::new(1) else { return };
    let (sent, from) = probes(&lab, "1000");
    assert!(sent.len() > 1_000, "control frames are among them");
    let folder = tempfile::tempdir().unwrap();
    let all = folder.path().join("all.pcap");
    let report = into_sink(&lab, &from, &all, &["--write-what", "all"]);
    check_same(&read(&all), &sent);
    assert_eq!((report.known("probes"), report.known("received")), (1_000, sent.len() as u64));
    assert!(!report.has_finding("capture-incomplete"), "{report}");
    let times: Vec<u64> = read(&all).iter().map(|frame| frame.at).collect();
    assert!(times.is_sorted());
    let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    assert!(u64::try_from(wall.as_nanos()).unwrap() - times[0] < 60_000 * MS, "not the wall clock");
    let (took, wanted) = (times[1_000] - times[0], sent[1_000].at - sent[0].at);
    assert!(took > wanted - 10 * MS, "{took} ns and not {wanted}");

    // Those of the run only, as pcapng, and of each the beginning.
    let ours = folder.path().join("ours.pcapng");
    into_sink(&lab, &from, &ours, &["--write-snap", "96", "--write-count", "990"]);
    let plain = editcap(&["-F", "nsecpcap"], &ours);
    let kept = read(&plain);
    assert_eq!(kept.len(), 990);
    let beginnings: Vec<&[u8]> =
        sent.iter().filter(|frame| frame.bytes.len() == 196).map(|frame| &frame.bytes[..96]).collect();
    assert!(kept.iter().all(|frame| frame.bytes.len() == 96));
    assert!(kept.iter().zip(beginnings).all(|(kept, sent)| kept.bytes == sent));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_file_that_cannot_be_written_costs_no_frame() {
    let Some(lab) = NetLab::new(1) else { return };
    let (_, from) = probes(&lab, "100");
    let report = into_sink(&lab, &from, Path::new("/dev/full"), &[]);
    assert_eq!(report.known("probes"), 100);
    assert!(report.has_finding("capture-incomplete"), "{report}");
    let refused =
        lab.start(End::B, "rx", &["--write", "/no/such/folder/x.pcap"]).wait(DEADLINE).expect_code(3);
    assert!(
        refused.stderr.contains("--write /no/such/folder/x.pcap") && refused.stderr.contains("[output-file]")
    );
}
