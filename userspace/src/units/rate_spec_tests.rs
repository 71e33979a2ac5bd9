//! Rates as people write them: every form, every refusal, and the arithmetic against an independent one.

use super::*;
use crate::units::FrameSize;
use crate::units::Nanos;
use proptest::prelude::*;

fn spec(text: &str) -> RateSpec {
    text.parse().unwrap()
}

#[test]
fn every_form_is_read() {
    let pps = |n: u64| RateSpec::Pps(n.into());
    let table = [
        ("max", RateSpec::Max),
        ("1.5Mpps", pps(1_500_000)),
        ("250kpps", pps(250_000)),
        ("250Kpps", pps(250_000)),
        ("1pps", pps(1)),
        ("1.5 Mpps", pps(1_500_000)),
        ("0.5pps", RateSpec::Pps("0.5".parse().unwrap())),
        ("10Gbps", RateSpec::L1Bps(10_000_000_000)),
        ("10gbps", RateSpec::L1Bps(10_000_000_000)),
        ("10Gbps-l1", RateSpec::L1Bps(10_000_000_000)),
        ("10Gbps-l2", RateSpec::L2Bps(10_000_000_000)),
        ("0.001Tbps", RateSpec::L1Bps(1_000_000_000)),
        ("40%", RateSpec::Percent(40.into())),
        ("33.3 %", RateSpec::Percent("33.3".parse().unwrap())),
    ];
    for (text, want) in table {
        assert_eq!(text.parse(), Ok(want), "{text}");
    }
}

#[test]
fn what_is_no_rate_is_refused() {
    // Bytes a second must not pass for bits a second.
    for text in
        ["", "fast", "MAX", "10", "1.5M", "10GBps", "10Gbit", "pps", "-1pps", "1e6pps", "10Gbps-l3", "%"]
    {
        assert_eq!(text.parse::<RateSpec>(), Err(RateError::Form), "{text}");
    }
    for text in ["0pps", "0.0Gbps", "0%", "0kbps-l2"] {
        assert_eq!(text.parse::<RateSpec>(), Err(RateError::Zero), "{text}");
    }
    for text in ["1.5bps", "20000000000Gbps", "0.0001kbps-l2", "0.0000000001pps", "1.0000000001%"] {
        assert_eq!(text.parse::<RateSpec>(), Err(RateError::Inexact), "{text}");
    }
}

#[test]
fn rates_of_minimal_frames() {
    let resolve = |text: &str, speed| {
        spec(text).resolve(FrameSize::MIN, speed).map(|r| r.map(|r| r.frames_in(Nanos::SECOND)))
    };
    assert_eq!(resolve("max", None), Ok(None));
    assert_eq!(resolve("1.5Mpps", None), Ok(Some(1_500_000)));
    // 10 Gbit/s over slots of 84 bytes: the figure that every table of line rates starts with.
    assert_eq!(resolve("10Gbps", None), Ok(Some(14_880_952)));
    assert_eq!(resolve("10Gbps-l2", None), Ok(Some(19_531_250)));
    assert_eq!(resolve("50%", Some(10_000_000_000)), Ok(Some(7_440_476)));
    assert_eq!(resolve("50%", None), Err(RateError::NoSpeed));
    assert_eq!(resolve("50%", Some(0)), Err(RateError::NoSpeed));
}

proptest! {
    #[test]
    fn text_and_back(digits in 1u64.., places in 0..=Decimal::MAX_PLACES, bps in 1u64..) {
        let decimal = Decimal::new(digits.into(), places).unwrap();
        for rate in [RateSpec::Pps(decimal), RateSpec::L1Bps(bps), RateSpec::L2Bps(bps), RateSpec::Percent(decimal)] {
            prop_assert_eq!(rate.to_string().parse::<RateSpec>(), Ok(rate));
        }
    }

    #[test]
    fn a_percentage_is_that_share_of_the_link(
        hundredths in 1u64..=10_000, speed in 1u64..=400_000_000_000, size in 64u32..=16_384,
    ) {
        let size = FrameSize::new(size).unwrap();
        let percent = RateSpec::Percent(Decimal::new(hundredths.into(), 2).unwrap());
        let rate = percent.resolve(size, Some(speed)).unwrap().unwrap();
        let want = u128::from(speed) * u128::from(hundredths) * 3600 / (10_000 * u128::from(size.on_wire()) * 8);
        prop_assert_eq!(u128::from(rate.frames_in(Nanos(3_600_000_000_000))), want);
    }
}
