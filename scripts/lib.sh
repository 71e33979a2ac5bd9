# Shared by the scripts beside it; sourced, never run. Expects `set -euo pipefail`.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # read by the scripts that source this file
BIN=$ROOT/target/release/xsk-gen

say() { printf '== %s\n' "$*" >&2; }

# stop STATUS WORDS…: 3 is "the machine lacks something", as for the program itself.
stop() {
    local status=$1
    shift
    printf 'error: %s\n' "$*" >&2
    exit "$status"
}

# What building needs: a command or header to look for, and the Debian package that brings it.
# shellcheck disable=SC2034 # read by demo.sh and test.sh
BUILD_NEEDS="clang:clang llvm-strip:llvm m4:m4 pkg-config:pkg-config cc:gcc make:make
/usr/include/libelf.h:libelf-dev /usr/include/zlib.h:zlib1g-dev /usr/include/linux/if_xdp.h:linux-libc-dev"
# shellcheck disable=SC2034 # read by test.sh
TEST_NEEDS="ip:iproute2 ethtool:ethtool bpftool:bpftool tcpdump:tcpdump tshark:tshark nsenter:util-linux
strace:strace python3:python3 /usr/lib/python3/dist-packages/scapy:python3-scapy"
# shellcheck disable=SC2034 # read by soak.sh
SOAK_NEEDS="ip:iproute2 bpftool:bpftool nsenter:util-linux setpriv:util-linux python3:python3"

# is_there WHAT: a header by its path, a command by its name. Debian keeps some commands in sbin, which an ordinary
# user's PATH leaves out.
is_there() {
    case $1 in
    /*) [[ -e $1 ]] ;;
    *) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
    esac
}

# missing_packages NEEDS: the packages whose command or header is not there, one a line.
missing_packages() {
    local need
    for need in $1; do
        is_there "${need%%:*}" || printf '%s\n' "${need#*:}"
    done | sort -u
}

# need NEEDS: installs what is missing where apt-get can do it, otherwise says exactly what is missing.
need() {
    local missing
    missing=$(missing_packages "$1" | tr '\n' ' ')
    [[ -z $missing ]] && return 0
    if [[ $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
        stop 3 "missing (Debian's names): ${missing% }. Install them, or run this script as root on a Debian system."
    fi
    say "installing ${missing% }"
    apt-get -qq update >&2
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >&2
    missing=$(missing_packages "$1" | tr '\n' ' ')
    [[ -z $missing ]] || stop 3 "still missing after the installation: ${missing% }"
}

# home_of USER: from the user database, since sudo may keep or replace HOME.
home_of() { getent passwd "$1" | cut -d: -f6; }

# find_cargo: puts cargo on PATH; under sudo it is often in the calling user's home only.
find_cargo() {
    local user home
    export PATH=$PATH:/usr/sbin:/sbin
    command -v cargo >/dev/null && return 0
    for user in "$(id -un)" "${SUDO_USER:-}"; do
        [[ -n $user ]] || continue
        home=$(home_of "$user")
        [[ -x $home/.cargo/bin/cargo ]] || continue
        # cargo there is rustup's, which looks for its toolchains in the home of its owner.
        export PATH=$home/.cargo/bin:$PATH RUSTUP_HOME=${RUSTUP_HOME:-$home/.rustup}
        return 0
    done
    stop 3 "no cargo on PATH or in ~/.cargo/bin: install Rust 1.88 or newer (https://rustup.rs)"
}

# need_root WHY
need_root() {
    [[ $(id -u) -eq 0 ]] || stop 3 "$1 needs root: sudo ${BASH_SOURCE[-1]}"
}

# give_back: what was built under sudo belongs to the caller again, so that the next build without sudo works.
give_back() {
    [[ -n ${SUDO_UID:-} && $(stat -c %u "$ROOT") == "$SUDO_UID" && -d $ROOT/target ]] || return 0
    chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$ROOT/target"
}
