//! An XDP program that is not of xsk-gen, and the two ways in which it comes to an interface: by netlink, and
//! by a link that the test's own process has open. Knows nothing of who meets it there.

use super::lab::{End, NetLab};
use aya::Ebpf;
use aya::programs::{Xdp, XdpMode};
use nix::sched::{CloneFlags, setns};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::thread;

/// Its name in the kernel.
pub const NAME: &str = "other_prog";
const SOURCE: &str = "__attribute__((section(\"xdp\"), used)) int other_prog(void *ctx) { return 2; }\n";

/// The compiled program; its folder goes with it.
pub struct OtherProgram {
    folder: tempfile::TempDir,
}

/// The program on an interface by a link, until this is dropped.
pub struct Linked {
    _ebpf: Ebpf,
}

impl OtherProgram {
    /// Compiles it.
    pub fn new() -> Self {
        let program = Self { folder: tempfile::tempdir().unwrap() };
        let source = program.folder.path().join("other.c");
        fs::write(&source, SOURCE).unwrap();
        let compiled = Command::new("clang")
            .args(["-O2", "-g", "-target", "bpf", "-c"])
            .arg(&source)
            .arg("-o")
            .arg(program.object())
            .status();
        assert!(compiled.unwrap().success(), "clang");
        program
    }

    fn object(&self) -> PathBuf {
        self.folder.path().join("other.o")
    }

    /// Puts it on an interface by netlink; `mode` is a word of ip: xdpdrv or xdpgeneric.
    pub fn attach(&self, lab: &NetLab, end: End, mode: &str) {
        let object = self.object();
        lab.run(
            end,
            "ip",
            &["link", "set", "dev", end.interface(), mode, "obj", object.to_str().unwrap(), "sec", "xdp"],
        );
    }

    /// Puts it on an interface by a link, natively.
    pub fn link(&self, lab: &NetLab, end: End) -> Linked {
        let (object, iface) = (self.object(), end.interface());
        let netns = format!("/run/netns/{}", lab.namespace(end));
        // A thread of its own: it does not come back from the namespace.
        let attached = thread::spawn(move || {
            setns(File::open(netns).unwrap(), CloneFlags::CLONE_NEWNET).unwrap();
            let mut ebpf = Ebpf::load_file(object).unwrap();
            let xdp: &mut Xdp = ebpf.program_mut(NAME).unwrap().try_into().unwrap();
            xdp.load().unwrap();
            xdp.attach(iface, XdpMode::Driver).unwrap();
            ebpf
        });
        Linked { _ebpf: attached.join().unwrap() }
    }
}

/// Takes off what netlink attached.
pub fn detach(lab: &NetLab, end: End, mode: &str) {
    lab.run(end, "ip", &["link", "set", "dev", end.interface(), mode, "off"]);
}
