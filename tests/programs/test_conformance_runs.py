# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon-conformance as a user runs it: the same bits on any --jobs and alone, stopped and resumed, killed and resumed."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from harness import BIN, BUILD, GRAPHS, SOURCE, paste, run, run_json

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


def replayed(case, *arguments):
    """The facts of a case. One that the device cannot do has tried nothing, which is 7."""
    result = run("tenon-conformance", "replay", case, *arguments, "--json")
    facts = json.loads(result.stdout)
    assert result.returncode == (7 if facts["status"] == "UNSUPPORTED" else 0), (case, result.returncode, facts)
    return facts


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
                    facts = replayed(name, "--plugin", NULL)
                    self.assertEqual((facts["status"], int(facts["digest"], 16)),
                                     (cases[name][0], int(cases[name][1], 16)))


class Resumed(unittest.TestCase):
    CASES = 1200

    def interrupted(self, folder, number):
        """Its exit code and output. On a busy machine a run may be over before the signal comes: then once more."""
        for _ in range(10):
            shutil.rmtree(folder)
            with start(*fuzz("--cases", self.CASES, "--jobs", 2, folder=folder)) as parent:
                wait_for_cases(folder, 150)
                parent.send_signal(number)
                out, _ = parent.communicate(timeout=120)
            if parent.returncode != 0:
                break
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
                    self.assertEqual(code, 128 + number)
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

    def test_a_state_that_another_hand_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            self.interrupted(folder, signal.SIGINT)
            file = os.path.join(folder, "state.json")
            with open(file, encoding="utf-8") as saved:
                state = json.load(saved)
            changes = [({"next": 99999999}, f"next: expected a case in [0, {self.CASES}], got 99999999"),
                       ({"next": -1}, "next: expected a whole number below 2^64, got -1"),
                       ({"next": 1e3}, "next: expected a whole number below 2^64, got 1000.0"),
                       ({"todo": [[0, 99999999]]}, "todo: expected cases in [0, "),
                       ({"todo": [[9, 3]]}, "todo[0]: expected a begin up to the end"),
                       ({"todo": {}}, "todo: expected an array"),
                       ({"failures": [3]}, "failures[0]: expected an object, got 3"),
                       ({"dropped": {"a": 0.5}}, "dropped.a: expected a whole number up to 2^53, got 0.5"),
                       ({"passed": ["x"]}, "passed[0]: expected a whole number"),
                       ({"report": 7}, "report: expected a text, got 7")]
            for change, words in changes:
                with self.subTest(change):
                    with open(file, "w", encoding="utf-8") as changed:
                        json.dump({**state, **change}, changed)
                    result = run("tenon-conformance", *fuzz("--cases", self.CASES, "--resume", folder=folder))
                    self.assertEqual(result.returncode, 2, result.stdout)
                    self.assertIn(words, result.stderr)
            with open(file, "w", encoding="utf-8") as changed:
                json.dump(state, changed)
            result = run("tenon-conformance",
                         *fuzz("--cases", self.CASES, "--resume", "--layers", "cells", folder=folder))
            self.assertIn('layers: "all" then, "cells" now', result.stderr)

    def test_a_folder_is_for_one_run_at_a_time(self):
        with tempfile.TemporaryDirectory() as folder:
            with start(*fuzz("--time", 60, folder=folder)) as parent:
                wait_for_cases(folder, 50)
                second = run("tenon-conformance", *fuzz("--cases", 50, folder=folder))
                parent.send_signal(signal.SIGINT)
                parent.communicate(timeout=120)
            self.assertEqual(second.returncode, 3, second.stdout)
            self.assertIn("expected a folder that no other run writes to", second.stderr)
        nowhere = run("tenon-conformance", *fuzz("--cases", 50, folder="/proc/nope"))
        self.assertEqual(nowhere.returncode, 3, nowhere.stdout)
        self.assertIn("[report] expected a folder that can be made at /proc/nope", nowhere.stderr)

    def test_limits_and_commands_are_named(self):
        small = run("tenon-conformance", "fuzz", "--plugin", NULL, "--memory-limit", 1, "--cases", 10)
        self.assertIn("within the 1 MiB of --memory-limit", small.stdout + small.stderr)
        unknown = run("tenon-conformance", "nosuch")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("expected list, run, fuzz", unknown.stderr)
        self.assertIn("got 'nosuch'", unknown.stderr)
        self.assertNotIn("worker", unknown.stderr)

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


