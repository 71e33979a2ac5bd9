//! The rooms of userspace/src import only what the table of rooms allows, and unsafe code stays in two of them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

#[path = "layering/rooms.rs"]
mod rooms;
#[path = "layering/scan.rs"]
mod scan;

use scan::{Mention, Scan, scan};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of the package's name by which a file may call another package.
type Crates = BTreeSet<String>;

/// What is wrong in one file, a line each.
fn violations(file: &str, scan: &Scan, crates: &Crates, test_file: bool) -> Vec<String> {
    let name = room_of(file);
    let Some(room) = rooms::find(&name) else {
        return vec![format!("{file}: the room `{name}` is not in the table of tests/layering/rooms.rs")];
    };
    let mut found = Vec::new();
    for mention in &scan.mentions {
        let in_test = test_file || mention.in_test;
        if let Some(what) = broken_rule(room, mention, crates, in_test) {
            found.push(format!("{file}:{}: `{name}` must not use {what}", mention.line));
        }
    }
    if !room.may_allow_unsafe() {
        found
            .extend(scan.unsafe_allowed.iter().map(|line| format!("{file}:{line}: unsafe code in `{name}`")));
    }
    found
}

fn broken_rule(room: &rooms::Room, mention: &Mention, crates: &Crates, in_test: bool) -> Option<String> {
    let (first, rest) = mention.path.split_first()?;
    let second = rest.first()?;
    let allowed = match first.as_str() {
        // A name that the root defines itself, such as a re-export, is nobody's room.
        "crate" => second == "*" || room.may_import(second, in_test),
        "std" => in_test || room.may_use_std(&rest.join("::")),
        other if crates.contains(other) => in_test || room.may_use(other),
        _ => true,
    };
    (!allowed).then(|| mention.path.join("::"))
}

/// `units/mod.rs` and `units/frame_size.rs` lie in `units`, `port.rs` in `port`.
fn room_of(file: &str) -> String {
    let first = file.split('/').next().unwrap_or(file);
    first.trim_end_matches(".rs").to_owned()
}

