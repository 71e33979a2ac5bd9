"""What a scenario is, and how one is drawn: pure, from the seed and the scenario's number alone."""

import random
from dataclasses import dataclass, field
from pathlib import Path

# Ends of a run that a fault can be aimed at.
SENDER, SINK = "tx", "rx"

# How much of a run a fault leaves: the run goes on; its target is gone; both ends are.
GOES_ON, TARGET_GONE, ALL_GONE = range(3)


@dataclass(frozen=True)
class Kind:
    """A kind of fault: what it can be aimed at, and what may follow from it."""

    name: str
    targets: tuple = (SENDER, SINK)
    shapes: tuple = ("standalone", "pair", "demo")
    # Before the processes start, rather than while frames flow.
    before: bool = False
    leaves: int = GOES_ON
    # Exit codes that it adds, for the target and for the other end.
    target_codes: tuple = ()
    other_codes: tuple = ()
    # Whether every loss is still one that a counter names.
    counted: bool = True
    # How often it is drawn: what ends a run leaves less to go wrong after it.
    weight: int = 3


SIGNALLED = {"leaves": TARGET_GONE, "weight": 1}
LINK = {"shapes": ("standalone", "pair"), "target_codes": (1,), "other_codes": (1,), "counted": False}
BYSTANDER = {"targets": (SENDER,), "weight": 1}
STANDALONE = ("standalone",)

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
# What both ends are told of the frames: mostly nothing.
STREAMS = [()] * 5 + [("--stream", str(EXAMPLES / name)) for name in ("imix.toml", "mixed.toml", "vxlan.toml")] + [
    ("--tcp", "syn"), ("--gre",), ("--vxlan", "7"),
]
# Room for the headers of any of these, and a probe.
LEAST_WITH_HEADERS = 128

KINDS = [
    Kind("sigint", **SIGNALLED),
    Kind("sigterm", **SIGNALLED),
    Kind("sighup", **SIGNALLED),
    Kind("double-sigint", target_codes=(130,), **SIGNALLED),
    Kind("sigkill", target_codes=(-9,), **SIGNALLED),
    Kind("kill-and-restart", shapes=STANDALONE, target_codes=(-9, 1), other_codes=(1,), leaves=TARGET_GONE,
         counted=False, weight=2),
    Kind("stop-a-while"),
    Kind("link-down", **LINK),
    Kind("link-flaps", **LINK),
    Kind("mtu-lowered", **LINK),
    Kind("interface-deleted", leaves=ALL_GONE, **LINK),
    Kind("namespace-deleted", shapes=STANDALONE, leaves=ALL_GONE, target_codes=(1,), other_codes=(1,), counted=False),
    Kind("stdout-closed", before=True),
    Kind("output-disk-full", before=True, target_codes=(1,)),
    Kind("occupied", targets=(SINK,), shapes=STANDALONE, before=True, leaves=ALL_GONE, target_codes=(3,)),
    Kind("queue-mismatch", targets=(SINK,), shapes=STANDALONE, before=True, target_codes=(1,)),
    Kind("second-sender", targets=(SENDER,), shapes=STANDALONE),
    Kind("second-sink", targets=(SINK,), shapes=STANDALONE),
    Kind("foreign-flood", targets=(SINK,), shapes=("standalone", "pair"), target_codes=(1,)),
    Kind("corrupt-flood", targets=(SINK,), shapes=("standalone", "pair"), target_codes=(1,)),
    Kind("other-flood", targets=(SINK,), shapes=("standalone", "pair")),
    Kind("busy-machine", **BYSTANDER),
    Kind("reniced"),
    Kind("wrong-flags", **BYSTANDER),
    Kind("no-privilege", targets=(SENDER,), shapes=STANDALONE),
    Kind("memory-not-lockable", targets=(SENDER,), shapes=STANDALONE),
    Kind("no-such-queue", **BYSTANDER),
]
BY_NAME = {kind.name: kind for kind in KINDS}


@dataclass(frozen=True)
class Fault:
    """One fault of a scenario: what, to whom, when (s after the first frame), how long (s), and its own seed."""

    name: str
    target: str
    at: float
    lasts: float
    seed: int

    @property
    def kind(self):
        return BY_NAME[self.name]

    def __str__(self):
        return f"{self.name}({self.target})" + ("" if self.kind.before else f"@{self.at:.2f}")


