//! What cores and this process did between two moments. Reading is one file and one call; the arithmetic is pure.
//! Source: proc_stat(5), getrusage(2).

use crate::report::CoreRow;
use crate::units::Nanos;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use std::collections::BTreeMap;
use std::{fs, io};

/// Time of one core since boot, in the kernel's ticks. `user` contains `guest`, which is therefore left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CoreTimes {
    user: u64,
    nice: u64,
    system: u64,
    idle: u64,
    iowait: u64,
    irq: u64,
    softirq: u64,
    steal: u64,
}

/// Time of every online core at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuTimes(BTreeMap<u32, CoreTimes>);

impl CpuTimes {
    /// The times now, from /proc/stat.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn read() -> io::Result<Self> {
        Ok(Self::parse(&fs::read_to_string("/proc/stat")?))
    }

    /// The times in the text of /proc/stat; lines that are no core's are passed over.
    #[must_use]
    pub fn parse(stat: &str) -> Self {
        Self(stat.lines().filter_map(core_line).collect())
    }

    /// A row for each of `cores` over the time since `earlier`; none for a core that was offline, or for which less
    /// than one tick (10 ms or less) has passed. Busy is everything but idle and waiting for disks, so it contains
    /// soft interrupts and what the hypervisor took.
    #[must_use]
    pub fn rows(&self, earlier: &Self, cores: &[u32]) -> Vec<CoreRow> {
        cores.iter().filter_map(|id| self.0.get(id)?.since(*earlier.0.get(id)?).row(*id)).collect()
    }
}

/// "cpu3 user nice system idle iowait irq softirq steal …"; what an old kernel does not have is 0.
fn core_line(line: &str) -> Option<(u32, CoreTimes)> {
    let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
    // The line of all cores together starts with a blank: its first word is no core's number but a time.
    let id = line.as_bytes().get(3).filter(|b| b.is_ascii_digit()).and(words.next())?.parse().ok()?;
    let mut times = words.map(|word| word.parse().unwrap_or(0));
    let mut next = || times.next().unwrap_or(0);
    let times = CoreTimes {
        user: next(),
        nice: next(),
        system: next(),
        idle: next(),
        iowait: next(),
        irq: next(),
        softirq: next(),
        steal: next(),
    };
    Some((id, times))
}

impl CoreTimes {
    /// Growth, field by field; iowait is known to step back, which counts as none.
    const fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            nice: self.nice.saturating_sub(earlier.nice),
            system: self.system.saturating_sub(earlier.system),
            idle: self.idle.saturating_sub(earlier.idle),
            iowait: self.iowait.saturating_sub(earlier.iowait),
            irq: self.irq.saturating_sub(earlier.irq),
            softirq: self.softirq.saturating_sub(earlier.softirq),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    fn row(self, id: u32) -> Option<CoreRow> {
        let busy = self.user + self.nice + self.system + self.irq + self.softirq + self.steal;
        let total = busy + self.idle + self.iowait;
        (total > 0).then(|| CoreRow {
            id,
            busy_percent: percent(busy, total),
            softirq_percent: percent(self.softirq, total),
            steal_percent: percent(self.steal, total),
        })
    }
}

/// User and system time of this process so far, over all its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessCpu(Nanos);

impl ProcessCpu {
    /// The time now.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn read() -> io::Result<Self> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        Ok(Self(nanos(usage.user_time()) + nanos(usage.system_time())))
    }

    /// Percent of one core used since `earlier`, `elapsed` ago; None when no time has passed.
    #[must_use]
    pub fn percent_since(self, earlier: Self, elapsed: Nanos) -> Option<f64> {
        (elapsed.0 > 0).then(|| percent((self.0 - earlier.0).0, elapsed.0))
    }
}

fn nanos(time: TimeVal) -> Nanos {
    Nanos(u64::try_from(time.num_nanoseconds()).unwrap_or(0))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people; 2^53 ns is 104 days")]
fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BEFORE: &str = "cpu  100 0 100 1000 0 0 0 0 0 0\n\
        cpu0 50 0 50 500 0 0 0 0 0 0\n\
        cpu3 50 0 50 500 9 0 0 0 0 0\n\
        intr 12345 0\nctxt 5\nbtime 1\n";
    const AFTER: &str = "cpu  100 0 100 1000 0 0 0 0 0 0\n\
        cpu0 60 0 60 560 0 0 10 10 0 0\n\
        cpu3 50 0 50 600 0 0 0 0 0 0\n";

    #[test]
    fn percentages_are_of_the_time_that_passed() {
        let rows = CpuTimes::parse(AFTER).rows(&CpuTimes::parse(BEFORE), &[3, 0, 1]);
        let core = |id, busy_percent, softirq_percent, steal_percent| CoreRow {
            id,
            busy_percent,
            softirq_percent,
            steal_percent,
        };
        // Core 1 is offline and has no row; core numbers are those of the file, not of the lines.
        assert_eq!(rows, [core(3, 0.0, 0.0, 0.0), core(0, 40.0, 10.0, 10.0)]);
    }

    #[test]
    fn no_time_is_no_row() {
        let times = CpuTimes::parse(BEFORE);
        assert_eq!(times.rows(&times, &[0, 3]), []);
    }

    #[test]
    fn the_line_of_all_cores_is_no_core() {
        assert_eq!(CpuTimes::parse("cpu  7 0 1 1 0 0 0 0\ncpufreq 1\n"), CpuTimes::default());
    }

    #[test]
    fn old_kernels_have_fewer_columns() {
        let times = CpuTimes::parse("cpu2 4 0 0 6\n");
        assert_eq!(times.rows(&CpuTimes::parse("cpu2 0 0 0 0\n"), &[2])[0].busy_percent, 40.0);
    }

    proptest! {
        #[test]
        fn shares_stay_within_the_whole(a in proptest::array::uniform8(0u64..1 << 40), b in proptest::array::uniform8(0u64..1 << 40)) {
            let line = |n: [u64; 8]| format!("cpu0 {}\n", n.map(|n| n.to_string()).join(" "));
            for row in CpuTimes::parse(&line(b)).rows(&CpuTimes::parse(&line(a)), &[0]) {
                prop_assert!((0.0..=100.0).contains(&row.busy_percent));
                prop_assert!(row.softirq_percent + row.steal_percent <= row.busy_percent + 1e-9);
            }
        }
    }

    #[test]
    fn the_process_has_used_some_time() {
        let earlier = ProcessCpu(Nanos(1_000));
        let now = ProcessCpu(Nanos(1_000 + 1_500_000_000));
        assert_eq!(now.percent_since(earlier, Nanos::SECOND), Some(150.0));
        assert_eq!(now.percent_since(earlier, Nanos(0)), None);
        let read = ProcessCpu::read().unwrap();
        assert!(ProcessCpu::read().unwrap().0 >= read.0);
    }
}
