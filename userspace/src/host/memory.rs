//! How much memory is left: of the machine, of the control groups that this process is in, and of huge pages. Knows
//! nothing of what it is wanted for. Sources: proc_meminfo(5), the kernel's admin-guide/cgroup-v2.rst.

use procfs::process::{MountInfo, Process};
use procfs::{Current, Meminfo, ProcessCGroup};
use std::fs;
use std::path::{Path, PathBuf};

/// What is left, in bytes, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// Bytes.
    pub bytes: u64,
    /// The file that it comes from.
    pub of: String,
}

/// The pool of huge pages of the default size, which is the one that sockets use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HugePages {
    /// Bytes of one.
    pub page_bytes: u64,
    /// Pages that are taken, or promised to a mapping.
    pub taken: u64,
    /// Pages that are free and promised to nobody.
    pub free: u64,
    /// Pages that the kernel may still add when asked for (vm.nr_overcommit_hugepages).
    pub on_demand: u64,
}

impl HugePages {
    /// Pages that can be had.
    #[must_use]
    pub const fn usable(self) -> u64 {
        self.free.saturating_add(self.on_demand)
    }
}

/// The least of what the machine and each control group have left; None where nothing could be read.
#[must_use]
pub fn room() -> Option<Room> {
    let machine = Meminfo::current().ok().and_then(|info| info.mem_available);
    let machine = machine.map(|bytes| Room { bytes, of: "MemAvailable of /proc/meminfo".to_owned() });
    groups().iter().filter_map(|group| left_in(group)).chain(machine).min_by_key(|room| room.bytes)
}

/// The pool of huge pages; None where it could not be read, or the kernel has none.
#[must_use]
pub fn huge_pages() -> Option<HugePages> {
    let limit = fs::read_to_string("/proc/sys/vm/nr_overcommit_hugepages").ok();
    pool(&Meminfo::current().ok()?, limit.and_then(|text| text.trim().parse().ok()).unwrap_or(0))
}

fn pool(info: &Meminfo, overcommit: u64) -> Option<HugePages> {
    let free = info.hugepages_free?.saturating_sub(info.hugepages_rsvd.unwrap_or(0));
    Some(HugePages {
        page_bytes: info.hugepagesize.filter(|bytes| *bytes > 0)?,
        taken: info.hugepages_total?.saturating_sub(free),
        free,
        on_demand: overcommit.saturating_sub(info.hugepages_surp.unwrap_or(0)),
    })
}

/// The folders of this process's group and of those that it lies in.
fn groups() -> Vec<PathBuf> {
    let Ok(process) = Process::myself() else { return Vec::new() };
    let (Ok(groups), Ok(mounts)) = (process.cgroups(), process.mountinfo()) else { return Vec::new() };
    folders(&groups.0, &mounts.0)
}

/// A group outside what is mounted here shows no file, and so sets no limit that could be known.
fn folders(groups: &[ProcessCGroup], mounts: &[MountInfo]) -> Vec<PathBuf> {
    let unified = groups.iter().find(|group| group.hierarchy == 0);
    let mount = mounts.iter().find(|mount| mount.fs_type == "cgroup2");
    let (Some(group), Some(mount)) = (unified, mount) else { return Vec::new() };
    let Ok(below) = Path::new(&group.pathname).strip_prefix(&mount.root) else { return Vec::new() };
    below.ancestors().map(|folder| mount.mount_point.join(folder)).collect()
}

/// What a group's limit leaves. Cached files count as left: the kernel gives them up before it fails.
fn left_in(group: &Path) -> Option<Room> {
    let file = group.join("memory.max");
    let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let (limit, current) = (number(&file)?, number(&group.join("memory.current"))?);
    let cached = fs::read_to_string(group.join("memory.stat")).map_or(0, |stat| reclaimable(&stat));
    let bytes = limit.saturating_sub(current.saturating_sub(cached));
    Some(Room { bytes, of: format!("{}, less what is in use", file.display()) })
}

fn reclaimable(stat: &str) -> u64 {
    let cached = |line: &str| {
        let (name, bytes) = line.split_once(' ')?;
        matches!(name, "active_file" | "inactive_file" | "slab_reclaimable")
            .then(|| bytes.trim().parse().ok())?
    };
    stat.lines().filter_map(cached).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::FromBufRead;

    /// The lines that the reader insists on, and `more`.
    fn meminfo(more: &str) -> Meminfo {
        let always = "MemTotal Buffers Cached SwapCached Active Inactive MemFree SwapTotal SwapFree Dirty Writeback \
                      Mapped Slab Committed_AS VmallocTotal VmallocUsed VmallocChunk";
        let mut text: String = always.split(' ').map(|name| format!("{name}: 4 kB\n")).collect();
        text.push_str(more);
        Meminfo::from_buf_read(text.as_bytes()).unwrap()
    }

    #[test]
    fn huge_pages_that_are_promised_are_not_free() {
        let text = "HugePages_Total: 20\nHugePages_Free: 12\nHugePages_Rsvd: 2\nHugePages_Surp: 1\nHugepagesize: 1048576 kB\n";
        let pages = pool(&meminfo(text), 4).unwrap();
        assert_eq!(pages, HugePages { page_bytes: 1 << 30, taken: 10, free: 10, on_demand: 3 });
        assert_eq!(pages.usable(), 13);
        assert_eq!(pool(&meminfo(""), 0), None, "what could not be read is not none");
        assert_eq!(meminfo("MemAvailable: 2 kB\n").mem_available, Some(2048));
    }

    fn folders_of(group: &str, root: &str) -> Vec<PathBuf> {
        let line = format!("30 23 0:26 {root} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw");
        let group = ProcessCGroup { hierarchy: 0, controllers: Vec::new(), pathname: group.to_owned() };
        folders(&[group], &[MountInfo::from_line(&line).unwrap()])
    }

    #[test]
    fn a_group_and_all_that_it_lies_in_are_looked_at() {
        let at = |names: &[&str]| -> Vec<PathBuf> { names.iter().map(PathBuf::from).collect() };
        let all = ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup/"];
        assert_eq!(folders_of("/a/b", "/"), at(&all));
        assert_eq!(folders_of("/box/a", "/box"), at(&all[1..]));
        assert_eq!(folders_of("/", "/"), at(&all[2..]));
        assert_eq!(folders_of("/../other", "/box"), at(&[]));
    }

    #[test]
    fn a_limit_leaves_what_is_not_in_use_and_cached_files() {
        let group = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(group.path().join(name), text).unwrap();
        let left = || left_in(group.path()).map(|room| room.bytes);
        assert_eq!(left(), None);
        write("memory.current", "600\n");
        for (limit, bytes) in [("max\n", None), ("1000\n", Some(400)), ("500\n", Some(0))] {
            write("memory.max", limit);
            assert_eq!(left(), bytes, "{limit}");
        }
        write("memory.stat", "anon 7\nfile 900\nactive_file 100\ninactive_file 50\nslab_reclaimable 1\n");
        assert_eq!(left(), Some(51));
        assert!(left_in(group.path()).unwrap().of.contains("memory.max"));
    }

    #[test]
    fn this_machine_has_some_left() {
        let room = room().unwrap();
        assert!(room.bytes > 0 && room.of.starts_with('/') || room.of.contains("MemAvailable"), "{room:?}");
    }
}
