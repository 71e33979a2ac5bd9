//! A rate plan as a person writes it: `1Mpps:10s,off:5s,ramp 2Mpps-5Mpps:30s`.

use crate::units::{Nanos, RateSpec};
use std::fmt;

/// The forms of a plan, for messages.
const FORMS: &str = "1Mpps:10s,off:5s,ramp 2Mpps-5Mpps:30s";
/// The shortest step: what a sender can be expected to follow.
const SHORTEST: Nanos = Nanos::from_millis(1);
/// As much as can be told a sink in one message.
const LONGEST_TEXT: usize = 200;
const OFF: &str = "off";
const RAMP: &str = "ramp";

/// What is asked for during one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Off,
    /// One rate.
    Level(RateSpec),
    /// From one rate to another, evenly.
    Ramp(RateSpec, RateSpec),
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What is asked for.
    pub asked: Asked,
    /// For how long.
    pub length: Nanos,
}

/// Steps, one after the other, and from the first again if the run is longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatePlan {
    steps: Vec<Step>,
    text: String,
}

/// What is wrong with a plan, and a plan that is none the worse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub what: String,
    pub remedy: String,
}

impl Fault {
    fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: FORMS.to_owned() }
    }
}

impl RatePlan {
    /// Reads it.
    ///
    /// # Errors
    /// No step, one that is not `RATE:TIME`, `off:TIME` or `ramp RATE-RATE:TIME`, one shorter than 1 ms, `max`, more than
    /// the link, or a plan that never sends.
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > LONGEST_TEXT {
            return Err(Fault::new(format!(
                "it is longer than the {LONGEST_TEXT} characters that a sink can be told (a plan that is shorter than the \
                 run begins anew)"
            )));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
            return Err(Fault::new("it has characters that no plan has"));
        }
        let steps = text.split(',').map(|step| read(step.trim())).collect::<Result<Vec<_>, _>>()?;
        if steps.iter().all(|step| step.asked == Asked::Off) {
            return Err(Fault::new("it never sends anything"));
        }
        Ok(Self { steps, text: text.to_owned() })
    }

    /// Its steps; at least one of them sends.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How long it is until it begins anew.
    #[must_use]
    pub fn length(&self) -> Nanos {
        self.steps.iter().fold(Nanos(0), |sum, step| sum + step.length)
    }
}

impl fmt::Display for RatePlan {
    /// As it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn read(step: &str) -> Result<Step, Fault> {
    let in_step = |what: String| Fault::new(format!("in the step '{step}' {what}"));
    if step.is_empty() {
        return Err(Fault::new("one of its steps is empty"));
    }
    let (asked, time) = step
        .split_once(':')
        .ok_or_else(|| in_step("there is no time: what and how long are parted by a colon".to_owned()))?;
    if time.contains(':') {
        return Err(in_step("there are two times: steps follow each other, and do not overlap".to_owned()));
    }
    let length: Nanos =
        time.trim().parse().map_err(|e| in_step(format!("'{}' is no time: {e}", time.trim())))?;
    if length < SHORTEST {
        return Err(in_step("the time is shorter than 1 ms, which no sender follows".to_owned()));
    }
    let asked = asked.trim();
    let asked = match asked.strip_prefix(RAMP).filter(|rest| rest.starts_with(char::is_whitespace)) {
        Some(range) => ramp(range.trim()).map_err(in_step)?,
        None if asked == OFF => Asked::Off,
        None => Asked::Level(rate(asked).map_err(in_step)?),
    };
    Ok(Step { asked, length })
}

/// Both ends of a ramp: rates have hyphens of their own (`10Gbps-l2`), so it is parted where both sides are rates.
fn ramp(range: &str) -> Result<Asked, String> {
    let mut parts = range.match_indices('-').filter_map(|(at, _)| {
        let (from, to) = (range.get(..at)?.trim(), range.get(at + 1..)?.trim());
        (from.parse::<RateSpec>().is_ok() && to.parse::<RateSpec>().is_ok()).then_some((from, to))
    });
    match parts.next() {
        Some((from, to)) => Ok(Asked::Ramp(rate(from)?, rate(to)?)),
        None => Err(format!("'{range}' is not two rates with a hyphen between them")),
    }
}

