"""What must hold after any scenario: exit codes, books, words, findings. Reads what the processes left, runs nothing."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import check_books  # noqa: E402

from scenario import SENDER, SINK, expect  # noqa: E402

# Words that are for developers, or for nobody.
FORBIDDEN = re.compile(r"os error|panicked|RUST_BACKTRACE|stack backtrace|libbpf:|libxdp:|libelf:|\bE[A-Z]{4,}\b|Errno")
TOLD = re.compile(r"\[([a-z-]+)\]$", re.MULTILINE)


def reports_in(text):
    """The Reports on a standard output with --json: an object, an array, or nothing."""
    if not text.strip():
        return []
    value = json.loads(text)
    return value if isinstance(value, list) else [value]


def findings_of(reports):
    return [finding for report in reports for finding in report["findings"]]


def books(report):
    """What is wrong with the figures of one Report."""
    balance = report["balance"]
    yield from check_books.faults(balance)
    unique, completed = balance["unique"], balance["completed"]
    if None not in (unique, completed) and unique > completed:
        yield f"unique {unique} is above completed {completed}"
    for name, value in check_books.terms(balance).items():
        if isinstance(value, int) and value < 0:
            yield f"{name} is negative: {value}"


def words(text, known):
    """What is wrong with a text for users."""
    for line in text.splitlines():
        if FORBIDDEN.search(line):
            yield f"not for users: {line}"
    for code in TOLD.findall(text):
        if code not in known:
            yield f"unknown finding: {code}"


def verdict(code, reports, err):
    """Whether an exit code and the findings agree."""
    fails = [f for f in findings_of(reports) if f["severity"] == "fail"]
    if code == 0 and fails:
        yield f"exit 0 with a failure: {fails[0]['code']}"
    if code == 1 and not fails and "error: " not in err:
        yield "exit 1 and no failure is told"
    if code in (2, 3) and not any(word in err for word in ("try: ", "tip: ", "help", "--")):
        yield f"exit {code} without a remedy: {err}"
    yield from (f"{f['code']}: no remedy" for f in fails if not f["remedy"] and f["code"] != "fail-if")


def of_process(run, label, process, known):
    """What is wrong with one of the two ends."""
    code, err = process.child.returncode, process.text("err")
    yield from words(err, known)
    try:
        reports = reports_in(process.text("out"))
    except ValueError:
        # A process that was killed may have written half of it.
        if code >= 0 and code != 130:
            yield f"not JSON on standard output: {process.text('out')[:200]}"
        return
    for report in reports:
        yield from (f"{report['command']}: {fault}" for fault in books(report))
    yield from verdict(code, reports, err)
    yield from same_in_file(run, label, reports)
    yield from as_expected(run, label, code, reports)


def same_in_file(run, label, reports):
    """Whether the file says what standard output does."""
    path = run.folder / f"{label}.json"
    if reports and run.scenario.to_file and not run.named("output-disk-full") and label in (SENDER, SINK):
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if reports_in(text) != reports:
            yield f"the output file differs from standard output: {text[:200]!r}"


def as_expected(run, label, code, reports):
    end = SENDER if label.startswith(SENDER) else SINK
    expected = expect(run.scenario, end)
    restarted = label not in (SENDER, SINK)
    if code not in expected.codes:
        yield f"exit {code}, expected one of {sorted(expected.codes)}: {[f['code'] for f in findings_of(reports)]}"
    if expected.report and not restarted and not reports:
        yield f"no Report, exit {code}"
    unexplained = [r["balance"]["unexplained"] for r in reports]
    if expected.counted and any(unexplained):
        yield f"unexplained: {unexplained}"


def of_bystander(process, codes, word, known):
    code, err = process.child.returncode, process.text("err")
    yield from words(err, known)
    if code not in codes:
        yield f"exit {code}, expected one of {sorted(codes)}: {err}"
    if word and word not in err:
        yield f"does not say {word}: {err}"


def needed(run):
    """Findings that must be there."""
    for label, code in run.needed:
        process = run.processes[label]
        try:
            codes = [f["code"] for f in findings_of(reports_in(process.text("out")))]
        except ValueError:
            continue
        if process.child.returncode >= 0 and not run.named("stdout-closed") and code not in codes:
            yield f"{label}: {code} is not among {codes}"


def all_of(run, known):
    """Everything that is wrong with a finished run."""
    found = list(run.troubles)
    for label, process in run.processes.items():
        if label in run.bystanders:
            wrong = of_bystander(process, *run.bystanders[label], known)
        else:
            wrong = of_process(run, label, process, known)
        found += [f"{label}: {fault}" for fault in wrong]
    return found + list(needed(run))