/// `units/frame_size.rs` is the module `[units, frame_size]`, `units/mod.rs` is `[units]`.
fn module_of(file: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if matches!(path, "lib" | "main") { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The names of the package's dependencies, as code writes them.
fn dependencies(manifest: &str) -> Crates {
    let section = manifest.split("\n[dependencies]").nth(1).expect("a section of dependencies");
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.split('.').next().unwrap_or(name).trim().replace('-', "_"))
        .filter(|name| !name.starts_with('#'))
        .collect()
}

#[test]
fn every_room_keeps_to_its_imports() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = dependencies(&fs::read_to_string(package.join("Cargo.toml")).unwrap());
    let root = package.join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let scans: Vec<(String, Scan)> = files
        .iter()
        .map(|path| {
            let file = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            let scan = scan(&fs::read_to_string(path).unwrap(), &module_of(&file)).unwrap();
            (file, scan)
        })
        .collect();
    let test_modules: BTreeSet<Vec<String>> =
        scans.iter().flat_map(|(_, scan)| scan.test_modules.clone()).collect();
    let found: Vec<String> = scans
        .iter()
        .flat_map(|(file, scan)| violations(file, scan, &crates, test_modules.contains(&module_of(file))))
        .collect();
    assert!(scans.len() > 5, "too few files to mean anything: {}", scans.len());
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// What the rules say of a snippet that stands in `file`.
fn verdict(file: &str, text: &str) -> Vec<String> {
    let crates = ["libc", "nix", "aya", "serde", "hdrhistogram"].map(str::to_owned).into();
    violations(file, &scan(text, &module_of(file)).unwrap(), &crates, false)
}

#[test]
fn what_breaks_the_rules_is_found() {
    let cases = [
        ("frame/probe.rs", "use crate::xsk::Umem;", "crate::xsk::Umem"),
        ("frame/probe.rs", "use crate::{units::Nanos, sys};", "crate::sys"),
        (
            "frame/probe.rs",
            "use crate::{units::{Nanos, FrameSize}, host::{self, Facts}};",
            "crate::host::self",
        ),
        ("frame/probe.rs", "use super::super::host::facts;", "crate::host::facts"),
        ("frame/mod.rs", "pub(crate) use super::xdp as programs;", "crate::xdp"),
        ("units/mod.rs", "mod deep { use super::super::engine::Turn; }", "crate::engine::Turn"),
        ("pace.rs", "fn f() { crate::sys::clock::monotonic(); }", "crate::sys::clock::monotonic"),
        ("pace.rs", "fn f() { println!(\"{}\", crate::sys::now()) }", "crate::sys::now"),
        ("pace.rs", "fn f() -> std::time::Instant { std::time::Instant::now() }", "std::time::Instant"),
        ("pace.rs", "use std::{fmt, time::{Duration, SystemTime}};", "std::time::SystemTime"),
        ("report/mod.rs", "use std::fs;", "std::fs"),
        ("measure/seq.rs", "fn f() { libc::getpid(); }", "libc::getpid"),
        ("report/mod.rs", "use aya::Ebpf;", "aya::Ebpf"),
        ("engine/run.rs", "use crate::xsk::Port;", "crate::xsk::Port"),
        ("xsk/umem.rs", "use aya::maps::XskMap;", "aya::maps::XskMap"),
        ("pace.rs", "#[cfg(test)] mod tests { use crate::xsk::Umem; }", "crate::xsk::Umem"),
        ("pace.rs", "#[cfg(test)] use crate::units::Nanos; use crate::frame::Probe;", "crate::frame::Probe"),
        ("surprise.rs", "", "`surprise` is not in the table"),
        ("frame/mod.rs", "#![allow(unsafe_code)]", "unsafe code in `frame`"),
        (
            "frame/mod.rs",
            "#[expect(clippy::x, unsafe_code, reason = \"fast\")] fn f() {}",
            "unsafe code in `frame`",
        ),
        ("xdp/load.rs", "#[cfg_attr(test, allow(unsafe_code))] fn f() {}", "unsafe code in `xdp`"),
    ];
    for (file, text, what) in cases {
        let found = verdict(file, text);
        assert!(found.iter().any(|line| line.contains(what)), "{file}: {text}: found {found:?}");
    }
}

#[test]
fn what_keeps_to_the_rules_passes() {
    let cases = [
        ("frame/probe.rs", "use crate::units::Nanos; use super::checksum; use self::field::MAGIC;"),
        (
            "frame/probe.rs",
            "//! Not `crate::xsk`.\n// use crate::xsk::X;\nconst S: &str = \"crate::xsk::X\";",
        ),
        ("frame/probe.rs", "use std::{fmt, time::Duration, net::{IpAddr, Ipv4Addr}};"),
        ("pace.rs", "#[cfg(test)] mod tests { use super::*; use crate::memory_port::Wire; use std::fs; }"),
        ("measure/latency.rs", "use hdrhistogram::Histogram; use serde::Serialize;"),
        ("xsk/umem.rs", "#![allow(unsafe_code, reason = \"the rings\")] use crate::{port::Slot, sys::kick};"),
        ("commands/tx.rs", "use crate::{xsk, host, engine}; use aya::Ebpf;"),
        ("engine/tx.rs", "use crate::port::TxPort; fn f() { std::thread::spawn(|| ()); }"),
        ("frame/mod.rs", "#![deny(unsafe_code)]"),
    ];
    for (file, text) in cases {
        assert_eq!(verdict(file, text), Vec::<String>::new(), "{file}: {text}");
    }
}

#[test]
fn test_modules_in_files_of_their_own_are_known() {
    let found =
        scan("mod a; #[cfg(test)] mod tests; #[cfg(test)] fn f() {} mod b;", &module_of("frame/mod.rs"));
    assert_eq!(found.unwrap().test_modules, [["frame", "tests"].map(str::to_owned)]);
}
