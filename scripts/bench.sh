#!/usr/bin/env bash
# Compares xsk-gen with other generators and sinks over a veth pair in private network namespaces: alternating pairs,
# medians, and a bootstrap interval of the ratio. Rates are always those of the far end's interface counters, never a
# tool's own word; times of round trips are each tool's own, times between frames those of a packet socket at the far
# end. It measures only; nothing passes or fails.
#
#   scripts/bench.sh [--pairs N] [--seconds S] [--rows transmit|streams|receive|trips|pacing|all]
#                    [--quick] [--fifo] [--tune] [--out DIR] [--install]
#
# --quick is 3 pairs of a second, and 2 seconds instead of 10 for each rate of the pacing rows; --fifo gives every
# sender of their spacing rows real-time priority, for a machine that others use as well.
# --tune sets the receiving end to gro on, napi_defer_hard_irqs 2, gro_flush_timeout 20000. XDPSOCK=PATH and
# XDP_TRAFFICGEN=PATH bring in those two; XSK_GEN=PATH measures another binary than target/release/xsk-gen.
set -euo pipefail
source "$(dirname "$0")/lib.sh"
source "$ROOT/scripts/bench/tools.sh"
source "$ROOT/scripts/bench/pacing.sh"

PAIRS=11 SECONDS_EACH=3 OFFERED_S=10 ROWS=all OUT="" TUNE="" FIFO="" INSTALL=""
while [[ $# -gt 0 ]]; do
    case $1 in
    --pairs) PAIRS=$2 && shift ;;
    --seconds) SECONDS_EACH=$2 && shift ;;
    --rows) ROWS=$2 && shift ;;
    --out) OUT=$2 && shift ;;
    --quick) PAIRS=3 SECONDS_EACH=1 OFFERED_S=2 ;;
    --fifo) FIFO="chrt --fifo 40" ;;
    --tune) TUNE=yes ;;
    --install) INSTALL=yes ;;
    *) stop 2 "unknown option $1; see the head of scripts/bench.sh" ;;
    esac
    shift
done
[[ $PAIRS =~ ^[1-9][0-9]?$ && $SECONDS_EACH =~ ^[1-9][0-9]?$ ]] || stop 2 "--pairs and --seconds take 1 to 99"
# Longer than any measurement: setting up, settling and stopping included.
LIMIT_S=$((SECONDS_EACH + 60))
[[ $ROWS =~ ^(transmit|streams|receive|trips|pacing|all)$ ]] ||
    stop 2 "--rows takes transmit, streams, receive, trips, pacing or all"

NEAR=xg-$$-near FAR=xg-$$-far
WORK=$(mktemp -d)
# Process groups of ours that may be running, by the pid of their leader.
declare -A ALIVE=()

# stop_group PID: as Ctrl-C would, and by force if that does not help. A tool may have children, which are in its group.
stop_group() {
    kill -INT -- "-$1" 2>/dev/null || true
    for _ in {1..50}; do
        kill -0 -- "-$1" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL -- "-$1" 2>/dev/null || true
}

