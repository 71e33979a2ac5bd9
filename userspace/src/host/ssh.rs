//! Addresses of this host that an ssh session of the caller runs over, so that nobody cuts the branch they sit on.

use std::fs;
use std::net::IpAddr;

/// More ancestors than any real process tree puts between a shell and a command.
const DEEPEST: usize = 64;

/// This host's addresses in the SSH_CONNECTION of this process and of its ancestors: sudo takes the variable out of the
/// command's environment, but the shell that called it still has it.
pub(super) fn local_addresses() -> Vec<IpAddr> {
    let own = std::env::var("SSH_CONNECTION").ok();
    let inherited = ancestors().filter_map(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        connection_of(&environment)
    });
    let mut found: Vec<IpAddr> =
        own.into_iter().chain(inherited).filter_map(|value| local_address(&value)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Process ids from the parent up.
fn ancestors() -> impl Iterator<Item = u32> {
    let parent = std::os::unix::process::parent_id();
    std::iter::successors(Some(parent), |pid| {
        parent_in(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
    })
    .take_while(|pid| *pid > 0)
    .take(DEEPEST)
}

/// The parent in the text of /proc/PID/status.
fn parent_in(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// SSH_CONNECTION in the bytes of /proc/PID/environ.
fn connection_of(environment: &[u8]) -> Option<String> {
    let value = environment.split(|b| *b == 0).find_map(|entry| entry.strip_prefix(b"SSH_CONNECTION="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// The server's address in "client-ip client-port server-ip server-port" (ssh(1)), without a zone, and IPv4 as IPv4.
fn local_address(connection: &str) -> Option<IpAddr> {
    let server = connection.split_ascii_whitespace().nth(2)?;
    let without_zone = server.split('%').next()?;
    without_zone.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_word_is_ours() {
        let of = |text| local_address(text).map(|ip| ip.to_string());
        assert_eq!(of("198.51.100.7 50000 192.0.2.1 22").as_deref(), Some("192.0.2.1"));
        assert_eq!(of("::ffff:198.51.100.7 1 ::ffff:192.0.2.1 22").as_deref(), Some("192.0.2.1"));
        assert_eq!(of("fe80::1%eth0 1 fe80::2%eth0 22").as_deref(), Some("fe80::2"));
        assert_eq!(of("UNKNOWN 1 UNKNOWN 22"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn the_variable_is_found_in_an_environment() {
        let environment = b"A=1\0SSH_CONNECTION=a 1 b 2\0MY_SSH_CONNECTION=no\0";
        assert_eq!(connection_of(environment).as_deref(), Some("a 1 b 2"));
        assert_eq!(connection_of(b"MY_SSH_CONNECTION=no\0"), None);
    }

    #[test]
    fn the_parent_of_a_process() {
        assert_eq!(parent_in("Name:\tx\nPid:\t7\nPPid:\t5\n"), Some(5));
        let first = ancestors().next();
        assert_eq!(first, Some(std::os::unix::process::parent_id()).filter(|pid| *pid > 0));
    }
}
