# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon-conformance selftest: cheap bugs are found, benign variants are quiet, and nobody meets the plugin by chance."""
import json
import os
import shutil
import tempfile
import unittest

from harness import BIN, BUILD, paste, run, run_json

BUGS = ["tail_skipped", "f16_truncates", "write_past_end", "padding_read", "lost_partial"]
BENIGN = ["reassociated_sum", "large_alignment"]


class Selftest(unittest.TestCase):
    def test_cheap_bugs_are_found_and_benign_variants_are_quiet(self):
        with tempfile.TemporaryDirectory() as folder:
            score = run_json("tenon-conformance", "selftest", "--time", 60, "--jobs", 2,
                             "--only", ",".join(BUGS), "--report", folder)
            with open(os.path.join(folder, "selftest.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file), score)
            for row in score["rows"]:
                if row["status"] == "FAIL":
                    self.assertIn(f"planted:0@bug={row['name']}", row["replay"])
                    result = paste(row["replay"])
                    self.assertEqual(result.returncode, 1, row["replay"] + result.stdout + result.stderr)
        self.assertEqual((score["planted"], score["found"]), (len(BUGS), len(BUGS)))
        self.assertEqual(sorted(row["name"] for row in score["rows"]), sorted(BUGS))
        for row in score["rows"]:
            self.assertTrue(row["found"], row["name"])
            self.assertIn(row["status"], ("FAIL", "FLAKY"))
        quiet = run_json("tenon-conformance", "selftest", "--time", 5, "--jobs", 2, "--only", ",".join(BENIGN))
        self.assertEqual((quiet["benign"], quiet["false_alarms"]), (len(BENIGN), 0))
        self.assertEqual(sorted(row["name"] for row in quiet["rows"]), sorted(BENIGN))
        for row in quiet["rows"]:
            self.assertFalse(row["found"], row["text"])
            self.assertGreater(row["cases"], 20)

    def test_without_a_report_the_lines_name_cases(self):
        score = run_json("tenon-conformance", "selftest", "--time", 60, "--only", "f16_truncates")
        line = score["rows"][0]["replay"]
        self.assertRegex(line, r"replay 1:\d+ --backend planted:0@bug=f16_truncates --plugin ")
        result = paste(line)
        self.assertEqual(result.returncode, 1, line + result.stdout + result.stderr)

    def test_the_table_is_readable_and_a_bug_that_is_missed_is_an_error(self):
        # Hardly a block of cases fits into so short a time.
        result = run("tenon-conformance", "selftest", "--time", 0.001, "--only", "zeros_merged,tail_skipped")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("MISSED", result.stdout)
        self.assertIn("planted bugs found", result.stdout)

    def test_a_name_that_means_nothing(self):
        result = run("tenon-conformance", "selftest", "--only", "gremlin")
        self.assertEqual(result.returncode, 2)
        self.assertIn("gremlin", result.stderr)

    def test_without_the_plugin_it_says_where_it_looked(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bin", "lib"):
                os.mkdir(os.path.join(folder, name))
            program = shutil.copy(os.path.join(BIN, "tenon-conformance"), os.path.join(folder, "bin"))
            for name in os.listdir(os.path.join(BUILD, "lib")):
                if name.startswith("libtenon.so"):
                    shutil.copy(os.path.join(BUILD, "lib", name), os.path.join(folder, "lib"))
            result = run(program, "selftest", "--time", 1, LD_LIBRARY_PATH=os.path.join(folder, "lib"))
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("tenon-selftest/libtenon_planted.so", result.stderr)

    def test_without_a_bug_the_plugin_passes(self):
        plugins = os.path.join(BUILD, "lib", "tenon-selftest")
        result = run("tenon-conformance", "fuzz", "--backend", "planted", "--seed", 9, "--cases", 1500,
                     TENON_PLUGIN_PATH=plugins)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        result = run("tenon-conformance", "fuzz", "--backend", "planted:0@bug=gremlin", "--cases", 1,
                     TENON_PLUGIN_PATH=plugins)
        self.assertEqual(result.returncode, 3)
        self.assertIn("gremlin", result.stderr)

    def test_other_programs_do_not_discover_it(self):
        facts = run_json("tenon", "devices")
        self.assertNotIn("planted", [plugin["backend"] for plugin in facts["plugins"]])
        result = run("tenon-conformance", "fuzz", "--backend", "planted", "--cases", 1)
        self.assertEqual(result.returncode, 3)


if __name__ == "__main__":
    unittest.main()
