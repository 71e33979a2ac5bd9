//! The MTU of an interface, asked of the kernel itself: sysfs may show another namespace. Knows nothing else
//! of the interface. Source: netdevice(7).
#![allow(unsafe_code, reason = "an ioctl whose answer is in a union")]

use super::driver_info::interface_name;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::AsRawFd;

/// The MTU in bytes of the interface `name` in the calling thread's network namespace. Needs no privilege.
///
/// # Errors
/// ENODEV for no such interface.
pub fn mtu(name: &str) -> io::Result<u32> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    let mut request = libc::ifreq {
        ifr_name: interface_name(name)?,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_mtu: 0 },
    };
    // SAFETY: the kernel reads and writes within `request`, which lives until after the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as _, &raw mut request) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so this is the member that the kernel wrote; any bits are an integer.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    u32::try_from(mtu).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_one_and_what_is_not_there_has_none() {
        assert!(mtu("lo").unwrap() >= 1500);
        assert_eq!(mtu("no-such-if").unwrap_err().raw_os_error(), Some(libc::ENODEV));
    }
}
