//! The kernel's reason for an error in words, since a number helps nobody. Knows nothing of what failed.

use nix::errno::Errno;
use std::io;

/// The reason without the number that [`io::Error`] appends: "Operation not permitted", not "… (os error 1)".
#[must_use]
pub fn words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => Errno::from_raw(number).desc().to_owned(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_shown() {
        let said = words(&io::Error::from_raw_os_error(libc::ENODEV));
        assert_eq!(said, "No such device");
        assert_eq!(words(&io::Error::other("short read")), "short read");
    }
}
