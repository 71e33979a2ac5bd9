//! CLOCK_MONOTONIC for loops that read it every turn: carried on by the processor's time stamp counter, which costs a third of
//! a reading, and set right by a reading every millisecond. Where the kernel does not trust that counter, the reading
//! itself.

use super::clock::monotonic;
use crate::units::Nanos;
use std::fs;
use std::sync::OnceLock;

/// The kernel's own clock source: `tsc` only where the counter is invariant and has agreed with other clocks so far.
const KERNELS_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// What the workers' clock is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The time stamp counter between readings of CLOCK_MONOTONIC.
    Tsc,
    /// CLOCK_MONOTONIC alone.
    Monotonic,
}

impl Source {
    /// That of this machine, the same for the whole life of the process.
    pub fn here() -> Self {
        static HERE: OnceLock<Source> = OnceLock::new();
        *HERE.get_or_init(|| Self::beside(fs::read_to_string(KERNELS_SOURCE).ok().as_deref()))
    }

    /// That of a machine whose kernel has this clock source.
    fn beside(kernels: Option<&str>) -> Self {
        match kernels.map(str::trim) {
            Some("tsc") if cfg!(target_arch = "x86_64") => Self::Tsc,
            _ => Self::Monotonic,
        }
    }

    /// As Reports name it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::Monotonic => "monotonic",
        }
    }

    /// What reads the clock.
    #[must_use]
    pub fn reader(self) -> fn() -> Nanos {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tsc => carried::now,
            _ => monotonic,
        }
    }
}

/// The counter's reading and its life in each thread.
#[cfg(target_arch = "x86_64")]
mod carried {
    #![allow(unsafe_code, reason = "an instruction without a safe name")]

    use super::{Carrier, Reading};
    use crate::sys::clock::monotonic;
    use crate::units::Nanos;
    use std::arch::x86_64::_rdtsc;
    use std::cell::Cell;

    /// Readings of a pair at the most, of which the one that was least interrupted counts.
    const TRIES: usize = 3;
    /// A pair taken within so many ticks was not interrupted: 1 µs at 1 GHz.
    const UNINTERRUPTED: u64 = 1_000;

    thread_local! {
        static CARRIER: Cell<Carrier> = const { Cell::new(Carrier::NEW) };
    }

    /// CLOCK_MONOTONIC, to less than a microsecond, and never back within a thread.
    pub fn now() -> Nanos {
        CARRIER.with(|cell| {
            let mut carrier = cell.get();
            Nanos(carrier.at(ticks()).unwrap_or_else(|| {
                let time = carrier.set_right(read());
                cell.set(carrier);
                time
            }))
        })
    }

    fn ticks() -> u64 {
        // SAFETY: every x86-64 processor has the instruction; Linux leaves it to user space (prctl(2), PR_SET_TSC).
        unsafe { _rdtsc() }
    }

    fn read() -> Reading {
        let pair = || {
            let (before, ns, after) = (ticks(), monotonic().0, ticks());
            let took = after.wrapping_sub(before);
            (took, Reading { ticks: before.wrapping_add(took / 2), ns })
        };
        let mut best = pair();
        for _ in 1..TRIES {
            if best.0 <= UNINTERRUPTED {
                break;
            }
            let next = pair();
            best = if next.0 < best.0 { next } else { best };
        }
        best.1
    }
}

/// Counter and clock at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reading {
    ticks: u64,
    ns: u64,
}

/// Carries a clock on from its last reading.
#[derive(Debug, Clone, Copy)]
struct Carrier {
    last: Reading,
    /// ns a tick, in parts of 2^32; 0 while it is not known.
    rate: u64,
    /// Ticks after the last reading during which it is carried on: a millisecond.
    span: u64,
    /// The latest time that was told before the last reading.
    told: u64,
}

impl Carrier {
    /// Of no reading yet.
    const NEW: Self = Self { last: Reading { ticks: 0, ns: 0 }, rate: 0, span: 0, told: 0 };
    /// How long a reading is carried on, in ns.
    const FAR: u64 = Nanos::from_millis(1).0;
    const PLACES: u32 = 32;

    /// The time when the counter shows `ticks`; None when a reading is due.
    #[inline]
    fn at(&self, ticks: u64) -> Option<u64> {
        // A counter that went back is far ahead.
        let past = ticks.wrapping_sub(self.last.ticks);
        (past < self.span).then(|| (self.last.ns + ((past * self.rate) >> Self::PLACES)).max(self.told))
    }

