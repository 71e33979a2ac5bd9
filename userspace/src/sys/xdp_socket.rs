//! What xsk-rs leaves out of an AF_XDP socket: options, the kicks with their errors. Works on a raw
//! descriptor; knows no ring and no packet memory. Source: Documentation/networking/af_xdp.rst, include/uapi/linux/if_xdp.h.
#![allow(unsafe_code, reason = "sendto and recvfrom with null buffers, which no crate offers")]

use super::socket_option::SocketOption;
use std::io;
use std::os::fd::RawFd;

/// Level of AF_XDP's options (include/linux/socket.h).
const SOL_XDP: i32 = 283;
/// XDP_OPTIONS of if_xdp.h: reads back `struct xdp_options`, which is one u32 of flags. Linux 5.3.
const XDP_OPTIONS: SocketOption = SocketOption { level: SOL_XDP, name: 8 };
/// Flag of XDP_OPTIONS: the socket is bound in zero-copy mode.
const XDP_OPTIONS_ZEROCOPY: u32 = 1;
/// XDP_MAX_TX_SKB_BUDGET of if_xdp.h: how many frames one kick sends in copy mode, 32 unless raised. Linux 6.17.
const XDP_MAX_TX_SKB_BUDGET: SocketOption = SocketOption { level: SOL_XDP, name: 9 };
/// include/uapi/asm-generic/socket.h: microseconds to poll the driver instead of sleeping.
const SO_BUSY_POLL: SocketOption = SocketOption { level: libc::SOL_SOCKET, name: 46 };
/// Same file: leave interrupts off while the application polls. Linux 5.11.
const SO_PREFER_BUSY_POLL: SocketOption = SocketOption { level: libc::SOL_SOCKET, name: 69 };
/// Same file: frames a busy poll handles at the most. Linux 5.11.
const SO_BUSY_POLL_BUDGET: SocketOption = SocketOption { level: libc::SOL_SOCKET, name: 70 };

/// What a bound socket obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XdpOptions {
    /// Whether the driver reads and writes our memory; copy mode otherwise.
    pub zerocopy: bool,
}

/// The mode that a bound AF_XDP socket obtained (getsockopt XDP_OPTIONS).
///
/// # Errors
/// What the kernel said.
pub fn options(fd: RawFd) -> io::Result<XdpOptions> {
    let flags = XDP_OPTIONS.get_u32(fd)?;
    Ok(XdpOptions { zerocopy: flags & XDP_OPTIONS_ZEROCOPY != 0 })
}

/// Lets one kick in copy mode send up to `frames` (setsockopt XDP_MAX_TX_SKB_BUDGET); the kernel takes 32 up to the
/// size of the transmit ring.
///
/// # Errors
/// ENOPROTOOPT before Linux 6.17, EACCES for a number out of range or before there is a transmit ring.
pub fn set_tx_budget(fd: RawFd, frames: u32) -> io::Result<()> {
    XDP_MAX_TX_SKB_BUDGET.set(fd, &frames)
}

/// Lets the caller's kicks drive the NAPI instance for up to `usecs` and `budget` frames, with interrupts left off.
///
/// # Errors
/// EPERM for a budget above the kernel's without CAP_NET_ADMIN; ENOPROTOOPT before Linux 5.11.
pub fn prefer_busy_poll(fd: RawFd, usecs: u32, budget: u32) -> io::Result<()> {
    SO_PREFER_BUSY_POLL.set(fd, &1u32)?;
    SO_BUSY_POLL.set(fd, &usecs)?;
    SO_BUSY_POLL_BUDGET.set(fd, &budget)
}

/// Tells the kernel to look at the transmit ring.
///
/// # Errors
/// The errno unfiltered: EAGAIN and EBUSY mean "again later", ENOBUFS a full device queue, ENETDOWN a lost link,
/// ENXIO a device that is gone.
pub fn kick_tx(fd: RawFd) -> io::Result<()> {
    // SAFETY: a null buffer of length 0 and a null address of length 0: nothing is read.
    let sent = unsafe { libc::sendto(fd, std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Tells the kernel to look at the fill ring, and with busy polling to receive.
///
/// # Errors
/// The errno unfiltered, as of [`kick_tx`].
pub fn kick_rx(fd: RawFd) -> io::Result<()> {
    let (nothing, nobody) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: a null buffer of length 0 and a null address: nothing is written.
    let got = unsafe { libc::recvfrom(fd, nothing, 0, libc::MSG_DONTWAIT, nobody, std::ptr::null_mut()) };
    if got < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    /// Kicks are plain socket calls, so any datagram socket shows how errors come through.
    fn socket() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").unwrap()
    }

    #[test]
    fn kicks_give_the_kernels_error_unfiltered() {
        let socket = socket();
        let fd = socket.as_raw_fd();
        assert_eq!(kick_tx(fd).unwrap_err().raw_os_error(), Some(libc::EDESTADDRREQ));
        assert_eq!(kick_rx(fd).unwrap_err().raw_os_error(), Some(libc::EAGAIN));
        assert_eq!(kick_tx(-1).unwrap_err().raw_os_error(), Some(libc::EBADF));
        assert_eq!(kick_rx(-1).unwrap_err().raw_os_error(), Some(libc::EBADF));
    }

    #[test]
    fn a_socket_of_another_family_has_no_such_options() {
        let socket = socket();
        assert!(options(socket.as_raw_fd()).is_err());
        assert!(set_tx_budget(socket.as_raw_fd(), 64).is_err());
    }
}