class Causes(unittest.TestCase):
    """A failure says what it most likely comes from."""

    def texts(self, bug, *arguments):
        plugin = os.path.join(BUILD, "test-plugins", "conformance", f"libtenon_planted_{bug}.so")
        facts = run_json("tenon-conformance", "run", "--plugin", plugin, "--no-vote", "--no-shrink", *arguments, expect=1)
        return [failure["text"] for failure in facts["failures"]]

    def test_what_was_never_written(self):
        texts = self.texts("poison", "--cases", 400)
        self.assertTrue([text for text in texts if re.search(
            r"; [0-9]+ elements still hold the poison that memory was filled with: they were never written, "
            r"or submit returned before its work had ended, which a device without TN_DEVICE_ASYNC may not do "
            r"\(rule 20 of docs/abi\.md\)$", text)], texts)
        self.assertTrue([text for text in texts if re.search(r"got true \(byte 0x(a5|5a)\)", text)], texts)

    def test_bytes_outside_come_first(self):
        texts = self.texts("overrun", "--cases", 200)
        self.assertRegex(texts[0], r"byte 0 after ")


class Replayed(unittest.TestCase):
    def test_a_case_and_those_before_it(self):
        switched = os.path.join(BUILD, "test-plugins", "conformance", "libtenon_planted_switched.so")
        with tempfile.TemporaryDirectory(suffix=" with a space") as folder:
            run("tenon-conformance", "fuzz", "--plugin", switched, "--seed", 7, "--first", 12800, "--cases", 4000,
                "--layers", "cells", "--no-vote", "--report", folder)
            failures = [f for f in load(folder)["failures"] if "only after" in f["text"]]
            self.assertTrue(failures)
            for failure in failures:
                self.assertIn("\n# after case ", failure["reproducer"])
                result = paste(failure["replay"])
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertIn(f"FAIL {failure['case']}", result.stdout)


class Trained(unittest.TestCase):
    def test_right(self):
        facts = run_json("tenon-conformance", "train", "perceptron", "--plugin", NULL, "--steps", 5)
        self.assertEqual([(model["name"], model["status"]) for model in facts["models"]], [("perceptron", "PASS")])
        self.assertRegex(facts["models"][0]["text"], r"^loss [0-9.]+ to [0-9.]+ in 5 steps$")
        refused = run("tenon-conformance", "train", "forest", "--plugin", NULL)
        self.assertEqual(refused.returncode, 2)
        self.assertIn('expected a model of perceptron, convolution, attention, counters, got "forest"', refused.stderr)

    def test_options(self):
        """Refused before a step is made: a number that no case takes, a folder that cannot be."""
        for words, code in ((["--steps", "1000001"], 2), (["--report", "/dev/null/folder"], 3)):
            with self.subTest(words):
                refused = run("tenon-conformance", "train", "--plugin", NULL, *words)
                self.assertEqual(refused.returncode, code, refused.stderr)
                self.assertIn(words[1], refused.stderr)
                self.assertEqual(refused.stdout, "")

    def test_wrong(self):
        worn = os.path.join(BUILD, "test-plugins", "conformance", "libtenon_misbehaves_wears_out.so")
        with tempfile.TemporaryDirectory() as folder:
            result = run("tenon-conformance", "train", "--plugin", worn, "--steps", 40, "--report", folder)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertRegex(result.stdout, r"FAIL attention +step [0-9]+ of 40: \w+ \[")
            self.assertRegex(result.stdout, r"(?m)^    tenon-conformance replay .*train-attention.tn$")
            again = run("tenon-conformance", "replay", os.path.join(folder, "train-attention.tn"))
            self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
            self.assertRegex(again.stdout, r"FAIL 1:2 train.attention f32 -: step [0-9]+ of 40: ")


