#!/usr/bin/env bash
# Builds xsk-gen and shows it at work in private network namespaces: no NIC is needed and none is touched.
# Arguments are passed on to `xsk-gen demo`; without any it runs for three seconds.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

need_root "the demo, which makes network namespaces and loads an XDP program,"
need "$BUILD_NEEDS"
find_cargo
say "building (release)"
cargo build --release --quiet --locked --manifest-path "$ROOT/Cargo.toml" >&2
give_back
[[ $# -gt 0 ]] || set -- --duration 3
exec "$BIN" demo "$@"
