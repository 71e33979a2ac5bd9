//! `schema`: the JSON Schema of the Report, made from the type itself and as strict as the writer is.

use crate::report::{Report, SCHEMA};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The JSON Schema (draft 2020-12) of one Report. A command that makes several prints an array of them.
///
/// It describes what is written: every field is there, null where the figure is not known, and no other field is.
#[must_use]
pub fn schema() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(close);
    let mut schema = settings.into_generator().into_root_schema_for::<Report>();
    if let Some(layout) = schema.pointer_mut("/properties/schema") {
        *layout = json!({ "const": SCHEMA, "description": "The version of this layout." });
    }
    schema
}

/// Forbids fields that are not listed, in objects that list any: a map of counters stays open.
fn close(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    transform_subschemas(&mut close, schema);
}

/// Writes the schema as JSON.
///
/// # Errors
/// What writing to `out` gives.
pub fn run(out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &schema())?;
    writeln!(out)
}
