//! The sender's side of a replay: its capture, opened before anything is attached, what it offers, and what turned out to
//! be wrong with it. Knows no frame of it.

use super::offer;
use crate::capture::{self, CaptureError, Feeder, Fit, Queues, Reel, Tally};
use crate::commands::Failure;
use crate::config::{self, TxConfig};
use crate::engine::TxBooks;
use crate::finding::{Code, Finding, Severity};
use crate::frame::same_flow;
use crate::host::InterfaceFacts;
use crate::pace::Timing;
use crate::report::{Arrivals, Offered, OfferedPcap};
use crate::units::{Nanos, RateSpec, grouped, span};
use std::fs::File;
use std::sync::Arc;
use std::thread::JoinHandle;

/// How long frames may wait for the file in all before it is said: as much as a schedule may slip unsaid.
const SLOW: Nanos = Nanos::from_millis(1);

/// A replay that is to run, or has run.
pub struct Replay {
    file: Arc<File>,
    plan: config::Replay,
    timing: Timing,
    rate: RateSpec,
    fit: Fit,
    reader: Option<JoinHandle<Tally>>,
    tally: Option<Tally>,
}

impl Replay {
    /// Opens the capture, where the configuration names one. Frames are to fit the interface, and have `longest` bytes at
    /// the most.
    ///
    /// # Errors
    /// A capture that cannot be opened any more; a rate in percent on a link without a speed.
    pub fn open(config: &TxConfig, facts: &InterfaceFacts, longest: u32) -> Result<Option<Self>, Failure> {
        let Some(plan) = config.replay.clone() else { return Ok(None) };
        let timing = match plan.speed {
            Some(speed) => Timing::Recorded(speed),
            None => Timing::at_rate(&config.rate, facts.line_speed_bps())
                .map_err(|error| offer::no_rate(facts, &config.spacing, config.rate, &error))?,
        };
        let file = capture::open(&plan.file).map_err(|error| {
            Finding::new(
                Code::CaptureFile,
                Severity::Fail,
                plan.file.display().to_string(),
                error.to_string(),
            )
            .why("it was there when the arguments were read")
            .remedy("a file that stays where it is")
        })?;
        let fit = Fit { mtu: facts.mtu, chunk: longest };
        let (file, rate) = (Arc::new(file), config.rate);
        Ok(Some(Self { file, plan, timing, rate, fit, reader: None, tally: None }))
    }

    /// Starts to read ahead; gives what each of so many queues sends, and by what it is timed.
    ///
    /// # Errors
    /// When the thread cannot be made.
    pub fn start(&mut self, count: Option<u64>, queues: u16) -> Result<(Vec<Reel>, Timing), Failure> {
        let (timing, fit, loops) = (self.timing, self.fit, self.plan.loops);
        let queues = Queues { number: queues, flow: same_flow::hash_of };
        let feeder = Feeder { file: Arc::clone(&self.file), timing, fit, loops, count, queues };
        let (reels, reader) = feeder
            .start()
            .map_err(|e| Failure::system(self.name(), "its reading thread could not be started", &e))?;
        self.reader = Some(reader);
        Ok((reels, timing))
    }

    /// Waits for the reader, whose frames nobody takes any more.
    pub fn finish(&mut self) {
        self.tally = self.reader.take().and_then(|reader| reader.join().ok());
    }

    /// Whether its own times are kept.
    pub fn is_recorded(&self) -> bool {
        self.plan.speed.is_some()
    }

    fn name(&self) -> String {
        self.plan.file.display().to_string()
    }

    /// What is about to be sent, in words.
    pub fn words(&self) -> String {
        let how = match (self.plan.speed, self.rate) {
            (Some(speed), _) if speed == 1.into() => "at the recorded times".to_owned(),
            (Some(speed), _) => format!("at {speed} times the recorded speed"),
            (None, RateSpec::Max) => "as fast as it goes".to_owned(),
            (None, rate) => format!("at {rate}"),
        };
        format!("sending the frames of {} {how}", self.name())
    }

