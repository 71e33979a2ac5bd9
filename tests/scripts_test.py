"""The Python beside the scripts: what it computes, checked without xsk-gen. Run by scripts/test.sh."""

import copy
import random
import statistics
import struct
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "bench")]
sys.dont_write_bytecode = True

import bench_stats  # noqa: E402
import check_books  # noqa: E402
import frame  # noqa: E402
import gaps  # noqa: E402
import offered  # noqa: E402
import spent  # noqa: E402


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

    def test_times_between_frames_have_a_table_of_their_own(self):
        sides = (("first", 2.0), ("second", 8.0))
        samples = [
            {"row": "spacing: a / b", "side": side, "tool": side, "pair": 0, "us": us, "p50_us": us / 2, "pps": 9999.6}
            for side, us in sides
        ]
        page = bench_stats.markdown({}, [bench_stats.summary("spacing: a / b", samples)], samples)
        self.assertIn("| spacing: a / b | first | 2.0 | second | 8.0 | 0.25 | 0.25 to 0.25 | 1 |", page)
        self.assertIn("- second: 10,000 frames a second, median error 4.00 µs", page)
        self.assertNotIn("Round trips", page)


class Gaps(unittest.TestCase):
    def test_even_frames_have_no_error(self):
        found = gaps.figures(list(range(0, 100_000_001, 100_000)), 10_000)
        self.assertEqual(found, {"us": 0.0, "p50_us": 0.0, "pps": 10_000.0})

    def test_the_error_is_of_the_gap_and_its_sign_does_not_matter(self):
        # Every other frame is 5 µs late: gaps of 105 and 95.
        times = [100_000 * n + 5_000 * (n % 2) for n in range(1001)]
        self.assertEqual(gaps.figures(times, 10_000), {"us": 5.0, "p50_us": 5.0, "pps": 10_000.0})

    def test_a_few_long_gaps_are_the_99th_percentile_and_not_the_median(self):
        times = [100_000 * n + 40_000 * (n % 50 == 0) for n in range(5001)]
        found = gaps.figures(times, 10_000)
        self.assertEqual((found["us"], found["p50_us"]), (40.0, 0.0))

    def test_too_few_frames_give_no_figure(self):
        self.assertIsNone(gaps.figures(list(range(0, 50)), 10_000))


class Spent(unittest.TestCase):
    def test_frames_are_divided_by_the_time_in_program_and_kernel(self):
        report, usage = {"balance": {"completed": 900}}, SimpleNamespace(ru_utime=1.0, ru_stime=2.0)
        self.assertEqual(spent.frames_a_second(report, usage), 300.0)

    def test_no_frame_is_no_figure(self):
        usage = SimpleNamespace(ru_utime=1.0, ru_stime=2.0)
        self.assertIsNone(spent.frames_a_second({"balance": {"completed": 0}}, usage))

    def test_its_rows_have_a_table_of_their_own(self):
        name = "processor: a / b"
        samples = [{"row": name, "side": s, "tool": s, "pair": 0, "pps": 1e6} for s in ("first", "second")]
        page = bench_stats.markdown({}, [bench_stats.summary(name, samples)], samples)
        self.assertIn("| processor: a / b | first | 1.000 | second | 1.000 | 1.00 | 1.00 to 1.00 | 1 |", page)
        self.assertNotIn("interface counters", page)


class Offered(unittest.TestCase):
    @staticmethod
    def row(sent, shortfall, pps=100.0, seconds=5.0):
        report = {"duration_s": seconds, "balance": {"completed": sent, "shortfall": shortfall}}
        return offered.read("r", pps, report)

    def test_what_was_not_sent_and_told_is_within(self):
        row = self.row(480, 20)
        self.assertTrue(offered.within(row))
        self.assertAlmostEqual(row["shortfall_share"], 0.04)
        self.assertIn("| 0.96000 | 4.000 % | +0.0000 % | yes |", offered.line(row))

    def test_what_was_neither_sent_nor_told_is_not(self):
        self.assertFalse(offered.within(self.row(499, 0)))
        self.assertFalse(offered.within(self.row(501, 0)))
        self.assertIn("| NO |", offered.line(self.row(501, 0)))

    def test_the_sink_is_the_second_report(self):
        sender = {"duration_s": 1.0, "balance": {"completed": 10, "shortfall": 0}}
        row = offered.read("r", 10.0, [sender, {"balance": {"unique": 9}}])
        self.assertEqual(row["received"], 9)


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
