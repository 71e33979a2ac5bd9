#!/usr/bin/env python3
"""Reads the times of round trips out of what a tool has printed: `trip.py FILE`, an xsk-gen Report as JSON or the words of
sockperf ping-pong --full-rtt. Prints {"p50", "p99.9"} in microseconds. Exit code 1 where there are none.
"""

import json
import re
import sys


def of_report(report):
    """From the Report of a sender."""
    latency = report["latency_ns"]
    if latency is None or latency["kind"] != "round_trip":
        return None
    return {"p50": latency["p50"] / 1e3, "p99.9": latency["p99_9"] / 1e3}


def of_sockperf(text):
    """From its table of percentiles, which are microseconds."""
    found = dict(re.findall(r"percentile ([\d.]+)\s*=\s*([\d.]+)", text))
    if "50.000" not in found or "99.900" not in found:
        return None
    return {"p50": float(found["50.000"]), "p99.9": float(found["99.900"])}


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    times = of_report(json.loads(text)) if text.startswith("{") else of_sockperf(text)
    if times is None:
        return 1
    print(json.dumps(times))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
