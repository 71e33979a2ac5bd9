//! A run while it runs: a row an interval, shown as a line or a progress bar on stderr.

use crate::engine::Progress;
use crate::render;
use crate::report::IntervalRow;
use crate::units::Nanos;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

/// How progress is shown.
enum Show {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

/// Sums over the workers at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Frames so far.
    pub frames: u64,
    /// Bytes so far, FCS included.
    pub bytes: u64,
    /// Kernel drops so far.
    pub drops: u64,
    /// Shortfall so far.
    pub shortfall: u64,
    /// Frames due so far; None where one of the workers has no rate.
    pub asked: Option<u64>,
}

impl Sums {
    /// The sums over some workers.
    #[must_use]
    pub fn of(workers: &[Arc<Progress>]) -> Self {
        let asked = workers.iter().map(|p| p.asked()).sum();
        workers.iter().fold(Self { asked, ..Self::default() }, |sum, p| Self {
            frames: sum.frames + p.frames(),
            bytes: sum.bytes + p.bytes(),
            drops: sum.drops + p.drops(),
            shortfall: sum.shortfall + p.shortfall(),
            asked: sum.asked,
        })
    }
}

/// Which side a row belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The sender: shortfall is known, drops are not.
    Tx,
    /// The sink: drops are known, shortfall is not.
    Rx,
}

/// The end of a run, as far as it is known beforehand: for the progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// So many frames.
    Frames(u64),
    /// So much time.
    Time(Nanos),
    /// Not known.
    Open,
}

/// Rows of a run.
pub struct Live {
    side: Side,
    interval: Nanos,
    started: Nanos,
    last: (Nanos, Sums),
    rows: Vec<IntervalRow>,
    show: Show,
    goal: Goal,
}

impl Live {
    /// Rows from `now` on, an `interval` each.
    #[must_use]
    pub fn new(side: Side, interval: Nanos, quiet: bool, goal: Goal, now: Nanos) -> Self {
        let show = match goal {
            _ if quiet => Show::Nothing,
            Goal::Frames(length) | Goal::Time(Nanos(length)) if io::stderr().is_terminal() => {
                Show::Bar(bar(side, length))
            }
            _ => Show::Lines,
        };
        Self { side, interval, started: now, last: (now, Sums::default()), rows: Vec::new(), show, goal }
    }

    /// Starts over at `now` from `sums`, for another run; returns the rows so far.
    pub fn restart(&mut self, now: Nanos, sums: Sums) -> Vec<IntervalRow> {
        self.close_last(now, sums);
        self.started = now;
        self.last = (now, sums);
        std::mem::take(&mut self.rows)
    }

    /// Looks at the workers; closes the interval when it is over.
    pub fn tick(&mut self, now: Nanos, sums: Sums) {
        if let Show::Bar(bar) = &self.show {
            match self.goal {
                Goal::Frames(_) => bar.set_position(sums.frames),
                Goal::Time(_) => bar.set_position((now - self.started).0),
                Goal::Open => {}
            }
        }
        if now - self.last.0 >= self.interval {
            self.close(now, sums);
        }
    }

    /// Ends the run: a last, shorter row, if anything was left to tell.
    pub fn finish(&mut self, now: Nanos, sums: Sums) -> Vec<IntervalRow> {
        self.close_last(now, sums);
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
        std::mem::take(&mut self.rows)
    }

    fn close_last(&mut self, now: Nanos, sums: Sums) {
        if now > self.last.0 && sums != self.last.1 {
            self.close(now, sums);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn close(&mut self, now: Nanos, sums: Sums) {
        let (from, before) = std::mem::replace(&mut self.last, (now, sums));
        let length_s = (now - from).as_secs_f64();
        // What cannot be read at one moment is no less than it was.
        let frames = sums.frames.saturating_sub(before.frames);
        let drops = sums.drops.saturating_sub(before.drops);
        let shortfall = sums.shortfall.saturating_sub(before.shortfall);
        let row = IntervalRow {
            start_s: (from - self.started).as_secs_f64(),
            length_s,
            frames,
            pps: frames as f64 / length_s,
            l2_bps: sums.bytes.saturating_sub(before.bytes) as f64 * 8.0 / length_s,
            kernel_drops: (self.side == Side::Rx).then_some(drops),
            shortfall: (self.side == Side::Tx).then_some(shortfall),
            asked_pps: sums.asked.map(|n| n.saturating_sub(before.asked.unwrap_or(0)) as f64 / length_s),
        };
        self.tell(&row);
        self.rows.push(row);
    }

    fn tell(&self, row: &IntervalRow) {
        let line = render::interval_line(self.name(), row);
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.println(line),
            // A closed stderr is nobody's failure.
            Show::Lines => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    fn name(&self) -> &'static str {
        match self.side {
            Side::Tx => "tx",
            Side::Rx => "rx",
        }
    }
}

fn bar(side: Side, length: u64) -> ProgressBar {
    // Ten times a second: often enough to live, seldom enough not to matter.
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{prefix} {bar:30} {percent:>3} %");
    bar.with_prefix(if side == Side::Tx { "tx" } else { "rx" })
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
