//! What the kernel's error numbers mean on an AF_XDP socket.

use crate::port::PortError;
use crate::sys::words::words;
use std::io;

/// Maps the result of a kick (sendto or recvfrom) of a socket: what only asks for another try is no error.
///
/// EAGAIN: the budget of one call is used up, or the socket's send buffer is full. EBUSY: the driver is busy or its
/// queue dropped the frame (`__xsk_generic_xmit`). ENOBUFS: no socket buffer at this moment. EINTR: a signal.
pub(super) fn after_kick(result: io::Result<()>) -> Result<(), PortError> {
    let Err(error) = result else { return Ok(()) };
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR) => Ok(()),
        Some(libc::ENETDOWN) => Err(PortError::LinkDown),
        Some(libc::ENXIO | libc::ENODEV) => Err(PortError::Gone),
        _ => Err(PortError::Other { what: "waking the socket", why: words(&error) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kick(errno: i32) -> Result<(), PortError> {
        after_kick(Err(io::Error::from_raw_os_error(errno)))
    }

    #[test]
    fn a_full_queue_is_no_error_and_a_lost_link_is() {
        for errno in [libc::EAGAIN, libc::EBUSY, libc::ENOBUFS, libc::EINTR] {
            assert_eq!(kick(errno), Ok(()));
        }
        assert_eq!(kick(libc::ENETDOWN), Err(PortError::LinkDown));
        assert_eq!(kick(libc::ENXIO), Err(PortError::Gone));
    }

    #[test]
    fn no_number_reaches_a_user() {
        let Err(PortError::Other { why, .. }) = kick(libc::EINVAL) else { panic!("EINVAL is an error") };
        assert_eq!(why, "Invalid argument");
    }
}
