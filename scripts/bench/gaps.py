#!/usr/bin/env python3
"""Measures how evenly frames arrive at an interface, whoever sends them: `gaps.py DEV SECONDS PID PPS`, in the namespace
of DEV.

A packet socket with the kernel's receive times. It waits until frames arrive, lets the sender settle, records over
the window, and prints {"us", "p50_us", "pps"}: the 99th percentile and the median of |gap - 1 s / PPS| in
microseconds, and the mean rate. Exit code 1, and why on standard error, when nothing arrives in time, frames were
dropped here, or the process that sends ends first.
"""

import json
import socket
import struct
import sys
import time

from window import START_DEADLINE_S, is_alive

SETTLE_S = 1.0
# The socket holds what comes meanwhile, so that reading costs the sender's machine little.
PAUSE_S = 0.05
BUFFER_BYTES = 64 << 20
NS_PER_S = 1_000_000_000
# From linux/if_ether.h, asm/socket.h and linux/if_packet.h; Python does not name them.
ETH_P_ALL, SO_TIMESTAMPNS, SO_RCVBUFFORCE, SOL_PACKET, PACKET_STATISTICS = 3, 35, 33, 263, 6
# EtherType IPv4, then protocol UDP, then destination port 9.
IS_OURS = ((12, b"\x08\x00"), (23, b"\x11"), (36, b"\x00\x09"))


def open_socket(dev):
    """Receives every frame of the interface, with its time."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    tap.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    tap.bind((dev, 0))
    tap.setblocking(False)
    return tap


def arrivals(tap):
    """The times in ns of the frames that the socket holds now."""
    while True:
        try:
            frame, control, _, _ = tap.recvmsg(64, 64)
        except BlockingIOError:
            return
        if all(frame[at : at + len(value)] == value for at, value in IS_OURS):
            seconds, nanos = struct.unpack("qq", control[0][2])
            yield seconds * NS_PER_S + nanos


def record(tap, seconds):
    """The times of the frames of so many seconds."""
    times, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(PAUSE_S)
        times.extend(arrivals(tap))
    return times


def wait_for_frames(tap, pid):
    """False when the deadline passes or the sender ends first."""
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and is_alive(pid):
        if record(tap, PAUSE_S):
            return True
    return False


def errors_us(times, pps):
    """|gap - spacing| in microseconds, smallest first."""
    spacing = NS_PER_S / pps
    return sorted(abs(later - earlier - spacing) / 1e3 for earlier, later in zip(times, times[1:]))


def figures(times, pps):
    """What is printed; None for less than a hundred gaps."""
    errors = errors_us(times, pps)
    if len(errors) < 100:
        return None
    mean_pps = len(errors) * NS_PER_S / (times[-1] - times[0])
    return {"us": errors[len(errors) * 99 // 100], "p50_us": errors[len(errors) // 2], "pps": mean_pps}


def main(dev, seconds, pid, pps):
    tap = open_socket(dev)
    if not wait_for_frames(tap, pid):
        return "no frames arrived"
    record(tap, SETTLE_S)
    times = record(tap, float(seconds))
    _, dropped = struct.unpack("II", tap.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    found = figures(times, float(pps))
    if found is None or dropped or not is_alive(pid):
        return f"{len(times)} frames, {dropped} dropped by the packet socket; sender alive: {is_alive(pid)}"
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
