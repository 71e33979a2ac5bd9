//! Builds the XDP programs with clang.
fn main() {}
