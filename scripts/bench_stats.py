#!/usr/bin/env python3
"""Turns the samples of scripts/bench.sh into a table: `bench_stats.py DIR` reads DIR/samples.jsonl and DIR/setup.json,
writes DIR/bench.json and DIR/bench.md, and prints the latter.

A sample is {"row", "side": "first" or "second", "tool", "pair", "pps", "dropped_pps"}, of a time {…, "us"} instead, or,
where a tool could not run, {"row", "side", "tool", "error"}. DIR/offered.jsonl, where it is, holds lines of
scripts/offered.py. Rates of a noisy machine mean little by themselves: each pair was measured one right
after the other, so the ratio within a pair is what counts. The interval is a percentile bootstrap of the median ratio.
"""

import json
import random
import statistics
import sys
from pathlib import Path

import offered

RESAMPLES = 10_000
# The same samples always give the same interval.
SEED = 1


def bootstrap_median(values, resamples=RESAMPLES, seed=SEED):
    """The 2.5th and 97.5th percentile of the median over resamples of the values."""
    rng = random.Random(seed)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(resamples))
    return medians[int(0.025 * resamples)], medians[int(0.975 * resamples) - 1]


def side_of(samples, side, figure):
    """The name of one side, its rates or times by pair, and why it could not run."""
    own = [sample for sample in samples if sample["side"] == side]
    rates = {sample["pair"]: sample[figure] for sample in own if figure in sample}
    errors = [sample["error"] for sample in own if "error" in sample]
    tool = own[0]["tool"] if own else None
    return {"tool": tool, "rates": rates, "error": errors[0] if errors else None}


def summary(row, samples):
    """One row of the table."""
    figure = "us" if any("us" in sample for sample in samples) else "pps"
    first, second = side_of(samples, "first", figure), side_of(samples, "second", figure)
    pairs = sorted(first["rates"].keys() & second["rates"].keys())
    ratios = [first["rates"][pair] / second["rates"][pair] for pair in pairs if second["rates"][pair] > 0]
    result = {"row": row, "pairs": len(ratios), "ratio": None, "ratio_low": None, "ratio_high": None}
    for name, side in (("first", first), ("second", second)):
        rates = list(side["rates"].values())
        median = statistics.median(rates) if rates else None
        result[name] = {"tool": side["tool"], f"median_{figure}": median, "samples": len(rates), "error": side["error"]}
    if ratios:
        result["ratio"] = statistics.median(ratios)
        result["ratio_low"], result["ratio_high"] = bootstrap_median(ratios)
    return result


def median_of(side):
    """A median for people, in Mpps or microseconds; a side without one says so."""
    if side.get("median_us") is not None:
        return f"{side['median_us']:.1f}"
    return "–" if side.get("median_pps") is None else f"{side['median_pps'] / 1e6:.3f}"


def table_line(row):
    """A line of the Markdown table."""
    interval = "–" if row["ratio"] is None else f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}"
    ratio = "–" if row["ratio"] is None else f"{row['ratio']:.2f}"
    first, second = row["first"], row["second"]
    cells = [row["row"], first["tool"], median_of(first), second["tool"], median_of(second), ratio, interval, row["pairs"]]
    return "| " + " | ".join(str(cell if cell is not None else "–") for cell in cells) + " |"


def missing(rows):
    """Each tool that could not run, once, with the reason."""
    sides = [row[side] for row in rows for side in ("first", "second")]
    return {side["tool"]: side["error"] for side in sides if side["error"]}


def spacing_notes(samples):
    """What a percentile leaves out: whether the tool kept its rate, and its usual error."""
    own = [sample for sample in samples if "p50_us" in sample]
    for tool in dict.fromkeys(sample["tool"] for sample in own):
        rate, error = (statistics.median(s[key] for s in own if s["tool"] == tool) for key in ("pps", "p50_us"))
        yield f"- {tool}: {rate:,.0f} frames a second, median error {error:.2f} µs"


def offered_lines(rows):
    """The table of rates that were asked for, where there are any."""
    title = "Frames sent and frames of shortfall against frames asked for, by the sender's Report:"
    return ["", title, ""] + offered.markdown(rows) if rows else []


def markdown(setup, rows, samples=(), offers=()):
    """The whole page."""
    lines = ["# Bench", ""]
    lines += [f"- {name}: {value}" for name, value in setup.items()]
    times = [row for row in rows if "median_us" in row["first"]]
    spacing = [row for row in times if row["row"].startswith("spacing")]
    trips = [row for row in times if row not in spacing]
    spent = [row for row in rows if row["row"].startswith("processor")]
    rates = [row for row in rows if row not in times + spent]
    tables = [
        ("Frames of 64 bytes with FCS, rates in Mpps at the far end by its interface counters (medians).", "Mpps", rates),
        ("Millions of such frames for each second of the sender's own processor time (medians); holds on a busy machine too.",
         "M", spent),
        ("Round trips of such frames, 10,000 a second, in µs by each tool's own clock (medians); below 1 A is faster.", "µs", trips),
        ("99th percentile of |gap - 100 µs| at 10,000 frames a second, in µs by a packet socket at the far end (medians); "
         "below 1 A is more even.", "µs", spacing),
    ]
    for title, unit, own in tables:
        if own:
            lines += ["", title, "", f"| row | A | A {unit} | B | B {unit} | A / B | 95 % interval | pairs |"]
            lines += ["|---|---|--:|---|--:|--:|---|--:|"] + [table_line(row) for row in own]
        if own is spacing and own:
            lines += [""] + list(spacing_notes(samples))
    lines += offered_lines(offers)
    absent = missing(rows)
    if absent:
        lines += ["", "Could not run:"] + [f"- {tool}: {why}" for tool, why in absent.items()]
    return "\n".join(lines) + "\n"


def main(folder):
    folder = Path(folder)
    setup = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()]
    names = list(dict.fromkeys(sample["row"] for sample in samples))
    rows = [summary(name, [sample for sample in samples if sample["row"] == name]) for name in names]
    offers = offered.load(folder / "offered.jsonl") if (folder / "offered.jsonl").exists() else []
    result = {"setup": setup, "rows": rows, "samples": samples, "offered": offers}
    (folder / "bench.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    page = markdown(setup, rows, samples, offers)
    (folder / "bench.md").write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main(sys.argv[1])
