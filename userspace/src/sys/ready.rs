//! Sleeping until a descriptor is readable. Knows nothing of what it is.
#![allow(unsafe_code, reason = "nix's ppoll wants a borrowed descriptor, which xsk-rs does not lend")]

use crate::units::Nanos;
use std::io;
use std::os::fd::RawFd;

/// Sleeps until `fd` is readable or in error, or `timeout` has passed; whether it is ready. A signal ends it early as
/// "not ready".
///
/// # Errors
/// What the kernel said, EINTR left out.
pub(super) fn readable(fd: RawFd, timeout: Nanos) -> io::Result<bool> {
    let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let timeout = timespec(timeout);
    // SAFETY: one pollfd and one timespec, both alive for the call; a null signal mask means "leave it".
    let ready = unsafe { libc::ppoll(&raw mut entry, 1, &raw const timeout, std::ptr::null()) };
    match ready {
        0 => Ok(false),
        1.. => Ok(true),
        _ => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            error => Err(error),
        },
    }
}

fn timespec(span: Nanos) -> libc::timespec {
    let seconds = libc::time_t::try_from(span.0 / Nanos::SECOND.0).unwrap_or(libc::time_t::MAX);
    // Below 10^9, so it fits on every target.
    let nanos = libc::c_long::try_from(span.0 % Nanos::SECOND.0).unwrap_or(0);
    libc::timespec { tv_sec: seconds, tv_nsec: nanos }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn ready_once_a_byte_is_there() {
        let (mut here, there) = UnixStream::pair().unwrap();
        assert!(!readable(there.as_raw_fd(), Nanos(0)).unwrap());
        here.write_all(&[1]).unwrap();
        assert!(readable(there.as_raw_fd(), Nanos::SECOND).unwrap());
    }

    #[test]
    fn spans_are_split_exactly() {
        let spec = timespec(Nanos(3_000_000_007));
        assert_eq!((spec.tv_sec, spec.tv_nsec), (3, 7));
    }
}
