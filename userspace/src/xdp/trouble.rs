//! Refusals of the kernel become Findings: what was refused, why, and what to type. Pure: the facts about the
//! interface are arguments.

use super::AttachMode;
use super::holder::Holder;
use super::occupied::occupied;
use super::refusal::Refusal;
use crate::finding::{Code, Finding, Severity};
use aya::util::KernelVersion;
use nix::errno::Errno;

/// An interface, and how a program is to be attached to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    /// Its index in the namespace of the calling thread.
    pub(super) ifindex: u32,
    /// Its name, for people.
    pub(super) iface: &'a str,
    /// How.
    pub(super) mode: AttachMode,
}

/// What was looked up about the interface after a refusal.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// Who holds it.
    pub(super) holder: Option<Holder>,
    /// Its MTU, where that could be read.
    pub(super) mtu: Option<u32>,
}

/// The first kernel whose programs may receive frames of several buffers (BPF_F_XDP_HAS_FRAGS).
const FIRST_WITH_FRAGS: KernelVersion = KernelVersion::new(5, 18, 0);
/// The verifier's word for what it allows only with CAP_PERFMON.
const FOR_PRIVILEGED: &str = "prohibited for !root";
/// capabilities(7): without it the verifier guards against speculation, and takes no offset that is not constant.
const WHY_PERFMON: &str = "the program steps over headers of variable length, which the kernel verifies only for a \
                           process with CAP_PERFMON";
/// The Ethernet MTU that every driver with XDP accepts.
const PLAIN_MTU: u32 = 1500;

/// Why `program` was not loaded; `kernel` is the running one, where known.
pub(super) fn load(program: &str, refusal: &Refusal, kernel: Option<KernelVersion>) -> Finding {
    let old = kernel.is_some_and(|kernel| kernel < FIRST_WITH_FRAGS);
    match refusal.errno {
        Some(Errno::EPERM) => capability(program, refusal.reason()),
        Some(Errno::EACCES) if refusal.words.contains(FOR_PRIVILEGED) => capability(program, WHY_PERFMON),
        Some(Errno::ENOMEM) => no_memory(program, refusal),
        Some(Errno::EINVAL | Errno::ENOSYS | Errno::E2BIG) if old => kernel_too_old(program, refusal),
        Some(Errno::ENOSYS) => kernel_too_old(program, refusal),
        _ => fail(Code::System, program, "the kernel did not load the XDP program")
            .why(refusal.reason())
            .remedy("a kernel of 5.18 or later with CONFIG_XDP_SOCKETS=y"),
    }
}

/// Why a program was not attached.
pub(super) fn attach(target: Target<'_>, refusal: &Refusal, seen: &Seen) -> Finding {
    let Target { iface, mode, .. } = target;
    match refusal.errno {
        Some(Errno::EBUSY) if seen.holder.is_none() => {
            fail(Code::System, iface, "the driver is busy and takes no XDP program")
                .why("it is being reset or reconfigured, or a setting such as tcp-data-split excludes XDP")
                .remedy(format!("try again in a few seconds; `ethtool -g {iface}` shows tcp-data-split"))
        }
        Some(Errno::EBUSY | Errno::EEXIST) => occupied(iface, seen.holder.as_ref(), None),
        Some(Errno::EOPNOTSUPP) if mode == AttachMode::Native => native_refused(iface, refusal, seen.mtu),
        Some(Errno::EPERM | Errno::EACCES) => capability(iface, refusal.reason()),
        Some(Errno::ERANGE) => mtu_above_xdp(iface, refusal, seen.mtu),
        Some(Errno::EINVAL) if speaks_of_mtu(refusal, seen.mtu) => mtu_above_xdp(iface, refusal, seen.mtu),
        Some(Errno::ENOMEM | Errno::ENOSPC) => no_memory(iface, refusal),
        Some(Errno::ENODEV) => unknown(iface, target.ifindex),
        _ => fail(Code::System, iface, format!("the XDP program was not attached in {mode} mode"))
            .why(refusal.reason())
            .remedy(other_mode(mode, iface)),
    }
}

/// The program could be attached only in a way that outlives the process; it has been taken off again.
pub(super) fn no_link(target: Target<'_>) -> Finding {
    fail(Code::KernelTooOld, target.iface, "the kernel attaches XDP programs, but not through a link")
        .why("without a link a program stays on the interface when the process is killed; it was taken off again")
        .remedy("use a kernel of 5.18 or later")
}

