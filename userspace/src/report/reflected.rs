//! What a reflector sent back, and the sums that must come out.

use super::BooksError;
use super::balance::check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The probes of one run that a reflector received, by what became of them.
///
/// ```text
/// probes = submitted + ring_full          submitted = completed + in_flight
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reflected {
    /// Frames given to the transmit ring, turned round.
    pub submitted: u64,
    /// Frames that the driver gave back as done: "sent back".
    pub completed: u64,
    /// Frames not done when the run ended.
    pub in_flight: u64,
    /// Frames not sent back, since the transmit ring was full.
    pub ring_full: u64,
}

impl Reflected {
    /// Checks both equations; of `probes` the first only where they are known.
    ///
    /// # Errors
    /// The first that does not come out.
    pub fn verify(&self, probes: Option<u64>) -> Result<(), BooksError> {
        check("probes = submitted + ring_full", probes, Some(self.submitted + self.ring_full))?;
        let done = self.completed + self.in_flight;
        check("submitted = completed + in_flight", Some(self.submitted), Some(done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_equation_is_checked() {
        let books = Reflected { submitted: 9, completed: 7, in_flight: 2, ring_full: 1 };
        assert_eq!((books.verify(Some(10)), books.verify(None)), (Ok(()), Ok(())));
        assert_eq!(books.verify(Some(9)).unwrap_err().equation, "probes = submitted + ring_full");
        let late = Reflected { completed: 8, ..books };
        assert_eq!(late.verify(Some(10)).unwrap_err().equation, "submitted = completed + in_flight");
    }
}