class Numbers(unittest.TestCase):
    """One rule for every number of every command line."""

    def refused(self, program, *arguments):
        result = run(program, *arguments)
        with self.subTest((program, *arguments)):
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            self.assertIn("expected a ", result.stderr)
            self.assertIn(f'"{arguments[-1]}"', result.stderr)

    def test_whole_numbers(self):
        for option in ("--seed", "--cases", "--first", "--jobs", "--stop-after", "--memory-limit"):
            for bad in ("-1", "99999999999999999999999", "1.5", "7x", "0x10", "+3", "1e3"):
                self.refused("tenon-conformance", "fuzz", "--plugin", NULL, option, bad)
        self.refused("tenon-conformance", "fuzz", "--plugin", NULL, "--cases", "0")
        self.refused("tenon-conformance", "selftest", "--seed", "-1")
        graph = os.path.join(GRAPHS, "softmax.tn")
        for bad in ("-1", "18446744073709551616", "seven"):
            self.refused("tenon", "run", graph, "--random", bad)

    def test_seconds(self):
        for option in ("--time", "--run-timeout", "--compile-timeout", "--start-timeout"):
            for bad in ("-1", "0", "nan", "inf", "1e400", "1e30", "3s"):
                self.refused("tenon-conformance", "fuzz", "--plugin", NULL, option, bad)

    def test_leading_zeros_are_decimal(self):
        facts = run_json("tenon-conformance", "fuzz", "--plugin", NULL, "--seed", "010", "--cases", "08", "--no-vote")
        self.assertEqual((facts["seed"], sum(facts["counts"].values())), (10, 8))


class NoAlarm(unittest.TestCase):
    """What was once called a failure and is none."""

    def test_programs_that_take_the_model_too_long(self):
        files = glob.glob(os.path.join(SOURCE, "conformance", "regressions", "model-too_long_*.tn"))
        self.assertEqual(len(files), 3)
        for path in files:
            with self.subTest(os.path.basename(path)):
                facts = run_json("tenon-conformance", "replay", path, "--plugin", NULL, "--backend", "null")
                self.assertEqual(facts["status"], "VACUOUS", facts)
                self.assertIn("ends soon", facts["text"])


