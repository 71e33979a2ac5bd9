//! Whether an interface has carrier now, and how often it has lost it. Judges no run.

use super::link::{self, By};

/// The carrier of an interface at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carrier {
    /// Whether it is there.
    pub up: bool,
    /// How often it was lost since the interface was made (IFLA_CARRIER_DOWN_COUNT); None where the kernel does not
    /// tell (before 4.16).
    pub losses: Option<u32>,
}

/// The carrier now; None when the interface cannot be read, for instance because it is gone.
#[must_use]
pub fn read(ifindex: u32) -> Option<Carrier> {
    let link = link::get(By::Index(ifindex)).ok()??;
    Some(Carrier { up: link.carrier, losses: link.carrier_losses })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_has_no_carrier_to_speak_of() {
        assert_eq!(read(u32::MAX), None);
    }
}
