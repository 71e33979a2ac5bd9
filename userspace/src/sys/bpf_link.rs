//! Takes a program off that another process holds by a bpf_link, which no crate does by the link's number.
//! Knows neither the program nor the interface. Source: include/uapi/linux/bpf.h.
#![allow(unsafe_code, reason = "bpf(2) has no wrapper in libc, and takes a union by pointer")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Commands of bpf(2): `enum bpf_cmd`.
const BPF_LINK_GET_FD_BY_ID: libc::c_int = 30;
const BPF_LINK_DETACH: libc::c_int = 34;

/// The first words of `union bpf_attr`: the link's number, or its descriptor. The kernel takes the rest for
/// zero.
#[repr(C)]
struct Attributes {
    link: u32,
    next_id: u32,
    open_flags: u32,
}

/// Detaches the link of that number: its program leaves the interface, and the link stays with its owner as
/// an empty shell. Takes CAP_SYS_ADMIN, and a network namespace that still exists.
///
/// # Errors
/// ENOENT when there is no such link any more, EPERM without CAP_SYS_ADMIN, EOPNOTSUPP for links of other
/// kinds.
pub fn detach(id: u32) -> io::Result<()> {
    let fd = bpf(BPF_LINK_GET_FD_BY_ID, id)?;
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    // SAFETY: the kernel has just made this descriptor for us, and nothing else knows it.
    let link = unsafe { OwnedFd::from_raw_fd(fd) };
    bpf(BPF_LINK_DETACH, link.as_raw_fd().cast_unsigned()).map(drop)
}

fn bpf(command: libc::c_int, link: u32) -> io::Result<libc::c_long> {
    let attributes = Attributes { link, next_id: 0, open_flags: 0 };
    // SAFETY: the kernel reads exactly the given length from `attributes`, which is repr(C) and lives until
    // after the call, and writes nothing to it.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, &raw const attributes, size_of::<Attributes>()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_not_there_is_an_error_and_no_more() {
        let errno = detach(u32::MAX).unwrap_err().raw_os_error();
        assert!(matches!(errno, Some(libc::ENOENT | libc::EPERM | libc::ENOSYS)), "{errno:?}");
    }
}
