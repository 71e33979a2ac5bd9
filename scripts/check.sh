#!/usr/bin/env bash
# The fast loop: format, clippy, and the tests that need no root. Installs nothing.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

find_cargo
cd "$ROOT"
cargo fmt --all --check
cargo clippy --all-targets --quiet --locked -- -D warnings
python3 -B tests/scripts_test.py --quiet
cargo test --quiet --locked
