"""Runs scenarios until time or faults are up, prints a line each, and says at the end how many failed."""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

import checks  # noqa: E402
import run as running  # noqa: E402
from lab import call  # noqa: E402
from scenario import draw  # noqa: E402

HERE = Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/soak.sh", description="random faults; see README, Soak")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("--faults", type=int, help="stop after so many faults")
    parser.add_argument("--only", type=int, metavar="N", help="run scenario N of the seed alone")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--quiet", action="store_true", help="a line a minute instead of one a scenario")
    return parser.parse_args()


def known_codes(binary):
    """The codes of findings, from the schema of the Report."""
    schema = json.loads(call(binary, "schema"))
    found = set()

    def walk(node):
        if isinstance(node, dict):
            found.update(v for v in (node.get("const"), *node.get("enum", [])) if isinstance(v, str))
            node = list(node.values())
        if isinstance(node, list):
            for child in node:
                walk(child)

    walk(schema)
    return found


def compile_drop(folder):
    """Someone else's XDP program, for the scenarios in which the interface is taken."""
    target = Path(folder) / "drop.o"
    source = HERE.parent / "bench" / "drop.c"
    call("clang", "-O2", "-g", "-target", "bpf", "-I", f"/usr/include/{call('gcc', '-dumpmachine').strip()}",
         "-c", str(source), "-o", str(target))
    return str(target)


def explain(run, wrong, seed):
    """Everything that is needed to look into a failure."""
    print(f"  FAILED; again with: --seed {seed} --only {run.scenario.number}")
    for fault in wrong:
        print(f"  - {fault}")
    for process in run.processes.values():
        print(f"  {process.label} (exit {process.child.returncode}): {' '.join(process.line)}")
        for name in ("err", "out"):
            text = process.text(name).strip()
            print("\n".join(f"    {name}: {line}" for line in text.splitlines()[:60]))


def one(args, number, tools):
    """Runs a scenario; how many faults it had, whether it held, and its slowest answer to a signal."""
    binary, drop, known, above = tools
    scenario = draw(args.seed, number)
    run = running.perform(scenario, binary, drop, above)
    try:
        wrong = checks.all_of(run, known)
        if not args.quiet or wrong:
            print(f"{number:4} {'ok  ' if not wrong else 'FAIL'} {scenario}", flush=True)
        if wrong:
            explain(run, wrong, args.seed)
        return len(run.applied), not wrong, run.slowest_signal
    finally:
        running.discard(run)


def soak(args, tools):
    print(f"seed {args.seed}", flush=True)
    end = time.monotonic() + args.minutes * 60
    scenarios = faults = failures = 0
    slowest, number, said = 0.0, args.only or 1, time.monotonic()
    while time.monotonic() < end and (args.faults is None or faults < args.faults):
        applied, held, answer = one(args, number, tools)
        scenarios, faults, failures = scenarios + 1, faults + applied, failures + (not held)
        slowest, number = max(slowest, answer), number + 1
        if args.quiet and time.monotonic() - said > 60:
            said = time.monotonic()
            print(f"scenarios {scenarios}, faults {faults}, failures {failures}", flush=True)
        if args.only:
            break
    print(f"slowest end after a signal: {slowest:.2f} s")
    return scenarios, faults, failures


def main():
    args = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # Under nohup: a handler is not handed on to children as an ignored signal is, and they are to hear theirs.
        signal.signal(signal.SIGHUP, lambda *_: None)
    folder = tempfile.mkdtemp(prefix="xsk-gen-soak-")
    try:
        tools = (args.binary, compile_drop(folder), known_codes(args.binary), folder)
        scenarios, faults, failures = soak(args, tools)
        print(f"scenarios {scenarios}, faults {faults}, failures {failures}")
        return 1 if failures or not scenarios else 0
    except KeyboardInterrupt:
        return 130
    except (RuntimeError, OSError, subprocess.SubprocessError) as trouble:
        print(f"error: {trouble}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
