//! What becomes of a sink whose link goes, for a while or for good.

use super::{RUN, SHORT, check_pair, interrupted, only, sender, sent, severity, sink};
use crate::support::{End, NetLab, ip, reports, until};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_link_that_comes_back_within_the_run_is_told_and_what_follows_is_counted() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let tx = sender(&lab, &["--duration", "2", "--rate", "10kpps"]);
    lab.wait_for_frames(End::B, 2_000);
    ip(&lab, End::B, &["link", "set", "v1", "down"]);
    sleep(Duration::from_millis(300));
    ip(&lab, End::B, &["link", "set", "v1", "up"]);
    let tx = sent(tx, 1);
    let rx = interrupted(rx, 1);
    rx.check_full_books();
    assert_eq!(severity(&rx, "link-lost"), Some("fail"), "{rx}");
    assert!(rx.to_string().contains("set down"), "{rx}");
    assert_eq!(rx.known("completed"), tx.known("completed"), "{rx}");
    assert!(rx.known("lost") > 1_000 && rx.known("unique") > 8_000, "{rx}");
    assert!(!rx.has_finding("interface-gone") && !rx.has_finding("system"), "{rx}");
    lab.wait_until_clean();
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_is_set_down_while_its_carrier_is_waited_for_is_not_called_up() {
    let Some(lab) = NetLab::new(1) else { return };
    ip(&lab, End::A, &["link", "set", "v0", "down"]);
    let rx = lab.start(End::B, "rx", &["--wait-link", "1"]);
    until("the sink to wait", Duration::from_secs(10), || rx.stderr().contains("waiting for carrier"));
    ip(&lab, End::B, &["link", "set", "v1", "down"]);
    let rx = rx.wait(RUN).expect_code(3);
    assert!(rx.stderr.contains("[interface-down]") && !rx.stderr.contains("is up"), "{rx:?}");
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn a_link_that_is_lost_between_two_runs_is_a_warning() {
    let Some(lab) = NetLab::new(1) else { return };
    let rx = sink(&lab, &[]);
    let first = sent(sender(&lab, &SHORT), 0);
    sleep(Duration::from_millis(200));
    ip(&lab, End::B, &["link", "set", "v1", "down"]);
    sleep(Duration::from_millis(200));
    ip(&lab, End::B, &["link", "set", "v1", "up"]);
    let second = sent(sender(&lab, &SHORT), 0);
    let rx = reports(&rx.interrupt(RUN).expect_code(0));
    assert_eq!(rx.len(), 2, "{rx:?}");
    check_pair(&first, &rx[0]);
    check_pair(&second, &rx[1]);
    assert_eq!((severity(&rx[0], "link-lost"), severity(&rx[1], "link-lost")), (Some("warn"), None));
}

#[test]
#[ignore = "needs root: scripts/test.sh"]
fn an_interface_that_is_removed_ends_the_sink_at_once() {
    type Removal = fn(&NetLab);
    let removals: [Removal; 4] = [
        |lab| ip(lab, End::B, &["link", "set", "v1", "netns", lab.namespace(End::A)]),
        |lab| ip(lab, End::B, &["link", "delete", "v1"]),
        |lab| ip(lab, End::A, &["link", "delete", "v0"]),
        |lab| {
            assert!(
                Command::new("ip")
                    .args(["netns", "delete", lab.namespace(End::A)])
                    .status()
                    .unwrap()
                    .success()
            )
        },
    ];
    for (case, remove) in removals.into_iter().enumerate() {
        let Some(lab) = NetLab::new(1) else { return };
        let rx = sink(&lab, &[]);
        sent(sender(&lab, &SHORT), 0);
        remove(&lab);
        let rx = rx.wait(Duration::from_secs(5)).expect_code(1);
        let rx = only(&reports(&rx));
        rx.check_full_books();
        assert!(rx.has_finding("interface-gone") && !rx.has_finding("system"), "{case}: {rx}");
        assert_eq!(rx.known("unique"), 5_000, "{case}: {rx}");
    }
}
