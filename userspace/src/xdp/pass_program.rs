//! The program that passes every frame: for drivers that set up zero-copy transmit only while a program is attached.
//! Knows no counter and no socket.

use super::AttachMode;
use super::loaded::Loaded;
use super::trouble::Target;
use crate::finding::Finding;
use xdp_prog::{Config, PASS_PROGRAM};

/// The passing program in the kernel; dropping it takes it off the interface.
#[derive(Debug)]
pub struct PassProgram {
    loaded: Loaded,
}

impl PassProgram {
    /// Loads the program; it is on no interface yet.
    ///
    /// # Errors
    /// As [`super::RxProgram::load`].
    pub fn load() -> Result<Self, Finding> {
        // It uses no map; the object's are made with one entry each.
        Loaded::load(PASS_PROGRAM, Config::default(), &[], 1).map(|loaded| Self { loaded })
    }

    /// Attaches it.
    ///
    /// # Errors
    /// As [`super::RxProgram::attach`].
    pub fn attach(&mut self, ifindex: u32, iface: &str, mode: AttachMode) -> Result<(), Finding> {
        self.loaded.attach(Target { ifindex, iface, mode })
    }

    /// Takes it off the interface.
    pub fn detach(&mut self) {
        self.loaded.detach();
    }
}
