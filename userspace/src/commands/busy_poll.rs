//! Whether busy polling can have its effect on an interface: it replaces interrupts only where the NAPI settings hold them
//! off. Changes none of them.

use crate::config::Modes;
use crate::finding::{Code, Finding, Severity};
use crate::host::{InterfaceFacts, napi};
use crate::report::Napi;

/// What is said where `--busy-poll` was asked for and interrupts go on beside it.
#[must_use]
pub fn remark(facts: &InterfaceFacts, modes: Modes) -> Option<Finding> {
    modes.busy_poll?;
    judge(facts, &napi::settings(facts)?)
}

/// The decision; what is not known is no reason to speak.
fn judge(facts: &InterfaceFacts, napi: &Napi) -> Option<Finding> {
    let off = [
        (napi.defer_hard_irqs == Some(0)).then_some("napi_defer_hard_irqs"),
        (napi.gro_flush_timeout_ns == Some(0)).then_some("gro_flush_timeout"),
    ];
    let off: Vec<_> = off.into_iter().flatten().collect();
    if off.is_empty() {
        return None;
    }
    let on = &facts.name;
    let what = format!("sockets poll the driver, and interrupts go on beside that: {} 0", are(&off));
    let veth = if facts.driver.as_deref() == Some("veth") {
        "; on veth, which has no interrupts, busy polling gained nothing where it was measured"
    } else {
        ""
    };
    let threaded = match napi.threaded {
        Some(true) => "",
        _ => {
            "; or give polling a kernel thread with a core of its own, `echo 1 > /sys/class/net/IF/threaded`, and leave --busy-poll out"
        }
    };
    let remedy = format!(
        "`echo 2 > /sys/class/net/IF/napi_defer_hard_irqs` and `echo 200000 > /sys/class/net/IF/gro_flush_timeout`{threaded}"
    );
    Some(
        Finding::new(Code::BusyPollInterrupts, Severity::Info, on.clone(), what)
            .why(format!("the kernel leaves a queue to the poller only while both are set, so that the poller's absence is noticed{veth}"))
            .remedy(remedy.replace("/IF/", &format!("/{on}/"))),
    )
}

fn are(names: &[&str]) -> String {
    format!("{} {}", names.join(" and "), if names.len() > 1 { "are" } else { "is" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fixture;

    fn said(defer: Option<u32>, flush: Option<u64>, threaded: Option<bool>) -> Option<Finding> {
        let napi = Napi { defer_hard_irqs: defer, gro_flush_timeout_ns: flush, threaded };
        judge(&fixture::facts("e0", 2), &napi)
    }

    #[test]
    fn settings_that_let_interrupts_go_on_are_named_with_what_to_type() {
        let both = said(Some(0), Some(0), Some(false)).unwrap();
        assert_eq!((both.code, both.severity), (Code::BusyPollInterrupts, Severity::Info));
        assert!(both.what.contains("napi_defer_hard_irqs and gro_flush_timeout are 0"), "{both}");
        assert!(
            both.remedy.contains("/sys/class/net/e0/threaded") && !both.remedy.contains("/IF/"),
            "{both}"
        );
        let one = said(Some(2), Some(0), Some(true)).unwrap();
        assert!(one.what.ends_with("gro_flush_timeout is 0") && !one.remedy.contains("threaded"), "{one}");
    }

    #[test]
    fn nothing_is_said_where_they_are_held_off_or_it_is_not_known() {
        assert_eq!(said(Some(2), Some(20_000), None), None);
        assert_eq!(said(None, None, None), None);
    }
}
