//! The books as equations with their numbers, as far as this side knows them.

use super::words::{UNKNOWN, count};
use crate::report::{Balance, Reflected};
use crate::units::grouped;

type Term<'a> = (&'a str, Option<u64>);

/// A line an equation of which at least one term is known; then what stands beside the equations.
pub(super) fn lines(b: &Balance) -> Vec<String> {
    // Without a count of what arrived, an empty list of reasons says nothing.
    let rejected = b.received.map(|_| b.rejected.values().sum());
    let equations = [
        equation(("built", b.built), &[("submitted", b.submitted)]),
        equation(
            ("submitted", b.submitted),
            &[("completed", b.completed), ("in flight", b.in_flight), ("invalid", b.invalid)],
        ),
        equation(
            ("received", b.received),
            &[("control", b.control), ("probes", b.probes), ("rejected", rejected)],
        ),
        equation(("probes", b.probes), &[("unique", b.unique), ("duplicate", b.duplicate), ("late", b.late)]),
        equation(("completed", b.completed), &[("unique", b.unique), ("lost", b.lost)]),
        equation(("lost", b.lost), &[("kernel drops", b.kernel_drops), ("unexplained", b.unexplained)]),
    ];
    equations.into_iter().flatten().chain(beside(b)).collect()
}

/// What a reflector sent back, or a forwarder on.
pub(super) fn reflected(r: &Reflected, probes: Option<u64>) -> Vec<String> {
    let (submitted, full) = (Some(r.submitted), Some(r.ring_full));
    let went = [("submitted", submitted), ("ring full", full), ("withheld", Some(r.withheld))];
    let came = match &r.out {
        None => equation(("probes", probes), &went[..2]),
        Some(_) => equation(("probes and control", probes.map(|probes| probes + r.control)), &went),
    };
    let done = [("completed", Some(r.completed)), ("in flight", Some(r.in_flight))];
    let out = r.out.as_ref().map(|out| format!("by {out}, control {} among them", grouped(r.control)));
    [out, came, equation(("submitted", submitted), &done)].into_iter().flatten().collect()
}

/// `total = part + part`; None when nothing but one side's total is known, which another line shows.
fn equation(total: Term<'_>, parts: &[Term<'_>]) -> Option<String> {
    let terms: Vec<String> = parts.iter().copied().map(term).collect();
    let known = parts.iter().any(|(_, value)| value.is_some());
    let skip = total.1.is_none() && parts.iter().filter(|(_, value)| value.is_some()).count() < 2;
    (known && !skip).then(|| format!("{} = {}", term(total), terms.join(" + ")))
}

fn term((name, value): Term<'_>) -> String {
    format!("{name} {}", count(value))
}

fn beside(b: &Balance) -> Vec<String> {
    let mut lines = Vec::new();
    if !b.rejected.is_empty() {
        let reasons = b.rejected.iter().map(|(reason, n)| format!("{reason} {}", grouped(*n)));
        lines.push(format!("rejected: {}", reasons.collect::<Vec<_>>().join(", ")));
    }
    lines.extend(b.reordered.map(|n| format!("reordered {} (they are unique all the same)", grouped(n))));
    lines.extend(b.shortfall.map(|n| format!("shortfall {} (due and not sent)", grouped(n))));
    lines.extend(b.lost_absent.as_ref().map(|why| format!("lost {UNKNOWN}: {why}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_sender_shows_only_its_own_equations() {
        let books = Balance {
            built: Some(1_000),
            submitted: Some(1_000),
            completed: Some(998),
            in_flight: Some(2),
            invalid: Some(0),
            shortfall: Some(7),
            ..Balance::default()
        };
        assert_eq!(
            lines(&books),
            [
                "built 1,000 = submitted 1,000",
                "submitted 1,000 = completed 998 + in flight 2 + invalid 0",
                "shortfall 7 (due and not sent)",
            ]
        );
    }

    #[test]
    fn what_is_not_known_is_not_zero() {
        let books = Balance {
            received: Some(10),
            control: Some(1),
            probes: Some(7),
            rejected: BTreeMap::from([("other_run".to_owned(), 2)]),
            lost_absent: Some("the sender's END did not arrive".to_owned()),
            ..Balance::default()
        };
        assert_eq!(
            lines(&books),
            [
                "received 10 = control 1 + probes 7 + rejected 2",
                "rejected: other_run 2",
                "lost unknown: the sender's END did not arrive",
            ]
        );
        assert!(lines(&Balance::default()).is_empty());
    }
}
