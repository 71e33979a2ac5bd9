#!/usr/bin/env bash
# Property tests over random bytes for as long as asked: whatever is read from the wire or from a user, and the XDP program
# beside the inspector. `--minutes N --seed S`; a seed that fails is named, and `--seed S --rounds 1` repeats it. (cargo-fuzz
# takes a nightly compiler, which nothing else here does: property tests are what this runs, with other seeds and more cases.)
set -euo pipefail
source "$(dirname "$0")/lib.sh"

MINUTES=10 SEED=$(date +%s) ROUNDS=0
# About half a minute a round: a failure is told soon, and compiling is not the most of it.
CASES=1000

while [[ $# -gt 0 ]]; do
    [[ $# -gt 1 && $2 =~ ^[0-9]+$ ]] || stop 2 "$1: usage: scripts/fuzz.sh [--minutes N] [--seed S] [--rounds N], whole numbers"
    case $1 in
    --minutes) MINUTES=$2 ;;
    --seed) SEED=$2 ;;
    --rounds) ROUNDS=$2 ;;
    *) stop 2 "$1: usage: scripts/fuzz.sh [--minutes N] [--seed S] [--rounds N]" ;;
    esac
    shift 2
done

# round SEED: every property that takes bytes, frames or text of others.
round() {
    export PROPTEST_RNG_SEED=$1 PROPTEST_CASES=$CASES XSK_GEN_REQUIRE_ROOT=1
    cargo test --quiet --locked --package xsk-gen --lib -- frame:: config:: units:: host:: &&
        cargo test --quiet --locked --package xsk-gen --test recognition -- --ignored --test-threads=1
}

need_root "fuzzing, which runs the XDP program in the kernel,"
need "$BUILD_NEEDS"
find_cargo
cd "$ROOT"
LOG=$(mktemp)
trap 'rm -f "$LOG"; give_back' EXIT
trap 'exit 130' INT TERM
deadline=$((SECONDS + MINUTES * 60))
done=0
while :; do
    seed=$((SEED + done))
    if ! round "$seed" >"$LOG" 2>&1; then
        cat "$LOG" >&2
        stop 1 "seed $seed failed: scripts/fuzz.sh --seed $seed --rounds 1"
    fi
    done=$((done + 1))
    say "seed $seed: nothing found ($CASES cases a property, round $done)"
    if [[ $ROUNDS -gt 0 ]]; then
        [[ $done -lt $ROUNDS ]] || break
    elif [[ $SECONDS -ge $deadline ]]; then
        break
    fi
done
printf '%d rounds, 0 failed\n' "$done"
