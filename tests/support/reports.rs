//! The JSON of Reports, read as any other program would read it. Knows the names of its fields and the equations of
//! its books, from the documentation and not from the library.

use super::process::Finished;
use serde_json::Value;

/// One Report.
#[derive(Debug, Clone)]
pub struct Report(pub Value);

/// Each equation: the left side, and the terms of the right.
const EQUATIONS: [(&str, &[&str]); 6] = [
    ("built", &["submitted"]),
    ("submitted", &["completed", "in_flight", "invalid"]),
    ("received", &["control", "probes", "rejected"]),
    ("probes", &["unique", "duplicate", "late"]),
    ("completed", &["unique", "lost"]),
    ("lost", &["kernel_drops", "unexplained"]),
];

/// The Reports on standard output, which must hold nothing else: one object, or an array.
pub fn reports(finished: &Finished) -> Vec<Report> {
    let value: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|error| {
        panic!("{}: {error}\n{}\n{}", finished.line, finished.stdout, finished.stderr)
    });
    match value {
        Value::Array(all) => all.into_iter().map(Report).collect(),
        one => vec![Report(one)],
    }
}

/// The one Report that there must be.
pub fn only(reports: &[Report]) -> Report {
    assert_eq!(reports.len(), 1, "{reports:?}");
    reports[0].clone()
}

/// The array `[tx, rx]`.
pub fn tx_and_rx(finished: &Finished) -> (Report, Report) {
    let [tx, rx]: [Report; 2] = reports(finished).try_into().expect("two Reports");
    assert_eq!((tx.text("/command"), rx.text("/command")), ("tx", "rx"));
    (tx, rx)
}

impl Report {
    /// The text at a JSON pointer.
    pub fn text(&self, pointer: &str) -> &str {
        self.at(pointer).as_str().unwrap_or_else(|| panic!("{pointer} is no text in {self}"))
    }

    /// The value at a JSON pointer.
    pub fn at(&self, pointer: &str) -> &Value {
        self.0.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {self}"))
    }

    /// A term of the balance; None when this side does not know it.
    pub fn term(&self, name: &str) -> Option<u64> {
        match self.at(&format!("/balance/{name}")) {
            Value::Object(reasons) => Some(reasons.values().map(|n| n.as_u64().unwrap()).sum()),
            value => value.as_u64(),
        }
    }

    /// A term of the balance that this side must know.
    pub fn known(&self, name: &str) -> u64 {
        self.term(name).unwrap_or_else(|| panic!("{name} is not known in {self}"))
    }

    /// Fails unless every equation comes out of which all terms are known.
    pub fn check_books(&self) {
        for (left, right) in EQUATIONS {
            let sum: Option<u64> = right.iter().map(|name| self.term(name)).sum();
            if let (Some(left_value), Some(sum)) = (self.term(left), sum) {
                assert_eq!(left_value, sum, "{left} = {} in {self}", right.join(" + "));
            }
        }
    }

    /// The same, and fails too when this side does not know a term that it should: the first two equations are those
    /// of tx, the others those of rx.
    pub fn check_full_books(&self) {
        let (tx, rx) = EQUATIONS.split_at(2);
        let own = if self.text("/command") == "tx" { tx } else { rx };
        for name in own.iter().flat_map(|(left, right)| [&[*left], *right].concat()) {
            self.known(name);
        }
        self.check_books();
    }

    /// Whether a finding of this code is in it.
    pub fn has_finding(&self, code: &str) -> bool {
        self.at("/findings").as_array().unwrap().iter().any(|finding| finding["code"] == code)
    }

    /// One of the counters of kernel and device.
    pub fn counter(&self, name: &str) -> u64 {
        self.at("/device_counters/counters")[name]
            .as_u64()
            .unwrap_or_else(|| panic!("no counter {name} in {self}"))
    }

    /// The frames of each queue's row.
    pub fn frames_by_queue(&self) -> Vec<u64> {
        let rows = self.at("/queues").as_array().unwrap();
        rows.iter().map(|row| row["frames"].as_u64().unwrap()).collect()
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}
