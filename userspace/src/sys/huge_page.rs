//! The size of a huge page. Knows nothing of how many there are. Source: proc_meminfo(5).

use std::fs;

/// Bytes of a huge page where the kernel does not say: x86-64 and arm64 have these.
const USUAL: u64 = 2 << 20;

/// Bytes of a huge page of the default size.
#[must_use]
pub fn bytes() -> u64 {
    fs::read_to_string("/proc/meminfo").ok().and_then(|text| bytes_in(&text)).unwrap_or(USUAL)
}

fn bytes_in(meminfo: &str) -> Option<u64> {
    let size = meminfo.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    let kib: u64 = size.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_in_kib() {
        let text = "HugePages_Free:        0\nHugepagesize:    1048576 kB\nHugetlb:     0 kB\n";
        assert_eq!(bytes_in(text), Some(1 << 30));
        for text in
            ["", "Hugepagesize: 0 kB\n", "Hugepagesize: 2 MB\n", "Hugepagesize: 18446744073709551615 kB\n"]
        {
            assert_eq!(bytes_in(text), None, "{text}");
        }
    }
}
