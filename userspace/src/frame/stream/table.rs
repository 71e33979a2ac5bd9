//! A prepared stream as plain tables, from which a program inside the kernel makes the same frames. Knows no
//! program.

use super::Stream;
use xdp_prog::table::{NOWHERE, Table};

impl Stream {
    /// The tables, and the bytes that are the same in each frame: headers and an empty probe, behind which
    /// everything is zero.
    #[must_use]
    pub fn table(&self) -> (Table, &[u8]) {
        let place = |at: Option<usize>| at.map_or(NOWHERE, |at| at as u64);
        let probe = self.probe.map_or([NOWHERE, 0, 0, 0, 0, 0], |numbered| {
            let probe = numbered.probe;
            let constants = [probe.run, probe.stream.space(), probe.clock].map(u64::from);
            let [run, space, clock] = constants;
            [numbered.at as u64, numbered.covers.set().into(), numbered.word_shift.into(), run, space, clock]
        });
        let (rows, lists) = self.patches.rows();
        let mut table = Table { probe, rows, lists, ..Table::default() };
        let follows = self.follows.iter();
        table.follows.extend(follows.map(|f| [place(f.at), f.minus as u64, f.covers.set().into()]));
        let checks = self.checks.iter().map(|check| {
            let covers = check.covers.map_or(0, |covers| covers.set().into());
            [check.at as u64, check.constant, check.never_zero.into(), check.own as u64, covers]
        });
        table.checks.extend(checks);
        (table, &self.prefix)
    }
}
