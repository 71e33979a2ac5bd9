"""Random stacks, written by xsk-gen and built by scapy from the same choices, compared byte by byte; and once more built
from what scapy dissects, with lengths and checksums left to it. Sends nothing.

    rebuild.py XSK_GEN --seed S --stacks N [--keep DIR]
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, IPv6
from scapy.layers.l2 import ARP, GRE, Dot1AD, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw
from scapy.utils import RawPcapReader

# As many streams as one file takes.
FILE = 64
PROBE = 18
MAGIC = b"XG"
# Numbers by which a header announces the next one (IANA); None is the probe, and "raw" bytes of the user's own.
ETHER_TYPE = {
    "ipv4": 0x0800, "ipv6": 0x86DD, "arp": 0x0806, "mpls": 0x8847, "ethernet": 0x6558, "raw": 0x88B6, None: 0x88B5,
}
PROTOCOL = {"udp": 17, "tcp": 6, "icmp": 1, "icmpv6": 58, "gre": 47, "ipv4": 4, "ipv6": 41, "mpls": 137}
EXPERIMENT = 253
# What may stand behind what; None ends the stack.
BEHIND = {
    "ethernet": ["vlan", "vlan", "mpls", "ipv4", "ipv4", "ipv6", "ipv6", "arp", "raw", None],
    "vlan": ["vlan", "mpls", "ipv4", "ipv6", "arp", "raw", None],
    "mpls": ["mpls", "ipv4", "ipv6"],
    "ipv4": ["udp", "udp", "udp", "tcp", "tcp", "icmp", "gre", "ipv4", "ipv6", "mpls", "raw", None],
    "ipv6": ["udp", "udp", "udp", "tcp", "tcp", "icmpv6", "gre", "ipv4", "ipv6", "raw", None],
    "udp": ["vxlan", "gtpu", "raw", None, None, None],
    "tcp": ["raw", None, None],
    "icmp": ["raw", None],
    "icmpv6": ["raw", None],
    "arp": [None],
    "gre": ["ipv4", "ipv6", "ethernet", "mpls"],
    "vxlan": ["ethernet"],
    "gtpu": ["ipv4", "ipv6"],
    "raw": [None],
}
LAYERS = {
    "ethernet": Ether, "vlan": (Dot1Q, Dot1AD), "mpls": MPLS, "ipv4": IP, "ipv6": IPv6, "udp": UDP, "tcp": TCP,
    "icmp": ICMP, "icmpv6": ICMPv6EchoRequest, "arp": ARP, "gre": GRE, "vxlan": VXLAN, "gtpu": GTP_U_Header,
}
TAGS = 2
CHECKSUMS = 8
HEADERS = 14


class Stack:
    """One random stack: how a stream file says it, and how scapy does."""

    def __init__(self, rng):
        self.rng = rng
        self.names = self.choose_names()
        self.text, self.packet, self.ether_src = [], None, None
        for at, name in enumerate(self.names):
            following = self.names[at + 1] if at + 1 < len(self.names) else None
            keys, layer = getattr(self, name)(at, following)
            self.text.append("{ %s = %s }" % (name, keys if isinstance(keys, str) else table(keys)))
            self.packet = layer if self.packet is None else self.packet / layer

    def choose_names(self):
        while True:
            names = ["ethernet"]
            while (following := self.rng.choice(BEHIND[names[-1]])) is not None:
                names.append(following)
            if len(names) <= HEADERS and acceptable(names):
                return names

    def some(self, bits):
        """A number of so many bits, often one at the edge."""
        top = (1 << bits) - 1
        return self.rng.choice([0, top, self.rng.randint(0, top), self.rng.randint(0, top)])

    def maybe(self, keys, key, value, default, shown=None):
        """States `key` half of the time; gives what holds."""
        if self.rng.random() < 0.5:
            return default
        keys[key] = shown if shown is not None else value
        return value

    def mac(self):
        return "02:" + ":".join("%02x" % self.rng.randrange(256) for _ in range(5))

    def ipv4_address(self):
        return "192.0.2.%d" % self.rng.randrange(256)

    def ipv6_address(self):
        return "2001:db8:%x::%x" % (self.rng.randrange(1, 0x10000), self.rng.randrange(1, 0x10000))

    def ethernet(self, at, following):
        keys, inner = {}, at > 0
        dst = "02:00:00:00:01:02" if inner else "02:00:00:00:00:02"
        src = "02:00:00:00:01:01" if inner else "02:00:00:00:00:01"
        dst, src = self.maybe(keys, "dst", self.mac(), dst), self.maybe(keys, "src", self.mac(), src)
        self.ether_src = src
        return keys, Ether(dst=dst, src=src, type=self.ether_type(at))

    def ether_type(self, at):
        following = self.names[at + 1] if at + 1 < len(self.names) else None
        if following != "vlan":
            return ETHER_TYPE[following]
        return 0x88A8 if self.names[at + 2 : at + 3] == ["vlan"] else 0x8100

    def vlan(self, at, following):
        keys = {}
        tag = {
            "vlan": self.maybe(keys, "id", self.rng.randrange(4095), 0),
            "prio": self.maybe(keys, "pcp", self.some(3), 0),
            "id": self.maybe(keys, "dei", 1, 0, True),
        }
        return keys, Dot1Q(type=self.ether_type(at), **tag)

    def mpls(self, at, following):
        keys = {}
        label = self.maybe(keys, "label", self.some(20), 0)
        tc, ttl = self.maybe(keys, "tc", self.some(3), 0), self.maybe(keys, "ttl", self.some(8), 64)
        return keys, MPLS(label=label, cos=tc, s=int(following != "mpls"), ttl=ttl)

    def ipv4(self, at, following):
        keys = {}
        dscp, ecn = self.maybe(keys, "dscp", self.some(6), 0), self.maybe(keys, "ecn", self.some(2), 0)
        # scapy takes the first byte of 15 words behind GTP-U for PPP.
        words = self.rng.choice([0, 0, 0, 1, 9 if self.names[at - 1] == "gtpu" else 10])
        if words:
            # No-operation options fill whole words.
            keys["options"] = "01" * (4 * words)
        return keys, IP(
            src=self.maybe(keys, "src", self.ipv4_address(), "198.18.0.1"),
            dst=self.maybe(keys, "dst", self.ipv4_address(), "198.19.0.1"),
            tos=dscp << 2 | ecn,
            id=self.maybe(keys, "id", self.some(16), 0),
            flags="DF" if self.maybe(keys, "df", False, True) else 0,
            ttl=self.maybe(keys, "ttl", self.some(8), 64),
            proto=PROTOCOL.get(following, EXPERIMENT),
            options=ip_options(words),
        )

    def ipv6(self, at, following):
        keys = {}
        dscp, ecn = self.maybe(keys, "dscp", self.some(6), 0), self.maybe(keys, "ecn", self.some(2), 0)
        return keys, IPv6(
            src=self.maybe(keys, "src", self.ipv6_address(), "2001:2::1"),
            dst=self.maybe(keys, "dst", self.ipv6_address(), "2001:2:0:8000::1"),
            tc=dscp << 2 | ecn,
            fl=self.maybe(keys, "flow_label", self.some(20), 0),
            hlim=self.maybe(keys, "hop_limit", self.some(8), 64),
            nh=PROTOCOL.get(following, EXPERIMENT),
        )

    def udp(self, at, following):
        keys, tunnel = {}, {"vxlan": (49152, 4789), "gtpu": (2152, 2152)}.get(following, (4242, 9))
        over_ipv4 = self.names[at - 1] == "ipv4"
        computed = not (over_ipv4 and following == "vxlan")
        if over_ipv4 and self.rng.random() < 0.3:
            computed = keys["checksum"] = self.rng.random() < 0.5
        sport = self.maybe(keys, "src_port", self.rng.randint(1, 65535), tunnel[0])
        # scapy, as everyone, knows tunnels by their port; and others' ports would be taken for theirs.
        dport = tunnel[1]
        if following not in ("vxlan", "gtpu"):
            dport = self.maybe(keys, "dst_port", self.rng.randint(50000, 60000), dport)
            sport = keys["src_port"] = self.rng.randint(50000, 60000)
        return keys, UDP(sport=sport, dport=dport, **({} if computed else {"chksum": 0}))

    def tcp(self, at, following):
        keys, words = {}, self.rng.choice([0, 0, 1, 10])
        if words:
            keys["options"] = "01" * (4 * words)
        return keys, TCP(
            sport=self.maybe(keys, "src_port", self.some(16), 4242),
            dport=self.maybe(keys, "dst_port", self.rng.randint(50000, 60000), 9),
            seq=self.maybe(keys, "seq", self.some(32), 0),
            ack=self.maybe(keys, "ack", self.some(32), 0),
            flags=self.maybe(keys, "flags", self.some(9), 0),
            window=self.maybe(keys, "window", self.some(16), 65535),
            urgptr=self.maybe(keys, "urgent", self.some(16), 0),
            options=[("NOP", None)] * (4 * words),
        )

    def echo(self, keys):
        return {
            "code": self.maybe(keys, "code", self.some(8), 0),
            "id": self.maybe(keys, "id", self.some(16), 0),
            "seq": self.maybe(keys, "seq", self.some(16), 0),
        }

    def icmp(self, at, following):
        keys = {}
        return keys, ICMP(type=self.maybe(keys, "type", 0, 8), **self.echo(keys))

    def icmpv6(self, at, following):
        keys = {}
        return keys, ICMPv6EchoRequest(**self.echo(keys))

    def arp(self, at, following):
        keys = {}
        return keys, ARP(
            op=self.maybe(keys, "operation", self.rng.choice([1, 2]), 1),
            hwsrc=self.maybe(keys, "sender_mac", self.mac(), self.ether_src),
            psrc=self.maybe(keys, "sender_ip", self.ipv4_address(), "198.18.0.1"),
            hwdst=self.maybe(keys, "target_mac", self.mac(), "00:00:00:00:00:00"),
            pdst=self.maybe(keys, "target_ip", self.ipv4_address(), "198.19.0.1"),
        )

    def gre(self, at, following):
        keys, fields = {}, {"proto": ETHER_TYPE[following]}
        if self.rng.random() < 0.5:
            keys["checksum"], fields["chksum_present"] = True, 1
        if self.rng.random() < 0.5:
            keys["key"] = fields["key"] = self.some(32)
            fields["key_present"] = 1
        if self.rng.random() < 0.5:
            keys["seq"] = fields["sequence_number"] = self.some(32)
            fields["seqnum_present"] = 1
        return keys, GRE(**fields)

    def vxlan(self, at, following):
        keys = {}
        return keys, VXLAN(flags=0x08, vni=self.maybe(keys, "vni", self.some(24), 0))

    def gtpu(self, at, following):
        keys = {}
        teid = self.maybe(keys, "teid", self.some(32), 0)
        fields = {}
        if self.rng.random() < 0.5:
            keys["seq"] = fields["seq"] = self.some(16)
            fields["S"] = 1
        return keys, GTP_U_Header(version=1, PT=1, gtp_type=255, teid=teid, **fields)

    def raw(self, at, following):
        content = self.rng.randbytes(self.rng.randint(1, 40))
        return '"%s"' % content.hex(), Raw(content)


def ip_options(words):
    from scapy.layers.inet import IPOption_NOP

    return [IPOption_NOP() for _ in range(4 * words)]


def acceptable(names):
    """Within the bounds of a stack: tags behind one Ethernet header, and checksums."""
    run = 0
    for name in names:
        run = run + 1 if name == "vlan" else 0
        if run > TAGS:
            return False
    return sum(name in ("ipv4", "udp", "tcp", "icmp", "icmpv6", "gre") for name in names) <= CHECKSUMS


def table(keys):
    def value(v):
        return str(v).lower() if isinstance(v, bool) else str(v) if isinstance(v, int) else '"%s"' % v

    return "{ %s }" % ", ".join("%s = %s" % (k, value(v)) for k, v in keys.items()) if keys else "{}"


def write(binary, stacks, folder):
    """The frames that xsk-gen makes of the stacks, one each."""
    text = "".join("[[stream]]\nlayers = [%s]\n" % ", ".join(stack.text) for stack in stacks)
    (folder / "streams.toml").write_text(text)
    pcap = folder / "frames.pcap"
    command = [binary, "tx", "--dry-run", "--stream", folder / "streams.toml", "--write", pcap, "--count", str(len(stacks))]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [bytes(frame) for frame, _ in RawPcapReader(str(pcap))]


def rebuilt(frame):
    """What scapy makes of what it has dissected, lengths and checksums computed anew."""
    packet, layers = Ether(frame), []
    layer = packet
    while layer and layer.name != "NoPayload":
        layers.append(layer)
        layer = layer.payload
    for layer in layers:
        for name in ("len", "plen", "length", "chksum", "cksum", "ihl", "dataofs"):
            # A UDP checksum of 0 says that there is none.
            none = isinstance(layer, UDP) and name == "chksum" and layer.chksum == 0
            if name in layer.fields and not none and not isinstance(layer, Raw):
                del layer.fields[name]
    return bytes(packet), layers


def differences(stack, frame):
    """What is wrong with a frame, in words."""
    header = len(bytes(stack.packet))
    payload = frame[header:]
    if payload[:2] != MAGIC or len(frame) != max(header + PROBE, 60):
        yield "no probe behind the headers, or a length of %d" % len(frame)
    expected = bytes(stack.packet / Raw(payload))
    if expected != frame:
        yield "scapy builds\n  %s\nand xsk-gen wrote\n  %s" % (expected.hex(), frame.hex())
    again, layers = rebuilt(frame)
    if again != frame:
        yield "rebuilt from its dissection\n  %s\nand xsk-gen wrote\n  %s" % (again.hex(), frame.hex())
    for name, layer in zip(stack.names, layers):
        if name == "raw":
            break
        if not isinstance(layer, LAYERS[name]):
            yield "%s was dissected as %s" % (name, layer.name)
            break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stacks", type=int, default=1000)
    options = parser.parse_args()
    rng, wrong = random.Random(options.seed), 0
    stacks = [Stack(rng) for _ in range(options.stacks)]
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(stacks), FILE):
            some = stacks[first : first + FILE]
            frames = write(options.binary, some, Path(folder))
            assert len(frames) == len(some), "a frame a stack"
            for number, (stack, frame) in enumerate(zip(some, frames), first):
                for what in differences(stack, frame):
                    wrong += 1
                    print("stack %d: layers = [%s]\n%s" % (number, ", ".join(stack.text), what))
    if wrong:
        sys.exit("%d differences in %d stacks, seed %d" % (wrong, len(stacks), options.seed))
    kinds = {name for stack in stacks for name in stack.names}
    assert kinds == set(BEHIND), "never drawn: %s" % (set(BEHIND) - kinds)
    print("%d stacks are the same, seed %d" % (len(stacks), options.seed))


main()
