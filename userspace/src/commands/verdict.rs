//! Whether a condition of `--fail-if` holds for a Report, and what that means for the exit code. A condition that no
//! Report can answer fails the command as well: it must not pass in silence.

use crate::config::{Bound, Condition, Subject};
use crate::finding::{Code, Finding, Severity};
use crate::report::{Balance, Report};
use crate::units::{Decimal, RateSpec, grouped, si};
use std::cmp::Ordering;

impl Condition {
    /// Whether it holds for `report`; None when the Report does not know the figure or what it is a part of.
    #[must_use]
    pub fn holds(&self, report: &Report) -> Option<bool> {
        let ordering = match (self.subject, self.bound) {
            (Subject::Rate, Bound::Percent(percent)) => rate_percent(report, percent),
            (Subject::Rate, Bound::Rate(rate)) => rate_absolute(report, rate),
            (subject, Bound::Frames(bound)) => frames(subject, &report.balance).map(|n| n.cmp(&bound)),
            (subject, Bound::Percent(percent)) => share(subject, &report.balance, percent),
            (_, Bound::Rate(_)) => None,
        };
        ordering.map(|ordering| self.relation.holds(ordering))
    }
}

/// A Fail finding for each condition that holds for one of the Reports, and for each that none of them can answer.
#[must_use]
pub fn judge(conditions: &[Condition], reports: &[Report]) -> Vec<Finding> {
    conditions.iter().filter_map(|condition| judge_one(condition, reports)).collect()
}

fn judge_one(condition: &Condition, reports: &[Report]) -> Option<Finding> {
    let answers: Vec<_> = reports.iter().map(|report| (report, condition.holds(report))).collect();
    if let Some((report, _)) = answers.iter().find(|(_, answer)| *answer == Some(true)) {
        return Some(finding(
            condition,
            format!("it holds on {}: {}", report.command, figure(condition, report)),
        ));
    }
    if answers.iter().any(|(_, answer)| answer.is_some()) {
        return None;
    }
    let why = reports.iter().find_map(|report| reason(condition, report));
    let why = why.unwrap_or_else(|| "no end of this run knows the figure".to_owned());
    Some(finding(condition, "it cannot be answered".to_owned()).why(why))
}

fn finding(condition: &Condition, what: String) -> Finding {
    Finding::new(Code::FailIf, Severity::Fail, format!("--fail-if {condition}"), what)
}

fn frames(subject: Subject, b: &Balance) -> Option<u64> {
    match subject {
        Subject::Loss => b.lost,
        Subject::Unexplained => b.unexplained,
        Subject::Shortfall => b.shortfall,
        Subject::Duplicate => b.duplicate,
        Subject::Reordered => b.reordered,
        Subject::Rate => None,
    }
}

/// What the frames of a subject are a part of.
fn whole(subject: Subject, b: &Balance) -> Option<u64> {
    match subject {
        Subject::Loss | Subject::Unexplained => b.completed,
        // A sink is told what was completed, which is what was built but for the last few.
        Subject::Shortfall => b.built.or(b.completed)?.checked_add(b.shortfall?),
        Subject::Duplicate | Subject::Reordered => b.unique,
        Subject::Rate => None,
    }
}

/// Compares n / whole with a percentage, exactly: n × 100 × denominator with numerator × whole, which fit 128 bits
/// since a denominator is at most 10^9.
fn share(subject: Subject, b: &Balance, percent: Decimal) -> Option<Ordering> {
    let whole = whole(subject, b).filter(|whole| *whole > 0)?;
    let part = u128::from(frames(subject, b)?) * 100 * u128::from(percent.denominator());
    Some(part.cmp(&(u128::from(percent.numerator()) * u128::from(whole))))
}

fn rate_percent(report: &Report, percent: Decimal) -> Option<Ordering> {
    let (offered, rates) = (report.offered.as_ref()?, &report.rates);
    // Frames of several lengths have a rate in bit/s and none in frames.
    let pairs = [
        (offered.rate_pps, rates.pps),
        (offered.rate_l1_bps, rates.l1_bps),
        (offered.rate_l2_bps, rates.l2_bps),
    ];
    let (asked, got) = pairs.into_iter().find_map(|(asked, got)| Some((asked?, got)))?;
    (got? * 100.0).partial_cmp(&(asked * percent.as_f64()))
}

#[expect(clippy::cast_precision_loss, reason = "compared with a measurement, which is a float already")]
fn rate_absolute(report: &Report, rate: RateSpec) -> Option<Ordering> {
    let rates = &report.rates;
    match rate {
        RateSpec::Pps(pps) => rates.pps?.partial_cmp(&pps.as_f64()),
        RateSpec::L1Bps(bps) => rates.l1_bps?.partial_cmp(&(bps as f64)),
        RateSpec::L2Bps(bps) => rates.l2_bps?.partial_cmp(&(bps as f64)),
        RateSpec::Max | RateSpec::Percent(_) => None,
    }
}

