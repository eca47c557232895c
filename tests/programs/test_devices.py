# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon devices: good plugins work beside bad ones, and every refusal has its reason. Selectors that are wrong."""
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, GRAPHS, run, run_json

BAD = os.path.join(BUILD, "test-plugins", "bad")
GOOD = os.path.join(BUILD, "lib", "tenon")
SOFTMAX = os.path.join(GRAPHS, "softmax.tn")


class Devices(unittest.TestCase):
    def test_the_build_tree_needs_no_variables(self):
        facts = run_json("tenon", "devices")
        self.assertEqual(facts["default"], "cpu:0")
        cpu = next(d for d in facts["devices"] if d["id"] == "cpu:0")
        self.assertEqual((cpu["kind"], cpu["selftest"]), ("cpu", "pass"))

    def test_targets_are_named(self):
        devices = run_json("tenon", "devices")["devices"]
        cpu = next(d for d in devices if d["id"] == "cpu:0")
        self.assertTrue(cpu["target"])
        self.assertIn("  target " + cpu["target"], run("tenon", "devices").stdout)

    def test_help_is_a_word_too(self):
        for program, command in (("tenon", "run"), ("tenon-conformance", "fuzz")):
            for words in ([], [command]):
                with self.subTest((program, *words)):
                    wanted = run(program, *words, "--help")
                    result = run(program, "help", *words)
                    self.assertEqual((result.returncode, result.stdout), (0, wanted.stdout))
        self.assertEqual(run("tenon", "help", "nonsense").returncode, 2)

    def test_a_fault_of_the_probe_is_forgotten_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "bin", "tenon")
            os.mkdir(os.path.dirname(program))
            shutil.copy(os.path.join(BUILD, "bin", "tenon"), program)
            probe = os.path.join(folder, "bin", "tenon-probe")
            with open(probe, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nexec {BUILD}/bin/tenon-probe {BAD}/libtenon_aborts.so $2 $3\n")
            os.chmod(probe, 0o755)
            words = [program, "run", SOFTMAX, "--random", "1"]
            own = dict(os.environ, TENON_PLUGIN_PATH=GOOD, TENON_DEVICES="cpu", TENON_CACHE_DIR=os.path.join(folder, "cache"))
            refused = subprocess.run(words, env=own, capture_output=True, text=True, check=False)
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertIn("SIGABRT", refused.stderr)
            os.remove(probe)
            shutil.copy(os.path.join(BUILD, "bin", "tenon-probe"), probe)
            good = subprocess.run(words, env=own, capture_output=True, text=True, check=False)
            self.assertEqual(good.returncode, 0, good.stderr)

    def test_each_bad_plugin_is_one_line_with_its_reason(self):
        expected = {  # file -> (statuses, words of the reason)
            "text": ("rejected", "ELF"),
            "truncated": ("rejected", ""),
            "nosymbol": ("rejected", "tn_plugin_query"),
            "aborts": ("crashed", "SIGABRT"),
            "garbage": ("rejected", "struct_size"),
            "newer": ("rejected", "version"),
            "hangs": ("timeout", ""),
        }
        facts = run_json("tenon", "devices", TENON_PLUGIN_PATH=f"{BAD}:{GOOD}")
        found = {p["backend"]: p for p in facts["plugins"]}
        for backend, (status, word) in expected.items():
            with self.subTest(backend):
                self.assertEqual(found[backend]["status"], status, found[backend])
                self.assertIn(word, found[backend]["reason"])
                self.assertNotEqual(found[backend]["reason"], "")
        self.assertEqual(found["cpu"]["status"], "ok")
        self.assertEqual(facts["default"], "cpu:0")

    def test_nor_is_a_bad_one_loaded_to_compile_for_a_target(self):
        result = run("tenon", "show", SOFTMAX, "--backend", "aborts", "--target", "x", TENON_PLUGIN_PATH=f"{BAD}:{GOOD}")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("libtenon_aborts.so is not loaded: ", result.stderr)
        self.assertIn("SIGABRT", result.stderr)

    def test_good_plugins_run_beside_bad_ones(self):
        result = run("tenon", "run", SOFTMAX, "--random", 1, "--check", TENON_PLUGIN_PATH=f"{BAD}:{GOOD}")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_bad_selectors(self):
        cases = {
            "": "cpu",                 # lists what there is
            "warp": "cpu",
            "cpu:9": "cpu:9",
            "cpu:": "column",
            "cpu,,cpu": "column",
            "cpu@": "column",
            "cpu@pool=lots": "pool",
            "cpu@wings=2": "wings",
            "cpu:uuid=00": "uuid",
            "-abacus": "abacus",
            "cpu:tpu": "tpu",
        }
        for selector, word in cases.items():
            with self.subTest(selector):
                result = run("tenon", "run", SOFTMAX, "--random", 1, TENON_DEVICES=selector)
                self.assertIn(result.returncode, (2, 3), result.stderr)
                self.assertIn(word, result.stderr)

    def test_variables_that_mean_nothing(self):
        for name, value, words in (("TENON_DEVICES", "cpu:4294967296", "got '4294967296'"),
                                   ("TENON_LOG", "", "[TENON_LOG] expected channels out of all, "),
                                   ("TENON_LOG", "all,", "got ''"), ("TENON_LOG", "cache,,plan", "got ''"),
                                   ("TENON_LOG", "chache", "got 'chache'"), ("TENON_PROFILE", "yes", "got 'yes'"),
                                   ("TENON_PLUGINS", "", "[TENON_PLUGINS] expected files"),
                                   ("TENON_PLUGINS", __file__, "expected a file named libtenon_<backend>.so"),
                                   ("TENON_PLUGIN_PATH", "relative", "expected absolute folders")):
            with self.subTest(name=name, value=value):
                result = run("tenon", "run", SOFTMAX, "--random", 1, **{name: value})
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(words, result.stderr)
        # What is named well and is not there is the environment's fault.
        self.assertEqual(run("tenon", "run", SOFTMAX, "--random", 1, TENON_PLUGINS="/none/libtenon_x.so").returncode, 3)

    def test_good_selectors(self):
        for selector in ("cpu", "cpu:0", "cpu:all", "cpu:cpu", "cpu@threads=1", "cpu@pool=256M",
                         "warp@optional,cpu", "cpu:0@pool=1G@threads=2"):
            with self.subTest(selector):
                facts = run_json("tenon", "run", SOFTMAX, "--random", 1, "--check", TENON_DEVICES=selector)
                self.assertEqual(facts["device"], "cpu:0")

    def test_another_backend_by_variable_alone(self):
        null = os.path.join(BUILD, "lib", "tenon-examples")
        facts = run_json("tenon", "run", SOFTMAX, "--random", 1, "--symbol", "n=3", "--check",
                         TENON_DEVICES="null", TENON_PLUGIN_PATH=null)
        self.assertEqual(facts["device"], "null:0")
        self.assertTrue(facts["check"]["ok"])

    def test_drivers_do_not_print_through_the_tools(self):
        facts = run_json("tenon", "devices")
        for device in [d["id"] for d in facts["devices"] if d["kind"] != "storage" and d["selftest"] == "pass"]:
            with self.subTest(device):
                result = run("/usr/bin/env", "-u", "XDG_RUNTIME_DIR", os.path.join(BUILD, "bin", "tenon"), "run", SOFTMAX,
                             "--random", 1, "--symbol", "n=3", "--devices", device)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_bad_plugin_is_one_line_and_is_remembered(self):
        plugins = {"TENON_PLUGINS": f"{BAD}/libtenon_hangs.so:{GOOD}/libtenon_cpu.so", "TENON_PROBE_SECONDS": "5",
                   "TENON_LOG": "loader"}
        for start in ("first", "second"):
            result = run("tenon", "run", SOFTMAX, "--random", 1, "--symbol", "n=3", **plugins)
            said = [line for line in result.stderr.splitlines() if not line.startswith("tenon[loader]")]
            with self.subTest(start):
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(len(said), 1, result.stderr)
                self.assertIn("libtenon_hangs.so is not used: no answer in 5 seconds in device_enumerate", said[0])
                self.assertEqual("probe of " in result.stderr, start == "first", result.stderr)

    def test_doctor_has_what_a_report_needs(self):
        facts = run_json("tenon", "doctor")
        self.assertEqual(facts["default"], "cpu:0")
        self.assertTrue(facts["system"]["processor"])
        self.assertTrue(facts["plugins"])


class CommandLine(unittest.TestCase):
    def test_help_and_version(self):
        for program in ("tenon", "tenon-conformance", "tenon-bench"):
            for option in ("--help", "--version"):
                with self.subTest((program, option)):
                    result = run(program, option)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn(program, result.stdout)
            with self.subTest(program):
                wrong = run(program, "--bogus\033[2J")
                self.assertEqual(wrong.returncode, 2)
                self.assertNotIn("\033", wrong.stderr)

    def test_no_colour_when_not_a_terminal(self):
        self.assertNotIn("\033", run("tenon", "devices").stdout)


if __name__ == "__main__":
    unittest.main()