    /// What the Report says was offered. Of frames that were captured somewhere, addresses and flows are their own.
    pub fn offered(&self, config: &TxConfig, late: Nanos) -> Offered {
        let tally = self.tally.as_ref().filter(|tally| tally.whole);
        let pcap = OfferedPcap {
            file: self.name(),
            frames: tally.map(|tally| tally.frames),
            bytes: tally.map(|tally| tally.bytes),
            loops: Some(self.plan.loops).filter(|loops| *loops > 0),
            speed: self.plan.speed.map(crate::units::Decimal::as_f64),
            late_s: late.as_secs_f64(),
        };
        let bits = |overhead| match self.timing {
            Timing::Bits(rate, more) if more == overhead => Some(rate.pps()),
            _ => None,
        };
        Offered {
            size_bytes: None,
            mean_size_bytes: None,
            streams: 0,
            pcap: Some(pcap),
            burst: 1,
            arrivals: Arrivals::Constant,
            plan: None,
            rate_pps: if let Timing::Frames(rate) = self.timing { Some(rate.pps()) } else { None },
            rate_l1_bps: bits(crate::units::WIRE_OVERHEAD_BYTES),
            rate_l2_bps: bits(0),
            count: config.count,
            duration_s: config.duration.map(Nanos::as_secs_f64),
            flows: None,
            seed: config.streams.seed(),
            run_tag: None,
            batch: config.batch,
            spaces: 0,
            verify: false,
            src_mac: None,
            dst_mac: None,
            src_ip: None,
            dst_ip: None,
            src_port: None,
            dst_port: None,
            vlans: Vec::new(),
        }
    }