/// The figure that a condition is about, in words.
fn figure(condition: &Condition, report: &Report) -> String {
    let b = &report.balance;
    match (condition.subject, report.rates.pps) {
        (Subject::Rate, Some(pps)) => si(pps, "pps"),
        (subject, _) => {
            let of = whole(subject, b).map_or_else(String::new, |whole| format!(" of {}", grouped(whole)));
            format!("{}{of} frames", frames(subject, b).map_or_else(String::new, grouped))
        }
    }
}

/// Why a Report cannot answer.
fn reason(condition: &Condition, report: &Report) -> Option<String> {
    let asked = report.offered.as_ref().map(|o| o.rate_pps.or(o.rate_l1_bps).or(o.rate_l2_bps));
    match (condition.subject, condition.bound) {
        (Subject::Loss | Subject::Unexplained, _) => report.balance.lost_absent.clone(),
        (Subject::Rate, _) if report.rates.pps.is_none() => Some("a rate needs two frames".to_owned()),
        (Subject::Rate, Bound::Percent(_)) if asked == Some(None) => Some(
            "no rate was asked for that it could be a part of; say --rate, or compare with a rate".to_owned(),
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A full Report, with what a test changes in it.
    fn report(change: impl FnOnce(&mut Report)) -> Report {
        let sample = include_str!("../../../tests/samples/report-full.json");
        let mut report = serde_json::from_str(sample).unwrap();
        change(&mut report);
        report
    }

    fn holds(condition: &str, report: &Report) -> Option<bool> {
        condition.parse::<Condition>().unwrap().holds(report)
    }

    #[test]
    fn each_figure_is_its_own() {
        let report = report(|_| {});
        let table = [
            ("loss>1199", true),
            ("loss>1200", false),
            ("loss>=0.008%", true),
            ("loss>0.008%", false),
            ("unexplained<=10", true),
            ("duplicate<3", false),
            ("reordered>0", true),
            ("shortfall>1", true),
            ("shortfall>0.001%", false),
            ("rate<100%", true),
            ("rate<99.9%", false),
            ("rate<1.5Mpps", true),
            ("rate>1Gbps", true),
            ("rate>1Gbps-l2", false),
        ];
        for (condition, want) in table {
            assert_eq!(holds(condition, &report), Some(want), "{condition}");
        }
    }

    #[test]
    fn what_is_not_known_is_not_answered() {
        let unknown = report(|r| {
            r.balance = Balance { completed: Some(0), lost: Some(0), ..Balance::default() };
            r.rates.pps = None;
        });
        assert_eq!(holds("loss>0", &unknown), Some(false));
        for condition in ["loss>0%", "unexplained>0", "duplicate>0%", "shortfall>1%", "rate<99%", "rate<1pps"]
        {
            assert_eq!(holds(condition, &unknown), None, "{condition}");
        }
        let asked_for = |l1| {
            report(|r| {
                let offered = r.offered.as_mut().unwrap();
                (offered.rate_pps, offered.rate_l1_bps, offered.rate_l2_bps) = (None, l1, None);
            })
        };
        assert_eq!(holds("rate<99%", &asked_for(None)), None);
        // Measured are 1.008 Gbit/s.
        assert_eq!(holds("rate<99%", &asked_for(Some(1e9))), Some(false));
        assert_eq!(holds("rate<99%", &asked_for(Some(1.1e9))), Some(true));
    }

    #[test]
    fn one_end_answers_for_both_and_no_answer_fails() {
        let judged = |condition: &str, reports: &[Report]| judge(&[condition.parse().unwrap()], reports);
        let tx = report(|r| {
            r.balance = Balance { built: Some(90), shortfall: Some(10), ..Balance::default() };
        });
        let rx = report(|r| r.command = "rx".to_owned());
        assert_eq!(judged("loss>1200", &[tx.clone(), rx.clone()]), []);
        let found = judged("loss>0", &[tx.clone(), rx.clone()]);
        assert!(found.iter().all(|f| f.severity == Severity::Fail && f.code == Code::FailIf));
        assert_eq!(
            found.first().map(|f| f.what.as_str()),
            Some("it holds on rx: 1,200 of 15,000,000 frames")
        );
        assert_eq!(judged("shortfall>=10%", std::slice::from_ref(&tx)).len(), 1);
        assert_eq!(judged("shortfall>10%", std::slice::from_ref(&tx)), []);
        let silent =
            report(|r| r.balance = Balance { lost_absent: Some("no END".to_owned()), ..Balance::default() });
        let unanswered = judged("loss>0", &[tx, silent]);
        assert_eq!(unanswered.first().map(|f| f.why.as_str()), Some("no END"));
        assert_eq!(judged("loss>0", &[]).len(), 1);
    }

    proptest! {
        #[test]
        fn shares_are_exact(completed in 1u64.., lost: u64, thousandths in 0u64..=100_000) {
            let lost = lost % completed;
            let report = report(|r| (r.balance.completed, r.balance.lost) = (Some(completed), Some(lost)));
            let percent = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
            let above = u128::from(lost) * 100_000 > u128::from(thousandths) * u128::from(completed);
            prop_assert_eq!(holds(&format!("loss>{percent}%"), &report), Some(above));
            prop_assert_eq!(holds(&format!("loss<={percent}%"), &report), Some(!above));
        }
    }
}
