"""Runs one scenario: starts the ends, applies its faults, ends what still runs, and hands everything to the checks."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import faults
from lab import Lab, Process, left_of, objects, until
from scenario import SENDER, SINK

# From the start of a process to its first word that it is ready: seconds on a quiet machine are tenths.
READY = 15
# What a run may take beyond its duration without anybody's doing: the wait for completions that do not come.
BEYOND = 9
# A signal ends a run within a second; the rest is for a machine on which the scheduler is late.
SIGNAL_BOUND = 1.0
SIGNAL_MARGIN = 0.5


@dataclass
class Run:
    """A scenario while it runs, and what was seen of it."""

    scenario: object
    binary: str
    drop_object: str
    folder: Path
    lab: Lab
    processes: dict = field(default_factory=dict)
    # Faults that were applied, and figures of the run for the summary.
    applied: list = field(default_factory=list)
    troubles: list = field(default_factory=list)
    needed: list = field(default_factory=list)
    # label -> (exit codes, word on standard error) of the programs that run beside the two ends.
    bystanders: dict = field(default_factory=dict)
    slowest_signal: float = 0.0
    began: float = 0.0

    def fail(self, words):
        self.troubles.append(words)

    def process(self, end):
        """The process of an end: in a pair or demo, both ends are the sender's."""
        return self.processes.get(end if self.scenario.shape == "standalone" else SENDER)

    def named(self, name, end=None):
        """The faults of that kind, aimed at that end or at any."""
        return [f for f in self.scenario.faults if f.name == name and end in (None, f.target)]

    def start(self, end, args, label=None):
        """Starts xsk-gen at an end, with what the faults before the run make of it."""
        label = label or end
        line = [self.binary, *args]
        if args[0] != "demo":
            line = self.lab.inside(end, *line)
        if label == end and self.named("output-disk-full", end if self.scenario.shape == "standalone" else None):
            line = faults.on_a_full_disk(self.folder / f"disk-{label}", line)
            self.note("output-disk-full")
        stdout = None
        if label == end and self.named("stdout-closed", end if self.scenario.shape == "standalone" else None):
            stdout = faults.closed_pipe()
            self.note("stdout-closed")
        process = Process(self.folder, label, line, stdout)
        if stdout is not None:
            os.close(stdout)
        self.processes[label] = process
        return process

    def note(self, name):
        """Counts a fault as applied."""
        self.applied.append(name)

    def signal(self, end, number, again=False):
        """Sends a signal that should end a process, and waits for that."""
        process = self.process(end)
        if process is None or not process.alive():
            return
        process.ask_to_end(number)
        if again:
            time.sleep(0.02)
            process.ask_to_end(number)
        if not process.wait(SIGNAL_BOUND + SIGNAL_MARGIN):
            self.fail(f"{process.label}: alive {SIGNAL_BOUND + SIGNAL_MARGIN} s after {signal.Signals(number).name}")
            process.kill()
            return
        self.slowest_signal = max(self.slowest_signal, process.ended - process.signalled)

    def lab_gone(self):
        """Whether a fault took the interfaces away."""
        return bool(self.named("interface-deleted") or self.named("namespace-deleted"))

    def sender_args(self, tag=True):
        s = self.scenario
        more = [*s.size_args(), *s.streams, "--rate", s.rate, "--duration", str(s.seconds), *s.options]
        if s.shape == "demo":
            return ["demo", "--queues", "0" if s.queues == 1 else "0-1", *more, "--json"]
        more += ["--run-tag", str(s.tag)] if tag else []
        more += ["--xdp-mode", s.xdp_mode] if s.shape == "pair" else []
        to = ["--sink", "v1"] if s.shape == "pair" else ["--dst-mac", self.lab.mac("rx")]
        return ["tx", "--iface", "v0", *to, *more, "--json"]

    def sink_args(self):
        more = [option for option in self.scenario.options if option == "--no-verify"] + list(self.scenario.streams)
        if self.named("queue-mismatch"):
            more += ["--queues", "0"]
        return ["rx", "--iface", "v1", "--xdp-mode", self.scenario.xdp_mode, *more, "--json"]

    def go(self):
        """The run itself."""
        if self.scenario.shape == "standalone" and not self.sink_is_ready():
            return
        sender = self.start(SENDER, self.with_output(SENDER, self.sender_args()))
        if not sender.says("sending frames", READY):
            self.fail("the sender says nothing")
        self.began = time.monotonic()
        for fault in self.scenario.faults:
            if not fault.kind.before:
                time.sleep(max(0.0, self.began + fault.at - time.monotonic()))
                faults.apply(self, fault)
        self.finish()

    def with_output(self, end, args):
        target = end if self.scenario.shape == "standalone" else None
        if self.named("output-disk-full", target):
            return [*args, "--output", str(self.folder / f"disk-{end}" / "report")]
        return [*args, "--output", str(self.folder / f"{end}.json")] if self.scenario.to_file else args

    def sink_is_ready(self):
        if self.named("occupied"):
            faults.occupy(self)
        if self.named("queue-mismatch"):
            self.note("queue-mismatch")
        sink = self.start(SINK, self.with_output(SINK, self.sink_args()))
        if not sink.says("ready on", READY):
            self.fail("the sink says nothing")
        if self.named("occupied"):
            sink.wait(READY)
            self.lab.set_link(SINK, "xdp", "off")
            self.lab.set_link(SINK, "xdpgeneric", "off")
        return sink.alive()

    def finish(self):
        """Waits for the senders, then ends the sinks."""
        for label, process in list(self.processes.items()):
            if label.startswith(SENDER) and not process.wait(self.scenario.seconds + BEYOND):
                self.fail(f"{label}: still runs {BEYOND} s after its time")
                process.kill()
        time.sleep(0.15)
        for label in [label for label in self.processes if label.startswith(SINK)]:
            process = self.processes[label]
            if process.alive():
                process.ask_to_end()
                if not process.wait(SIGNAL_BOUND + SIGNAL_MARGIN):
                    self.fail(f"{label}: alive {SIGNAL_BOUND + SIGNAL_MARGIN} s after SIGINT")
                    process.kill()
                else:
                    self.slowest_signal = max(self.slowest_signal, process.ended - process.signalled)

    def leftovers(self):
        """What is still attached when every process has ended."""
        if not until(2, lambda: not self.lab.programs()):
            self.fail(f"still attached: {self.lab.programs()}")
        if not until(2, lambda: not self.lab.inhabitants()):
            self.fail(f"processes still in the namespaces: {self.lab.inhabitants()}")
        kinds = {".out", ".err", ".json"}
        strays = [path.name for path in self.folder.iterdir() if path.is_file() and path.suffix not in kinds]
        # Whoever is killed cannot remove the file that was to become the output.
        if strays and not any(p.child.returncode == -signal.SIGKILL for p in self.processes.values()):
            self.fail(f"files left: {strays}")


def perform(scenario, binary, drop_object, above):
    """Runs a scenario from nothing to nothing; the finished Run, whose folder, inside `above`, the caller removes."""
    folder = Path(tempfile.mkdtemp(dir=above))
    before = objects()
    lab = Lab(f"xgs-{os.getpid()}-{scenario.number}", scenario.queues, scenario.shape == "pair")
    run = Run(scenario, binary, drop_object, folder, lab)
    try:
        run.go()
        run.leftovers()
    except (RuntimeError, subprocess.TimeoutExpired) as trouble:
        run.fail(f"the soak itself: {trouble}")
    finally:
        for process in run.processes.values():
            process.kill()
        lab.close()
    if lab.there():
        run.fail(f"namespaces left: {lab.there()}")
    left = left_of(before)
    if left:
        run.fail(f"left in the kernel: {sorted(left)}")
    return run


def discard(run):
    """Removes what a run wrote."""
    shutil.rmtree(run.folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit("run by main.py")
