//! The receive program for one device alone, which asks its driver what it knows of each frame: loaded by libbpf, since aya
//! loads neither calls of kernel functions nor programs that are bound to a device. Knows no counter and no socket; its maps
//! are aya's, so that they have one code path.

use super::quiet;
use super::refusal::Refusal;
use super::trouble::Target;
use aya::maps::{Map, MapData};
use libbpf_rs::{Link, MapCore, Object, ObjectBuilder, OpenObject};
use std::ffi::OsStr;
use std::os::fd::AsFd;
use xdp_prog::{
    COUNTERS_MAP, Config, RX_PROGRAM, SHAPES_SECTION, SOCKETS_MAP, Shape, bound_object, shapes_to_bytes,
};

/// BPF_F_XDP_DEV_BOUND_ONLY of linux/bpf.h: the program runs on this device and no other, and not on the NIC itself.
/// Linux 6.3.
const DEV_BOUND_ONLY: u32 = 1 << 6;

/// A loaded program. Dropping it takes it off the interface, and so does the end of the process.
#[derive(Debug)]
pub(super) struct Bound {
    // Before the object: the program leaves the interface first, its maps go after it.
    link: Option<Link>,
    object: Object,
    pub(super) sockets: Map,
    pub(super) counters: Map,
}

impl Bound {
    /// Loads it for the interface of that index in the calling thread's network namespace.
    pub(super) fn load(ifindex: u32, config: Config, shapes: &[Shape], queues: u32) -> Result<Self, Refusal> {
        quiet();
        let failed = |error: libbpf_rs::Error| Refusal::new(&error);
        let mut object = ObjectBuilder::default().open_memory(bound_object()).map_err(failed)?;
        configure(&mut object, config, &shapes_to_bytes(shapes), queues).map_err(failed)?;
        for mut program in object.progs_mut() {
            let wanted = program.name() == RX_PROGRAM;
            program.set_autoload(wanted);
            if wanted {
                program.set_ifindex(ifindex);
                program.set_flags(DEV_BOUND_ONLY);
            }
        }
        let object = object.load().map_err(failed)?;
        let (sockets, counters) = (map(&object, SOCKETS_MAP)?, map(&object, COUNTERS_MAP)?);
        Ok(Self { link: None, object, sockets, counters })
    }

    /// Attaches it in native mode, the only one that such a program has: of a device whose driver takes programs the kernel
    /// makes no other link without being told to.
    pub(super) fn attach(&mut self, target: Target<'_>) -> Result<(), Refusal> {
        let index = i32::try_from(target.ifindex).map_err(|error| Refusal::new(&error))?;
        let program = self.object.progs_mut().find(|program| program.name() == RX_PROGRAM);
        let program = program.ok_or_else(|| missing(RX_PROGRAM))?;
        self.link = Some(program.attach_xdp(index).map_err(|error| Refusal::new(&error))?);
        Ok(())
    }

    /// Takes the program off the interface; does nothing when it is on none.
    pub(super) fn detach(&mut self) {
        self.link = None;
    }
}

/// Writes the configuration and the shapes, each the whole of its section, and makes the maps as large as told.
fn configure(object: &mut OpenObject, config: Config, shapes: &[u8], queues: u32) -> libbpf_rs::Result<()> {
    for mut map in object.maps_mut() {
        let name = map.name().to_owned();
        if name.to_string_lossy().ends_with(".rodata") {
            map.set_initial_value(&config.to_bytes())?;
        } else if name == SHAPES_SECTION {
            map.set_initial_value(shapes)?;
        } else if [SOCKETS_MAP, COUNTERS_MAP].map(OsStr::new).contains(&name.as_os_str()) {
            // The kernel takes no map without entries.
            map.set_max_entries(queues.max(1))?;
        }
    }
    Ok(())
}

fn map(object: &Object, name: &str) -> Result<Map, Refusal> {
    let map = object.maps().find(|map| map.name() == name).ok_or_else(|| missing(name))?;
    let fd = map.as_fd().try_clone_to_owned().map_err(|error| Refusal::new(&error))?;
    MapData::from_fd(fd).and_then(Map::from_map_data).map_err(|error| Refusal::new(&error))
}

fn missing(name: &str) -> Refusal {
    Refusal { errno: None, words: format!("the compiled XDP object has no {name}") }
}