cleanup() {
    local pid
    for pid in "${!ALIVE[@]}"; do stop_group "$pid"; done
    ip netns delete "$NEAR" 2>/dev/null || true
    ip netns delete "$FAR" 2>/dev/null || true
    rm -rf "$WORK"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# start NETNS NAME COMMAND…: in a process group of its own, output in NAME.out and NAME.err; its pid in STARTED. The
# limit of processor time ends what would otherwise spin for ever, should this script be killed.
start() {
    local log=$WORK/$2
    (ulimit -t $((2 * LIMIT_S)) && exec setsid ip netns exec "$1" "${@:3}") </dev/null >"$log.out" 2>"$log.err" &
    STARTED=$!
    ALIVE[$STARTED]=1
}

finish() {
    stop_group "$1"
    wait "$1" 2>/dev/null || true
    unset "ALIVE[$1]"
    # What a killed tool left attached would be in the next one's way.
    ip -n "$NEAR" link set dev v0 xdp off 2>/dev/null || true
}

lab_up() {
    local end
    for end in "$NEAR" "$FAR"; do
        ip netns add "$end"
        ip netns exec "$end" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
    done
    link_up 1
    python3 "$ROOT/scripts/bench/frame.py" "$FAR_MAC" trafgen >"$WORK/frame.cfg"
    python3 "$ROOT/scripts/bench/frame.py" "$FAR_MAC" pcap >"$WORK/frame.pcap"
    python3 "$ROOT/scripts/bench/frame.py" "$FAR_MAC" flows >"$WORK/flows.pcap"
    clang -target bpf -O2 -I"/usr/include/$(cc -dumpmachine)" -c "$ROOT/scripts/bench/drop.c" -o "$WORK/drop.o"
}

# link_up QUEUES: the pair, of so many queues in each direction.
link_up() {
    local queues=(numtxqueues "$1" numrxqueues "$1")
    ip -n "$NEAR" link del v0 2>/dev/null || true
    ip link add v0 netns "$NEAR" address 02:00:00:00:00:0a "${queues[@]}" \
        type veth peer name v1 netns "$FAR" address 02:00:00:00:00:0b "${queues[@]}"
    ip -n "$NEAR" link set v0 up
    ip -n "$FAR" link set v1 up
    FAR_MAC=$(ip -n "$FAR" -j link show dev v1 | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["address"])')
    [[ -z $TUNE ]] || ip netns exec "$FAR" sh -c \
        'ethtool -K v1 gro on; cd /sys/class/net/v1; echo 2 >napi_defer_hard_irqs; echo 20000 >gro_flush_timeout'
}

# napi NETNS DEV
napi() {
    ip netns exec "$1" sh -c "ethtool -k $2 | sed -n 's/^generic-receive-offload: /gro /p'
        cd /sys/class/net/$2; for file in napi_defer_hard_irqs gro_flush_timeout threaded; do
        printf '%s ' \$file; cat \$file; done" | paste -sd, | sed 's/,/, /g'
}

record_setup() {
    python3 - "$WORK/setup.json" "$(napi "$NEAR" v0)" "$(napi "$FAR" v1)" "$PAIRS" "$SECONDS_EACH" "${FIFO:-none}" <<'PYTHON'
import json, os, platform, sys
path, near, far, pairs, seconds, fifo = sys.argv[1:]
model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
setup = {"kernel": platform.release(), "cpu": model[0] if model else "unknown", "cores": os.cpu_count(),
         "link": "veth, copy mode, one queue; two where a row says so", "NAPI of v0 (sends)": near, "NAPI of v1 (far end)": far,
         "pairs": int(pairs), "seconds a window": int(seconds),
         "load of the machine before (1, 5, 15 min)": ", ".join(f"{load:.1f}" for load in os.getloadavg()),
         "priority of senders in spacing rows": fifo}
json.dump(setup, open(path, "w"), indent=2)
PYTHON
}

# sample ROW SIDE TOOL KEY VALUE…: one line of samples.jsonl; a VALUE that is JSON stays JSON.
sample() {
    python3 - "$@" >>"$WORK/samples.jsonl" <<'PYTHON'
import json, sys
row, side, tool, pair, kind, value = sys.argv[1:]
extra = json.loads(value) if kind == "rates" else {"error": value}
print(json.dumps({"row": row, "side": side, "tool": tool, "pair": int(pair), **extra}))
PYTHON
}

# why NAME: the last words of a tool that has ended.
why() {
    local words
    words=$(cat "$WORK/$1.out" "$WORK/$1.err" 2>/dev/null | tr '\r' '\n' | grep -v '^[[:space:]]*$' | tail -n 1 || true)
    printf '%s\n' "${words:-it sent nothing, and said nothing}"
}

# One window of a sender into the kernel's drop.
measure_transmit() {
    local rates="" status=0
    mapfile -t words < <(command_of "$1")
    start "$NEAR" tool "${words[@]}"
    rates=$(python3 "$ROOT/scripts/bench/window.py" "$FAR" v1 "$SECONDS_EACH" "$STARTED") || status=1
    finish "$STARTED"
    MEASURED=$rates
    return "$status"
}

# One window of a sink, fed by xsk-gen tx.
measure_receive() {
    local rates="" status=0 sink
    mapfile -t words < <(command_of "$1")
    start "$FAR" tool "${words[@]}"
    sink=$STARTED
    wait_for_program || { finish "$sink" && return 1; }
    mapfile -t words < <(command_of "xsk-gen tx")
    start "$NEAR" source "${words[@]}"
    rates=$(python3 "$ROOT/scripts/bench/window.py" "$FAR" v1 "$SECONDS_EACH" "$STARTED") || status=1
    kill -0 "$sink" 2>/dev/null || status=1
    finish "$STARTED"
    finish "$sink"
    ip -n "$FAR" link set dev v1 xdp off 2>/dev/null || true
    MEASURED=$rates
    return "$status"
}

# One run of round trips, 10,000 a second: the tool's answering end, then the end that asks, which ends by itself.
measure_trip() {
    local answering status=0
    mapfile -t words < <(command_of "$1, answering")
    start "$FAR" answering "${words[@]}"
    answering=$STARTED
    case $1 in
    xsk-gen*) wait_for_program || status=1 ;;
    *) sleep 1 ;;
    esac
    mapfile -t words < <(command_of "$1")
    ((status)) || timeout "$LIMIT_S" ip netns exec "$NEAR" "${words[@]}" >"$WORK/tool.out" 2>"$WORK/tool.err" || status=1
    finish "$answering"
    ip -n "$FAR" link set dev v1 xdp off 2>/dev/null || true
    MEASURED=$(python3 "$ROOT/scripts/bench/trip.py" "$WORK/tool.out") || status=1
    return "$status"
}

