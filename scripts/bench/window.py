#!/usr/bin/env python3
"""Measures what arrives at an interface, by its own counters: `window.py NETNS DEV SECONDS PID`.

Waits until frames arrive, lets the sender settle, counts over the window, and prints {"pps", "dropped_pps",
"seconds"}. `pps` are the frames that the interface received and did not drop. Exit code 1 when nothing arrives in
time, or the process that sends ends first.
"""

import json
import os
import subprocess
import sys
import time

# Fewer are control frames or the kernel's own.
STARTED_FRAMES = 1000
# testpmd takes seconds to set its memory up.
START_DEADLINE_S = 20.0
SETTLE_S = 0.5
PAUSE_S = 0.05


def counters(netns, dev):
    """Time, frames received and frames dropped; the time is the middle of the reading."""
    before = time.monotonic()
    text = subprocess.check_output(["ip", "-n", netns, "-s", "-j", "link", "show", "dev", dev])
    rx = json.loads(text)[0]["stats64"]["rx"]
    return (before + time.monotonic()) / 2, rx["packets"], rx["dropped"]


def is_alive(pid):
    """Whether the process runs; one that has ended and is not yet waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_frames(netns, dev, pid):
    """False when the deadline passes or the sender ends first."""
    start, first, _ = counters(netns, dev)
    while time.monotonic() - start < START_DEADLINE_S and is_alive(pid):
        if counters(netns, dev)[1] >= first + STARTED_FRAMES:
            return True
        time.sleep(PAUSE_S)
    return False


def main(netns, dev, seconds, pid):
    if not wait_for_frames(netns, dev, pid):
        return 1
    time.sleep(SETTLE_S)
    start, packets, dropped = counters(netns, dev)
    time.sleep(float(seconds))
    end, packets_after, dropped_after = counters(netns, dev)
    if not is_alive(pid):
        return 1
    length = end - start
    lost = dropped_after - dropped
    rates = {"pps": (packets_after - packets - lost) / length, "dropped_pps": lost / length, "seconds": length}
    print(json.dumps(rates))
    return 0


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    sys.exit(main(*sys.argv[1:]))
