//! The machine and its clocks' identity. Knows no interface.

use super::process;
use crate::report::Host;
use std::fs;
use std::sync::OnceLock;
use std::time::SystemTime;

/// What the Report says of the machine.
#[must_use]
pub fn host() -> Host {
    let uname = nix::sys::utsname::uname().ok();
    let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
    let uname = uname.as_ref();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    Host {
        name: uname.map(|u| text(u.nodename())).unwrap_or_default(),
        kernel: uname.map(|u| text(u.release())).unwrap_or_default(),
        arch: uname.map(|u| text(u.machine())).unwrap_or_default(),
        cpu_model: cpu_model(&cpuinfo),
        cores: u32::try_from(process::allowed_cores().len()).unwrap_or(u32::MAX),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// The model in the text of /proc/cpuinfo; None on architectures that give only numbers.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |line: &str| line.split_once(':').map(|(_, value)| value.trim().to_owned());
    cpuinfo.lines().find(|line| line.starts_with("model name")).and_then(value)
}

/// Wall clock now, RFC 3339, UTC, to the millisecond.
#[must_use]
pub fn wall_clock() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// Names the clock that CLOCK_MONOTONIC is for this process: two processes with the same id read the same clock, so
/// their times may be subtracted. A hash of the boot and of the time namespace's monotonic offset
/// (time_namespaces(7)). Where these cannot be read, an id of this process alone: no relation is claimed.
#[must_use]
pub fn clock_id() -> u16 {
    static ID: OnceLock<u16> = OnceLock::new();
    *ID.get_or_init(|| {
        let boot =
            fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| private_boot_id());
        // Absent on kernels without time namespaces.
        let offsets = fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
        hash_clock(boot.trim(), monotonic_offset(&offsets))
    })
}

/// What leads from the kernel's own monotonic clock, which BPF programs read, to CLOCK_MONOTONIC of this process, in ns:
/// the offset of its time namespace.
#[must_use]
pub fn monotonic_offset_ns() -> i64 {
    let offsets = fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
    in_ns(monotonic_offset(&offsets))
}

fn in_ns((seconds, nanos): (i64, i64)) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

fn private_boot_id() -> String {
    format!("{} {:?}", std::process::id(), SystemTime::now())
}

/// Seconds and nanoseconds of the monotonic offset in the text of /proc/PID/timens_offsets; zero where absent.
fn monotonic_offset(offsets: &str) -> (i64, i64) {
    let line = offsets.lines().map(str::split_ascii_whitespace).find_map(|mut words| {
        // Written as a name since 5.6, read by number too: CLOCK_MONOTONIC is 1.
        matches!(words.next(), Some("monotonic" | "1")).then_some(words)
    });
    let mut numbers = line.into_iter().flatten().map(|word| word.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// FNV-1a, 64 bits, folded to 16 by xor.
fn hash_clock(boot_id: &str, (seconds, nanos): (i64, i64)) -> u16 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let offset = [seconds.to_be_bytes(), nanos.to_be_bytes()];
    let bytes = boot_id.bytes().chain(offset.into_iter().flatten());
    let hash = bytes.fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    let [a, b, c, d, e, f, g, h] = hash.to_be_bytes();
    u16::from_be_bytes([a ^ c ^ e ^ g, b ^ d ^ f ^ h])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOOT: &str = "6f0c5d1e-3d0b-4d0e-9a53-0d6a3a1f2b4c";

    #[test]
    fn the_offset_of_a_time_namespace_is_read() {
        assert_eq!(monotonic_offset("monotonic           0         0\nboottime 5 6\n"), (0, 0));
        assert_eq!(monotonic_offset("monotonic      -86400       250\nboottime 0 0\n"), (-86400, 250));
        assert_eq!(in_ns((-86_400, 250)), -86_399_999_999_750);
        assert_eq!(monotonic_offset(""), (0, 0));
    }

    #[test]
    fn another_boot_or_offset_is_another_clock() {
        let clock = hash_clock(BOOT, (0, 0));
        assert_eq!(clock, hash_clock(BOOT, (0, 0)));
        assert_ne!(clock, hash_clock(BOOT, (1, 0)));
        assert_ne!(clock, hash_clock(BOOT, (0, 1)));
        assert_ne!(clock, hash_clock("6f0c5d1e-3d0b-4d0e-9a53-0d6a3a1f2b4d", (0, 0)));
    }

    proptest! {
        #[test]
        fn the_hash_is_fnv_1a_folded(text in "[a-z0-9-]{0,40}") {
            let mut hash = 14_695_981_039_346_656_037u64;
            for byte in text.bytes().chain([0; 16]) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211);
            }
            let folded = ((hash >> 48) ^ (hash >> 32) ^ (hash >> 16) ^ hash) & 0xffff;
            prop_assert_eq!(u64::from(hash_clock(&text, (0, 0))), folded);
        }
    }

    #[test]
    fn the_clock_of_one_process_does_not_change() {
        assert_eq!(clock_id(), clock_id());
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let offsets = fs::read_to_string("/proc/self/timens_offsets").unwrap_or_default();
        assert_eq!(clock_id(), hash_clock(boot.trim(), monotonic_offset(&offsets)));
    }

    #[test]
    fn the_model_is_that_of_the_first_core() {
        let text = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2.10GHz\nprocessor\t: 1\nmodel name\t: B\n";
        assert_eq!(cpu_model(text).as_deref(), Some("Some CPU @ 2.10GHz"));
        assert_eq!(cpu_model("processor : 0\nCPU implementer : 0x41\n"), None);
    }

    #[test]
    fn the_wall_clock_is_utc_in_rfc_3339() {
        let now = wall_clock();
        assert!(humantime::parse_rfc3339(&now).is_ok() && now.ends_with('Z'), "{now}");
    }
}
