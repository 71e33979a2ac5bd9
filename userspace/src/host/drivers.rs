//! What is known of drivers whose native XDP does not serve an AF_XDP receiver. A driver that is not in the table is
//! tried, and so is one in it whose kernel claims more. Judges no interface.

/// One driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverNote {
    /// Its name, as ethtool gives it.
    pub driver: &'static str,
    /// What it does with a program that redirects.
    pub redirect: NativeRedirect,
    /// Where that is to be seen.
    pub source: &'static str,
}

/// What a driver does with XDP_REDIRECT of a native program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeRedirect {
    /// It takes the program and drops every frame that the program redirects.
    Dropped,
    /// It takes no program.
    NoNativeXdp,
}

const NOTES: &[DriverNote] = &[
    DriverNote {
        driver: "igbvf",
        redirect: NativeRedirect::NoNativeXdp,
        source: "drivers/net/ethernet/intel/igbvf/netdev.c: igbvf_netdev_ops has no ndo_bpf",
    },
    DriverNote {
        driver: "ixgbevf",
        redirect: NativeRedirect::Dropped,
        source: "drivers/net/ethernet/intel/ixgbevf/ixgbevf_main.c: ixgbevf_run_xdp knows XDP_PASS, XDP_TX (21092e9ce8b1), \
                 XDP_ABORTED and XDP_DROP, and drops what is else; xdp_features is NETDEV_XDP_ACT_BASIC",
    },
];

/// What is known of a driver; None is "nothing", not "nothing bad".
#[must_use]
pub fn note(driver: &str) -> Option<&'static DriverNote> {
    NOTES.iter().find(|note| note.driver == driver)
}

impl DriverNote {
    /// The reason not to attach in the driver, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self.redirect {
            NativeRedirect::Dropped => format!("{} takes a program and drops what it redirects", self.driver),
            NativeRedirect::NoNativeXdp => format!("{} has no native XDP", self.driver),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_has_a_source_and_is_found() {
        assert!(NOTES.is_sorted_by_key(|note| note.driver));
        for noted in NOTES {
            assert!(noted.source.starts_with("drivers/net/") && noted.source.contains(".c: "), "{noted:?}");
            assert_eq!(note(noted.driver), Some(noted));
            assert!(noted.words().starts_with(noted.driver));
        }
        assert_eq!(note("veth"), None);
    }
}
