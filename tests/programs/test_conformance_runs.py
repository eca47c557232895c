# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon-conformance as a user runs it: the same bits on any --jobs and alone, stopped and resumed, killed and resumed."""
import glob
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from harness import BIN, BUILD, run, run_json

NULL = os.path.join(BUILD, "lib", "tenon-examples", "libtenon_null.so")
TIMES = ("seconds", "cases_per_second_per_core", "first_failure_seconds", "jobs", "environment")


def start(*arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TENON_")}
    return subprocess.Popen([os.path.join(BIN, "tenon-conformance"), *map(str, arguments)], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def fuzz(*arguments, folder):
    return ("fuzz", "--plugin", NULL, "--seed", 11, "--no-vote", "--report", folder, *arguments)


def load(folder):
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    for name in TIMES:
        report.pop(name, None)
    return report


def digests(folder):
    """Status and digest of each case, from the journals."""
    found = {}
    for path in glob.glob(os.path.join(folder, "journal-*.txt")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("end "):
                    _, case, status, digest = line.split()
                    found[case] = (status, digest)
    return found


def wait_for_cases(folder, count):
    deadline = time.time() + 60
    while time.time() < deadline and len(digests(folder)) < count:
        time.sleep(0.02)


class Deterministic(unittest.TestCase):
    def test_any_jobs_and_alone(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as three:
            run("tenon-conformance", *fuzz("--cases", 800, folder=one))
            run("tenon-conformance", *fuzz("--cases", 800, "--jobs", 3, folder=three))
            cases = digests(one)
            self.assertEqual(len(cases), 800)
            self.assertEqual(cases, digests(three))
            self.assertEqual(load(one), load(three))
            ran = [name for name, (_, digest) in cases.items() if digest != "0" * 16]
            for name in ran[::len(ran) // 12]:
                with self.subTest(name):
                    facts = run_json("tenon-conformance", "replay", name, "--plugin", NULL)
                    self.assertEqual((facts["status"], int(facts["digest"], 16)),
                                     (cases[name][0], int(cases[name][1], 16)))


class Resumed(unittest.TestCase):
    CASES = 1200

    def interrupted(self, folder, number):
        with start(*fuzz("--cases", self.CASES, "--jobs", 2, folder=folder)) as parent:
            wait_for_cases(folder, 150)
            parent.send_signal(number)
            out, _ = parent.communicate(timeout=120)
        return parent.returncode, out

    def go_on(self, folder):
        result = run("tenon-conformance", *fuzz("--cases", self.CASES, "--resume", folder=folder))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return load(folder)

    def test_stopped_and_killed(self):
        with tempfile.TemporaryDirectory() as whole:
            run("tenon-conformance", *fuzz("--cases", self.CASES, folder=whole))
            expected = load(whole)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number), tempfile.TemporaryDirectory() as folder:
                code, out = self.interrupted(folder, number)
                if number == signal.SIGKILL:
                    self.assertEqual(code, -number)
                else:
                    self.assertEqual(code, 0)
                    self.assertIn(signal.Signals(number).name, out)
                    part = load(folder)
                    self.assertIn(signal.Signals(number).name, part["stopped"])
                    self.assertLess(sum(part["counts"].values()), self.CASES)
                if os.path.exists(os.path.join(folder, "state.json")):
                    self.assertEqual(self.go_on(folder), expected)
                else:
                    self.assertEqual(number, signal.SIGKILL)

    def test_other_options(self):
        with tempfile.TemporaryDirectory() as folder:
            self.interrupted(folder, signal.SIGINT)
            result = run("tenon-conformance", *fuzz("--cases", self.CASES + 1, "--resume", folder=folder))
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn(f'end of cases: "{self.CASES}" then, "{self.CASES + 1}" now', result.stderr)

    def test_nothing_to_resume(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("tenon-conformance", *fuzz("--resume", folder=folder))
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn("state.json", result.stderr)
        result = run("tenon-conformance", "fuzz", "--plugin", NULL, "--resume")
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn("--report", result.stderr)


class Votes(unittest.TestCase):
    def test_another_plugin_is_asked(self):
        wrong = os.path.join(BUILD, "test-plugins", "conformance", "libtenon_planted_wrong.so")
        if not os.path.exists(os.path.join(BUILD, "lib", "tenon", "libtenon_cpu.so")):
            self.skipTest("the cpu backend is not built")
        arguments = ("fuzz", "--plugin", wrong, "--seed", 7, "--cases", 6400, "--stop-after", 12)
        votes = [f["votes"] for f in run_json("tenon-conformance", *arguments, expect=1)["failures"] if f["reproducer"]]
        self.assertTrue(any(vote.startswith("cpu: ") and "FAIL" not in vote for vote in votes), votes)
        silent = run_json("tenon-conformance", *arguments, "--no-vote", expect=1)["failures"]
        self.assertFalse(any(f["votes"] for f in silent))


class CommandLine(unittest.TestCase):
    def test_budgets_are_times_by_name(self):
        for arguments in (("--budget", "holiday"), ("--budget", "smoke", "--time", 3)):
            with self.subTest(arguments):
                result = run("tenon-conformance", "fuzz", "--plugin", NULL, *arguments)
                self.assertEqual(result.returncode, 2, result.stdout)

    def test_no_progress_without_a_terminal(self):
        result = run("tenon-conformance", "fuzz", "--plugin", NULL, "--cases", 50, "--no-vote")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertNotIn("\033", result.stdout)

    def test_time_ends_a_run(self):
        begin = time.time()
        facts = run_json("tenon-conformance", "fuzz", "--plugin", NULL, "--time", 1, "--no-vote")
        self.assertLess(time.time() - begin, 15)
        self.assertIn("time", facts["stopped"])

    def test_a_device_without_compute_has_memory_checks(self):
        disk = os.path.join(BUILD, "lib", "tenon", "libtenon_disk.so")
        if not os.path.exists(disk):
            self.skipTest("the disk backend is not built")
        facts = run_json("tenon-conformance", "run", "--backend", "disk")
        self.assertTrue(facts["memory_only"])


if __name__ == "__main__":
    unittest.main()
