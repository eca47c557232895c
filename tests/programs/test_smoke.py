# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run --budget smoke names planted faults, each by what it is, within its half minute.

A few of them as a test; `test_smoke.py --table` prints all, with what was said and when.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

from harness import BIN, BUILD, SOURCE

SECONDS = 30
WITHIN = SECONDS + 6  # the end of a run, and a busy machine
FIRST_SECONDS = 10
PLUGIN = os.path.join(BUILD, "lib", "tenon-selftest", "libtenon_planted.so")

# What the first failure must say: op and dtype, check or layer, then the sentence.
EXPECTED = {
    "max_drops_nan": r"max \S+ .*expected nan",
    "idiv_floors": r"api\.ops_together .*: idiv i",
    "u8_saturates": r"api\.ops_together .*: add u8x1",
    "int_cast_wraps": r"api\.ops_together .*: cast f32x1 to i8: .*expected",
    "offset_dropped": r"api\.known_programs .*the program shifted",
    "tail_skipped": r"api\.wide_vectors|poison",
    "write_past_end": r"byte 0 after the \d+ bytes of",
    "write_before_start": r"byte 1 before the \d+ bytes of",
    "crash_unsupported": r"^CRASH .*(SIGSEGV|refused_calls)",
}


def smoke(options, *more, expect=None):
    """(seconds, line) of what it says fails, as it comes."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TENON_")}
    words = [os.path.join(BIN, "tenon-conformance"), "run", "--plugin", PLUGIN, "--backend", f"planted:0@{options}",
             "--budget", "smoke", "--no-vote", *more]
    begin = time.time()
    said = []
    with tempfile.TemporaryFile("w+", errors="replace") as out, subprocess.Popen(
            words, env=environment, stdout=out, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stderr:
            if re.match(r"(FAIL|CRASH|TIMEOUT|DEVICE_LOST) ", line):
                said.append((time.time() - begin, line.strip()))
        process.wait()
        assert expect is None or process.returncode == expect, process.returncode
        out.seek(0)
        return said, out.read(), time.time() - begin


class Smoke(unittest.TestCase):
    def test_faults_are_named(self):
        for bug, expected in EXPECTED.items():
            with self.subTest(bug):
                said, out, seconds = smoke(f"bug={bug}", "--stop-after", "1", "--no-shrink")
                self.assertTrue(said and re.search(expected, said[0][1]), said or out)
                self.assertLess(seconds, WITHIN)

    def test_a_slow_compiler_is_asked_for_many_ops_at_once(self):
        """One that takes 0.3 s a kernel: what casts beyond the range give is known in the first seconds."""
        said, out, seconds = smoke("bug=int_cast_wraps@compile_ms=300", "--stop-after", "1", "--no-shrink")
        self.assertTrue(said and re.search(EXPECTED["int_cast_wraps"], said[0][1]), said or out)
        self.assertLess(said[0][0], FIRST_SECONDS)

    def test_a_slow_compiler_is_not_green_after_a_few_cases(self):
        said, out, seconds = smoke("compile_ms=300", "--json", expect=8)
        self.assertFalse(said)
        tried = json.loads(out)["tried"]
        self.assertLess(tried["cells"], tried["possible_cells"])
        self.assertLess(tried["cases"], tried["planned_cases"])

    def test_it_ends_in_time_with_what_it_shrank(self):
        said, out, seconds = smoke("bug=tail_skipped")
        self.assertTrue(said)
        self.assertRegex(out, r"(?m)^FAIL ")
        self.assertLess(seconds, WITHIN)


def print_table():
    with open(os.path.join(SOURCE, "conformance", "selftest", "plugin", "variants.def"), encoding="utf-8") as file:
        bugs = re.findall(r'TN_PLANTED\((\w+), "([^"]+)"', file.read())
    for bug, kind in bugs:
        said, out, seconds = smoke(f"bug={bug}", "--stop-after", "2")
        first = f"{said[0][0]:5.1f} s" if said else " missed"
        shrunk = next((line for line in out.splitlines() if re.match(r"(FAIL|CRASH|TIMEOUT|FLAKY|DEVICE_LOST) ", line)), "")
        print(f"{kind:18} {bug:20} {first} {seconds:5.1f} s  {shrunk[:200]}", flush=True)


if __name__ == "__main__":
    if "--table" in sys.argv:
        print_table()
    else:
        unittest.main()
