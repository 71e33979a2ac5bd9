#!/usr/bin/env python3
"""Writes the one 60-byte frame that the peers send: `frame.py MAC pcap|flows|trafgen` to standard output.

It is what `xsk-gen tx` sends by default (IPv4, UDP to port 9) without a probe. The pcap holds it a thousand times, so
that a player that starts over is not held up at each frame; as flows with 64 source ports in turn.
"""

import socket
import struct
import sys

COPIES = 1000
FLOWS = 64


def checksum(data):
    """RFC 1071 over data of even length."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(mac, port=4242):
    """Ethernet, IPv4 and UDP headers and 18 zero bytes; no UDP checksum."""
    addresses = socket.inet_aton("198.18.0.1") + socket.inet_aton("198.19.0.1")
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 46, 0, 0x4000, 64, socket.IPPROTO_UDP, 0) + addresses
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    ethernet = bytes.fromhex(mac.replace(":", "")) + bytes.fromhex("0200000000010800")
    return ethernet + ip + struct.pack("!HHHH", port, 9, 26, 0) + bytes(18)


def pcap(frames):
    """A capture file, version 2.4, LINKTYPE_ETHERNET."""
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    return header + b"".join(struct.pack("<IIII", 0, 0, len(data), len(data)) + data for data in frames)


def main(mac, form):
    if form == "trafgen":
        print("{ " + ", ".join(f"0x{byte:02x}" for byte in frame(mac)) + " }")
        return
    flows = FLOWS if form == "flows" else 1
    sys.stdout.buffer.write(pcap(frame(mac, 4242 + copy % flows) for copy in range(COPIES)))


if __name__ == "__main__":
    main(*sys.argv[1:])
