#!/usr/bin/env python3
"""Writes the one 60-byte frame that the peers send: `frame.py MAC pcap|trafgen` to standard output.

It is what `xsk-gen tx` sends by default (IPv4, UDP to port 9) without a probe. The pcap holds it a thousand times, so
that a player that starts over is not held up at each frame.
"""

import socket
import struct
import sys

COPIES = 1000


def checksum(data):
    """RFC 1071 over data of even length."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(mac):
    """Ethernet, IPv4 and UDP headers and 18 zero bytes; no UDP checksum."""
    addresses = socket.inet_aton("198.18.0.1") + socket.inet_aton("198.19.0.1")
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 46, 0, 0x4000, 64, socket.IPPROTO_UDP, 0) + addresses
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    ethernet = bytes.fromhex(mac.replace(":", "")) + bytes.fromhex("0200000000010800")
    return ethernet + ip + struct.pack("!HHHH", 4242, 9, 26, 0) + bytes(18)


def pcap(data):
    """A capture file, version 2.4, LINKTYPE_ETHERNET."""
    record = struct.pack("<IIII", 0, 0, len(data), len(data)) + data
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + record * COPIES


def main(mac, form):
    data = frame(mac)
    text = "{ " + ", ".join(f"0x{byte:02x}" for byte in data) + " }\n"
    sys.stdout.buffer.write(pcap(data) if form == "pcap" else text.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
