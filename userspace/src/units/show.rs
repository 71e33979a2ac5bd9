//! Numbers as people read them: four significant digits with a prefix, thousands grouped.

use super::FrameRate;
use std::fmt;

/// A factor and the prefix or unit that stands for it.
type Step = (f64, &'static str);

const SI: [Step; 5] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")];
const TIME: [Step; 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

/// Above this a figure rounds to 1,000 and belongs to the next step.
const ROUNDS_TO_NEXT: f64 = 999.95;

fn four_digits(value: f64) -> String {
    if value < 9.9995 {
        format!("{value:.3}")
    } else if value < 99.995 {
        format!("{value:.2}")
    } else {
        format!("{value:.1}")
    }
}

fn stepped(value: f64, steps: &[Step]) -> (String, &'static str) {
    let whole = value.fract() == 0.0 && value < 1000.0;
    let fitting = steps.iter().find(|(factor, _)| value / factor < ROUNDS_TO_NEXT).or(steps.last());
    match fitting {
        Some((factor, name)) if *factor > 1.0 || !whole => (four_digits(value / factor), name),
        Some((_, name)) => (format!("{value}"), name),
        None => (format!("{value}"), ""),
    }
}

/// A figure with an SI prefix before `unit`: `14.88 Mpps`, `9.876 Gbit/s`, `5 pps`.
#[must_use]
pub fn si(value: f64, unit: &str) -> String {
    let (digits, prefix) = stepped(value, &SI);
    format!("{digits} {prefix}{unit}")
}

/// Nanoseconds in the unit that fits: `640 ns`, `1.812 µs`, `12.50 ms`, `10.00 s`.
#[must_use]
pub fn span(ns: f64) -> String {
    let (digits, unit) = stepped(ns, &TIME);
    format!("{digits} {unit}")
}

/// Digits in groups of three: `14,880,952`.
#[must_use]
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&si(self.pps(), "pps"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn figures_keep_four_digits() {
        let table = [
            (0.0, "0 pps"),
            (0.5, "0.500 pps"),
            (5.0, "5 pps"),
            (999.0, "999 pps"),
            (999.96, "1.000 kpps"),
            (1000.0, "1.000 kpps"),
            (14_880_952.38, "14.88 Mpps"),
            (99_996.0, "100.0 kpps"),
            (999_960.0, "1.000 Mpps"),
            (1e16, "10000.0 Tpps"),
        ];
        for (value, text) in table {
            assert_eq!(si(value, "pps"), text);
        }
        assert_eq!(FrameRate::new(3, 2).unwrap().to_string(), "1.500 pps");
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        assert_eq!(span(640.0), "640 ns");
        assert_eq!(span(1_812.0), "1.812 µs");
        assert_eq!(span(12_500_000.0), "12.50 ms");
        assert_eq!(span(1e10), "10.00 s");
        assert_eq!(span(3.6e12), "3600.0 s");
    }

    proptest! {
        #[test]
        fn groups_change_nothing_but_the_look(value: u64) {
            let text = grouped(value);
            prop_assert_eq!(text.replace(',', ""), value.to_string());
            let mut groups = text.split(',');
            prop_assert!((1..=3).contains(&groups.next().unwrap().len()));
            prop_assert!(groups.all(|group| group.len() == 3));
        }

        #[test]
        fn a_shown_figure_is_within_its_last_digit(value in 1.0f64..1e14) {
            let text = si(value, "");
            let (digits, prefix) = text.split_once(' ').unwrap();
            let factor = SI.iter().find(|(_, p)| *p == prefix).unwrap().0;
            let shown = digits.parse::<f64>().unwrap() * factor;
            prop_assert!((shown - value).abs() <= value * 0.000_51, "{} for {}", text, value);
        }
    }
}
