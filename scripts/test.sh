#!/usr/bin/env bash
# Everything: format, clippy, the tests that need no root, licences, and the tests that need root, which work in
# network namespaces of their own. The last line is `N passed, N failed`, the sum over all tests.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

PASSED=0
FAILED=0
LOG=$(mktemp)

# Namespaces of tests that were killed before they could delete them: those whose process no longer exists.
sweep() {
    local name pid
    for name in $(ip netns list 2>/dev/null | awk '/^xg-[0-9]+-/ { print $1 }'); do
        pid=${name#xg-}
        pid=${pid%%-*}
        [[ -d /proc/$pid ]] || ip netns delete "$name" || true
    done
}

finish() {
    local status=$?
    rm -f "$LOG"
    sweep
    give_back
    [[ $status -eq 0 || $FAILED -gt 0 ]] || FAILED=1
    printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
    [[ $FAILED -eq 0 ]] || exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM

# sum WORD: the numbers in front of WORD in cargo's result lines.
sum() {
    awk -v word="$1" '/^test result:/ { for (i = 2; i <= NF; i++) if ($i ~ "^" word ";?$") n += $(i - 1) }
        END { print n + 0 }' "$LOG"
}

# step NAME COMMAND…: one check that is no cargo test; counts as one.
step() {
    say "$1"
    if "${@:2}"; then PASSED=$((PASSED + 1)); else FAILED=$((FAILED + 1)); fi
}

# tests NAME ARGUMENTS…: a cargo test run; its results are added up. A run that ends badly without a failed test, such
# as one that does not compile, counts as one failure.
tests() {
    local status=0 passed failed
    say "$1"
    cargo test --locked --no-fail-fast "${@:2}" 2>&1 | tee "$LOG" || status=$?
    passed=$(sum passed) failed=$(sum failed)
    [[ $status -eq 0 || $failed -gt 0 ]] || failed=1
    PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed))
}

# Without root, or with a wrong filter, a run of nothing would look like success.
root_tests() {
    local before=$((PASSED + FAILED))
    export XSK_GEN_REQUIRE_ROOT=1
    # One at a time: two cores carry sender and receiver of one test, not of several.
    tests "tests that need root" --workspace -- --ignored --test-threads=1
    [[ $((PASSED + FAILED)) -gt $before ]] && return
    say "no test that needs root ran"
    FAILED=$((FAILED + 1))
}

need_root "the test suite, which makes network namespaces and loads XDP programs,"
need "$BUILD_NEEDS $TEST_NEEDS"
find_cargo
cd "$ROOT"
sweep
step "format" cargo fmt --all --check
step "clippy" cargo clippy --workspace --all-targets --quiet --locked -- -D warnings
step "scripts" python3 -B tests/scripts_test.py --quiet
step "soak" python3 -B tests/soak_test.py --quiet
tests "tests that need no root" --workspace
step "licences, bans and sources" scripts/licences.sh
root_tests
