//! What links, devices and far ends do to a sender in mid-run: it ends or goes on as documented, its books stay true, and
//! what it completed is never called delivered.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

mod support;

use nix::sys::signal::Signal;
use std::process::Command;
use std::time::Duration;
use support::{End, NetLab, Running, ip, only, reports, until};

type Removal = fn(&NetLab);

const RUN: Duration = Duration::from_secs(30);
/// From the loss of the interface to the end of the process.
const AT_ONCE: Duration = Duration::from_secs(1);

fn start(lab: &NetLab, args: &[&str]) -> Running {
    lab.start(End::A, "tx", &[&["--json"], args].concat())
}

fn sending(lab: &NetLab, args: &[&str]) -> Running {
    let tx = start(lab, args);
    until("tx to send", Duration::from_secs(10), || tx.stderr().contains("sending frames"));
    lab.wait_for_frames(End::B, 100);
    tx
}

fn sink(lab: &NetLab) -> Running {
    let rx = lab.start(End::B, "rx", &["--json"]);
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    rx
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn carrier_that_takes_its_time_is_waited_for() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    ip(&lab, End::B, &["link", "set", "v1", "down"]);
    let tx = start(&lab, &["--dst-mac", &mac, "--count", "1000"]);
    until("tx to wait", Duration::from_secs(10), || tx.stderr().contains("waiting for carrier"));
    std::thread::sleep(Duration::from_millis(700));
    assert!(!tx.stderr().contains("sending frames"), "{}", tx.stderr());
    ip(&lab, End::B, &["link", "set", "v1", "up"]);
    let tx = only(&reports(&tx.wait(RUN).expect_code(0)));
    tx.check_full_books();
    assert_eq!(tx.known("completed"), 1_000, "{tx}");
    assert!(!tx.has_finding("link-lost"), "{tx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_is_removed_ends_the_sender_at_once() {
    let remove: [(&str, Removal); 3] = [
        ("its own", |lab| ip(lab, End::A, &["link", "delete", "v0"])),
        ("the peer", |lab| ip(lab, End::B, &["link", "delete", "v1"])),
        ("the peer's namespace", |lab| {
            assert!(
                Command::new("ip")
                    .args(["netns", "delete", lab.namespace(End::B)])
                    .status()
                    .unwrap()
                    .success()
            );
        }),
    ];
    for (what, remove) in remove {
        for rate in ["max", "100pps", "1pps"] {
            let Some(lab) = NetLab::new(1) else { return };
            let mac = lab.mac(End::B);
            let tx = start(&lab, &["--dst-mac", &mac, "--duration", "20", "--rate", rate]);
            lab.wait_for_frames(End::B, 1);
            remove(&lab);
            let finished = tx.wait(AT_ONCE + Duration::from_millis(500)).expect_code(1);
            let tx = only(&reports(&finished));
            tx.check_full_books();
            assert!(tx.has_finding("interface-gone"), "{what}, {rate}: {tx}");
            // Said once, and not again by everything that it takes along.
            assert!(!tx.has_finding("link-lost") && !tx.has_finding("system"), "{what}, {rate}: {tx}");
            assert!(!finished.stderr.contains("os error"), "{finished:?}");
        }
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn frames_above_an_mtu_that_was_lowered_are_the_devices_drops() {
    for end in [End::B, End::A] {
        let Some(lab) = NetLab::new(1) else { return };
        let rx = sink(&lab);
        let args = ["--duration", "1.5", "--rate", "10kpps", "--size", "1518"];
        let tx = sending(&lab, &args);
        ip(&lab, end, &["link", "set", end.interface(), "mtu", "1000"]);
        let tx = only(&reports(&tx.wait(RUN).expect_code(0)));
        let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
        tx.check_full_books();
        rx.check_full_books();
        assert_eq!(tx.known("completed"), rx.known("unique") + rx.known("lost"), "{rx}");
        // Only what a device drops can be lost: the sender's, which completes such frames, or none.
        assert_eq!(
            (rx.known("lost"), rx.known("unexplained")),
            (rx.known("kernel_drops"), 0),
            "{end:?}: {rx}"
        );
        assert_eq!(rx.known("lost") > 0, tx.has_finding("device-drops"), "{end:?}: {tx}");
    }
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn completed_is_not_called_delivered_where_nobody_listens() {
    let Some(lab) = NetLab::new(1) else { return };
    let mac = lab.mac(End::B);
    let finished = start(&lab, &["--dst-mac", &mac, "--count", "1000"]).wait(RUN).expect_code(0);
    let tx = only(&reports(&finished));
    assert_eq!((tx.known("completed"), tx.term("received"), tx.term("lost")), (1_000, None, None), "{tx}");
    assert!(tx.at("/totals/rx_frames").is_null(), "{tx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_may_lead_nowhere_is_a_warning() {
    let Some(lab) = NetLab::new(1) else { return };
    ip(&lab, End::A, &["link", "add", "br0", "type", "bridge"]);
    ip(&lab, End::A, &["link", "set", "br0", "up"]);
    // A bridge without ports has no carrier.
    ip(&lab, End::A, &["link", "set", "v0", "master", "br0"]);
    let mut command = lab.command(End::A, support::xsk_gen());
    command.args(["tx", "--iface", "br0", "--dst-mac", "02:00:00:00:00:01", "--count", "1000", "--json"]);
    let tx = only(&reports(&Running::start(&mut command).wait(RUN).expect_code(0)));
    tx.check_full_books();
    assert!(tx.has_finding("no-far-end") && tx.term("received").is_none(), "{tx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_sender_that_was_stopped_does_not_catch_up_in_a_burst() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab);
    let tx = sending(&lab, &["--duration", "3", "--rate", "10kpps"]);
    tx.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(2));
    tx.signal(Signal::SIGCONT);
    let tx = only(&reports(&tx.wait(RUN).expect_code(0)));
    let rx = only(&reports(&rx.interrupt(RUN).expect_code(0)));
    tx.check_full_books();
    rx.check_full_books();
    // 30,000 frames were due in three seconds; those of the stop, but for the credit of a millisecond, are shortfall.
    assert!(tx.known("shortfall") > 19_000 && tx.has_finding("shortfall"), "{tx}");
    assert_eq!(tx.known("completed") + tx.known("shortfall"), 30_000, "{tx}");
    assert_eq!((rx.known("lost"), rx.known("unexplained")), (rx.known("kernel_drops"), 0), "{rx}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn another_sender_on_the_same_interface_makes_the_devices_count_disagree() {
    let Some(lab) = NetLab::new(2) else { return };
    let mac = lab.mac(End::B);
    let first = sending(&lab, &["--dst-mac", &mac, "--duration", "2", "--rate", "1kpps", "--queues", "0"]);
    let second = start(&lab, &["--dst-mac", &mac, "--count", "20000", "--rate", "max", "--queues", "1"]);
    let second = only(&reports(&second.wait(RUN).expect_code(0)));
    let first = only(&reports(&first.wait(RUN).expect_code(0)));
    for report in [&first, &second] {
        report.check_full_books();
    }
    assert_eq!((first.known("completed"), second.known("completed")), (2_000, 20_000), "{first}");
    assert!(first.has_finding("device-disagrees"), "{first}");
}
