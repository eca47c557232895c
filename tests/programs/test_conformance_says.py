# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the conformance tool says: how much it tried, each cause once, which rule is broken, why something is not
supported; and runs of one check or op alone."""
import json
import os
import re
import tempfile
import unittest

from harness import BUILD, SOURCE, run, run_json

NULL = os.path.join(BUILD, "lib", "tenon-examples", "libtenon_null.so")
PLANTED = os.path.join(BUILD, "lib", "tenon-selftest", "libtenon_planted.so")
LITTLE = 8  # exit code: less than one case an op and dtype


def planted(command, bug, *arguments, **more):
    options = f"@bug={bug}" if bug else ""
    return run("tenon-conformance", command, "--plugin", PLANTED, "--backend", f"planted:0{options}", "--no-vote",
               *arguments, **more)


class HowMuchWasTried(unittest.TestCase):
    def test_a_run_that_time_ends_early_is_not_green(self):
        with tempfile.TemporaryDirectory() as folder:
            result = planted("run", "", "--time", 0.2, "--report", folder)
            self.assertEqual(result.returncode, LITTLE, result.stdout + result.stderr)
            self.assertRegex(result.stdout, r"(?m): [0-9,]+ of [0-9,]+ cases; [0-9]+ of [0-9]{3} cells of op and dtype, in ")
            self.assertRegex(result.stderr, r"expected at least one case an op and dtype, got \d+ of \d{3}: ")
            with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
                facts = json.load(file)
            with open(os.path.join(folder, "report.html"), encoding="utf-8") as file:
                page = file.read()
        tried = facts["tried"]
        self.assertEqual(tried["cases"], facts["cases"])
        self.assertGreater(tried["planned_cases"], 20000)
        self.assertLess(tried["cells"], tried["possible_cells"])
        self.assertIn("is not tried whole: ", page)
        self.assertIn(f"; {tried['cells']} of {tried['possible_cells']} cells of op and dtype; none failed.", page)

    def test_it_is_green_where_little_was_asked_for(self):
        for arguments in (("--cases", 20), ("--only", "zero_grid"), ("--layers", "checks", "--cases", 10)):
            with self.subTest(arguments):
                command = "fuzz" if "--layers" in arguments else "run"
                result = planted(command, "", *arguments)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertRegex(result.stdout, r"cases?; \d+ of \d+ cells of op and dtype, in ")

    def test_the_help_names_the_exit_code(self):
        self.assertIn("8 less than one case an op and dtype was tried",
                      re.sub(r"\s+", " ", run("tenon-conformance", "--help").stdout))


class OneOf(unittest.TestCase):
    """--only."""

    def ops(self, command, *arguments):
        facts = run_json("tenon-conformance", command, "--plugin", NULL, "--no-vote", *arguments)
        return {cell["op"] for cell in facts["cells"]}

    def test_a_check_an_op_and_a_family(self):
        self.assertEqual(self.ops("run", "--only", "zero_grid"), {"api.zero_grid"})
        self.assertEqual(self.ops("run", "--only", "api.zero_grid,open_twice"), {"api.zero_grid", "api.open_twice"})
        self.assertEqual(self.ops("run", "--only", "xor", "--cases", 8000), {"xor"})
        self.assertEqual(self.ops("fuzz", "--only", "neighbours", "--cases", 10), {"api.neighbours"})

    def test_fuzz_takes_a_hundred_if_no_number_is_said(self):
        facts = run_json("tenon-conformance", "fuzz", "--plugin", NULL, "--no-vote", "--only", "zero_grid")
        self.assertEqual(facts["tried"]["cases"], 100)
        self.assertEqual(facts["tried"]["planned_cases"], 100)

    def test_unknown_names(self):
        for command in ("run", "fuzz"):
            result = run("tenon-conformance", command, "--plugin", NULL, "--only", "zero_grids")
            self.assertEqual(result.returncode, 2, result.stdout)
            for words in ('got "zero_grids"', "checks: ops_together, ", " zero_grid, ", "ops: add, ", "families: idioms, "):
                self.assertIn(words, result.stderr)
        result = run("tenon-conformance", "fuzz", "--plugin", NULL, "--only", "add", "--layers", "graphs")
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn("expected --layers with cells or transforms for add", result.stderr)


class Causes(unittest.TestCase):
    def test_one_cause_is_printed_once_with_its_count(self):
        result = planted("run", "idiv_floors", "--only", "idiv,ops_together,each_op", "--no-shrink")
        self.assertEqual(result.returncode, 1, result.stderr)
        failures = [line for line in result.stdout.splitlines() if line.startswith("FAIL ")]
        ops = sorted(line.split()[2].split(".")[0 if not line.split()[2].startswith("api.") else 1] for line in failures)
        self.assertEqual(ops, ["each_op", "idiv", "ops_together"], result.stdout)
        self.assertRegex(result.stdout, r"(?m)^    \d+ cases with this cause: also idiv i\d+, idiv i\d+, idiv i\d+$")
        told = [line for line in result.stderr.splitlines() if line.startswith("FAIL ")]
        self.assertEqual(len(told), 3, result.stderr)

    def test_the_report_groups_them_too(self):
        facts = json.loads(planted("run", "idiv_floors", "--only", "idiv", "--no-shrink", "--json").stdout)
        self.assertGreater(len(facts["failures"]), 2)
        self.assertEqual({failure["cause"] for failure in facts["failures"]}, {"FAIL mismatch idiv"})


class Reasons(unittest.TestCase):
    def test_what_is_not_supported_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("tenon-conformance", "run", "--plugin", NULL, "--no-vote", "--only", "subgroups,timeline_steps",
                         "--report", folder)
            self.assertEqual(result.returncode, 7, result.stdout + result.stderr)
            self.assertRegex(result.stdout, r"(?m)^unsupported, by reason\n(  \d+ +the device .*\n)+\Z")
            with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
                cells = {cell["op"]: cell["unsupported"] for cell in json.load(file)["cells"]}
            with open(os.path.join(folder, "junit.xml"), encoding="utf-8") as file:
                junit = file.read()
        self.assertEqual(set(cells["api.timeline_steps"]), {"the device is synchronous"})
        self.assertIn('<skipped message="unsupported: the device is synchronous"/>', junit)


class Rules(unittest.TestCase):
    """A text names the rule of docs/abi.md that is broken."""

    def test_findings_and_crashes_of_checks(self):
        with open(os.path.join(SOURCE, "docs", "abi.md"), encoding="utf-8") as file:
            numbers = set(re.findall(r"(?m)^(\d+)\. ", file.read()))
        for bug, check in (("grid_kept", "launched_again"), ("copy_words", "copies_inside"),
                           ("crash_unsupported", "refused_calls"), ("file_on_damage", "leak_after_errors")):
            with self.subTest(bug):
                facts = json.loads(planted("run", bug, "--only", check, "--no-shrink", "--json").stdout)
                self.assertTrue(facts["failures"])
                for failure in facts["failures"]:
                    found = re.search(r"rule (\d+) of docs/abi\.md: \w", failure["text"])
                    self.assertTrue(found, failure["text"])
                    self.assertIn(found[1], numbers)


if __name__ == "__main__":
    unittest.main()
