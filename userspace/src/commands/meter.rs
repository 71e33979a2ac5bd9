//! What a run cost this machine: cores and process over a window, and turns of the workers.

use crate::engine::Load;
use crate::host::cpu::{CpuTimes, ProcessCpu};
use crate::report::Cpu;
use crate::sys::clock::monotonic;
use crate::units::Nanos;

/// Readings at one moment; None where the kernel did not tell.
#[derive(Debug, Clone)]
pub struct Meter {
    at: Nanos,
    cores: Option<CpuTimes>,
    process: Option<ProcessCpu>,
}

impl Meter {
    /// Reads now.
    #[must_use]
    pub fn read() -> Self {
        Self { at: monotonic(), cores: CpuTimes::read().ok(), process: ProcessCpu::read().ok() }
    }

    /// The cost since this reading. Workers spin, so `percent_per_gbps` stays null.
    #[must_use]
    pub fn cost(&self, now: &Self, cores: &[u32], load: Load, frames: u64) -> Cpu {
        let rows = match (&self.cores, &now.cores) {
            (Some(before), Some(after)) => after.rows(before, cores),
            _ => Vec::new(),
        };
        let process_percent = match (self.process, now.process) {
            (Some(before), Some(after)) => after.percent_since(before, now.at - self.at),
            _ => None,
        };
        Cpu {
            cores: rows,
            process_percent,
            percent_per_gbps: None,
            ns_per_frame: ratio(load.busy.0, frames).filter(|_| load.turns > 0),
            empty_turn_percent: ratio(load.empty, load.turns).map(|share| share * 100.0),
        }
    }
}

/// a / b; None when b is zero.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}