fn rate(text: &str) -> Result<RateSpec, String> {
    match text.parse::<RateSpec>() {
        Ok(RateSpec::Max) => Err("max is no rate that a plan can keep".to_owned()),
        Ok(RateSpec::Percent(percent)) if percent.as_f64() > 100.0 => {
            Err("there is more than 100 % of the link".to_owned())
        }
        Ok(rate) => Ok(rate),
        Err(error) => Err(format!("'{text}' is no rate: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pps(text: &str) -> RateSpec {
        text.parse().unwrap()
    }

    #[test]
    fn steps_are_read_in_their_order() {
        let plan = RatePlan::parse("1Mpps:10s, off:500ms ,ramp 2Mpps-5Mpps:1m,40%:1").unwrap();
        let seconds = |s: u64| Nanos(s * 1_000_000_000);
        let expected = [
            Step { asked: Asked::Level(pps("1Mpps")), length: seconds(10) },
            Step { asked: Asked::Off, length: Nanos::from_millis(500) },
            Step { asked: Asked::Ramp(pps("2Mpps"), pps("5Mpps")), length: seconds(60) },
            Step { asked: Asked::Level(pps("40%")), length: seconds(1) },
        ];
        assert_eq!(plan.steps(), expected);
        assert_eq!(plan.length(), Nanos(71_500_000_000));
        assert_eq!(plan.to_string(), "1Mpps:10s, off:500ms ,ramp 2Mpps-5Mpps:1m,40%:1");
    }

    #[test]
    fn a_ramp_is_parted_between_its_rates() {
        for (text, from, to) in [
            ("10Gbps-l2-20Gbps-l2", "10Gbps-l2", "20Gbps-l2"),
            ("10Gbps-20Gbps-l2", "10Gbps", "20Gbps-l2"),
            ("10Gbps-l2 - 20Gbps", "10Gbps-l2", "20Gbps"),
            ("100%-1%", "100%", "1%"),
        ] {
            assert_eq!(ramp(text), Ok(Asked::Ramp(pps(from), pps(to))), "{text}");
        }
    }

    #[test]
    fn what_is_no_plan_says_why() {
        for (text, why) in [
            ("", "one of its steps is empty"),
            ("1kpps:1s,", "one of its steps is empty"),
            ("1kpps", "there is no time"),
            ("1kpps:1s:2s", "do not overlap"),
            ("1kpps:soon", "'soon' is no time"),
            ("1kpps:999us", "shorter than 1 ms"),
            ("1kpps:0", "shorter than 1 ms"),
            ("-1kpps:1s", "is no rate"),
            ("1kpps:-1s", "is no time"),
            ("0pps:1s", "sends nothing"),
            ("max:1s", "max is no rate"),
            ("ramp 1kpps-max:1s", "max is no rate"),
            ("101%:1s", "more than 100 %"),
            ("ramp 1kpps:1s", "not two rates"),
            ("ramp1kpps-2kpps:1s", "is no rate"),
            ("ramp off-2kpps:1s", "not two rates"),
            ("fast:1s", "'fast' is no rate"),
            ("off:1s,off:2s", "never sends"),
            ("1kpps:1s\n", "characters that no plan has"),
            ("1kpps:1\u{b5}s", "characters that no plan has"),
        ] {
            let fault = RatePlan::parse(text).unwrap_err();
            assert!(fault.what.contains(why), "{text}: {fault:?}");
            assert!(RatePlan::parse(&fault.remedy).is_ok(), "{fault:?}");
        }
        assert!(RatePlan::parse(&"1kpps:1s,".repeat(30)).unwrap_err().what.contains("200 characters"));
    }
}
