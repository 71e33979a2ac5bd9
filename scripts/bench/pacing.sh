# The rows of scripts/bench.sh that are about the rate: whether it is kept, how evenly frames leave, and what pacing costs.
# Sourced, never run; expects what bench.sh defines.
# shellcheck shell=bash

SPACED_PPS=10000
# More than any path of today can do.
BEYOND=100Mpps

# A window of a sender of 10,000 frames a second, timed by a packet socket at the far end.
measure_spacing() {
    local figures="" status=0 words
    mapfile -t words < <(command_of "$1")
    # shellcheck disable=SC2206 # no words, or several
    start "$NEAR" tool ${FIFO:-} "${words[@]}"
    figures=$(ip netns exec "$FAR" python3 -B "$ROOT/scripts/bench/gaps.py" \
        v1 "$SECONDS_EACH" "$STARTED" "$SPACED_PPS") || status=1
    finish "$STARTED"
    MEASURED=$figures
    return "$status"
}

# A run of ours into the kernel's drop, by the processor time that it took.
measure_processor() {
    local status=0 words LIMIT_S=$SECONDS_EACH
    mapfile -t words < <(command_of "$1")
    start "$NEAR" tool python3 -B "$ROOT/scripts/bench/spent.py" "${words[@]}" --json
    wait "$STARTED" || status=1
    finish "$STARTED"
    MEASURED=$(cat "$WORK/tool.out")
    return "$status"
}

# The median of three windows as fast as it goes, in whole frames a second.
measured_maximum() {
    local _
    for _ in 1 2 3; do
        measure_transmit "xsk-gen tx" && printf '%s\n' "$MEASURED"
    done | python3 -c 'import json, statistics, sys
print(int(statistics.median(json.loads(line)["pps"] for line in sys.stdin)))'
}

# offer NAME PPS: one run into the kernel's drop; what its Report says is a line of offered.jsonl.
offer() {
    local words
    say "offered: $1"
    mapfile -t words < <(ours tx v0 --dst-mac "$FAR_MAC" --size 64 --rate "$2pps" --duration "$OFFERED_S" --json)
    start "$NEAR" tool "${words[@]}"
    wait "$STARTED" || true
    finish "$STARTED"
    python3 "$ROOT/scripts/offered.py" read "$1" "$2" <"$WORK/tool.out" >>"$WORK/offered.jsonl" 2>/dev/null ||
        say "$1: $(why tool)"
}

pacing_rows() {
    local pps most
    for pps in "trafgen --gap" "tcpreplay --pps, nano" "tcpreplay --pps, gtod"; do
        row spacing "xsk-gen tx --rate 10kpps" "$pps"
    done
    ip -n "$FAR" link set dev v1 xdpdrv obj "$WORK/drop.o" sec xdp
    row transmit "xsk-gen tx --rate $BEYOND" "xsk-gen tx"
    row processor "xsk-gen tx --rate $BEYOND" "xsk-gen tx"
    for pps in 1 100 10000 100000; do offer "tx --rate ${pps}pps" "$pps"; done
    if most=$(measured_maximum 2>/dev/null); then
        offer "tx, 90 % of the maximum" $((most * 9 / 10))
    else
        say "no maximum: $(why tool)"
    fi
    ip -n "$FAR" link set dev v1 xdpdrv off
}
