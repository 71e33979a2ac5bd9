//! When latency is that of a full queue: it then tells how long the queue is, and nothing of the path.

use crate::report::{Balance, Offered};
use crate::units::grouped;

/// Why the latency of a run is limited by a queue; None where nothing is known that would make it so.
#[must_use]
pub fn reason(offered: Option<&Offered>, balance: &Balance) -> Option<String> {
    let known = |n: Option<u64>| n.filter(|n| *n > 0).map(grouped);
    let max = offered.is_some_and(|offered| offered.rate_pps.is_none() && offered.pcap.is_none());
    let reasons = [
        max.then(|| "the rate was max".to_owned()),
        known(balance.lost).map(|n| format!("{n} lost")),
        known(balance.shortfall).map(|n| format!("{n} due and not sent")),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// What a sender that asks for `rate_pps` offers.
    fn offered(rate_pps: &Value) -> Offered {
        let full: Value =
            serde_json::from_str(include_str!("../../../tests/samples/report-full.json")).unwrap();
        let mut offered = full["offered"].clone();
        offered["rate_pps"] = rate_pps.clone();
        serde_json::from_value(offered).unwrap()
    }

    fn books(lost: Option<u64>, shortfall: Option<u64>) -> Balance {
        Balance { lost, shortfall, ..Balance::default() }
    }

    #[test]
    fn a_rate_that_was_held_and_arrived_whole_is_not_limited() {
        assert_eq!(reason(Some(&offered(&json!(1e6))), &books(Some(0), Some(0))), None);
    }

    #[test]
    fn each_reason_is_told() {
        let asked = offered(&json!(1e6));
        let told =
            |offered: &Offered, lost, shortfall| reason(Some(offered), &books(lost, shortfall)).unwrap();
        assert_eq!(told(&asked, Some(1_200), Some(0)), "1,200 lost");
        assert_eq!(told(&asked, None, Some(3)), "3 due and not sent");
        assert_eq!(told(&offered(&Value::Null), Some(1), None), "the rate was max, 1 lost");
    }

    #[test]
    fn what_is_not_known_limits_nothing() {
        assert_eq!(reason(None, &books(None, None)), None);
    }
}
