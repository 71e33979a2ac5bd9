//! Two fresh network namespaces with a veth pair between them, gone when the test ends. Knows nothing of what runs
//! inside.

use super::process::{Running, until, xsk_gen};
use super::require_root;
use serde_json::Value;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// One end of the pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Interface v0, where the tests send.
    A,
    /// Interface v1, where the tests receive.
    B,
}

impl End {
    /// The interface at this end.
    pub fn interface(self) -> &'static str {
        match self {
            Self::A => "v0",
            Self::B => "v1",
        }
    }
}

/// The namespaces; dropping it deletes them, and the pair with them.
pub struct NetLab {
    a: String,
    b: String,
}

impl NetLab {
    /// Ends in two namespaces, each with `queues` queues; None when the test is skipped.
    pub fn new(queues: u32) -> Option<Self> {
        require_root().then(|| Self::build(queues, &fresh_name(), &fresh_name()))
    }

    /// Both ends in one namespace.
    pub fn in_one_namespace(queues: u32) -> Option<Self> {
        let name = fresh_name();
        require_root().then(|| Self::build(queues, &name, &name))
    }

    fn build(queues: u32, a: &str, b: &str) -> Self {
        host_ip(&["netns", "add", a]);
        // From here on the drop tidies up, whatever fails.
        let lab = Self { a: a.to_owned(), b: b.to_owned() };
        if a != b {
            host_ip(&["netns", "add", b]);
        }
        let quiet = ["net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"];
        for end in [End::A, End::B] {
            // Otherwise the kernel's own neighbour discovery would be among the frames that tests count.
            lab.run(end, "sysctl", &[&["-qw"], &quiet[..]].concat());
        }
        let n = queues.to_string();
        let shape = ["numtxqueues", &n, "numrxqueues", &n];
        let near = [&["link", "add", "v0", "netns", a], &shape[..], &["type", "veth"]].concat();
        host_ip(&[&near[..], &["peer", "name", "v1", "netns", b], &shape[..]].concat());
        for end in [End::A, End::B] {
            host_ip(&["-n", lab.namespace(end), "link", "set", end.interface(), "up"]);
        }
        lab
    }

    /// The name of the namespace of an end.
    pub fn namespace(&self, end: End) -> &str {
        match end {
            End::A => &self.a,
            End::B => &self.b,
        }
    }

    /// A command inside, with the namespace's own /sys.
    pub fn command(&self, end: End, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.namespace(end), program]);
        command
    }

    /// A command inside that keeps the mounts of the caller: /sys then shows other interfaces than the namespace's.
    pub fn nsenter(&self, end: End, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/run/netns/{}", self.namespace(end))).arg(program);
        command
    }

    /// Runs a command inside to its end and gives its output.
    pub fn run(&self, end: End, program: &str, args: &[&str]) -> String {
        output(self.command(end, program).args(args))
    }

    /// Starts the binary under test inside, on the end's interface: `COMMAND --iface IF ARGUMENTS…`.
    pub fn start(&self, end: End, subcommand: &str, args: &[&str]) -> Running {
        let mut command = self.command(end, xsk_gen());
        Running::start(command.args([subcommand, "--iface", end.interface()]).args(args))
    }

    /// What `ip` knows of the end's interface, counters included.
    pub fn link(&self, end: End) -> Value {
        let args = ["-n", self.namespace(end), "-s", "-j", "link", "show", "dev", end.interface()];
        let links: Value = serde_json::from_str(&host_ip(&args)).unwrap();
        links[0].clone()
    }

    /// The MAC of the end's interface.
    pub fn mac(&self, end: End) -> String {
        self.link(end)["address"].as_str().unwrap().to_owned()
    }

    /// Frames that the end's interface has received.
    pub fn rx_packets(&self, end: End) -> u64 {
        self.link(end)["stats64"]["rx"]["packets"].as_u64().unwrap()
    }

    /// The XDP programs in the namespace of an end, from the kernel's own list.
    pub fn programs(&self, end: End) -> Vec<Value> {
        let nets: Value = serde_json::from_str(&self.run(end, "bpftool", &["-j", "net"])).unwrap();
        nets[0]["xdp"].as_array().unwrap().clone()
    }

    /// Waits until a program is attached to the end's interface.
    pub fn wait_for_program(&self, end: End) {
        until("an XDP program on the interface", Duration::from_secs(10), || !self.programs(end).is_empty());
    }

    /// Waits until `frames` more have arrived at an end.
    pub fn wait_for_frames(&self, end: End, frames: u64) {
        let before = self.rx_packets(end);
        until("frames to arrive", Duration::from_secs(15), || self.rx_packets(end) >= before + frames);
    }

    /// Waits until nothing is attached to either end: a killed process gives its link up a moment after its end.
    pub fn wait_until_clean(&self) {
        for end in [End::A, End::B] {
            until("the XDP programs to be gone", Duration::from_secs(2), || self.programs(end).is_empty());
        }
    }
}

impl Drop for NetLab {
    fn drop(&mut self) {
        for name in [&self.a, &self.b] {
            // The second time in one namespace, or after a failed construction, there is nothing to delete.
            let _ = Command::new("ip").args(["netns", "delete", name]).output();
        }
    }
}

/// A name that nobody else uses: by process, and counted within it.
pub(super) fn fresh_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("xg-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Runs `ip` in the namespace of an end.
pub fn ip(lab: &NetLab, end: End, args: &[&str]) {
    host_ip(&[&["-n", lab.namespace(end)], args].concat());
}

/// A sink at end B that says that it is ready.
pub fn sink(lab: &NetLab, args: &[&str]) -> Running {
    let rx = lab.start(End::B, "rx", &[&["--json"], args].concat());
    until("the sink to be ready", Duration::from_secs(10), || rx.stderr().contains("ready on"));
    rx
}

/// Runs `ip`, and gives what it printed.
pub(super) fn host_ip(args: &[&str]) -> String {
    output(Command::new("ip").args(args))
}

fn output(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}
