//! Whether an interface has carrier now, and how often it has lost it. Judges no run.

use super::link::{self, By};

/// The carrier of an interface at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carrier {
    /// Whether it is there.
    pub up: bool,
    /// Whether the interface is administratively up (IFF_UP): when it is not, carrier is gone as well.
    pub admin_up: bool,
    /// How often it was lost since the interface was made (IFLA_CARRIER_DOWN_COUNT); None where the kernel does not
    /// tell (before 4.16).
    pub losses: Option<u32>,
}

/// What a look at an interface finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// It is there.
    There(Carrier),
    /// It was removed, or moved to another network namespace.
    Gone,
    /// The kernel did not answer; nothing is known.
    Unknown,
}

/// The carrier now.
#[must_use]
pub fn look(ifindex: u32) -> Sight {
    match link::get(By::Index(ifindex)) {
        Ok(Some(link)) => {
            Sight::There(Carrier { up: link.carrier, admin_up: link.up, losses: link.carrier_losses })
        }
        Ok(None) => Sight::Gone,
        Err(_) => Sight::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_gone() {
        assert_eq!(look(u32::MAX), Sight::Gone);
    }
}