wait_for_program() {
    for _ in {1..100}; do
        [[ $(ip -n "$FAR" link show dev v1) == *" xdp "* ]] && return 0
        sleep 0.1
    done
    return 1
}

# Tools that failed once are not tried again.
declare -A BROKEN=()

broken() {
    BROKEN[$1]=$2
    say "$1: $2"
}

# probe TOOL: finds out whether it can be run at all.
probe() {
    local reason
    [[ -z ${BROKEN[$1]:-} ]] || return 0
    reason=$(command_of "$1") || broken "$1" "$reason"
}

# once KIND ROW SIDE TOOL PAIR
once() {
    [[ -z ${BROKEN[$4]:-} ]] || return 0
    if "measure_$1" "$4"; then
        sample "$2" "$3" "$4" "$5" rates "$MEASURED"
    else
        broken "$4" "$(why tool)"
    fi
}

# row KIND A B: alternating pairs, each in the other order than the one before. Where A cannot run, B is measured alone;
# where B cannot, there is nothing to compare with.
row() {
    local name="$1: $2 / $3" pair
    say "$name"
    probe "$2"
    probe "$3"
    for ((pair = 0; pair < PAIRS; pair++)); do
        [[ -z ${BROKEN[$3]:-} ]] || break
        if ((pair % 2)); then
            once "$1" "$name" second "$3" "$pair"
            once "$1" "$name" first "$2" "$pair"
        else
            once "$1" "$name" first "$2" "$pair"
            once "$1" "$name" second "$3" "$pair"
        fi
    done
    [[ -z ${BROKEN[$2]:-} ]] || sample "$name" first "$2" 0 error "${BROKEN[$2]}"
    [[ -z ${BROKEN[$3]:-} ]] || sample "$name" second "$3" 0 error "${BROKEN[$3]}"
}

transmit_rows() {
    local peer
    ip -n "$FAR" link set dev v1 xdpdrv obj "$WORK/drop.o" sec xdp
    row transmit "xsk-gen tx --no-verify" "xsk-gen tx"
    for peer in "testpmd net_af_xdp" "testpmd net_af_packet" trafgen tcpreplay xdpsock xdp-trafficgen; do
        row transmit "xsk-gen tx" "$peer"
        # With one side missing, the second row would only repeat the first.
        [[ -n ${BROKEN["xsk-gen tx --no-verify"]:-}${BROKEN[$peer]:-} ]] || row transmit "xsk-gen tx --no-verify" "$peer"
    done
    ip -n "$FAR" link set dev v1 xdpdrv off
}

