//! What a reflector or forwarder sent, and the sums that must come out.

use super::BooksError;
use super::balance::check;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The probes of one run that a reflector or forwarder received, by what became of them.
///
/// ```text
/// probes + control = submitted + ring_full + withheld          submitted = completed + in_flight
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reflected {
    /// The interface that they left by; null where that is the one that they came in by, turned round.
    #[serde(default)]
    pub out: Option<String>,
    /// Frames given to the transmit ring.
    pub submitted: u64,
    /// Frames that the driver gave back as done: "sent".
    pub completed: u64,
    /// Frames not done when the run ended.
    pub in_flight: u64,
    /// Frames not sent, since the transmit ring was full.
    pub ring_full: u64,
    /// Probes not sent on, since they had come before or were too late to tell; a reflector sends those back too.
    #[serde(default)]
    pub withheld: u64,
    /// Control frames (START and END) that were to be sent on; a reflector sends none back.
    #[serde(default)]
    pub control: u64,
}

impl Reflected {
    /// Checks both equations; of `probes` the first only where they are known.
    ///
    /// # Errors
    /// The first that does not come out.
    pub fn verify(&self, probes: Option<u64>) -> Result<(), BooksError> {
        let came = probes.map(|probes| probes + self.control);
        let went = self.submitted + self.ring_full + self.withheld;
        check("probes + control = submitted + ring_full + withheld", came, Some(went))?;
        let done = self.completed + self.in_flight;
        check("submitted = completed + in_flight", Some(self.submitted), Some(done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_equation_is_checked() {
        let books = Reflected {
            submitted: 9,
            completed: 7,
            in_flight: 2,
            ring_full: 3,
            withheld: 1,
            control: 3,
            out: None,
        };
        assert_eq!((books.verify(Some(10)), books.verify(None)), (Ok(()), Ok(())));
        assert_eq!(
            books.verify(Some(9)).unwrap_err().equation,
            "probes + control = submitted + ring_full + withheld"
        );
        let late = Reflected { completed: 8, ..books.clone() };
        assert_eq!(late.verify(Some(10)).unwrap_err().equation, "submitted = completed + in_flight");
    }
}
