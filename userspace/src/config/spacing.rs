//! How the frames of a run follow each other in time, made valid: evenly, in bursts, at random, or by a plan.

use super::number::Whole;
use super::plan::RatePlan;
use super::{ConfigError, validate_without};
use crate::units::RateSpec;

const BURST: Whole = Whole {
    flag: FLAG_BURST,
    least: 1,
    most: 65_536,
    why: "a burst is of one frame at least, and is no longer than the longest ring",
    remedy: "--burst 1 (the default) for even spacing, or --burst 32",
};

const FLAG_BURST: &str = "--burst";
const FLAG_ARRIVALS: &str = "--arrivals";
const FLAG_PLAN: &str = "--plan";

/// How frames follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Spacing {
    /// Evenly, at one rate.
    #[default]
    Even,
    /// So many back to back (2 or more), at the same rate in the mean.
    Bursts(u32),
    /// At times that know nothing of each other, at the same rate in the mean.
    Poisson,
    /// Evenly, at rates that change.
    Plan(RatePlan),
}

impl Spacing {
    /// The names of `--arrivals`.
    pub const ARRIVALS: [&'static str; 2] = ["constant", "poisson"];
}

/// The spacing that three flags say, at most one of them; `rate` as it was given, and what it was read as.
///
/// # Errors
/// Flags that contradict each other, a burst or arrivals without a rate to keep, or a plan that is none.
pub fn validate_spacing(
    burst: Option<&str>,
    arrivals: Option<&str>,
    plan: Option<&str>,
    (given, rate): (bool, RateSpec),
) -> Result<Spacing, ConfigError> {
    let poisson = arrivals.is_some_and(|name| name == "poisson");
    if let Some(plan) = plan {
        validate_without(
            &[("--rate", given), (FLAG_BURST, burst.is_some()), (FLAG_ARRIVALS, arrivals.is_some())],
            "--plan says the rates, and frames follow each other evenly at each",
            "leave out --plan, or this flag",
        )?;
        return RatePlan::parse(plan).map(Spacing::Plan).map_err(|fault| {
            ConfigError::new(FLAG_PLAN, plan, fault.what, format!("{FLAG_PLAN} '{}'", fault.remedy))
        });
    }
    let burst = burst.map_or(Ok(1), |text| BURST.read_u32(text))?;
    validate_without(
        &[(FLAG_BURST, burst > 1 && poisson)],
        "Poisson arrivals come one by one",
        "--burst, or --arrivals poisson",
    )?;
    validate_without(
        &[
            (FLAG_BURST, burst > 1 && rate == RateSpec::Max),
            (FLAG_ARRIVALS, poisson && rate == RateSpec::Max),
        ],
        "as fast as it goes, frames follow each other without a gap",
        "--rate with it, for instance --rate 100kpps",
    )?;
    Ok(match (burst, poisson) {
        (_, true) => Spacing::Poisson,
        (1, false) => Spacing::Even,
        (burst, false) => Spacing::Bursts(burst),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PPS: (bool, RateSpec) = (false, RateSpec::L1Bps(1_000));

    fn flag(
        burst: Option<&str>,
        arrivals: Option<&str>,
        plan: Option<&str>,
        rate: (bool, RateSpec),
    ) -> String {
        validate_spacing(burst, arrivals, plan, rate).unwrap_err().flag
    }

    #[test]
    fn one_of_the_three_says_it() {
        let max = (false, RateSpec::Max);
        assert_eq!(validate_spacing(None, None, None, max), Ok(Spacing::Even));
        assert_eq!(validate_spacing(Some("1"), Some("constant"), None, max), Ok(Spacing::Even));
        assert_eq!(validate_spacing(Some("32"), Some("constant"), None, PPS), Ok(Spacing::Bursts(32)));
        assert_eq!(validate_spacing(None, Some("poisson"), None, PPS), Ok(Spacing::Poisson));
        let plan = validate_spacing(None, None, Some("1kpps:1s"), max).unwrap();
        assert!(matches!(plan, Spacing::Plan(_)));
    }

    #[test]
    fn contradictions_are_refused() {
        let max = (false, RateSpec::Max);
        assert_eq!(flag(Some("0"), None, None, PPS), "--burst 0");
        assert_eq!(flag(Some("65537"), None, None, PPS), "--burst 65537");
        assert_eq!(flag(Some("2"), Some("poisson"), None, PPS), "--burst");
        assert_eq!(flag(Some("2"), None, None, max), "--burst");
        assert_eq!(flag(None, Some("poisson"), None, max), "--arrivals");
        assert_eq!(flag(None, None, Some("1kpps:1s"), (true, RateSpec::Max)), "--rate");
        assert_eq!(flag(Some("1"), None, Some("1kpps:1s"), max), "--burst");
        assert_eq!(flag(None, None, Some("1kpps"), max), "--plan 1kpps");
    }
}
