//! What is known of drivers whose native XDP does not serve an AF_XDP receiver as it seems to. A driver that
//! is not in the table is tried, and so is one in it whose kernel claims more. Judges no interface.

/// One driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverNote {
    /// Its name, as ethtool gives it.
    pub driver: &'static str,
    /// What it does with a program that redirects.
    pub redirect: NativeRedirect,
    /// Where that is to be seen, in the kernel's source.
    pub source: &'static str,
}

/// What a driver does with XDP_REDIRECT of a native program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeRedirect {
    /// It takes the program and drops every frame that the program redirects.
    Dropped,
    /// It takes no program.
    NoNativeXdp,
    /// It hands the program to the VF below it as well, through which most frames come: the VF's driver
    /// decides.
    AsTheVfDoes,
}

const NOTES: &[DriverNote] = &[
    DriverNote {
        driver: "hv_netvsc",
        redirect: NativeRedirect::AsTheVfDoes,
        source: "drivers/net/hyperv/netvsc_bpf.c: netvsc_vf_setxdp gives the VF the program, and takes a VF without ndo_bpf",
    },
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
    DriverNote {
        driver: "nicvf",
        redirect: NativeRedirect::Dropped,
        source: "drivers/net/ethernet/cavium/thunder/nicvf_main.c: nicvf_xdp_rx knows XDP_PASS, XDP_TX, XDP_ABORTED and \
                 XDP_DROP, and drops what is else",
    },
];

/// What is known of a driver; None is "nothing", not "nothing bad".
#[must_use]
pub fn note(driver: &str) -> Option<&'static DriverNote> {
    NOTES.iter().find(|note| note.driver == driver)
}

impl DriverNote {
    /// Why a program in the driver would receive nothing, in words; None where that is not certain.
    #[must_use]
    pub fn useless(&self) -> Option<String> {
        match self.redirect {
            NativeRedirect::Dropped => {
                Some(format!("{} takes a program and drops what it redirects", self.driver))
            }
            NativeRedirect::NoNativeXdp => Some(format!("{} has no native XDP", self.driver)),
            NativeRedirect::AsTheVfDoes => None,
        }
    }

    /// What to look at when redirect turns out not to work.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        (self.redirect == NativeRedirect::AsTheVfDoes)
            .then_some("the frames may have come through the VF below it, whose driver got the program too")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_note_has_a_source_and_is_found_and_says_something() {
        assert!(NOTES.is_sorted_by_key(|note| note.driver));
        for noted in NOTES {
            assert!(noted.source.starts_with("drivers/net/") && noted.source.contains(".c: "), "{noted:?}");
            assert_eq!(note(noted.driver), Some(noted));
            assert_ne!(noted.useless().is_some(), noted.hint().is_some(), "{noted:?}");
        }
        assert_eq!(note("veth"), None);
    }
}
