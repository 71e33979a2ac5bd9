//! Busy polling over veth: what was obtained stands in the Report, and what it needs of the interface is said.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use std::time::Duration;
use support::{End, NetLab, Report, only, reports, sink};

const RUN: Duration = Duration::from_secs(30);

/// Both Reports of a short run.
fn run(lab: &NetLab, rx: &[&str], tx: &[&str]) -> [Report; 2] {
    let rx = sink(lab, &[&["--idle-timeout", "3"], rx].concat());
    let load = ["--json", "--quiet", "--count", "2000", "--rate", "20kpps"];
    let tx = only(&reports(&lab.start(End::A, "tx", &[&load[..], tx].concat()).wait(RUN).expect_code(0)));
    let rx = only(&reports(&rx.wait(RUN).expect_code(0)));
    [&tx, &rx].iter().for_each(|report| report.check_full_books());
    assert_eq!(rx.known("unique"), 2_000, "{rx}");
    [tx, rx]
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn the_budget_is_told_and_so_is_what_the_interface_lacks() {
    let Some(lab) = NetLab::new(1) else { return };
    let [tx, rx] = run(&lab, &["--busy-poll", "16"], &["--busy-poll"]);
    for (report, budget) in [(&tx, 64), (&rx, 16)] {
        assert_eq!(report.at("/setup/busy_poll_budget").as_u64(), Some(budget), "{report}");
        assert_eq!(report.at("/setup/busy_poll").as_bool(), Some(true));
        assert!(report.has_finding("busy-poll-interrupts"), "{report}");
    }
    let set = "cd /sys/class/net/v1 && echo 2 > napi_defer_hard_irqs && echo 200000 > gro_flush_timeout";
    lab.run(End::B, "sh", &["-c", set]);
    let [tx, rx] = run(&lab, &["--busy-poll"], &[]);
    assert!(!rx.has_finding("busy-poll-interrupts"), "{rx}");
    assert_eq!(rx.at("/setup/busy_poll_budget").as_u64(), Some(64));
    assert!(tx.at("/setup/busy_poll_budget").is_null() && !tx.has_finding("busy-poll-interrupts"), "{tx}");
}
