//! Socket options that are one integer, and their reading back. Knows no option by name.
#![allow(unsafe_code, reason = "no crate sets an arbitrary option by its numbers")]

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::RawFd;

/// A socket option by its numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct SocketOption {
    /// SOL_…
    pub level: c_int,
    /// The option within the level.
    pub name: c_int,
}

impl SocketOption {
    /// setsockopt(2) with any plain value; the kernel copies it.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn set<T: Copy>(self, fd: RawFd, value: &T) -> io::Result<()> {
        let (pointer, length) = (std::ptr::from_ref(value).cast::<c_void>(), socklen::<T>());
        // SAFETY: `pointer` and `length` describe `value`, which outlives the call; the kernel only reads it.
        let result = unsafe { libc::setsockopt(fd, self.level, self.name, pointer, length) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// getsockopt(2) of a u32.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn get_u32(self, fd: RawFd) -> io::Result<u32> {
        let mut value = 0u32;
        let mut length = socklen::<u32>();
        let pointer = (&raw mut value).cast::<c_void>();
        // SAFETY: `pointer` is writable for `length` bytes, the size of a u32, and both outlive the call; any bits
        // are a valid u32.
        let result = unsafe { libc::getsockopt(fd, self.level, self.name, pointer, &raw mut length) };
        if result == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
    }
}

fn socklen<T>() -> libc::socklen_t {
    // Options are a few bytes; the kernel refuses anything longer than it knows.
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or(libc::socklen_t::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    const PRIORITY: SocketOption = SocketOption { level: libc::SOL_SOCKET, name: libc::SO_PRIORITY };

    #[test]
    fn what_was_set_is_read_back() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        PRIORITY.set(socket.as_raw_fd(), &5u32).unwrap();
        assert_eq!(PRIORITY.get_u32(socket.as_raw_fd()).unwrap(), 5);
    }

    #[test]
    fn errors_are_the_kernels() {
        let error = PRIORITY.set(-1, &5u32).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }
}
