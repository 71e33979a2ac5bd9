//! Why a received frame does not count. Knows the names, not how they are found out.

/// Why a frame is not counted as a probe: the one list, with a counter each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Not recognised: no such headers, another port, no magic.
    NotOurs,
    /// Ours, but shorter than its headers say, or than a probe.
    Truncated,
    /// Ours, but IP and UDP disagree about its length.
    BadLength,
    /// Ours, but the IPv4 header changed on the way.
    IpChecksum,
    /// Ours, but the datagram changed on the way; or it came without a checksum over IPv6.
    UdpChecksum,
    /// Ours, but what TCP, ICMP, GRE or another checksum of its stack covers changed on the way.
    Checksum,
    /// A whole probe, but of another run. Inspection never says so: it knows no run. The engine does.
    OtherRun,
    /// A whole probe of the run, but of a sequence space that its sender does not have. The engine says so,
    /// too.
    NoSuchSpace,
}

impl Reason {
    /// How many there are: the length of a table of counters.
    pub const COUNT: usize = Self::ALL.len();
    /// All of them, in the order of [`Reason::index`].
    pub const ALL: [Self; 8] = [
        Self::NotOurs,
        Self::Truncated,
        Self::BadLength,
        Self::IpChecksum,
        Self::UdpChecksum,
        Self::Checksum,
        Self::OtherRun,
        Self::NoSuchSpace,
    ];

    /// Its place in a table of counters, below [`Reason::COUNT`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name in the Report's `rejected`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotOurs => "not_ours",
            Self::Truncated => "truncated",
            Self::BadLength => "bad_length",
            Self::IpChecksum => "ip_checksum",
            Self::UdpChecksum => "udp_checksum",
            Self::Checksum => "checksum",
            Self::OtherRun => "other_run",
            Self::NoSuchSpace => "no_such_space",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_places_are_distinct() {
        for (place, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason.index(), place);
        }
        let names: std::collections::HashSet<_> = Reason::ALL.iter().map(|r| r.name()).collect();
        assert_eq!(names.len(), Reason::COUNT);
    }
}
