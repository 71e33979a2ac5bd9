#!/usr/bin/env bash
# Builds xsk-gen and shows it at work in private network namespaces: no NIC is needed and none is touched.
# Arguments are passed on to `xsk-gen demo`; without any it runs for three seconds.
#
#   scripts/demo.sh --rates [SECONDS]
#
# instead runs it at one rate after another, each for so many seconds (5), and shows whether the offered load was the
# asked load; the exit code is 1 where it was not. XSK_GEN=PATH shows another binary than target/release/xsk-gen.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

RATES=(1 100 10000 100000 500000)

# show_rates SECONDS
show_rates() {
    local pps
    WORK=$(mktemp -d)
    trap 'rm -rf "$WORK"' EXIT
    for pps in "${RATES[@]}"; do
        say "demo --rate ${pps}pps --duration $1"
        "$BIN" demo --rate "${pps}pps" --duration "$1" --json --quiet >"$WORK/reports" || stop 1 "the demo at $pps pps failed"
        python3 "$ROOT/scripts/offered.py" read "demo --rate ${pps}pps" "$pps" <"$WORK/reports" >>"$WORK/rows"
    done
    python3 "$ROOT/scripts/offered.py" table "$WORK/rows"
}

need_root "the demo, which makes network namespaces and loads an XDP program,"
if [[ -n ${XSK_GEN:-} ]]; then
    BIN=$XSK_GEN
else
    need "$BUILD_NEEDS"
    find_cargo
    say "building (release)"
    cargo build --release --quiet --locked --manifest-path "$ROOT/Cargo.toml" >&2
    give_back
fi
if [[ ${1:-} == --rates ]]; then
    need "python3:python3"
    show_rates "${2:-5}"
    exit
fi
[[ $# -gt 0 ]] || set -- --duration 3
exec "$BIN" demo "$@"
