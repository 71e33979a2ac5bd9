//! The JSON Schema that the binary prints, and the JSON that Reports are written as: each checks the other.
#![allow(clippy::unwrap_used, reason = "a failed test is a panic")]

use serde_json::{Map, Value};
use std::process::Command;
use xsk_gen::render;
use xsk_gen::report::Report;

const FULL: &str = include_str!("samples/report-full.json");
const SPARSE: &str = include_str!("samples/report-sparse.json");

fn schema() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_xsk-gen")).arg("schema").output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn written(reports: &[Report]) -> String {
    let mut out = Vec::new();
    render::json(reports, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn sample(text: &str) -> (Value, Report) {
    (serde_json::from_str(text).unwrap(), serde_json::from_str(text).unwrap())
}

/// Every object below `value` whose fields the schema lists, as a path and a way to it.
fn objects(value: &Value, path: &str) -> Vec<String> {
    let below = |name: &str, value: &Value| objects(value, &format!("{path}/{name}"));
    match value {
        Value::Object(fields) => {
            let inner = fields.iter().flat_map(|(name, value)| below(name, value));
            // These two map names to numbers, whichever names there are.
            let open = path.ends_with("/rejected") || path.ends_with("/counters");
            inner.chain((!open).then(|| path.to_owned())).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(i, item)| below(&i.to_string(), item)).collect()
        }
        _ => Vec::new(),
    }
}

fn fields<'a>(value: &'a mut Value, path: &str) -> &'a mut Map<String, Value> {
    value.pointer_mut(path).and_then(Value::as_object_mut).unwrap()
}

#[test]
fn the_schema_is_a_schema_of_2020_12() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(jsonschema::meta::is_valid(&schema));
}

#[test]
fn reports_are_written_as_the_schema_says() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for text in [FULL, SPARSE] {
        let (value, report) = sample(text);
        let again: Value = serde_json::from_str(&written(&[report])).unwrap();
        assert_eq!(again, value, "a field of the sample was not read, or not written");
        assert!(validator.is_valid(&again), "{:?}", validator.validate(&again));
    }
}

#[test]
fn a_missing_field_is_found_wherever_it_is() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let (value, _) = sample(FULL);
    for path in objects(&value, "") {
        let names: Vec<String> = fields(&mut value.clone(), &path).keys().cloned().collect();
        for name in names {
            let mut changed = value.clone();
            fields(&mut changed, &path).remove(&name);
            assert!(!validator.is_valid(&changed), "{path}/{name} can be left out");
        }
    }
}

#[test]
fn a_report_from_before_a_field_was_there_is_read_and_does_not_know_it() {
    const LATER: [&str; 9] = [
        "/gaps_ns",
        "/latency_ns/sampled",
        "/latency_ns/p99_999",
        "/latency_ns/pdv",
        "/latency_ns/jitter",
        "/latency_ns/negative",
        "/latency_ns/streams_followed",
        "/latency_ns/queue_limited",
        "/streams/0/latency_ns",
    ];
    for pointer in LATER {
        let (mut value, _) = sample(FULL);
        let (path, name) = pointer.rsplit_once('/').unwrap();
        fields(&mut value, path).remove(name).unwrap();
        let report: Report = serde_json::from_value(value).unwrap();
        let again: Value = serde_json::from_str(&written(&[report])).unwrap();
        assert_eq!(again.pointer(pointer), Some(&Value::Null));
    }
}

#[test]
fn an_extra_field_is_found_wherever_it_is() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let (value, _) = sample(FULL);
    let paths = objects(&value, "");
    assert!(paths.len() > 15, "{paths:?}");
    for path in paths {
        let mut changed = value.clone();
        fields(&mut changed, &path).insert("extra".to_owned(), Value::Null);
        assert!(!validator.is_valid(&changed), "{path} takes an extra field");
    }
}

#[test]
fn another_layout_is_not_this_one() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let (mut value, _) = sample(FULL);
    value["schema"] = "xsk-gen/2".into();
    assert!(!validator.is_valid(&value));
}

#[test]
fn one_report_is_an_object_and_several_are_an_array() {
    let [(full, report), (sparse, other)] = [FULL, SPARSE].map(sample);
    let parse = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    assert_eq!(parse(written(std::slice::from_ref(&report))), full);
    assert_eq!(parse(written(&[report, other])), Value::Array(vec![full, sparse]));
    assert_eq!(written(&[]), "[]\n");
}

#[test]
fn fields_stand_in_one_order() {
    let text = written(&[sample(FULL).1]);
    let at = |field: &&str| text.find(&format!("\n  \"{field}\":")).unwrap();
    let order =
        ["schema", "id", "command", "duration_s", "interface", "setup", "offered", "balance", "findings"];
    assert!(order.is_sorted_by_key(at));
}
