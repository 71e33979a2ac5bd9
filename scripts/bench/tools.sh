# The command lines of what scripts/bench.sh compares; sourced, never run. Those of rates send frames of 60 bytes (64 with FCS) from
# v0, or take them off v1, on one queue (where they do not name two) and without huge pages, until they are told to stop; those of round trips
# send as long datagrams, 10,000 a second for SECONDS_EACH. Expects BIN, WORK, FAR_MAC, SECONDS_EACH, LIMIT_S
# and, of pacing.sh, BEYOND and SPACED_PPS.
# shellcheck shell=bash

# testpmd counts no FCS, so its 60 is our 64. Its default of 155,456 packet buffers does not fit beside others.
testpmd() {
    local device=$1 mode=$2
    printf '%s\n' dpdk-testpmd --no-pci --no-huge -m 1024 -l 0,1 --vdev "$device" -- --forward-mode="$mode" \
        --txpkts=60 --burst=64 --stats-period 1 --no-mlockall --total-num-mbufs=16384
}

# command_of TOOL: the command line, one word a line; fails, with the reason on standard output, for a tool that
# cannot be run at all.
command_of() {
    local queue=start_queue=0,queue_count=1
    case $1 in
    "xsk-gen tx") ours tx v0 --dst-mac "$FAR_MAC" --size 64 --duration "$LIMIT_S" ;;
    "xsk-gen tx --no-verify") ours tx v0 --dst-mac "$FAR_MAC" --size 64 --duration "$LIMIT_S" --no-verify ;;
    "xsk-gen tx --stream")
        ours tx v0 --dst-mac "$FAR_MAC" --stream "$ROOT/scripts/bench/four-fields.toml" --duration "$LIMIT_S"
        ;;
    "xsk-gen tx --pcap") ours tx v0 --pcap "$WORK/frame.pcap" --rate max --loop 0 --duration "$LIMIT_S" ;;
    "xsk-gen tx --pcap, two queues")
        QUEUES=0-1 ours tx v0 --cores 0-1 --pcap "$WORK/flows.pcap" --rate max --loop 0 --duration "$LIMIT_S"
        ;;
    "xsk-gen tx --rate $BEYOND")
        ours tx v0 --dst-mac "$FAR_MAC" --size 64 --rate "$BEYOND" --duration "$LIMIT_S"
        ;;
    "xsk-gen tx --rate 10kpps")
        ours tx v0 --dst-mac "$FAR_MAC" --size 64 --rate "${SPACED_PPS}pps" --duration "$LIMIT_S"
        ;;
    "xsk-gen rx") ours rx v1 --duration "$LIMIT_S" ;;
    "xsk-gen rx --no-verify") ours rx v1 --duration "$LIMIT_S" --no-verify ;;
    "xsk-gen rx --count-only") ours rx v1 --duration "$LIMIT_S" --count-only ;;
    "xsk-gen tx --round-trip")
        ours tx v0 --dst-mac "$FAR_MAC" --size 64 --round-trip --rate 10kpps --duration "$SECONDS_EACH" --json
        ;;
    "xsk-gen tx --round-trip, answering") ours reflect v1 ;;
    # 18 bytes of payload are 60 of frame.
    "sockperf ping-pong")
        there sockperf && printf '%s\n' sockperf ping-pong -i 198.18.0.2 -m 18 --mps=10000 -t "$SECONDS_EACH" --full-rtt
        ;;
    "sockperf ping-pong, answering") there sockperf && printf '%s\n' sockperf server -i 198.18.0.2 ;;
    "testpmd net_af_xdp") there dpdk-testpmd && testpmd "net_af_xdp0,iface=v0,$queue" txonly ;;
    "testpmd net_af_packet") there dpdk-testpmd && testpmd "net_af_packet0,iface=v0" txonly ;;
    "testpmd net_af_xdp rx") there dpdk-testpmd && testpmd "net_af_xdp0,iface=v1,$queue" rxonly ;;
    trafgen)
        # One process, and no change to the machine's interrupts or socket memory.
        there trafgen && printf '%s\n' trafgen --dev v0 --conf "$WORK/frame.cfg" --cpus 1 --notouch-irq --no-sock-mem
        ;;
    tcpreplay)
        there tcpreplay && printf '%s\n' tcpreplay --topspeed --loop=0 --preload-pcap --intf1=v0 "$WORK/frame.pcap"
        ;;
    # Its --rate sends what belongs to a second at once; its gap is what it keeps best, and is slept on top of its own work.
    "trafgen --gap")
        there trafgen && printf '%s\n' trafgen --dev v0 --conf "$WORK/frame.cfg" --cpus 1 --notouch-irq --no-sock-mem \
            --gap "$((1000000 / SPACED_PPS))us"
        ;;
    # nano sleeps between frames, gtod spins.
    "tcpreplay --pps, "*)
        there tcpreplay && printf '%s\n' tcpreplay "--pps=$SPACED_PPS" "--timer=${1##* }" --loop=0 --preload-pcap \
            --intf1=v0 "$WORK/frame.pcap"
        ;;
    "tcpreplay, 64 flows")
        there tcpreplay && printf '%s\n' tcpreplay --topspeed --loop=0 --preload-pcap --intf1=v0 "$WORK/flows.pcap"
        ;;
    # Its size counts the FCS, as ours does.
    xdpsock) given XDPSOCK && printf '%s\n' "$XDPSOCK" -t -i v0 -q 0 -N -c -s 64 -G "$FAR_MAC" ;;
    "xdpsock rx") given XDPSOCK && printf '%s\n' "$XDPSOCK" -r -i v1 -q 0 -N -c ;;
    xdp-trafficgen) given XDP_TRAFFICGEN && printf '%s\n' "$XDP_TRAFFICGEN" udp v0 --dst-mac "$FAR_MAC" ;;
    *) printf 'no such tool\n' && return 1 ;;
    esac
}

ours() {
    [[ -x $BIN ]] || { printf 'no %s\n' "${BIN#"$ROOT"/}" && return 1; }
    printf '%s\n' "$BIN" "$1" --iface "$2" --queues "${QUEUES:-0}" --quiet "${@:3}"
}

there() { command -v "$1" >/dev/null || { printf '%s is not installed (scripts/bench.sh --install)\n' "$1" && return 1; }; }

given() { [[ -x ${!1:-} ]] || { printf '%s=PATH does not name a program\n' "$1" && return 1; }; }

# Debian's name of a driver package ends in a version that changes with the release.
install_peers() {
    command -v apt-get >/dev/null || stop 3 "--install needs apt-get; by hand: dpdk-testpmd, trafgen, tcpreplay, sockperf"
    say "installing the peers"
    apt-get -qq update >&2
    local drivers
    drivers=$(apt-cache search --names-only '^librte-(net-af-xdp|net-af-packet|mempool-ring)[0-9.]+$' | awk '{ print $1 }')
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        dpdk dpdk-dev $drivers netsniff-ng tcpreplay sockperf >&2
}
