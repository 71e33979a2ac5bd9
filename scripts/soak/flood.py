"""Floods an interface with frames that are not the run's: `flood.py IF MAC KIND SECONDS SEED TAG`, in its namespace.

KIND is `foreign` (our port and magic, the tag of another run, everything behind it random), `corrupt` (the tag of this
run, but a wrong UDP checksum) or `other` (another port). Knows the headers and the first four bytes of a probe, and
nothing else of xsk-gen.
"""

import random
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
import frame  # noqa: E402

HEADERS = 14 + 20 + 8
MAGIC = bytes.fromhex("5847")


def other_than(tag, rng):
    """Any tag but this: a frame with the right one and no checksum could not be told from a probe."""
    return (tag + rng.randint(1, 0xFFFF)) & 0xFFFF


def frames(mac, kind, rng, tag, count=64):
    """Some frames of the kind; 46 bytes of IPv4, so 60 in all."""
    plain = frame.frame(mac)
    for _ in range(count):
        data = bytearray(plain)
        run = tag if kind == "corrupt" else other_than(tag, rng)
        data[HEADERS:] = MAGIC + struct.pack("!H", run) + rng.randbytes(14)
        if kind == "corrupt":
            data[HEADERS - 2 : HEADERS] = struct.pack("!H", rng.randint(1, 0xFFFF))
        if kind == "other":
            data[HEADERS - 6 : HEADERS - 4] = struct.pack("!H", rng.randint(1024, 65535))
        yield bytes(data)


def main(interface, mac, kind, seconds, seed, tag):
    rng = random.Random(int(seed))
    until = time.monotonic() + float(seconds)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        raw.bind((interface, 0))
        while time.monotonic() < until:
            for data in frames(mac, kind, rng, int(tag)):
                try:
                    raw.send(data)
                except OSError:
                    # A full queue, or a link that another fault took away.
                    time.sleep(0.001)


if __name__ == "__main__":
    main(*sys.argv[1:])