# What the frames are made of: fields that differ from frame to frame, and a thousand frames from a file.
stream_rows() {
    ip -n "$FAR" link set dev v1 xdpdrv obj "$WORK/drop.o" sec xdp
    row transmit "xsk-gen tx --stream" "xsk-gen tx"
    row transmit "xsk-gen tx --pcap" tcpreplay
    row transmit "xsk-gen tx --pcap" "xsk-gen tx"
    link_up 2
    ip -n "$FAR" link set dev v1 xdpdrv obj "$WORK/drop.o" sec xdp
    row transmit "xsk-gen tx --pcap, two queues" "tcpreplay, 64 flows"
    link_up 1
}

receive_rows() {
    local peer
    if [[ -n ${BROKEN["xsk-gen tx"]:-} ]]; then
        say "no receive rows: xsk-gen tx feeds them, and it cannot run"
        return
    fi
    for peer in "xsk-gen rx --no-verify" "xsk-gen rx --count-only" "testpmd net_af_xdp rx" "xdpsock rx"; do
        row receive "xsk-gen rx" "$peer"
    done
}

# Median and 99.9th percentile of the same runs are a row each.
trip_rows() {
    local tools=("xsk-gen tx --round-trip" "sockperf ping-pong") pair at tool figure
    ip -n "$NEAR" addr add 198.18.0.1/30 dev v0
    ip -n "$FAR" addr add 198.18.0.2/30 dev v1
    say "round trips: ${tools[0]} / ${tools[1]}"
    for tool in "${tools[@]}"; do probe "$tool"; done
    for ((pair = 0; pair < PAIRS; pair++)); do
        for at in $((pair % 2)) $((1 - pair % 2)); do
            tool=${tools[at]}
            [[ -z ${BROKEN[$tool]:-} ]] || continue
            if ! measure_trip "$tool"; then
                broken "$tool" "$(why tool)"
                continue
            fi
            for figure in p50 p99.9; do
                sample "round trip, $figure" "$( ((at)) && echo second || echo first)" "$tool" "$pair" rates \
                    "$(python3 -c 'import json, sys; print(json.dumps({"us": json.loads(sys.argv[1])[sys.argv[2]]}))' "$MEASURED" "$figure")"
            done
        done
    done
    for at in 0 1; do
        tool=${tools[at]}
        [[ -z ${BROKEN[$tool]:-} ]] ||
            sample "round trip, p50" "$( ((at)) && echo second || echo first)" "$tool" 0 error "${BROKEN[$tool]}"
    done
    ip -n "$NEAR" addr del 198.18.0.1/30 dev v0
    ip -n "$FAR" addr del 198.18.0.2/30 dev v1
}

need_root "the bench, which makes network namespaces and attaches XDP programs,"
need "clang:clang cc:gcc ip:iproute2 ethtool:ethtool setsid:util-linux"
[[ -z $INSTALL ]] || install_peers
if [[ -n ${XSK_GEN:-} ]]; then
    BIN=$XSK_GEN
else
    need "$BUILD_NEEDS"
    find_cargo
    cargo build --release --quiet --locked --manifest-path "$ROOT/Cargo.toml" >&2
    give_back
fi
lab_up
record_setup
: >"$WORK/samples.jsonl"
[[ $ROWS =~ ^(transmit|all)$ ]] && transmit_rows
[[ $ROWS =~ ^(streams|all)$ ]] && stream_rows
[[ $ROWS =~ ^(receive|all)$ ]] && receive_rows
[[ $ROWS =~ ^(trips|all)$ ]] && trip_rows
[[ $ROWS =~ ^(pacing|all)$ ]] && pacing_rows
python3 "$ROOT/scripts/bench_stats.py" "$WORK"
if [[ -n $OUT ]]; then
    mkdir -p "$OUT"
    cp "$WORK/bench.md" "$WORK/bench.json" "$OUT/"
fi