    /// What was wrong with the capture, or with reading it.
    pub fn findings(&self, books: &[&TxBooks]) -> Vec<Finding> {
        let on = self.name();
        let Some(tally) = &self.tally else {
            let what = "its reading thread ended unexpectedly; not all of it was sent";
            return vec![
                Finding::new(Code::System, Severity::Fail, on, what)
                    .remedy("please report it with the command line"),
            ];
        };
        let starved = books.iter().map(|b| b.starved).max().unwrap_or_default();
        [
            broken(&on, tally),
            left_out(&on, tally, self.fit),
            times(&on, tally, &self.plan),
            slow(&on, starved),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn broken(on: &str, tally: &Tally) -> Option<Finding> {
    let error = tally.broken.as_ref()?;
    let frames = grouped(tally.frames);
    let (severity, what, remedy) = match error {
        CaptureError::Io(_) => (
            Severity::Fail,
            format!("{error}; the {frames} frames before that were sent"),
            "a copy on a disk that works",
        ),
        _ => (
            Severity::Warn,
            format!("{error}; the {frames} whole frames before it are what was sent"),
            "a capture that was written to its end (tcpdump ends on Ctrl-C, not on SIGKILL)",
        ),
    };
    Some(
        Finding::new(Code::CaptureFile, severity, on, what)
            .why("nothing behind that place can be read, since every record tells only where the next one begins")
            .remedy(remedy),
    )
}

fn left_out(on: &str, tally: &Tally, fit: Fit) -> Option<Finding> {
    let all = tally.left_out();
    let reasons = [
        (tally.snapped, "cut by the capture's snap length".to_owned()),
        (tally.above_mtu, format!("above the interface's MTU of {}", fit.mtu)),
        (tally.above_chunk, format!("above the {} bytes that one chunk holds", fit.chunk)),
        (tally.foreign, "not Ethernet frames".to_owned()),
    ];
    let told = reasons.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{} {why}", grouped(*n)));
    let told = told.collect::<Vec<_>>().join(", ");
    let (severity, what) = match tally.frames {
        0 if all == 0 => return None,
        0 => (Severity::Fail, format!("no frame of it could be sent: {told}")),
        _ if all == 0 => return None,
        sent => (
            Severity::Warn,
            format!("{} of {} frames were left out: {told}", grouped(all), grouped(all + sent)),
        ),
    };
    Some(
        Finding::new(Code::CaptureLeftOut, severity, on, what)
            .why("what is sent is what was on the wire, and neither half a frame nor one that the interface drops is that")
            .remedy("capture whole frames (tcpdump -s 0); ip link set IF mtu N on both ends for longer ones"),
    )
}

fn times(on: &str, tally: &Tally, plan: &config::Replay) -> Option<Finding> {
    plan.speed?;
    let what = match (tally.back, tally.untimed) {
        (0, 0) => return None,
        (back, 0) => format!("{} frames are older than the one before them", grouped(back)),
        (0, untimed) => format!("{} frames have no time", grouped(untimed)),
        (back, untimed) => {
            format!(
                "{} frames are older than the one before them, and {} have no time",
                grouped(back),
                grouped(untimed)
            )
        }
    };
    Some(
        Finding::new(Code::CaptureTimes, Severity::Warn, on, what)
            .why("each was sent right behind the one before it, and the time went on from there")
            .remedy("put it in the order of its times (reordercap), or --rate"),
    )
}

fn slow(on: &str, starved: Nanos) -> Option<Finding> {
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let time = span(starved.0 as f64);
    (starved >= SLOW).then(|| {
        let what = format!("it could not be read fast enough: the sender waited {time} for its frames");
        Finding::new(Code::CaptureSlow, Severity::Warn, on, what)
            .why("the disk is slower than what is sent, or the reading thread had no core of its own")
            .remedy(
                "a file in memory (/dev/shm) or one small enough to be kept, a lower rate, or one more core",
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIT: Fit = Fit { mtu: 1_500, chunk: 3_840 };

    #[test]
    fn what_is_left_out_is_told_by_its_reason() {
        let tally = Tally { frames: 10, snapped: 2, above_chunk: 1, ..Tally::default() };
        let finding = left_out("f", &tally, FIT).unwrap();
        assert_eq!((finding.code, finding.severity), (Code::CaptureLeftOut, Severity::Warn));
        assert!(finding.what.starts_with("3 of 13 frames were left out: 2 cut by"), "{finding}");
        assert!(finding.what.ends_with("1 above the 3840 bytes that one chunk holds"), "{finding}");
        let nothing = Tally { snapped: 2, ..Tally::default() };
        assert_eq!(left_out("f", &nothing, FIT).unwrap().severity, Severity::Fail);
        assert_eq!(left_out("f", &Tally::default(), FIT), None);
    }

    #[test]
    fn a_cut_file_warns_and_one_that_fails_fails() {
        let with =
            |error| broken("f", &Tally { frames: 7, broken: Some(error), ..Tally::default() }).unwrap();
        let cut = with(CaptureError::Cut(8));
        assert_eq!((cut.code, cut.severity), (Code::CaptureFile, Severity::Warn));
        assert!(cut.what.starts_with("record 8 is cut short; the 7 whole frames"), "{cut}");
        assert_eq!(with(CaptureError::Io("Input/output error".to_owned())).severity, Severity::Fail);
    }

    #[test]
    fn times_matter_only_where_they_are_kept() {
        let plan = |speed| config::Replay { file: "f".into(), speed, loops: 1 };
        let tally = Tally { back: 3, ..Tally::default() };
        assert_eq!(times("f", &tally, &plan(Some(1.into()))).map(|f| f.code), Some(Code::CaptureTimes));
        assert_eq!(times("f", &tally, &plan(None)), None);
        assert_eq!(times("f", &Tally::default(), &plan(Some(1.into()))), None);
    }

    #[test]
    fn waiting_for_the_file_is_told_from_a_millisecond_on() {
        assert_eq!(slow("f", Nanos(999_999)), None);
        assert_eq!(slow("f", Nanos::from_millis(1)).map(|f| f.code), Some(Code::CaptureSlow));
    }
}