class NothingTried(unittest.TestCase):
    """No command is green that tried nothing, and what is not legal is no failure of the device."""
    PLANTED = os.path.join(BUILD, "lib", "tenon-selftest", "libtenon_planted.so")

    def without_f64(self, command, *arguments):
        return run("tenon-conformance", command, *arguments, "--plugin", self.PLANTED,
                   "--backend", "planted:0@bug=unsupported_dtypes")

    def test_cases_are_counted_that_are_tried(self):
        for layers in ("graphs,gradients", "gradients", "sequences"):
            with self.subTest(layers):
                facts = run_json("tenon-conformance", "fuzz", "--plugin", NULL, "--layers", layers, "--seed", 4,
                                 "--cases", 40, "--no-vote")
                self.assertEqual(sum(facts["counts"].values()), 40)

    def test_only_what_the_device_lacks(self):
        with tempfile.TemporaryDirectory() as folder:
            self.without_f64("fuzz", "--layers", "cells", "--cases", 400, "--no-vote", "--report", folder)
            cases = digests(folder)
            refused = [name for name, (status, _) in cases.items() if status == "UNSUPPORTED"]
        self.assertTrue(refused)
        alone = self.without_f64("replay", refused[0])
        self.assertEqual(alone.returncode, 7, alone.stdout + alone.stderr)
        one = self.without_f64("fuzz", "--first", refused[0].split(":")[1], "--cases", 1, "--no-vote")
        self.assertEqual(one.returncode, 7, one.stdout + one.stderr)
        self.assertIn("nothing was tried", one.stderr)

    def test_a_case_that_is_not_legal(self):
        program = ("# tenon-conformance 1\n# case 1:1 api.program - -\n# sequence program 1 1 1 0 0\n"
                   "# sequence | program p(%y: global i32[8] read write) workgroup 4 1 1 {\n"
                   "# sequence |   %1 = index block.x : i32\n# sequence |   %2 = const 0 : i32\n"
                   "# sequence |   store %y, %2, %1\n# sequence | }\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "racing.tn")
            with open(path, "w", encoding="utf-8") as file:
                file.write(program)
            result = run("tenon-conformance", "replay", path, "--plugin", NULL)
        self.assertEqual(result.returncode, 6, result.stdout + result.stderr)
        self.assertIn("TOOL_ERROR", result.stdout)


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

    def test_a_run_says_how_much_there_is_to_do(self):
        result = run("tenon-conformance", "run", "--plugin", NULL, "--cases", 100, "--no-vote", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sum(json.loads(result.stdout)["counts"].values()) >= 100, True)
        self.assertRegex(result.stderr, r"\A100 cases, rules of the interface and known answers first\n\Z")

    def test_a_run_estimates_its_time_and_names_what_fails_at_once(self):
        wrong = os.path.join(BUILD, "test-plugins", "conformance", "libtenon_planted_wrong.so")
        result = run("tenon-conformance", "run", "--plugin", wrong, "--time", 6, "--no-vote", "--no-shrink")
        self.assertEqual(result.returncode, 1, result.stderr)
        lines = result.stderr.splitlines()
        self.assertRegex(lines[0], r"^[0-9,]+ cases, .*; it ends after 6 s$")
        self.assertTrue([line for line in lines[1:12]
                         if re.match(r"FAIL 1:10000000\d\d api\.each_op\.\w+ - -: xor \w+: ", line)], lines)
        self.assertTrue([line for line in lines if re.match(r"[0-9,]+ cases, about .*; it ends after 6 s$", line)], lines)

    def test_cases_of_a_run_come_again_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            run("tenon-conformance", "run", "--plugin", NULL, "--cases", 600, "--no-vote", "--report", folder)
            cases = digests(folder)
            for name in ("1:1000000045", "1:1000000100", "1:1000000108", "1:1000000124", "1:1000000599"):
                with self.subTest(name):
                    facts = replayed(name, "--plugin", NULL)
                    self.assertEqual((facts["status"], int(facts["digest"], 16)),
                                     (cases[name][0], int(cases[name][1], 16)))

    def test_time_ends_a_run(self):
        facts = run_json("tenon-conformance", "fuzz", "--plugin", NULL, "--time", 1, "--no-vote", expect=8)
        self.assertIn("time", facts["stopped"])

    def test_backend_and_plugin_say_one_target(self):
        facts = replayed("1:200", "--backend", "null:0", "--plugin", NULL)
        self.assertIn(facts["status"], ("PASS", "UNSUPPORTED", "VACUOUS"))
        result = run("tenon-conformance", "replay", "1:200", "--backend", "cpu:0", "--plugin", NULL)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn("a term of null", result.stderr)


def regressions_of_calls():
    found = []
    for path in glob.glob(os.path.join(SOURCE, "conformance", "regressions", "*.tn")):
        with open(path, encoding="utf-8") as file:
            if "\ngraph " not in file.read():
                found.append(path)
    return found


class MemoryOnly(unittest.TestCase):
    """A device that computes nothing: checks and sequences, in workers, with a report."""

    def setUp(self):
        if not os.path.exists(os.path.join(BUILD, "lib", "tenon", "libtenon_disk.so")):
            self.skipTest("the disk backend is not built")

    def check(self, folder, facts, backend, kept=0):
        """`kept`: regression files among the cases, which no journal has."""
        ops = {cell["op"]: cell for cell in facts["cells"]}
        for name in ("memory.whole", "memory.growth", "api.map_ranges", "api.leak_of_memory", "api.sequence"):
            self.assertIn(name, ops)
        self.assertEqual({op.split(".")[0] for op in ops}, {"api", "memory"})
        self.assertEqual(facts["failures"], [])
        self.assertGreater(facts["counts"]["PASS"], 50)
        self.assertEqual(facts["backend"], backend)
        self.assertEqual(len(digests(folder)) + kept, sum(facts["counts"].values()))
        for name in ("report.json", "report.html", "junit.xml"):
            self.assertTrue(os.path.exists(os.path.join(folder, name)), name)

    def test_run(self):
        with tempfile.TemporaryDirectory() as folder:
            facts = run_json("tenon-conformance", "run", "--backend", "disk", "--report", folder)
            self.check(folder, facts, "disk", kept=len(regressions_of_calls()))

    def test_fuzz_a_file_and_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kept.bin")
            with open(path, "wb") as file:
                file.write(b"mine" * 1000)
            facts = run_json("tenon-conformance", "fuzz", "--backend", f"disk:{path}", "--cases", 6400, "--jobs", 2,
                             "--report", folder)
            self.check(folder, facts, f"disk:{path}")
            with open(path, "rb") as file:
                self.assertEqual(file.read(), b"mine" * 1000)
            for name, (status, _) in list(digests(folder).items())[::60]:
                with self.subTest(name):
                    alone = replayed(name, "--backend", f"disk:{path}")
                    self.assertEqual(alone["status"], status)


if __name__ == "__main__":
    unittest.main()
