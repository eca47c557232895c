# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon-bench: names of rows, a baseline, peers. Nothing here depends on how long something takes."""
import json
import os
import tempfile
import unittest

from harness import run, run_json

ONE = ("--only", "launch/plugin call")


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def test_what_moved_since_a_baseline_is_told(self):
        facts = run_json("tenon-bench", *ONE, "--json")
        row = facts["rows"][0]
        self.assertEqual(row["name"], "launch/plugin call")
        row["ours"] *= 1e9
        moved = run("tenon-bench", *ONE, "--baseline", self.path("slower.json", json.dumps(facts)))
        self.assertEqual(moved.returncode, 0, moved.stderr)
        self.assertRegex(moved.stderr, r"-\d+% launch/plugin call: [\d.]+ to [\d.]+ ns")
        row["name"] = "another"
        new = run("tenon-bench", *ONE, "--baseline", self.path("other.json", json.dumps(facts)))
        self.assertRegex(new.stderr, r"new +launch/plugin call: ")

    def test_of_several_runs_a_row_is_the_middle_one(self):
        facts = run_json("tenon-bench", *ONE, "--runs", 3, "--json")
        row, = facts["rows"]
        self.assertLessEqual(row["lowest_ratio"], row["ratio"])
        self.assertNotIn("lowest_ratio", run_json("tenon-bench", *ONE, "--json")["rows"][0])
        self.assertEqual(run("tenon-bench", *ONE, "--runs", "0").returncode, 2)

    def test_what_was_compiled_in_one_run_is_not_in_the_next(self):
        row, = run_json("tenon-bench", "--only", "^compile/elementwise, later", "--runs", 2, "--json")["rows"]
        self.assertNotIn("wrong", row)

    def test_bad_input_is_refused_before_anything_is_measured(self):
        for text in ("x", "[]", "{}", '{"rows": [{"name": "a"}]}', '{"rows": 1}'):
            with self.subTest(text):
                refused = run("tenon-bench", *ONE, "--baseline", self.path("bad.json", text))
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertIn("[--baseline] expected what tenon-bench --json prints", refused.stderr)
                self.assertNotIn("launch/plugin call", refused.stderr)
        self.assertEqual(run("tenon-bench", "--only", "no such row").returncode, 2)

    def test_no_row_is_begun_when_the_time_is_up(self):
        facts = run_json("tenon-bench", "--only", "^launch/(step, the rate|plugin call)$", "--time", "1e-9")
        self.assertEqual(facts["not_run"], ["launch/plugin call"])
        self.assertTrue(facts["rows"])
        self.assertTrue(all(row["name"].startswith("launch/step, the rate") for row in facts["rows"]), facts["rows"])
        self.assertEqual(run("tenon-bench", *ONE, "--time", "0").returncode, 2)

    def test_a_device_that_is_not_there_is_an_error(self):
        for wrong in ("cpu:0", "npu:0"):
            refused = run("tenon-bench", "--device", wrong)
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertIn(f'passes its self-test, as cuda:0, found no "{wrong}"', refused.stderr)

    def test_an_interpreter_that_is_none_is_an_error(self):
        for wrong in ("/bin/false", "/bin/cat", os.path.join(self.folder.name, "none")):
            with self.subTest(wrong):
                refused = run("tenon-bench", "--only", "sgemm/64 beside others/threads=1", "--peers", wrong)
                self.assertEqual(refused.returncode, 3, refused.stderr)
                self.assertIn(f"[--peers] expected a Python interpreter, got {wrong}", refused.stderr)


if __name__ == "__main__":
    unittest.main()
