//! When a run's frames are to be sent: the rates that were asked for, as they are on this link with frames of these lengths.

use crate::config::{Asked, RatePlan, Spacing, Step, TxConfig};
use crate::pace::{Course, Plan, Stair};
use crate::units::{FrameRate, RateError, RateSpec};
use std::sync::Arc;

/// The course of a run on a link of `speed_bps`.
///
/// # Errors
/// The rate that is none on this link, and why.
pub fn course(config: &TxConfig, speed_bps: Option<u64>) -> Result<Course, (RateSpec, RateError)> {
    let mean = config.streams.mean();
    let resolve = |rate: RateSpec| rate.resolve(mean, speed_bps).map_err(|error| (rate, error));
    let Some(rate) = resolve(config.rate)? else {
        return match &config.spacing {
            Spacing::Plan(plan) => self::plan(plan, &resolve),
            _ => Ok(Course::Max),
        };
    };
    Ok(match config.spacing {
        Spacing::Bursts(burst) => Course::Steady(rate, burst),
        Spacing::Poisson => Course::Poisson(rate, config.streams.seed()),
        Spacing::Even | Spacing::Plan(_) => Course::Steady(rate, 1),
    })
}

type Resolve<'r> = &'r dyn Fn(RateSpec) -> Result<Option<FrameRate>, (RateSpec, RateError)>;

fn plan(plan: &RatePlan, resolve: Resolve<'_>) -> Result<Course, (RateSpec, RateError)> {
    let mut stairs = Vec::new();
    for step in plan.steps() {
        stairs.extend(stairs_of(*step, resolve)?);
    }
    // A plan sends in one of its steps, or it would have been refused.
    Ok(Plan::new(stairs).map_or(Course::Max, |plan| Course::Plan(Arc::new(plan))))
}

fn stairs_of(
    Step { asked, length }: Step,
    resolve: Resolve<'_>,
) -> Result<Vec<Stair>, (RateSpec, RateError)> {
    match asked {
        Asked::Off => Ok(vec![Stair { rate: None, length }]),
        Asked::Level(rate) => Ok(vec![Stair { rate: resolve(rate)?, length }]),
        Asked::Ramp(from, to) => match (resolve(from)?, resolve(to)?) {
            (Some(a), Some(b)) => Plan::ramp(a, b, length).map_err(|error| (from, error)),
            _ => Err((from, RateError::Form)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    #[test]
    fn steps_become_stairs_on_this_link() {
        let rate = |text: &str| text.parse::<RateSpec>().unwrap();
        let resolve = |rate: RateSpec| match rate {
            RateSpec::Percent(_) => Err((rate, RateError::NoSpeed)),
            RateSpec::Pps(pps) => Ok(FrameRate::new(pps.numerator(), pps.denominator())),
            _ => Ok(None),
        };
        let stairs = |asked| stairs_of(Step { asked, length: Nanos::from_millis(2) }, &resolve);
        let pps = |frames| FrameRate::new(frames, 1);
        let millisecond = Nanos::from_millis(1);
        assert_eq!(stairs(Asked::Off), Ok(vec![Stair { rate: None, length: Nanos::from_millis(2) }]));
        assert_eq!(
            stairs(Asked::Ramp(rate("1kpps"), rate("5kpps"))),
            Ok(vec![
                Stair { rate: pps(2_000), length: millisecond },
                Stair { rate: pps(4_000), length: millisecond },
            ])
        );
        assert_eq!(stairs(Asked::Level(rate("5%"))), Err((rate("5%"), RateError::NoSpeed)));
    }
}
