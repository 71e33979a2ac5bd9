"""Two network namespaces with a veth pair, and the programs that run in them: made for one scenario, gone after it."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

# Longer than any command of iproute2 or bpftool should take on a busy machine.
PATIENCE = 20


def call(*args, check=True):
    """Runs a command to its end; its standard output."""
    done = subprocess.run(args, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(args)}: {done.stderr.strip()}")
    return done.stdout


def shown(kind):
    """What bpftool knows of a kind; it gives up when an object goes while it lists, so it is asked again."""
    for _ in range(10):
        try:
            return json.loads(call("bpftool", "-j", kind, "show") or "[]")
        except (RuntimeError, ValueError):
            time.sleep(0.02)
    raise RuntimeError(f"bpftool does not list any {kind}")


def held():
    """BPF objects that some process has open, by /proc: not every bpftool tells."""
    found = set()
    for fd in Path("/proc").glob("[0-9]*/task/*/fd/*"):
        try:
            if "bpf" in os.readlink(fd):
                words = (fd.parent.parent / "fdinfo" / fd.name).read_text().split()
                pairs = zip(words, words[1:])
                found |= {(key[:-4], int(value)) for key, value in pairs if key in ("prog_id:", "link_id:", "map_id:")}
        except OSError:
            # It was closed meanwhile.
            continue
    return found


def objects():
    """BPF links, programs of our name, and maps that no program uses; (kind, id)."""
    listed = {kind: shown(kind) for kind in ("prog", "link", "map")}
    used = {number for program in listed["prog"] for number in program.get("map_ids", [])}
    found = {("link", link["id"]) for link in listed["link"]}
    found |= {("prog", p["id"]) for p in listed["prog"] if p.get("name", "").startswith("xsk_gen_")}
    return found | {("map", m["id"]) for m in listed["map"] if m["id"] not in used}


def left_of(before, seconds=2):
    """Objects that were not there before, that no process holds, and that stay: others at work hold theirs."""
    left, deadline = objects() - before, time.monotonic() + seconds
    left -= held() if left else set()
    while left and time.monotonic() < deadline:
        time.sleep(0.1)
        left = (left & objects()) - held()
    return left


class Lab:
    """The namespaces; in `joint` both ends are in one."""

    def __init__(self, name, queues, joint):
        self.spaces = {"tx": f"{name}-a", "rx": f"{name}-a" if joint else f"{name}-b"}
        self.interfaces = {"tx": "v0", "rx": "v1"}
        try:
            self.build(queues)
        except BaseException:
            self.close()
            raise

    def build(self, queues):
        for space in sorted(set(self.spaces.values())):
            call("ip", "netns", "add", space)
            call("ip", "netns", "exec", space, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                 "net.ipv6.conf.default.disable_ipv6=1")
        shape = ["numtxqueues", str(queues), "numrxqueues", str(queues)]
        call("ip", "link", "add", "v0", "netns", self.spaces["tx"], *shape, "type", "veth",
             "peer", "name", "v1", "netns", self.spaces["rx"], *shape)
        for end in ("tx", "rx"):
            self.ip(end, "link", "set", self.interfaces[end], "up")

    def ip(self, end, *args, check=True):
        return call("ip", "-n", self.spaces[end], *args, check=check)

    def set_link(self, end, *args):
        """`ip link set`; an interface that another fault took away is no trouble here."""
        self.ip(end, "link", "set", self.interfaces[end], *args, check=False)

    def mac(self, end):
        return json.loads(self.ip(end, "-j", "link", "show", "dev", self.interfaces[end]))[0]["address"]

    def inside(self, end, *args):
        """A command line in the namespace, with the caller's mounts."""
        return ["nsenter", f"--net=/run/netns/{self.spaces[end]}", *args]

    def programs(self):
        """XDP programs on any interface of the namespaces."""
        found = []
        for space in self.there():
            shown = call("nsenter", f"--net=/run/netns/{space}", "bpftool", "-j", "net", check=False)
            found += json.loads(shown)[0]["xdp"] if shown.strip() else []
        return found

    def there(self):
        """Its namespaces that exist."""
        return [space for space in sorted(set(self.spaces.values())) if Path(f"/run/netns/{space}").exists()]

    def inhabitants(self):
        """Ids of the processes in its namespaces."""
        return [pid for space in self.there() for pid in call("ip", "netns", "pids", space, check=False).split()]

    def close(self):
        for space in sorted(set(self.spaces.values())):
            call("ip", "netns", "delete", space, check=False)


class Process:
    """A program beside the soak, its output in files."""

    def __init__(self, folder, label, line, stdout=None):
        self.label, self.line = label, line
        self.paths = {name: Path(folder) / f"{label}.{name}" for name in ("out", "err")}
        self.signalled = None
        with open(self.paths["out"], "wb") as out, open(self.paths["err"], "wb") as err:
            self.child = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=stdout or out, stderr=err)
        self.ended = None

    def text(self, name):
        return self.paths[name].read_text(errors="replace")

    def alive(self):
        if self.child.poll() is not None and self.ended is None:
            self.ended = time.monotonic()
        return self.ended is None

    def send(self, number):
        if self.alive():
            os.kill(self.child.pid, number)

    def ask_to_end(self, number=signal.SIGINT):
        """Sends a signal that should end it, and notes when."""
        if self.alive():
            self.signalled = self.signalled or time.monotonic()
            self.send(number)

    def wait(self, seconds):
        """Whether it ended in that time."""
        return until(seconds, lambda: not self.alive())

    def says(self, word, seconds):
        """Whether it says a word on standard error, or ends, in that time."""
        return until(seconds, lambda: word in self.text("err") or not self.alive())

    def kill(self):
        if self.alive():
            self.child.kill()
            self.child.wait()


def until(seconds, holds):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.003)
    return True
