//! Conditions of `--fail-if`: `loss>0`, `loss>=0.1%`, `rate<99%`. Says what is asked; whether it holds is judged
//! where Reports are known.

use super::ConfigError;
use crate::units::{Decimal, RateSpec};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Frames lost.
    Loss,
    /// Frames lost that no counter accounts for.
    Unexplained,
    /// Frames that were due and not sent.
    Shortfall,
    /// Probes received again.
    Duplicate,
    /// Probes that arrived after a later one of their flow.
    Reordered,
    /// The measured rate.
    Rate,
}

/// How the figure is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// What the figure is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Frames.
    Frames(u64),
    /// Per cent of what the subject is a part of: loss and unexplained of completed, shortfall of what was due,
    /// duplicate and reordered of the distinct frames received (RFC 4737), rate of the rate asked for.
    Percent(Decimal),
    /// A rate that is neither max nor a percentage; only for [`Subject::Rate`].
    Rate(RateSpec),
}

/// One condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// What it is about.
    pub subject: Subject,
    /// How the figure is compared.
    pub relation: Relation,
    /// With what.
    pub bound: Bound,
}

const SUBJECTS: [(&str, Subject); 9] = [
    ("loss", Subject::Loss),
    ("lost", Subject::Loss),
    ("unexplained", Subject::Unexplained),
    ("shortfall", Subject::Shortfall),
    ("duplicate", Subject::Duplicate),
    ("duplicates", Subject::Duplicate),
    ("reordered", Subject::Reordered),
    ("rate", Subject::Rate),
    ("pps", Subject::Rate),
];

/// Longer signs first: `>=` begins with `>`.
const RELATIONS: [(&str, Relation); 4] =
    [(">=", Relation::AtLeast), ("<=", Relation::AtMost), (">", Relation::Above), ("<", Relation::Below)];

const FORMS: &str = "a figure (loss, unexplained, shortfall, duplicate, reordered, rate), one of > >= < <=, and a \
                     bound: 'loss>0', 'loss>=0.1%', 'rate<99%', 'rate<1.4Mpps'";

impl Relation {
    /// Whether a figure that compares so with the bound is meant.
    #[must_use]
    pub const fn holds(self, figure: Ordering) -> bool {
        match self {
            Self::Above => figure.is_gt(),
            Self::AtLeast => figure.is_ge(),
            Self::Below => figure.is_lt(),
            Self::AtMost => figure.is_le(),
        }
    }
}

/// Refuses a condition that a sender without a sink in the same process can never answer: before the run, not after.
///
/// # Errors
/// A figure that only a sink knows, or a share of a rate that was not asked for.
pub fn validate_for_sender(conditions: &[Condition], paced: bool) -> Result<(), ConfigError> {
    for condition in conditions {
        let refused = |what: &str, remedy: &str| {
            Err(ConfigError::new("--fail-if", &condition.to_string(), what, remedy))
        };
        match (condition.subject, condition.bound) {
            (Subject::Loss | Subject::Unexplained | Subject::Duplicate | Subject::Reordered, _) => {
                return refused("only a sink knows it", "put it on rx, or use tx with --sink");
            }
            (Subject::Rate, Bound::Percent(_)) if !paced => {
                return refused(
                    "a share of the rate asked for, and none was",
                    "--rate, or a rate as the bound",
                );
            }
            _ => {}
        }
    }
    Ok(())
}

impl FromStr for Condition {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let refuse = |what: &str| ConfigError::new("--fail-if", text, what, FORMS);
        let (figure, relation, bound) = split(text).ok_or_else(|| refuse("it compares nothing"))?;
        let subject = SUBJECTS.iter().find(|(name, _)| *name == figure).map(|(_, subject)| *subject);
        let subject = subject.ok_or_else(|| refuse(&format!("there is no figure '{figure}'")))?;
        let bound = read_bound(subject, bound).map_err(refuse)?;
        Ok(Self { subject, relation, bound })
    }
}

/// Figure, relation and bound, without the spaces around them.
fn split(text: &str) -> Option<(&str, Relation, &str)> {
    RELATIONS.iter().find_map(|(sign, relation)| {
        text.split_once(sign).map(|(figure, bound)| (figure.trim(), *relation, bound.trim()))
    })
}

fn read_bound(subject: Subject, text: &str) -> Result<Bound, &'static str> {
    if let Some(number) = text.strip_suffix('%') {
        let percent = number.trim_end().parse().map(Bound::Percent);
        return percent.map_err(|_| "its bound is no percentage");
    }
    match (subject, text.parse::<RateSpec>(), text.parse()) {
        (Subject::Rate, Ok(rate @ (RateSpec::Pps(_) | RateSpec::L1Bps(_) | RateSpec::L2Bps(_))), _) => {
            Ok(Bound::Rate(rate))
        }
        (Subject::Rate, ..) => Err("its bound is neither a percentage nor a rate"),
        (_, _, Ok(frames)) => Ok(Bound::Frames(frames)),
        (_, _, Err(_)) => Err("its bound is neither a number of frames nor a percentage"),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figure =
            SUBJECTS.iter().find(|(_, subject)| *subject == self.subject).map_or("", |(name, _)| name);
        let sign =
            RELATIONS.iter().find(|(_, relation)| *relation == self.relation).map_or("", |(sign, _)| sign);
        match &self.bound {
            Bound::Frames(frames) => write!(f, "{figure}{sign}{frames}"),
            Bound::Percent(percent) => write!(f, "{figure}{sign}{percent}%"),
            Bound::Rate(rate) => write!(f, "{figure}{sign}{rate}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_alone_does_not_know_what_arrived() {
        let answers = |text: &str, paced| validate_for_sender(&[text.parse().unwrap()], paced).is_ok();
        assert!(!answers("loss>0", false) && !answers("duplicates>0", false));
        assert!(answers("shortfall>0", false) && answers("rate<1Mpps", false));
        assert!(!answers("rate<99%", false) && answers("rate<99%", true));
    }

    #[test]
    fn conditions_are_read_and_shown() {
        let table = [
            ("loss>0", "loss>0"),
            (" loss >= 0.1 % ", "loss>=0.1%"),
            ("lost<=18446744073709551615", "loss<=18446744073709551615"),
            ("duplicates>0", "duplicate>0"),
            ("reordered>0.50%", "reordered>0.5%"),
            ("unexplained>0", "unexplained>0"),
            ("shortfall>1%", "shortfall>1%"),
            ("rate<99%", "rate<99%"),
            ("pps<1500000pps", "rate<1.5Mpps"),
            ("rate<9.9Gbps", "rate<9.9Gbps"),
        ];
        for (typed, shown) in table {
            let condition: Condition = typed.parse().unwrap();
            assert_eq!(condition.to_string(), shown);
            assert_eq!(shown.parse(), Ok(condition));
        }
    }

    #[test]
    fn what_is_no_condition_is_refused_with_the_forms() {
        for text in [
            "",
            "loss",
            "loss=0",
            "loss>",
            ">0",
            "loss>-1",
            "loss>0.5",
            "loss>1Mpps",
            "loss>1kframes",
            "speed<1",
            "rate<99",
            "rate<max",
            "rate<0pps",
            "loss>%",
            "loss>0>1",
            "loss=>0",
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(
                error.flag.starts_with("--fail-if") && error.remedy.contains("'loss>0'"),
                "{text}: {error}"
            );
        }
    }
}
