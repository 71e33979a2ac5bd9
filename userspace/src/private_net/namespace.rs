//! One network namespace without a name. Knows no interface.

use crate::finding::{Code, Finding, Severity};
use crate::host::process::{Capability, capability_missing};
use crate::sys::words::words;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::{self, ScopedJoinHandle};

/// Subject of the findings.
const ON: &str = "private network namespace";

/// A network namespace of our own: nothing but this handle and the threads in it keep it alive, and the interfaces in
/// it go with it.
#[derive(Debug)]
pub struct Namespace(OwnedFd);

impl Namespace {
    /// A new, empty namespace. The calling thread stays where it is.
    ///
    /// # Errors
    /// `capability-missing` without CAP_SYS_ADMIN; `kernel-too-old` for a kernel without network namespaces; `system`
    /// for anything else, such as the limit of user.max_net_namespaces.
    pub fn new() -> Result<Self, Finding> {
        on_own_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            // Not /proc/self, which is the main thread's namespace.
            File::open("/proc/thread-self/ns/net").map(|file| Self(file.into()))
        })?
        .map_err(|error| explain(&error))
    }

    /// Moves the calling thread into the namespace, for good. Threads that it spawns from then on start there; those
    /// that exist stay where they are. Sockets belong to the namespace of the thread that opened them.
    ///
    /// # Errors
    /// `capability-missing` without CAP_SYS_ADMIN.
    pub fn enter(&self) -> Result<(), Finding> {
        setns(&self.0, CloneFlags::CLONE_NEWNET).map_err(|errno| explain(&errno.into()))
    }

    /// Runs `work` in the namespace, on a thread of its own; the calling thread stays where it is. A panic in `work`
    /// goes on in the caller.
    ///
    /// # Errors
    /// As of [`Namespace::enter`], and `system` when no thread can be had.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Finding> {
        on_own_thread(|| self.enter().map(|()| work()))?
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn on_own_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Finding> {
    thread::scope(|scope| {
        let spawned = thread::Builder::new().name("netns".to_owned()).spawn_scoped(scope, work);
        spawned.map(join).map_err(|error| explain(&error))
    })
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn explain(error: &io::Error) -> Finding {
    match error.raw_os_error() {
        Some(libc::EPERM) => {
            capability_missing(Capability::CAP_SYS_ADMIN, "it makes and enters network namespaces")
                .remedy("run it with sudo; in a container, one that was started with --privileged")
        }
        Some(libc::EINVAL) => Finding::new(Code::KernelTooOld, Severity::Fail, ON, "the kernel has none")
            .why("the kernel was built without CONFIG_NET_NS")
            .remedy("use a real interface: tx --iface IF"),
        Some(libc::ENOSPC) => failed(error).remedy("raise the limit: sysctl user.max_net_namespaces=1000"),
        _ => failed(error).remedy("use a real interface: tx --iface IF"),
    }
}

fn failed(error: &io::Error) -> Finding {
    Finding::new(Code::System, Severity::Fail, ON, format!("it cannot be had: {}", words(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_its_own_remedy() {
        let of = |errno| explain(&io::Error::from_raw_os_error(errno));
        assert_eq!(
            (of(libc::EPERM).code, of(libc::EPERM).on.as_str()),
            (Code::CapabilityMissing, "CAP_SYS_ADMIN")
        );
        assert_eq!(of(libc::EINVAL).code, Code::KernelTooOld);
        assert!(of(libc::ENOSPC).remedy.contains("max_net_namespaces"));
        assert!(!of(libc::ENOMEM).what.contains("os error"));
    }

    #[test]
    fn work_gives_its_value_back() {
        assert_eq!(on_own_thread(|| 6 * 7).unwrap(), 42);
    }
}
