"""The pure parts of the soak: how scenarios are drawn, what is expected of them, and that the checks can fail."""

import copy
import sys
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path[:0] = [str(SCRIPTS), str(SCRIPTS / "soak"), str(SCRIPTS / "bench")]
sys.dont_write_bytecode = True

import checks  # noqa: E402
import faults  # noqa: E402
import flood  # noqa: E402
import frame  # noqa: E402
import scenario  # noqa: E402
from scenario import Fault, Scenario, draw, expect  # noqa: E402

BALANCE = {
    "built": 12, "submitted": 12, "completed": 10, "in_flight": 1, "invalid": 1, "received": 12, "control": 1,
    "probes": 10, "rejected": {"other_run": 1}, "unique": 8, "duplicate": 1, "late": 1, "lost": 2,
    "kernel_drops": 2, "unexplained": 0,
}


def one_with(*faults_of_it, shape="standalone"):
    given = [Fault(name, target, 0.1, 0.1, 1) for name, target in faults_of_it]
    return Scenario("s/1", 1, shape, 1, 64, "max", 1.0, "auto", (), 7, False, tuple(given))


class Drawing(unittest.TestCase):
    SOME = [draw("7", number) for number in range(400)]

    def test_a_scenario_is_a_matter_of_seed_and_number(self):
        self.assertEqual(self.SOME[11], draw("7", 11))
        self.assertNotEqual(draw("7", 11).faults, draw("8", 11).faults)

    def test_every_kind_is_drawn_and_can_be_applied(self):
        drawn = {fault.name for s in self.SOME for fault in s.faults}
        self.assertEqual(drawn, set(scenario.BY_NAME))
        before = {kind.name for kind in scenario.KINDS if kind.before}
        self.assertEqual(set(faults.ACTIONS), set(scenario.BY_NAME) - before)

    def test_faults_fit_the_shape_and_nothing_is_done_to_what_is_gone(self):
        for s in self.SOME:
            self.assertTrue(2 <= len(s.faults) <= 5)
            self.assertTrue(all(s.shape in fault.kind.shapes and fault.target in fault.kind.targets for fault in s.faults))
            last = [fault for fault in s.faults if fault.kind.leaves == scenario.ALL_GONE and not fault.kind.before]
            self.assertTrue(all(fault is s.faults[-1] for fault in last), s)


class Expecting(unittest.TestCase):
    def test_codes_follow_from_whom_a_fault_hits(self):
        killed = one_with(("sigkill", "tx"))
        self.assertEqual(expect(killed, "tx").codes, {0, 1, -9})
        self.assertEqual(expect(killed, "rx").codes, {0})
        self.assertEqual(expect(one_with(("sigkill", "rx"), shape="pair"), "tx").codes, {0, 1, -9})
        self.assertIn(1, expect(one_with(("link-down", "rx")), "tx").codes)

    def test_a_link_that_goes_may_lose_what_no_counter_names(self):
        self.assertFalse(expect(one_with(("link-down", "tx")), "rx").counted)
        self.assertTrue(expect(one_with(("stop-a-while", "rx")), "rx").counted)


class Checks(unittest.TestCase):
    def test_books_that_balance_are_right_and_others_are_not(self):
        self.assertEqual(list(checks.books({"balance": BALANCE})), [])
        for name in ("unique", "lost", "built"):
            broken = copy.deepcopy(BALANCE) | {name: 99}
            self.assertTrue(list(checks.books({"balance": broken})), name)

    def test_words_for_developers_are_found(self):
        for text in ("x (os error 16)", "thread 'main' panicked at", "libbpf: elf", "EBUSY", "error: x [made-up]"):
            self.assertTrue(list(checks.words(text, {"link-lost"})), text)
        self.assertEqual(list(checks.words("error: v0: it went down [link-lost]\n  try: CAP_NET_RAW", {"link-lost"})), [])

    def test_exit_code_and_findings_must_agree(self):
        fail = {"code": "link-lost", "severity": "fail", "remedy": "cable"}
        report = {"findings": [fail]}
        self.assertTrue(list(checks.verdict(0, [report], "")))
        self.assertTrue(list(checks.verdict(1, [{"findings": []}], "")))
        self.assertTrue(list(checks.verdict(1, [{"findings": [fail | {"remedy": ""}]}], "")))
        self.assertEqual(list(checks.verdict(1, [report], "")), [])


class Flood(unittest.TestCase):
    def test_frames_differ_from_the_runs_where_they_should(self):
        rng = scenario.random.Random(1)
        for kind, ours in (("foreign", True), ("corrupt", True), ("other", False)):
            for data in flood.frames("02:00:00:00:00:02", kind, rng, 7, 8):
                self.assertEqual((len(data), frame.checksum(data[14:34])), (60, 0))
                self.assertEqual(data[36:38] == bytes([0, 9]), ours)
                self.assertEqual(data[40:42] != bytes(2), kind == "corrupt")
                self.assertEqual(data[44:46] == bytes([0, 7]), kind == "corrupt")


if __name__ == "__main__":
    unittest.main()
