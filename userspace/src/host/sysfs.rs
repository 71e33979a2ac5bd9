//! What only sysfs says of an interface. sysfs shows the network namespace that it was mounted in, which need not be
//! the caller's, so nothing is read unless index and MAC there agree with netlink.

use macaddr::MacAddr6;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The interface's directory in sysfs, known to be the same interface.
#[derive(Debug, Clone)]
pub(super) struct SysfsInterface(PathBuf);

impl SysfsInterface {
    /// The directory of `name`; None unless it shows this index and this MAC. An interface without a MAC of its own
    /// (all zero, as loopback's) looks the same in every namespace, so it never agrees.
    pub fn find(name: &str, ifindex: u32, mac: Option<MacAddr6>) -> Option<Self> {
        Self::find_in(Path::new("/sys/class/net"), name, ifindex, mac)
    }

    fn find_in(root: &Path, name: &str, ifindex: u32, mac: Option<MacAddr6>) -> Option<Self> {
        let mac = mac.filter(|mac| !mac.is_nil())?;
        let found = Self(root.join(name));
        let agrees = found.number("ifindex") == Some(ifindex) && found.number("address") == Some(mac);
        agrees.then_some(found)
    }

    /// A file that holds one value; None when it is absent or holds something else.
    pub fn number<T: FromStr>(&self, file: &str) -> Option<T> {
        fs::read_to_string(self.0.join(file)).ok()?.trim().parse().ok()
    }

    /// The NUMA node of the device; None without one, which sysfs writes as -1.
    pub fn numa_node(&self) -> Option<u32> {
        self.number("device/numa_node")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: MacAddr6 = MacAddr6::new(2, 0, 0, 0, 0, 1);

    fn root(node: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("eth0");
        fs::create_dir_all(directory.join("device")).unwrap();
        fs::write(directory.join("ifindex"), "4\n").unwrap();
        fs::write(directory.join("address"), "02:00:00:00:00:01\n").unwrap();
        fs::write(directory.join("device/numa_node"), node).unwrap();
        root
    }

    #[test]
    fn the_node_of_the_same_interface() {
        for (text, node) in [("1\n", Some(1)), ("-1\n", None)] {
            let root = root(text);
            let found = SysfsInterface::find_in(root.path(), "eth0", 4, Some(MAC)).unwrap();
            assert_eq!(found.numa_node(), node);
        }
    }

    #[test]
    fn another_interface_of_that_name_is_not_used() {
        let root = root("0\n");
        let find = |index, mac| SysfsInterface::find_in(root.path(), "eth0", index, mac);
        assert!(find(5, Some(MAC)).is_none());
        assert!(find(4, Some(MacAddr6::new(2, 0, 0, 0, 0, 2))).is_none());
        assert!(find(4, None).is_none());
        assert!(find(4, Some(MacAddr6::nil())).is_none());
    }
}
