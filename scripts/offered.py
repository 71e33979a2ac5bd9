#!/usr/bin/env python3
"""Whether the offered load was the asked load. `offered.py read NAME PPS` turns what `tx --json` or `demo --json` printed,
on standard input, into one line of JSON; `offered.py table FILE` shows such lines.

The sums are of the rate that was typed, never of the one that the Report repeats. The table's exit code is 1 where
frames sent and shortfall together are not what was asked, to BOUND; the share of the shortfall is shown beside.
"""

import json
import sys
from pathlib import Path

BOUND = 0.001


def read(name, pps, reports):
    """A row, of the sender's Report and, where there is one, of the sink's."""
    reports = reports if isinstance(reports, list) else [reports]
    sender, sinks = reports[0], reports[1:]
    sent, shortfall = sender["balance"]["completed"], sender["balance"]["shortfall"]
    asked = pps * sender["duration_s"]
    return {
        "name": name,
        "asked_pps": pps,
        "window_s": sender["duration_s"],
        "asked": asked,
        "sent": sent,
        "shortfall": shortfall,
        "received": sinks[0]["balance"]["unique"] if sinks else None,
        "off": (sent + shortfall) / asked - 1,
        "shortfall_share": shortfall / asked,
    }


def within(row):
    """Whether what was sent and what was given up are together what was asked."""
    return abs(row["off"]) <= BOUND


def line(row):
    """A line of the Markdown table."""
    cells = [row["name"], f"{row['asked_pps']:,.0f}", f"{row['window_s']:.3f}", f"{row['sent']:,}", f"{row['shortfall']:,}"]
    cells.append("–" if row["received"] is None else f"{row['received']:,}")
    cells += [f"{row['sent'] / row['asked']:.5f}", f"{100 * row['shortfall_share']:.3f} %", f"{100 * row['off']:+.4f} %"]
    return "| " + " | ".join(cells + ["yes" if within(row) else "NO"]) + " |"


def markdown(rows):
    """The table, as lines."""
    head = ["command", "asked pps", "window s", "sent", "shortfall", "received", "sent / asked", "shortfall / asked"]
    head += ["(sent + shortfall) / asked - 1", f"within {100 * BOUND:g} %"]
    return ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 2) + "---|"] + [line(row) for row in rows]


def load(path):
    """The rows of a file."""
    return [json.loads(text) for text in Path(path).read_text(encoding="utf-8").splitlines()]


def main(mode, *words):
    if mode == "read":
        name, pps = words
        print(json.dumps(read(name, float(pps), json.load(sys.stdin))))
        return 0
    rows = load(words[0])
    print("\n".join(markdown(rows)))
    return 0 if rows and all(within(row) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
