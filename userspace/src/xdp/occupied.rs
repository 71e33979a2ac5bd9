//! What is said of an interface that runs someone else's program: whose, how it is held, and what takes it
//! off. Pure.

use super::hold::{Hold, Process};
use super::holder::{HeldMode, Holder};
use crate::finding::{Code, Finding, Severity};

/// An interface that is held. Without a holder: it went between the refusal and the look.
pub(super) fn occupied(iface: &str, holder: Option<&Holder>, hold: Option<&Hold>) -> Finding {
    let who = holder.map_or_else(
        || "another XDP program is attached".to_owned(),
        |holder| format!("{holder} is attached {}{}", holder.mode, hold.map_or_else(String::new, how)),
    );
    let remedy = if holder.is_some_and(|holder| is_live(holder, hold)) {
        format!("another xsk-gen runs on {iface}: stop it first")
    } else {
        format!(
            "stop what attached it (`bpftool link` and `bpftool net` show it), {}, or --replace to have it taken off",
            by_hand(iface, holder, hold)
        )
    };
    Finding::new(Code::XdpOccupied, Severity::Fail, iface, who)
        .why("an interface runs one XDP program; taking another's off would break what that one does")
        .remedy(remedy)
}

/// Whether it is the program of an xsk-gen that still runs. What netlink attached has no process behind it.
pub(super) fn is_live(holder: &Holder, hold: Option<&Hold>) -> bool {
    holder.is_ours() && hold != Some(&Hold::Interface)
}

/// A program that was taken off because the user asked for it; `loaded`: it is still in the kernel.
pub(super) fn replaced(iface: &str, holder: &Holder, hold: &Hold, loaded: bool) -> Finding {
    let what = format!("{holder} was taken off; it was attached {}{}", holder.mode, how(hold));
    let again = match hold {
        Hold::Link { processes, .. } if !processes.is_empty() => {
            format!("to have it back, start {} again", named(processes))
        }
        Hold::Link { .. } | Hold::Several => "to have it back, start again what attached it".to_owned(),
        _ if loaded => format!(
            "to have it back: `bpftool net attach {} id {} dev {iface}`",
            holder.mode.keyword(),
            holder.id
        ),
        _ => format!(
            "to have it back, attach it anew, as with `ip link set dev {iface} {} obj FILE`: nothing keeps it loaded",
            holder.mode.keyword()
        ),
    };
    Finding::new(Code::XdpReplaced, Severity::Warn, iface, what)
        .why("--replace asks for it; what that program did is not done any more, and it is not put back at the end")
        .remedy(again)
}

/// A program that this process may not take off.
pub(super) fn not_allowed(iface: &str, holder: &Holder, why: &str) -> Finding {
    let what = format!("{holder} is attached {}, and this process may not take it off", holder.mode);
    Finding::new(Code::CapabilityMissing, Severity::Fail, iface, what)
        .why(format!("--replace takes CAP_SYS_ADMIN, to open what belongs to another process: {why}"))
        .remedy("run it as root, or stop what attached the program")
}

/// A program that the kernel did not give up.
pub(super) fn not_taken_off(iface: &str, holder: &Holder, hold: &Hold, why: &str) -> Finding {
    let what = format!("{holder} is attached {}{}, and could not be taken off", holder.mode, how(hold));
    Finding::new(Code::XdpOccupied, Severity::Fail, iface, what)
        .why(why)
        .remedy("stop what attached it (`bpftool link` and `bpftool net` show it)")
}

fn how(hold: &Hold) -> String {
    match hold {
        Hold::Link { id, processes } if processes.is_empty() => {
            format!(", by link {id} of a process that is not visible here")
        }
        Hold::Link { id, processes } => format!(", by link {id} of {}", named(processes)),
        Hold::Interface => " by netlink, so it belongs to no process".to_owned(),
        Hold::Several => ", by a link, as it is in other network namespaces".to_owned(),
        Hold::Unknown(why) => format!(" (by whom is not known: {why})"),
    }
}

fn named(processes: &[Process]) -> String {
    let each = |process: &Process| format!("process {} ({})", process.pid, process.name);
    processes.iter().map(each).collect::<Vec<_>>().join(" and ")
}

/// The command that takes it off. Each mode has its own word: `xdp off` does not take a generic program off,
/// and none of them takes off what a link holds.
fn by_hand(iface: &str, holder: Option<&Holder>, hold: Option<&Hold>) -> String {
    match hold {
        Some(Hold::Link { id, .. }) => format!("or `bpftool link detach id {id}`"),
        _ => {
            let mode = holder.map_or("xdp", |holder| holder.mode.keyword());
            format!("or `ip link set dev {iface} {mode} off`")
        }
    }
}

impl HeldMode {
    /// The word of ip and bpftool.
    const fn keyword(self) -> &'static str {
        match self {
            Self::Native => "xdpdrv",
            Self::Generic => "xdpgeneric",
            Self::Offloaded => "xdpoffload",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(name: Option<&str>) -> Holder {
        Holder { id: 12, name: name.map(str::to_owned), mode: HeldMode::Generic }
    }

    fn link() -> Hold {
        Hold::Link { id: 7, processes: vec![Process { pid: 99, name: "filterd".to_owned() }] }
    }

    #[test]
    fn program_mode_link_and_process_are_named() {
        let said = occupied("eth7", Some(&holder(Some("firewall"))), Some(&link()));
        for word in ["12 (firewall)", "generic mode", "link 7", "process 99 (filterd)"] {
            assert!(said.what.contains(word), "{said}");
        }
        assert!(
            said.remedy.contains("bpftool link detach id 7") && said.remedy.contains("--replace"),
            "{said}"
        );
    }

    #[test]
    fn what_is_not_known_is_said_with_its_reason() {
        let why = Hold::Unknown("to see it takes CAP_SYS_ADMIN".to_owned());
        let said = occupied("eth7", Some(&holder(None)), Some(&why));
        assert!(said.what.contains("name not visible") && said.what.contains("CAP_SYS_ADMIN"), "{said}");
        assert!(occupied("eth7", None, None).remedy.contains("xdp off"));
    }

    #[test]
    fn another_xsk_gen_is_not_to_be_torn_off() {
        let ours = holder(Some("xsk_gen_rx"));
        let unknown = Hold::Unknown(String::new());
        for hold in [None, Some(&link()), Some(&unknown)] {
            let said = occupied("eth7", Some(&ours), hold);
            assert!(said.remedy.contains("another xsk-gen runs") && !said.remedy.contains("off"), "{said}");
        }
        assert!(occupied("eth7", Some(&ours), Some(&Hold::Interface)).remedy.contains("xdpgeneric off"));
    }

    #[test]
    fn the_way_back_fits_the_way_that_it_was_held() {
        let back = |hold: &Hold, loaded| replaced("eth7", &holder(Some("firewall")), hold, loaded).remedy;
        assert!(back(&link(), true).contains("start process 99 (filterd) again"));
        assert!(back(&Hold::Interface, true).contains("`bpftool net attach xdpgeneric id 12 dev eth7`"));
        assert!(back(&Hold::Interface, false).contains("xdpgeneric obj FILE"));
    }
}