    /// Goes on from a reading; gives its time, or the latest that was told if that is later.
    fn set_right(&mut self, reading: Reading) -> u64 {
        let ticks = reading.ticks.wrapping_sub(self.last.ticks);
        let ns = reading.ns.saturating_sub(self.last.ns);
        // The clock as it would have been carried on to here.
        let carried = self.last.ns.saturating_add(
            ((u128::from(ticks.min(self.span)) * u128::from(self.rate)) >> Self::PLACES) as u64,
        );
        self.told = self.told.max(carried.min(self.last.ns.saturating_add(Self::FAR)));
        if self.last.ns == 0 {
            (self.last, self.told) = (reading, 0);
        } else if ns >= Self::FAR {
            // Over a millisecond two readings that are each right to 0.1 µs give the rate to 0.02 %.
            let rate = (u128::from(ns) << Self::PLACES).checked_div(u128::from(ticks)).unwrap_or(0);
            let rate = u64::try_from(rate).unwrap_or(0);
            // From 16 GHz to 250 MHz. A rate that cannot be is of a counter that was set back or a machine that was moved, and no time is carried on by it.
            let plausible = (1 << 28..1 << 34).contains(&rate);
            self.rate = if plausible { rate } else { 0 };
            let span =
                (u128::from(Self::FAR) << Self::PLACES).checked_div(u128::from(self.rate)).unwrap_or(0);
            self.span = u64::try_from(span).unwrap_or(0).min(u64::from(u32::MAX));
            self.last = reading;
        }
        reading.ns.max(self.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_the_clock_and_never_goes_back() {
        let now = Source::here().reader();
        let (start, mut last) = (monotonic(), Nanos(0));
        let mut off = Vec::new();
        while monotonic() - start < Nanos::from_millis(50) {
            let (before, time, after) = (monotonic(), now(), monotonic());
            assert!(time >= last, "{last:?} {time:?}");
            last = time;
            off.push((before - time).0.max((time - after).0));
        }
        // One reading in a thousand may have been taken apart by an interrupt.
        off.sort_unstable();
        assert!(off[off.len() * 999 / 1000] < 2_000, "{} ns off", off[off.len() * 999 / 1000]);
    }

    #[test]
    fn a_counter_that_the_kernel_does_not_go_by_is_not_read() {
        for kernels in [Some("kvm-clock\n"), Some("hpet\n"), Some("tsc-early\n"), Some(""), None] {
            assert_eq!(Source::beside(kernels), Source::Monotonic, "{kernels:?}");
        }
        let trusted = if cfg!(target_arch = "x86_64") { Source::Tsc } else { Source::Monotonic };
        assert_eq!(Source::beside(Some("tsc\n")), trusted);
    }

    #[test]
    fn each_thread_carries_its_own() {
        let now = Source::here().reader();
        let one = now();
        let other = std::thread::spawn(now).join().unwrap();
        assert!(other >= one && now() >= one);
    }

    /// Time at the counter's reading, carried on or set right.
    fn told(carrier: &mut Carrier, reading: Reading) -> u64 {
        carrier.at(reading.ticks).unwrap_or_else(|| carrier.set_right(reading))
    }

    proptest! {
        /// However often it is looked at, at any frequency, it is right to a microsecond and goes forward.
        #[test]
        fn it_follows_the_clock(
            mhz in 500u64..6_000, start in 1u64..1 << 40, steps in prop::collection::vec(1u64..3_000_000, 1..300),
        ) {
            let (mut carrier, mut ns, mut last) = (Carrier::NEW, start, 0);
            for step in steps {
                ns += step;
                let ticks = (u128::from(ns) * u128::from(mhz) / 1_000) as u64;
                let time = told(&mut carrier, Reading { ticks, ns });
                prop_assert!(time.abs_diff(ns) < 1_000 && time >= last, "{} {}", time, ns);
                last = time;
            }
        }

        /// A counter that jumps, in either direction, costs no more than a millisecond, and never time that goes back.
        #[test]
        fn a_counter_that_jumps_is_left_behind(jump: u64, steps in prop::collection::vec(1u64..800_000, 1..100)) {
            let (mut carrier, mut ns, mut last) = (Carrier::NEW, 1_000_000_000, 0);
            for (at, step) in steps.iter().enumerate() {
                ns += step;
                let ticks = if at > steps.len() / 2 { (3 * ns).wrapping_add(jump) } else { 3 * ns };
                let time = told(&mut carrier, Reading { ticks, ns });
                prop_assert!(time >= last && time.abs_diff(ns) <= 2 * Carrier::FAR, "{} {}", time, ns);
                last = time;
            }
        }
    }
}
