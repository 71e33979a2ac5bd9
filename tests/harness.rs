//! The helpers of the other tests keep their own promises: fresh namespaces that go away, programs that end with the
//! test, books that are really checked.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sys::signal::Signal;
use serde_json::json;
use std::os::unix::process::ExitStatusExt;
use std::panic::catch_unwind;
use std::process::Command;
use std::time::Duration;
use support::{End, NetLab, Report, Running};

const SOON: Duration = Duration::from_secs(5);

fn namespaces() -> String {
    String::from_utf8(Command::new("ip").args(["netns", "list"]).output().unwrap().stdout).unwrap()
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_lab_is_two_linked_ends_of_that_many_queues_and_goes_away() {
    let Some(lab) = NetLab::new(3) else { return };
    let names = [End::A, End::B].map(|end| lab.namespace(end).to_owned());
    for end in [End::A, End::B] {
        let flags = lab.link(end)["flags"].to_string();
        assert!(flags.contains("LOWER_UP"), "{flags}");
        let queues = lab.run(end, "ls", &[&format!("/sys/class/net/{}/queues", end.interface())]);
        assert_eq!(queues.matches("rx-").count(), 3, "{queues}");
        assert_eq!((lab.rx_packets(end), lab.programs(end).len()), (0, 0));
    }
    assert_ne!(lab.mac(End::A), lab.mac(End::B));
    let inside = lab.nsenter(End::A, "ip").args(["-o", "link"]).output().unwrap();
    assert!(String::from_utf8_lossy(&inside.stdout).contains("v0"));
    drop(lab);
    assert!(names.iter().all(|name| !namespaces().contains(name)));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn one_namespace_holds_both_ends() {
    let Some(lab) = NetLab::in_one_namespace(1) else { return };
    assert_eq!(lab.namespace(End::A), lab.namespace(End::B));
    assert_ne!(lab.link(End::A)["ifindex"], lab.link(End::B)["ifindex"]);
}

#[test]
fn output_and_exit_code_are_kept() {
    let shell = |script| Running::start(Command::new("sh").args(["-c", script])).wait(SOON);
    let done = shell("echo result; echo words >&2; exit 3").expect_code(3);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("result\n", "words\n"));
    assert_eq!(shell("kill -9 $$").status.signal(), Some(9));
}

#[test]
fn a_program_that_does_not_end_fails_the_test_and_is_killed() {
    let running = Running::start(Command::new("sleep").arg("600"));
    let pid = running.pid();
    let outcome = catch_unwind(|| running.wait(Duration::from_millis(20)));
    assert!(outcome.is_err());
    assert_eq!(nix::sys::signal::kill(pid, None::<Signal>), Err(nix::errno::Errno::ESRCH));
}

fn balanced() -> serde_json::Value {
    let balance = json!({
        "built": null, "submitted": null, "completed": 10, "in_flight": null, "invalid": null, "received": 12,
        "control": 1, "probes": 10, "rejected": {"other_run": 1}, "unique": 8, "duplicate": 1, "late": 1, "lost": 2,
        "kernel_drops": 2, "unexplained": 0,
    });
    json!({"command": "rx", "balance": balance})
}

#[test]
fn books_that_do_not_balance_or_are_not_known_are_refused() {
    Report(balanced()).check_full_books();
    for (term, value) in
        [("received", json!(13)), ("probes", json!(9)), ("lost", json!(3)), ("unexplained", json!(1))]
    {
        let mut report = Report(balanced());
        report.0["balance"][term] = value;
        assert!(catch_unwind(|| report.check_books()).is_err(), "{term}");
    }
    let mut report = Report(balanced());
    report.0["balance"]["lost"] = json!(null);
    report.check_books();
    assert!(catch_unwind(|| report.check_full_books()).is_err());
}
