#!/usr/bin/env python3
"""Checks the books of the Reports in a JSON file, from their definition alone: nothing of xsk-gen is used."""

import json
import sys

# Each equation as (left, right): the name of a term, and the terms whose sum it is.
EQUATIONS = [
    ("built", ["submitted"]),
    ("submitted", ["completed", "in_flight", "invalid"]),
    ("received", ["control", "probes", "rejected"]),
    ("probes", ["unique", "duplicate", "late"]),
    ("completed", ["unique", "lost"]),
    ("lost", ["kernel_drops", "unexplained"]),
]


def terms(balance):
    """The balance with its rejected frames summed over the reasons."""
    return {**balance, "rejected": sum(balance["rejected"].values())}


def faults(balance):
    """The equations of one balance that do not come out; those with an unknown term say nothing."""
    books = terms(balance)
    for left, right in EQUATIONS:
        values = [books[name] for name in [left, *right]]
        if None not in values and values[0] != sum(values[1:]):
            yield f"{left} = {' + '.join(right)}: {values[0]} is not {' + '.join(map(str, values[1:]))}"


def main(path):
    with open(path, encoding="utf-8") as file:
        reports = json.load(file)
    by_command = {report["command"]: report["balance"] for report in reports}
    wrong = [f"{command}: {fault}" for command, balance in by_command.items() for fault in faults(balance)]
    rx, sent = by_command["rx"], by_command["tx"]["completed"]
    if not sent or rx["unique"] is None or rx["lost"] is None or sent != rx["unique"] + rx["lost"]:
        wrong.append(f"tx completed {sent}, rx unique {rx['unique']} + lost {rx['lost']}")
    print("\n".join(wrong) or f"the books balance: {sent} completed = {rx['unique']} unique + {rx['lost']} lost")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