/// Why it is not known who holds the interface of that index.
pub(super) fn query(ifindex: u32, refusal: &Refusal) -> Finding {
    let on = format!("interface {ifindex}");
    match refusal.errno {
        Some(Errno::ENODEV) => unknown(on, ifindex),
        _ => fail(Code::System, on, "its XDP program cannot be read").why(refusal.reason()).remedy(
            "run it again; if it stays, report it with the output of `xsk-gen --version` and `uname -r`",
        ),
    }
}

/// A map operation failed; `what` says which.
pub(super) fn map(on: impl Into<String>, what: &str, refusal: &Refusal) -> Finding {
    fail(Code::System, on, what)
        .why(refusal.reason())
        .remedy("run it again; if it stays, report it with the output of `xsk-gen --version` and `uname -r`")
}

/// The maps were made for fewer queues.
pub(super) fn queue_beyond(queue: u32, queues: u32) -> Finding {
    fail(Code::QueueRange, format!("queue {queue}"), "the XDP program has no place for it")
        .why(format!("the program was loaded for {queues} receive queues, counted from 0"))
        .remedy("give a lower queue, or load the program for as many queues as the interface can have")
}

/// The object does not hold what this crate was built for.
pub(super) fn not_in_object(name: &str) -> Finding {
    fail(Code::System, name, "the compiled XDP object has no part of this name")
        .why("the object and the program that loads it come from different builds")
        .remedy("build xsk-gen again from one source tree")
}

fn fail(code: Code, on: impl Into<String>, what: impl Into<String>) -> Finding {
    Finding::new(code, Severity::Fail, on, what)
}

fn unknown(on: impl Into<String>, ifindex: u32) -> Finding {
    fail(Code::InterfaceUnknown, on, "there is no such interface in this network namespace")
        .why(format!("no interface has the index {ifindex}"))
        .remedy("`ip link` lists the interfaces")
}

fn native_refused(iface: &str, refusal: &Refusal, mtu: Option<u32>) -> Finding {
    let large = mtu.filter(|mtu| *mtu > PLAIN_MTU);
    let hint =
        large.map(|mtu| format!(" (or lower the MTU of {mtu}: `ip link set dev {iface} mtu {PLAIN_MTU}`)"));
    fail(Code::NativeRefused, iface, "the driver takes no XDP program in native mode")
        .why(format!(
            "it has no XDP, or not with its present settings (LRO, MTU, ring or queue counts): {}",
            refusal.reason()
        ))
        .remedy(format!("use --xdp-mode generic, which every interface takes{}", hint.unwrap_or_default()))
}

fn mtu_above_xdp(iface: &str, refusal: &Refusal, mtu: Option<u32>) -> Finding {
    let which = mtu.map_or_else(String::new, |mtu| format!(" of {mtu}"));
    fail(Code::MtuAboveXdp, iface, format!("the driver refuses XDP with the MTU{which}"))
        .why(format!("in native mode a frame must fit the driver's receive buffer: {}", refusal.reason()))
        .remedy(format!("`ip link set dev {iface} mtu {PLAIN_MTU}` (veth: on the other end as well), or --xdp-mode generic"))
}

/// A plain "invalid argument" says nothing; the driver's words or a large MTU make it this one.
fn speaks_of_mtu(refusal: &Refusal, mtu: Option<u32>) -> bool {
    refusal.words.to_lowercase().contains("mtu")
        || (refusal.words.is_empty() && mtu.is_some_and(|mtu| mtu > PLAIN_MTU))
}

fn capability(on: &str, why: impl Into<String>) -> Finding {
    fail(Code::CapabilityMissing, on, "XDP programs take CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN")
        .why(why)
        .remedy(
            "run as root, or `setcap cap_bpf,cap_perfmon,cap_net_admin,cap_net_raw+ep` on the program's file",
        )
}

fn no_memory(on: &str, refusal: &Refusal) -> Finding {
    fail(Code::NoMemory, on, "the kernel or the driver has too little for an XDP program")
        .why(format!("{}; some drivers need a transmit queue more for each core", refusal.reason()))
        .remedy(format!(
            "free memory; on a NIC fewer combined queues often help: `ethtool -L {on} combined 1`"
        ))
}

fn kernel_too_old(on: &str, refusal: &Refusal) -> Finding {
    fail(Code::KernelTooOld, on, "the kernel lacks XDP programs that see frames of several buffers")
        .why(refusal.reason())
        .remedy("use a kernel of 5.18 or later with CONFIG_BPF_SYSCALL=y")
}

