#!/usr/bin/env python3
"""Runs a sender to its end, `spent.py COMMAND…`, and prints {"pps"}: frames for each second of processor time that it took,
by its Report and the kernel's account. That holds where others use the machine too, unlike a rate. Exit code 1 where
it sent nothing.
"""

import json
import resource
import subprocess
import sys


def frames_a_second(report, usage):
    """None where there was no frame, or no time."""
    seconds = usage.ru_utime + usage.ru_stime
    frames = report["balance"]["completed"]
    return frames / seconds if frames and seconds else None


def main(command):
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if not ended.stdout:
        return 1
    rate = frames_a_second(json.loads(ended.stdout), resource.getrusage(resource.RUSAGE_CHILDREN))
    if rate is None:
        return 1
    print(json.dumps({"pps": rate}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
