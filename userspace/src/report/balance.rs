//! The books: every frame is in exactly one of them, and the sums come out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// The books of one side; what it cannot know is null.
///
/// ```text
/// tx   : built = submitted            submitted = completed + in_flight + invalid
/// rx   : received = control + probes + Σ rejected       probes = unique + duplicate + late
/// both : completed = unique + lost                      lost = kernel_drops + unexplained
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Balance {
    /// Frames written by the sender.
    pub built: Option<u64>,
    /// Frames given to the transmit ring.
    pub submitted: Option<u64>,
    /// Frames that the driver gave back as done: "sent". On rx: as the sender's END said.
    pub completed: Option<u64>,
    /// Frames neither done nor refused at the deadline.
    pub in_flight: Option<u64>,
    /// Descriptors that the kernel refused.
    pub invalid: Option<u64>,
    /// Frames that were due and not sent, since the rate could not be held. On rx: as the sender's END said.
    pub shortfall: Option<u64>,
    /// Frames that reached the sink: control, probes and rejected.
    pub received: Option<u64>,
    /// START, END, HELLO and their like.
    pub control: Option<u64>,
    /// Frames of this run.
    pub probes: Option<u64>,
    /// Frames not counted as probes, by reason.
    pub rejected: BTreeMap<String, u64>,
    /// Distinct probes; null when sequences are not followed.
    pub unique: Option<u64>,
    /// Probes received again.
    pub duplicate: Option<u64>,
    /// Probes older than the window, which may be unique or duplicate.
    pub late: Option<u64>,
    /// Probes that arrived after a later one of the same flow (RFC 4737); they are unique all the same.
    pub reordered: Option<u64>,
    /// completed − unique.
    pub lost: Option<u64>,
    /// Why `lost` is null.
    pub lost_absent: Option<String>,
    /// Lost frames that a counter of the kernel or a device accounts for.
    pub kernel_drops: Option<u64>,
    /// lost − kernel_drops.
    pub unexplained: Option<u64>,
}

/// A sum that does not come out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{equation}: {left} is not {right}")]
pub struct BooksError {
    /// The equation in words.
    pub equation: &'static str,
    /// Value of its left side.
    pub left: u64,
    /// Value of its right side.
    pub right: u64,
}

pub(super) fn check(equation: &'static str, left: Option<u64>, right: Option<u64>) -> Result<(), BooksError> {
    match (left, right) {
        (Some(left), Some(right)) if left != right => Err(BooksError { equation, left, right }),
        _ => Ok(()),
    }
}

fn sum(parts: &[Option<u64>]) -> Option<u64> {
    parts.iter().try_fold(0u64, |acc, part| part.map(|p| acc.saturating_add(p)))
}

impl Balance {
    /// Checks every equation of which all terms are known.
    ///
    /// # Errors
    /// The first equation that does not come out.
    pub fn verify(&self) -> Result<(), BooksError> {
        check("built = submitted", self.built, self.submitted)?;
        let sent = sum(&[self.completed, self.in_flight, self.invalid]);
        check("submitted = completed + in_flight + invalid", self.submitted, sent)?;
        let received = sum(&[self.control, self.probes, Some(self.rejected.values().sum())]);
        check("received = control + probes + rejected", self.received, received)?;
        check(
            "probes = unique + duplicate + late",
            self.probes,
            sum(&[self.unique, self.duplicate, self.late]),
        )?;
        check("completed = unique + lost", self.completed, sum(&[self.unique, self.lost]))?;
        check("lost = kernel_drops + unexplained", self.lost, sum(&[self.kernel_drops, self.unexplained]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rx() -> Balance {
        Balance {
            completed: Some(10),
            received: Some(12),
            control: Some(1),
            probes: Some(10),
            rejected: BTreeMap::from([("other_run".to_owned(), 1)]),
            unique: Some(8),
            duplicate: Some(1),
            late: Some(1),
            lost: Some(2),
            kernel_drops: Some(2),
            unexplained: Some(0),
            ..Balance::default()
        }
    }

    #[test]
    fn balanced_books_pass() {
        assert_eq!(rx().verify(), Ok(()));
        assert_eq!(Balance::default().verify(), Ok(()));
    }

    #[test]
    fn each_equation_is_checked() {
        type Change = (&'static str, fn(&mut Balance));
        let break_it: [Change; 6] = [
            ("built = submitted", |b| (b.built, b.submitted) = (Some(1), Some(2))),
            ("submitted = completed + in_flight + invalid", |b| {
                (b.submitted, b.in_flight, b.invalid) = (Some(11), Some(0), Some(0));
            }),
            ("received = control + probes + rejected", |b| b.received = Some(13)),
            ("probes = unique + duplicate + late", |b| (b.received, b.probes) = (Some(13), Some(11))),
            ("completed = unique + lost", |b| b.completed = Some(11)),
            ("lost = kernel_drops + unexplained", |b| b.unexplained = Some(1)),
        ];
        for (equation, change) in break_it {
            let mut books = rx();
            change(&mut books);
            assert_eq!(books.verify().map_err(|e| e.equation), Err(equation));
        }
    }

    #[test]
    fn unknown_is_not_zero() {
        let books = Balance { completed: Some(5), unique: Some(3), ..Balance::default() };
        assert_eq!(books.verify(), Ok(()));
        assert_eq!(serde_json::to_value(&books).unwrap()["lost"], serde_json::Value::Null);
    }
}
