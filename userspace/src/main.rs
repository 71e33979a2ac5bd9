//! Entry point: parse, dispatch, exit code.
fn main() {}
