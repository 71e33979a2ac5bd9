#!/usr/bin/env python3
"""foreign.py IFACE DST_MAC KIND COUNT [PER_SECOND]: sends frames to UDP port 9 or of EtherType 0x88B5 that no xsk-gen has made.

KIND: random  probes whose run (8 or more), stream and number are made up
      streams probes of run 9 whose stream and number are made up
      spoilt  probes of run 7 with a wrong UDP checksum
      beyond  plain Ethernet probes of run 7 with number 6000
      cut     IPv4 headers that say more than there is
      split   first fragments of UDP datagrams
      rude    control frames of run 9 that no sender writes
"""
import random
import socket
import struct
import sys
import time

MAGIC = 0x5847


def probe(run, stream, number):
    return struct.pack("!HHHIHHI", MAGIC, run, stream, number, 1, 0, 0)


def ethernet(destination, kind):
    return bytes.fromhex(destination.replace(":", "")) + bytes.fromhex("020000000099") + struct.pack("!H", kind)


def total(data):
    value = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while value >> 16:
        value = (value & 0xFFFF) + (value >> 16)
    return value ^ 0xFFFF


def ipv4(payload, checksum=0, fragment=0, extra=0):
    udp = struct.pack("!HHHH", 5000, 9, 8 + len(payload), checksum) + payload
    parts = [0x45, 0, 20 + len(udp) + extra, 1, fragment, 64, 17]
    addresses = socket.inet_aton("198.18.0.9") + socket.inet_aton("198.19.0.1")
    bare = struct.pack("!BBHHHBBH", *parts, 0) + addresses
    return struct.pack("!BBHHHBBH", *parts, total(bare)) + addresses + udp


def made_up(run):
    # Not the stream of control frames.
    return probe(run, random.randrange(0xFFFF), random.randrange(1 << 32))


RUDE = [
    b'{"v":1,"kind":"start","id":"\\u001b[2J","started_unix_ns":1,"size_bytes":4294967295,"rate_pps":1e308,'
    b'"flows":4294967295,"spaces":65535,"seed":0,"batch":0,"verify":true,"src_mac":"","dst_mac":"","vlans":[]}',
    b'{"v":1,"kind":"end","part":65535,"parts":65535,"spaces":[],"duration_ns":18446744073709551615}',
    b'{"v":1,"kind":"end","part":0,"parts":1,"spaces":[{"space":0,"built":18446744073709551615,'
    b'"completed":18446744073709551615},{"space":1,"built":18446744073709551615,"completed":18446744073709551615}],'
    b'"device_drops":18446744073709551615,"duration_ns":18446744073709551615,"age_ns":18446744073709551615}',
    b'{"v":18446744073709551615,"kind":"start"}',
    b"[" * 400,
    b"\xff" * 99,
]


def rude():
    said = random.choice(RUDE)
    return probe(9, 0xFFFF, 1) + struct.pack("!H", len(said)) + said + bytes(len(said) % 2)


def body(kind):
    if kind == "rude":
        return 0x0800, ipv4(rude())
    if kind == "random":
        return 0x0800, ipv4(made_up(random.randrange(8, 1 << 16)))
    if kind == "streams":
        return 0x0800, ipv4(made_up(9))
    if kind == "spoilt":
        return 0x0800, ipv4(probe(7, 0x8000, 1), checksum=0x1234)
    if kind == "beyond":
        return 0x88B5, probe(7, 0x8000, 6000) + bytes(28)
    if kind == "cut":
        return 0x0800, ipv4(probe(7, 0x8000, 1), extra=400)
    return 0x0800, ipv4(probe(7, 0x8000, 1), fragment=0x2000)


def main():
    iface, destination, kind, count = sys.argv[1:5]
    pause = 1 / float(sys.argv[5]) if len(sys.argv) > 5 else 0
    random.seed(1)
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((iface, 0))
    due = time.monotonic()
    for _ in range(int(count)):
        ethertype, rest = body(kind)
        out.send(ethernet(destination, ethertype) + rest)
        due += pause
        time.sleep(max(0, due - time.monotonic()) if pause else 0)


if __name__ == "__main__":
    main()
