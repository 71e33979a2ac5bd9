//! Every header, modifier and size that a stream file can ask for, read by tshark and by scapy from the frames of a dry
//! run: nothing of xsk-gen takes part in the reading. Sends nothing, so it needs no root; but tshark and scapy, which
//! scripts/test.sh installs, and is therefore run by it alone.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end at the first surprise")]

#[path = "stacks/dissect.rs"]
mod dissect;
#[path = "stacks/series.rs"]
mod series;
#[path = "stacks/table.rs"]
mod table;
#[path = "stacks/tunnels.rs"]
mod tunnels;

use dissect::{Capture, FAULTS, dry_run, fault};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use table::{PLAIN, Row};
use tunnels::TUNNELS;

/// Frames of each stack.
const EACH: usize = 3;

#[test]
#[ignore = "needs tshark: scripts/test.sh"]
fn plain_stacks_are_what_was_asked_for() {
    check(PLAIN);
}

#[test]
#[ignore = "needs tshark: scripts/test.sh"]
fn tunnels_are_what_was_asked_for() {
    check(TUNNELS);
}

/// One stream a row, which take turns; each frame has every field as its row says.
fn check(rows: &[Row]) {
    let stream = |row: &Row| {
        format!("[[stream]]\nname = \"{}\"\nlayers = [{{ ethernet = {{}} }}, {}]\n", row.name, row.layers)
    };
    let capture = Capture::of(&rows.iter().map(stream).collect::<String>(), rows.len() * EACH);
    let asked: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.fields.iter().map(|(field, _)| *field)).collect();
    let fields: Vec<&str> = FAULTS.into_iter().chain(asked).collect();
    let frames = capture.read(&fields);
    assert_eq!(frames.len(), rows.len() * EACH);
    let mut wrong = Vec::new();
    for (frame, row) in frames.iter().zip(rows.iter().cycle()) {
        let value = |field: &str| &frame[fields.iter().position(|other| *other == field).unwrap()];
        wrong.extend(fault(frame).map(|fault| format!("{}: {fault}", row.name)));
        let unlike =
            row.fields.iter().filter(|(field, expected)| !expected.split('|').any(|one| value(field) == one));
        wrong.extend(
            unlike.map(|(field, expected)| {
                format!("{}: {field} is {}, not {expected}", row.name, value(field))
            }),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs tshark: scripts/test.sh"]
fn a_bad_checksum_is_not_taken_for_a_good_one() {
    let text = "[[stream]]\nmodify = [{ field = \"udp.checksum\", set = 1 }, { field = \"ipv4.checksum\", set = 2 }]";
    let fields: Vec<&str> = FAULTS.into_iter().chain(["ip.checksum.status", "udp.checksum.status"]).collect();
    let frames = Capture::of(text, 2).read(&fields);
    assert!(frames.iter().all(|frame| frame[3..] == ["0", "0"] && fault(frame).is_some()), "{frames:?}");
}

/// Random stacks, as scapy builds them from the same choices, byte by byte; and again from what it dissects.
#[test]
#[ignore = "needs scapy: scripts/test.sh"]
fn a_thousand_random_stacks_are_as_scapy_builds_them() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/stacks/rebuild.py");
    // The system's own Python: scapy is a package of the distribution.
    let mut python = Command::new("/usr/bin/python3");
    let binary = env!("CARGO_BIN_EXE_xsk-gen");
    let done =
        python.arg("-B").arg(script).args([binary, "--seed", "1", "--stacks", "1000"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && out.starts_with("1000 stacks are the same"), "{out}\n{err}");
}

#[test]
fn each_example_is_a_set_of_streams() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    assert!(names.len() >= 7, "{names:?}");
    for path in names {
        let text = dry_run(&["--stream", path.to_str().unwrap()]);
        assert!(text.contains("ethernet.dst") && !text.contains("unnumbered"), "{}: {text}", path.display());
    }
}

#[test]
fn a_dry_run_as_json_has_each_field_with_its_bytes() {
    let text = dry_run(&["--vlan", "100", "--flows", "4", "--size", "128", "--json"]);
    let streams: serde_json::Value = serde_json::from_str(&text).unwrap();
    let stream = &streams[0];
    assert_eq!(
        (&stream["name"], &stream["flows"], &stream["numbered"]),
        (&"stream-1".into(), &4.into(), &true.into())
    );
    assert_eq!(stream["frame"].as_str().unwrap().len(), 2 * 124);
    let field = |name: &str| {
        let mut fields = stream["fields"].as_array().unwrap().iter();
        fields.find(|field| field["name"] == name).unwrap_or_else(|| panic!("{name}: {text}")).clone()
    };
    let id = field("vlan.id");
    assert_eq!((&id["offset"], &id["bit"], &id["bits"]), (&14.into(), &4.into(), &12.into()));
    assert_eq!(
        (&id["bytes"], &id["value"], &id["role"]),
        (&"0064".into(), &"100".into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&field("ipv4.total_length")["role"], &field("ipv4.total_length")["value"]),
        (&"length".into(), &"106".into())
    );
    assert_eq!(
        (&field("ipv4.checksum")["role"], &field("probe.magic")["value"]),
        (&"checksum".into(), &"0x5847".into())
    );
    assert_eq!(field("ipv4.src")["varies"], "by frame: 198.18.0.1 up to 198.18.0.4");
}
