//! One line an interval, for people who watch.

use crate::report::IntervalRow;
use crate::units::{grouped, si};

/// A line without a line feed: `side`, the end of the interval in seconds from the start, rates, frames, and what
/// went wrong within it.
#[must_use]
pub fn interval_line(side: &str, row: &IntervalRow) -> String {
    let end = row.start_s + row.length_s;
    let (pps, bps) = (si(row.pps, "pps"), si(row.l2_bps, "bit/s"));
    let mut line = format!("{side:<4}{end:>9.3} s {pps:>11} {bps:>13} L2 {:>12} frames", grouped(row.frames));
    for (what, n) in [("dropped", row.kernel_drops), ("short", row.shortfall)] {
        if let Some(n) = n.filter(|n| *n > 0) {
            line.push_str(&format!(", {} {what}", grouped(n)));
        }
    }
    if let Some(asked) = row.asked_pps {
        line.push_str(&format!(", asked {}", si(asked, "pps")));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_when_how_fast_and_what_was_lost() {
        let row = IntervalRow {
            start_s: 1.0,
            length_s: 1.0,
            frames: 1_497_003,
            pps: 1_497_003.0,
            l2_bps: 766_465_536.0,
            kernel_drops: Some(12),
            shortfall: None,
            asked_pps: None,
        };
        let sent =
            IntervalRow { kernel_drops: None, shortfall: Some(2), asked_pps: Some(1.5e6), ..row.clone() };
        let quiet = IntervalRow { kernel_drops: Some(0), ..row.clone() };
        let lossy = "rx      2.000 s  1.497 Mpps  766.5 Mbit/s L2    1,497,003 frames, 12 dropped";
        assert_eq!(interval_line("rx", &row), lossy);
        assert!(interval_line("tx", &sent).ends_with(" frames, 2 short, asked 1.500 Mpps"));
        assert_eq!(interval_line("rx", &quiet), lossy.trim_end_matches(", 12 dropped"));
    }
}
