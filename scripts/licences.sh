#!/usr/bin/env bash
# Checks the licences, bans and sources of every dependency against deny.toml. cargo-deny is built into target/tools
# when it is not there yet: about three minutes on two cores.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

find_cargo
cd "$ROOT"
TOOLS=$ROOT/target/tools
export PATH=$PATH:$TOOLS/bin
if ! command -v cargo-deny >/dev/null; then
    say "building cargo-deny"
    # Held at 0.20: a later one may ask for a newer Rust than ours.
    cargo install cargo-deny --version '~0.20' --locked --quiet --root "$TOOLS" --target-dir "$TOOLS/build" >&2
    rm -rf "$TOOLS/build"
fi
cargo deny --log-level error check licenses bans sources