fn other_mode(mode: AttachMode, iface: &str) -> String {
    match mode {
        AttachMode::Native => {
            format!("try --xdp-mode generic, or look for the driver's reason with `dmesg | grep {iface}`")
        }
        AttachMode::Generic => format!("look for the reason with `dmesg | grep {iface}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdp::holder::HeldMode;

    fn refused(errno: Errno, words: &str) -> Refusal {
        Refusal { errno: Some(errno), words: words.to_owned() }
    }

    fn to(mode: AttachMode) -> Target<'static> {
        Target { ifindex: 7, iface: "eth7", mode }
    }

    fn seen(holder: Option<&str>, mtu: Option<u32>) -> Seen {
        let holder =
            holder.map(|name| Holder { id: 12, name: Some(name.to_owned()), mode: HeldMode::Native });
        Seen { holder, mtu }
    }

    #[test]
    fn an_attach_that_fails_has_its_own_code() {
        use AttachMode::{Generic, Native};
        let nothing = Seen::default();
        let jumbo = seen(None, Some(9000));
        let plain = seen(None, Some(1500));
        let cases = [
            (Errno::EBUSY, "", Native, seen(Some("xdp_dispatcher"), None), Code::XdpOccupied),
            (Errno::EEXIST, "", Generic, seen(Some("xdp_dispatcher"), None), Code::XdpOccupied),
            (Errno::EEXIST, "", Generic, nothing.clone(), Code::XdpOccupied),
            (Errno::EBUSY, "", Native, nothing.clone(), Code::System),
            (Errno::EOPNOTSUPP, "", Native, nothing.clone(), Code::NativeRefused),
            (Errno::EOPNOTSUPP, "", Native, jumbo.clone(), Code::NativeRefused),
            (Errno::EOPNOTSUPP, "", Generic, nothing.clone(), Code::System),
            (Errno::EPERM, "", Native, nothing.clone(), Code::CapabilityMissing),
            (Errno::ERANGE, "", Native, nothing.clone(), Code::MtuAboveXdp),
            (Errno::EINVAL, "", Native, jumbo.clone(), Code::MtuAboveXdp),
            (Errno::EINVAL, "MTU too large w/o frags", Native, plain.clone(), Code::MtuAboveXdp),
            (Errno::EINVAL, "Device in switchdev mode", Native, jumbo, Code::System),
            (Errno::EINVAL, "", Native, plain, Code::System),
            (Errno::ENOMEM, "", Native, nothing.clone(), Code::NoMemory),
            (Errno::ENODEV, "", Native, nothing.clone(), Code::InterfaceUnknown),
            (Errno::EIO, "", Native, nothing, Code::System),
        ];
        for (errno, words, mode, seen, code) in cases {
            let finding = attach(to(mode), &refused(errno, words), &seen);
            assert_eq!((finding.code, finding.on.as_str()), (code, "eth7"), "{errno} {mode} {seen:?}");
            complete(&finding);
        }
    }

    #[test]
    fn a_load_that_fails_has_its_own_code() {
        let (old, new) = (KernelVersion::new(5, 15, 0), KernelVersion::new(6, 1, 0));
        let leak =
            "R5 has pointer with unsupported alu operation, pointer arithmetic with it prohibited for !root";
        let cases = [
            (Errno::EPERM, "", Some(new), Code::CapabilityMissing),
            (Errno::EACCES, leak, Some(new), Code::CapabilityMissing),
            (Errno::EACCES, "R2 !read_ok", Some(new), Code::System),
            (Errno::ENOMEM, "", Some(new), Code::NoMemory),
            (Errno::EINVAL, "", Some(old), Code::KernelTooOld),
            (Errno::EINVAL, "", Some(new), Code::System),
            (Errno::EINVAL, "", None, Code::System),
            (Errno::ENOSYS, "", None, Code::KernelTooOld),
        ];
        for (errno, words, kernel, code) in cases {
            let finding = load("xsk_gen_rx", &refused(errno, words), kernel);
            assert_eq!(finding.code, code, "{errno} {words}");
            complete(&finding);
        }
    }

    #[test]
    fn a_large_mtu_is_offered_as_a_way_to_native_mode() {
        let refusal = refused(Errno::EOPNOTSUPP, "");
        let remedy = |mtu| attach(to(AttachMode::Native), &refusal, &seen(None, Some(mtu))).remedy;
        assert!(remedy(9000).contains("mtu 1500") && !remedy(1500).contains("mtu"));
    }

    /// A reader can act on it, and needs no table of error numbers.
    fn complete(finding: &Finding) {
        assert_eq!(finding.severity, Severity::Fail);
        assert!(
            !finding.what.is_empty() && !finding.why.is_empty() && !finding.remedy.is_empty(),
            "{finding}"
        );
        assert!(!finding.to_string().contains("os error"), "{finding}");
    }
}
