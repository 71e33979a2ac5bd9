#!/usr/bin/env bash
# Random faults: fresh namespaces, a run, two to five faults in it, and then the books, the exit codes, the words and what
# is left behind are checked; over and over. `--minutes N --seed S`; `--seed S --only N` repeats one scenario.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

need_root "the soak, which makes network namespaces and loads XDP programs,"
need "$BUILD_NEEDS $SOAK_NEEDS"
find_cargo
say "building (release)"
cargo build --release --quiet --locked --manifest-path "$ROOT/Cargo.toml" >&2
give_back
exec python3 -B "$ROOT/scripts/soak/main.py" --binary "$BIN" "$@"
