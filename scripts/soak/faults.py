"""The faults, one function each: what is done to a run, and what that makes necessary."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lab import call
from scenario import SENDER, SINK

HERE = Path(__file__).resolve().parent
# How long before its end a sender must still have to go for an outage to be surely within its run.
SURELY = 0.25
BYSTANDER_BOUND = 10


def apply(run, fault):
    """Applies a fault that comes while frames flow."""
    ACTIONS[fault.name](run, fault)
    run.note(fault.name)


def sends_until(run, seconds):
    """Whether the sender surely sends until so many seconds from now."""
    process = run.process(SENDER)
    left = run.began + run.scenario.seconds - time.monotonic()
    return process is not None and process.alive() and left > seconds + SURELY


def signals(number, again=False):
    return lambda run, fault: run.signal(fault.target, number, again)


def kill(run, fault):
    process = run.process(fault.target)
    if process is not None:
        process.kill()


def kill_and_restart(run, fault):
    kill(run, fault)
    # A tag of its own choice: the frames that follow are those of another run.
    args = run.sender_args(tag=None) if fault.target == SENDER else run.sink_args()
    label = f"{fault.target}-again-{len(run.processes)}"
    process = run.start(fault.target, args, label)
    word = "sending frames" if fault.target == SENDER else "ready on"
    if not process.says(word, 15) or not process.alive():
        run.fail(f"{label}: did not start after a kill: {process.text('err')}")


def stop_a_while(run, fault):
    process = run.process(fault.target)
    if process is not None and process.alive():
        process.send(signal.SIGSTOP)
        time.sleep(fault.lasts)
        process.send(signal.SIGCONT)


def link_down(run, fault):
    surely = sends_until(run, fault.lasts)
    run.lab.set_link(fault.target, "down")
    time.sleep(fault.lasts)
    run.lab.set_link(fault.target, "up")
    if surely:
        run.needed.append((SENDER, "link-lost"))


def link_flaps(run, fault):
    for _ in range(3):
        run.lab.set_link(fault.target, "down")
        time.sleep(0.03)
        run.lab.set_link(fault.target, "up")
        time.sleep(0.03)


def mtu_lowered(run, fault):
    run.lab.set_link(fault.target, "mtu", "68")
    time.sleep(fault.lasts)
    run.lab.set_link(fault.target, "mtu", "1500")


def interface_deleted(run, fault):
    surely = sends_until(run, 0.1)
    run.lab.ip(fault.target, "link", "delete", run.lab.interfaces[fault.target], check=False)
    if surely:
        run.needed.append((SENDER, "interface-gone"))


def namespace_deleted(run, fault):
    call("ip", "netns", "delete", run.lab.spaces[fault.target], check=False)


def beside(run, end, args, codes, word=None, prefix=()):
    """Runs another xsk-gen to its end; the checks compare with `codes` and the word on its standard error."""
    label = f"beside-{len(run.processes)}"
    line = run.lab.inside(end, *prefix, run.binary, *args) if run.scenario.shape != "demo" else [run.binary, *args]
    process = type(run.processes[SENDER])(run.folder, label, line)
    run.processes[label] = process
    run.bystanders[label] = (codes, word)
    if not process.wait(BYSTANDER_BOUND):
        run.fail(f"{label}: still runs after {BYSTANDER_BOUND} s")
        process.kill()


def second_sender(run, _fault):
    args = ["tx", "--iface", "v0", "--dst-mac", run.lab.mac(SINK), "--count", "10", "--json"]
    sure = sends_until(run, 1.0)
    beside(run, SENDER, args, {3} if sure else {0, 1, 3}, "queue-busy" if sure else None)


def second_sink(run, _fault):
    sink = run.process(SINK)
    sure = sink is not None and sink.alive()
    args = ["rx", "--iface", "v1", "--duration", "0.1", "--json"]
    beside(run, SINK, args, {3} if sure else {0, 1, 3}, "xdp-occupied" if sure else None)


def wrong_flags(run, _fault):
    beside(run, SENDER, ["tx", "--iface", "v0", "--size", "59"], {2}, "--size")


def no_privilege(run, _fault):
    nobody = ("setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all", "--ambient-caps=-all")
    args = ["tx", "--iface", "v0", "--dst-mac", "02:00:00:00:00:01", "--count", "1"]
    beside(run, SENDER, args, {3}, "capability-missing", nobody)


def not_lockable(run, _fault):
    """A sender that may lock next to nothing."""
    limited = ("setpriv", "--bounding-set=-ipc_lock", "prlimit", "--memlock=65536")
    args = ["tx", "--iface", "v0", "--dst-mac", "02:00:00:00:00:01", "--count", "1"]
    beside(run, SENDER, args, {3}, "memlock", limited)


def no_such_queue(run, _fault):
    """Where the demo has made the interface, none of that name is here: either way the machine cannot do it."""
    args = ["tx", "--iface", "v0", "--dst-mac", "02:00:00:00:00:01", "--count", "1", "--queues", "9"]
    there = run.scenario.shape != "demo" and not run.lab_gone()
    beside(run, SENDER, args, {3}, "queue-range" if there else None)


def flood(kind):
    def action(run, fault):
        # Without checksums a corrupt frame of the run's own tag is a probe like any other.
        sort = "foreign" if kind == "corrupt" and "--no-verify" in run.scenario.options else kind
        words = ["v0", run.lab.mac(SINK), sort, fault.lasts, fault.seed, run.scenario.tag]
        args = [sys.executable, "-B", str(HERE / "flood.py"), *map(str, words)]
        subprocess.run(run.lab.inside(SENDER, *args), timeout=10, check=False, capture_output=True)

    return action


def busy_machine(run, fault):
    """As many busy processes as cores, twice."""
    loop = f"import time\nend = time.monotonic() + {fault.lasts}\nwhile time.monotonic() < end: pass"
    busy = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(2 * (os.cpu_count() or 1))]
    for process in busy:
        process.wait(timeout=10)


def reniced(run, fault):
    process = run.process(fault.target)
    if process is not None and process.alive():
        os.setpriority(os.PRIO_PROCESS, process.child.pid, 10)


def occupy(run):
    """Someone else's program on the sink's interface."""
    run.lab.set_link(SINK, "xdp", "obj", run.drop_object, "sec", "xdp")
    run.note("occupied")


def on_a_full_disk(folder, line):
    """The command line in a mount namespace of its own, where `folder` is a file system of one page that is full."""
    folder.mkdir()
    script = 'mount -t tmpfs -o size=4k tmpfs "$1" && head -c 4096 /dev/zero >"$1/full" && shift && exec "$@"'
    return ["unshare", "-m", "sh", "-c", script, "sh", str(folder), *line]


def closed_pipe():
    """The writing end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


ACTIONS = {
    "sigint": signals(signal.SIGINT),
    "sigterm": signals(signal.SIGTERM),
    "sighup": signals(signal.SIGHUP),
    "double-sigint": signals(signal.SIGINT, again=True),
    "sigkill": kill,
    "kill-and-restart": kill_and_restart,
    "stop-a-while": stop_a_while,
    "link-down": link_down,
    "link-flaps": link_flaps,
    "mtu-lowered": mtu_lowered,
    "interface-deleted": interface_deleted,
    "namespace-deleted": namespace_deleted,
    "second-sender": second_sender,
    "second-sink": second_sink,
    "foreign-flood": flood("foreign"),
    "corrupt-flood": flood("corrupt"),
    "other-flood": flood("other"),
    "busy-machine": busy_machine,
    "reniced": reniced,
    "wrong-flags": wrong_flags,
    "no-privilege": no_privilege,
    "memory-not-lockable": not_lockable,
    "no-such-queue": no_such_queue,
}