@dataclass(frozen=True)
class Scenario:
    """A run and its faults, in the order in which they come."""

    seed: str
    number: int
    shape: str
    queues: int
    size: int
    rate: str
    seconds: float
    xdp_mode: str
    options: tuple
    # The run's tag: strangers in the namespaces must know it, to forge frames of this run or not to.
    tag: int
    # Whether both ends also write their Report to a file.
    to_file: bool
    faults: tuple = field(default=())
    streams: tuple = ()

    def size_args(self):
        """The size, where the streams do not say it."""
        if "--stream" in self.streams:
            return []
        return ["--size", str(max(self.size, LEAST_WITH_HEADERS) if self.streams else self.size)]

    def __str__(self):
        run = f"{self.shape} q{self.queues} {self.size} B {self.rate} {self.xdp_mode} {' '.join(self.options + self.streams)}"
        return f"{run.strip()}: {', '.join(map(str, self.faults))}"


def draw(seed, number):
    """The scenario of that number."""
    rng = random.Random(f"{seed}/{number}")
    shape = rng.choice(["standalone"] * 3 + ["pair", "demo"])
    seconds = round(rng.uniform(0.8, 1.4), 2)
    options = [o for o in ("--no-verify", "--busy-poll") if rng.random() < 0.15]
    return Scenario(
        seed=f"{seed}/{number}",
        number=number,
        shape=shape,
        queues=rng.choice([1, 1, 2]),
        size=rng.choice([64, 64, 128, 512, 1518]),
        rate=rng.choice(["max", "100pps", "20kpps", "100kpps"]),
        seconds=seconds,
        xdp_mode="auto" if shape == "demo" else rng.choice(["auto", "auto", "native", "generic"]),
        options=tuple(options),
        tag=rng.randrange(1 << 16),
        to_file=rng.random() < 0.3,
        faults=tuple(draw_faults(rng, shape, seconds)),
        streams=rng.choice(STREAMS),
    )


def draw_faults(rng, shape, seconds):
    """Two to five faults that fit the shape: those before the start first, then by time; none after the run is gone."""
    fitting = [kind for kind in KINDS if shape in kind.shapes]
    wanted = rng.randint(2, 5)
    faults, gone = [], set()
    times = sorted(round(rng.uniform(0.05, seconds * 0.9), 3) for _ in range(wanted))
    for at in times:
        last = len(faults) + 1 == wanted
        able = [k for k in fitting if candidates(k, gone, faults) and (last or k.leaves != ALL_GONE)]
        kind = rng.choices(able, [kind.weight for kind in able])[0]
        target = rng.choice(candidates(kind, gone, faults))
        lasts = round(rng.uniform(0.1, 2.0 if kind.name == "stop-a-while" else 0.4), 2)
        faults.append(Fault(kind.name, target, at, lasts, rng.randrange(1 << 30)))
        if kind.leaves != GOES_ON:
            gone.add(target)
            if shape != "standalone":
                gone.update((SENDER, SINK))
    return sorted(faults, key=lambda fault: (not fault.kind.before, fault.at))


def candidates(kind, gone, faults):
    """Whom a kind of fault can still be aimed at; one that precedes the run comes once a target."""
    taken = {f.target for f in faults if f.kind.before and kind.before} if kind.before else set()
    bystander = kind.name in ("busy-machine", "wrong-flags", "no-such-queue")
    return [target for target in kind.targets if target not in taken and (bystander or target not in gone)]


@dataclass
class Expectation:
    """What one process may do."""

    codes: set
    report: bool = True
    counted: bool = True


def expect(scenario, process):
    """What `process` (tx or rx; of a pair or demo the one process is tx) may do under the scenario's faults."""
    both = scenario.shape != "standalone"
    allowed = Expectation({0})
    for fault in scenario.faults:
        hit = both or fault.target == process
        allowed.codes.update(fault.kind.target_codes if hit else fault.kind.other_codes)
        allowed.counted &= fault.kind.counted
        if hit and fault.name in ("sigkill", "double-sigint", "kill-and-restart", "stdout-closed", "occupied"):
            allowed.report = False
        if hit and fault.kind.leaves != GOES_ON:
            # A signal may come before the first frame: then there is nothing to report, which is a failure.
            allowed.codes.add(1)
            allowed.report = False
    return allowed
