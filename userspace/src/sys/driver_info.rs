//! The driver of an interface, by the one call that says it in every namespace: ETHTOOL_GDRVINFO, which ethtool's
//! netlink family lacks. Knows nothing else of the interface. Source: include/uapi/linux/ethtool.h.
#![allow(unsafe_code, reason = "an ioctl with a pointer inside its argument")]

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::ffi::{CStr, c_char};
use std::io;
use std::os::fd::AsRawFd;

/// ETHTOOL_GDRVINFO of ethtool.h.
const ETHTOOL_GDRVINFO: u32 = 3;

/// `struct ethtool_drvinfo` of ethtool.h, 196 bytes.
#[repr(C)]
struct DrvInfo {
    cmd: u32,
    driver: [u8; 32],
    version: [u8; 32],
    fw_version: [u8; 32],
    bus_info: [u8; 32],
    erom_version: [u8; 32],
    reserved2: [u8; 12],
    n_priv_flags: u32,
    n_stats: u32,
    testinfo_len: u32,
    eedump_len: u32,
    regdump_len: u32,
}

/// What a driver says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverInfo {
    /// Its name: `ixgbevf`, `virtio_net`, `veth`, …
    pub driver: String,
    /// Where the device sits: a PCI address, or whatever the bus calls it; None where it has no place.
    pub bus_info: Option<String>,
}

/// Asks the driver of the interface `name` in the calling thread's network namespace. Needs no privilege.
///
/// # Errors
/// ENODEV for no such interface, EOPNOTSUPP for one whose driver does not say (loopback on old kernels).
pub fn driver_info(name: &str) -> io::Result<DriverInfo> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut info = DrvInfo::request();
    let mut request = libc::ifreq {
        ifr_name: interface_name(name)?,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: (&raw mut info).cast::<c_char>() },
    };
    // SAFETY: the kernel reads and writes `request`, and through ifru_data exactly the 196 bytes of `info`, whose
    // layout is repr(C) after ethtool.h; both live until after the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let driver = text(&info.driver).ok_or_else(|| io::Error::other("the driver gives no name"))?;
    Ok(DriverInfo { driver, bus_info: text(&info.bus_info) })
}

impl DrvInfo {
    fn request() -> Self {
        Self {
            cmd: ETHTOOL_GDRVINFO,
            driver: [0; 32],
            version: [0; 32],
            fw_version: [0; 32],
            bus_info: [0; 32],
            erom_version: [0; 32],
            reserved2: [0; 12],
            n_priv_flags: 0,
            n_stats: 0,
            testinfo_len: 0,
            eedump_len: 0,
            regdump_len: 0,
        }
    }
}

/// The name as ifreq wants it: NUL-terminated within 16 bytes.
pub(super) fn interface_name(name: &str) -> io::Result<[c_char; libc::IFNAMSIZ]> {
    let mut field = [0; libc::IFNAMSIZ];
    if name.len() >= field.len() || name.bytes().any(|b| b == 0) {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in field.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed() as c_char;
    }
    Ok(field)
}

/// A field's text; None when it is empty, unterminated or not UTF-8.
fn text(field: &[u8]) -> Option<String> {
    let text = CStr::from_bytes_until_nul(field).ok()?.to_str().ok()?;
    (!text.is_empty() && text != "N/A").then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_that_of_ethtool_h() {
        assert_eq!(size_of::<DrvInfo>(), 196);
        assert_eq!(std::mem::offset_of!(DrvInfo, n_priv_flags), 176);
    }

    #[test]
    fn names_that_do_not_fit_are_unknown_interfaces() {
        for name in ["sixteen-letters-", "a\0b", "no-such-if"] {
            assert_eq!(driver_info(name).unwrap_err().raw_os_error(), Some(libc::ENODEV), "{name}");
        }
    }

    #[test]
    fn fields_end_at_the_first_nul() {
        assert_eq!(text(b"veth\0\0\0"), Some("veth".to_owned()));
        assert_eq!(text(b"\0\0"), None);
        assert_eq!(text(b"unterminated"), None);
    }
}
