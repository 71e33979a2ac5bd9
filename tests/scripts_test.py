"""The Python beside the scripts: what it computes, checked without xsk-gen. Run by scripts/test.sh."""

import copy
import random
import statistics
import struct
import sys
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "bench")]
sys.dont_write_bytecode = True

import bench_stats  # noqa: E402
import check_books  # noqa: E402
import frame  # noqa: E402


def sample(side, pair, pps):
    return {"row": "r", "side": side, "tool": side, "pair": pair, "pps": pps}


class BenchStats(unittest.TestCase):
    def test_a_steady_ratio_has_an_interval_of_no_width(self):
        # The machine's speed changes from pair to pair, the ratio does not.
        speeds = [random.Random(7).uniform(0.7, 1.3) for _ in range(11)]
        pairs = [[sample("first", i, 3 * v), sample("second", i, 2 * v)] for i, v in enumerate(speeds)]
        row = bench_stats.summary("r", sum(pairs, []))
        self.assertEqual(row["pairs"], 11)
        for key in ("ratio", "ratio_low", "ratio_high"):
            self.assertAlmostEqual(row[key], 1.5)

    def test_the_interval_holds_the_true_median_about_as_often_as_it_says(self):
        rng, held, runs = random.Random(3), 0, 200
        for _ in range(runs):
            low, high = bench_stats.bootstrap_median([rng.gauss(1.0, 0.1) for _ in range(11)], resamples=300)
            held += low <= 1.0 <= high
        self.assertGreater(held, 0.88 * runs)

    def test_only_rates_of_one_pair_are_compared(self):
        samples = [sample("first", 0, 10), sample("first", 1, 90), sample("second", 0, 5), sample("second", 2, 1)]
        row = bench_stats.summary("r", samples)
        self.assertEqual((row["pairs"], row["ratio"]), (1, 2.0))
        self.assertEqual(row["first"]["median_pps"], statistics.median([10, 90]))

    def test_a_tool_that_could_not_run_is_named_with_its_reason(self):
        samples = [sample("second", 0, 5), {"row": "r", "side": "first", "tool": "absent", "pair": 0, "error": "gone"}]
        row = bench_stats.summary("r", samples)
        self.assertIsNone(row["ratio"])
        self.assertIn("- absent: gone", bench_stats.markdown({}, [row]))


class CheckBooks(unittest.TestCase):
    BALANCE = {
        "built": 12, "submitted": 12, "completed": 10, "in_flight": 1, "invalid": 1, "received": 12, "control": 1,
        "probes": 10, "rejected": {"other_run": 1}, "unique": 8, "duplicate": 1, "late": 1, "lost": 2,
        "kernel_drops": 2, "unexplained": 0,
    }

    def test_balanced_books_have_no_fault(self):
        self.assertEqual(list(check_books.faults(self.BALANCE)), [])

    def test_a_change_of_any_term_is_found(self):
        for name in set(self.BALANCE) - {"rejected"}:
            broken = copy.copy(self.BALANCE) | {name: self.BALANCE[name] + 1}
            self.assertTrue(list(check_books.faults(broken)), name)

    def test_an_unknown_term_is_no_fault(self):
        self.assertEqual(list(check_books.faults(self.BALANCE | {"lost": None})), [])


class Frame(unittest.TestCase):
    def test_it_is_sixty_bytes_with_a_header_that_sums_to_nothing(self):
        data = frame.frame("02:00:00:00:00:02")
        self.assertEqual(len(data), 60)
        self.assertEqual(frame.checksum(data[14:34]), 0)
        self.assertEqual(struct.unpack("!H", data[16:18])[0], 46)


if __name__ == "__main__":
    unittest.main()
