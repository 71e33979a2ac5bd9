//! A namespace between the two ends of a lab, with an interface towards each. Knows nothing of what connects the two.

use super::lab::{End, NetLab, fresh_name, host_ip, ip};
use std::process::Command;

/// The interface towards end A.
pub const NEAR: &str = "w0";
/// The interface towards end B.
pub const FAR: &str = "w1";

/// The namespace; dropping it deletes it, and the cables with it.
pub struct Middle {
    namespace: String,
}

impl Middle {
    /// Takes the lab's cable out and puts itself in its place. The ends keep the names of their interfaces.
    pub fn between(lab: &NetLab) -> Self {
        Self::with_queues(lab, 1)
    }

    /// The same with cables of so many queues.
    pub fn with_queues(lab: &NetLab, queues: u32) -> Self {
        let queues = queues.to_string();
        let shape = ["numtxqueues", &queues, "numrxqueues", &queues];
        let namespace = fresh_name();
        host_ip(&["netns", "add", &namespace]);
        // From here on the drop tidies up, whatever fails.
        let middle = Self { namespace };
        let off = ["net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"];
        let sysctl = ["netns", "exec", &middle.namespace, "sysctl", "-qw"];
        host_ip(&[&sysctl[..], &off].concat());
        ip(lab, End::A, &["link", "delete", End::A.interface()]);
        for (end, own) in [(End::A, NEAR), (End::B, FAR)] {
            let (outer, inner) = (lab.namespace(end), middle.namespace.as_str());
            let near =
                [&["link", "add", end.interface(), "netns", outer], &shape[..], &["type", "veth"]].concat();
            host_ip(&[&near[..], &["peer", "name", own, "netns", inner], &shape[..]].concat());
            ip(lab, end, &["link", "set", end.interface(), "up"]);
            host_ip(&["-n", inner, "link", "set", own, "up"]);
        }
        middle
    }

    /// Its name.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// A command inside, with the namespace's own /sys.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace, program]);
        command
    }
}

impl Drop for Middle {
    fn drop(&mut self) {
        // After a failed construction there is nothing to delete.
        let _ = Command::new("ip").args(["netns", "delete", &self.namespace]).output();
    }
}
