//! How a program of someone else is held on its interface, and by whom: by a bpf_link that processes have
//! open, or by the interface itself. Asks the kernel, changes nothing.

use super::holder::Holder;
use super::quiet;
use super::refusal::{Refusal, words};
use libbpf_rs::Program;
use libbpf_rs::query::{LinkInfo, LinkInfoIter, LinkTypeInfo};
use nix::errno::Errno;
use std::fs::{self, DirEntry};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long processes are searched for an open link: an answer that is late is worse than none.
const SEARCH: Duration = Duration::from_millis(100);
/// How the kernel names the descriptor of a link in /proc: `bpf_link` or `bpf-link`, by the way that it was
/// made.
const DESCRIPTOR: &str = "anon_inode:bpf";

/// How a program is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hold {
    /// By the link of that number, and so by the processes that have it open; empty where /proc shows none,
    /// as for one that is pinned or held in a place that we do not see.
    Link { id: u32, processes: Vec<Process> },
    /// By the interface (it was attached by netlink): it stays until someone takes it off.
    Interface,
    /// By one of several links: an index is unique within a network namespace only.
    Several,
    /// Not known, and why not.
    Unknown(String),
}

/// A process that has a link open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) name: String,
}

/// How `holder` is held on the interface of that index.
pub(super) fn hold(ifindex: u32, holder: &Holder) -> Hold {
    quiet();
    // Whoever may not open the program may not list the links either, and would take the silence for "none".
    if let Err(error) = Program::fd_from_id(holder.id) {
        return Hold::Unknown(unseen(&Refusal::new(&error)));
    }
    let is_it = |link: &LinkInfo| link.prog_id == holder.id && is_on(link, ifindex);
    let links: Vec<u32> = LinkInfoIter::default().filter(is_it).map(|link| link.id).collect();
    match links[..] {
        [] => Hold::Interface,
        [id] => Hold::Link { id, processes: processes_with(id) },
        _ => Hold::Several,
    }
}

fn is_on(link: &LinkInfo, ifindex: u32) -> bool {
    matches!(&link.info, LinkTypeInfo::Xdp(xdp) if xdp.ifindex == ifindex)
}

fn unseen(refusal: &Refusal) -> String {
    match refusal.errno {
        Some(Errno::EPERM | Errno::EACCES) => "to see it takes CAP_SYS_ADMIN".to_owned(),
        Some(errno) => words(errno).to_owned(),
        None => refusal.reason(),
    }
}

/// The processes that have the link open, as far as they are found in time.
fn processes_with(link: u32) -> Vec<Process> {
    let deadline = Instant::now() + SEARCH;
    let Ok(proc) = fs::read_dir("/proc") else { return Vec::new() };
    let in_time = |_: &DirEntry| Instant::now() < deadline;
    proc.flatten().take_while(in_time).filter_map(|entry| holds(&entry, link)).collect()
}

/// The process of a directory of /proc, if it has the link open.
fn holds(directory: &DirEntry, link: u32) -> Option<Process> {
    let pid = directory.file_name().to_str()?.parse().ok()?;
    let wanted = format!("link_id:\t{link}");
    let is_open = |descriptor: &DirEntry| {
        let name = fs::read_link(descriptor.path()).unwrap_or_default();
        name.to_string_lossy().starts_with(DESCRIPTOR)
            && says(&directory.path().join("fdinfo").join(descriptor.file_name()), &wanted)
    };
    fs::read_dir(directory.path().join("fd")).ok()?.flatten().find(is_open)?;
    let name = fs::read_to_string(directory.path().join("comm")).unwrap_or_default();
    // A process names itself as it likes.
    let name = name.chars().filter(|char| !char.is_control()).collect();
    Some(Process { pid, name })
}

fn says(file: &Path, line: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.lines().any(|l| l == line))
}
