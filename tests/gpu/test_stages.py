# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev gpu on programs that only pretend: what becomes of each stage, what is kept, what the page says."""
import json
import os
import signal
import subprocess
import time
import unittest

from harness import Case

ALL = ["smoke", "run", "fuzz", "bench", "models"]


class Stages(Case):
    def setUp(self):
        super().setUp()
        self.programs_pretend()

    def ways(self, **ways):
        with open(os.path.join(self.build, "bin", "ways.json"), "w", encoding="utf-8") as file:
            json.dump(ways, file)

    def calls(self):
        """Since it was asked before."""
        path = os.path.join(self.build, "bin", "calls")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.remove(path)
        return lines

    def names(self):
        return [line.split()[0] for line in self.calls()]

    def test_the_first_gpu_is_tried_and_described(self):
        done = self.call()
        self.assertEqual(self.names(), ALL)
        self.assertEqual(done.stderr, "")  # no terminal, so no progress
        self.assertNotIn("\x1b", done.stdout)
        name, page = self.page()
        self.assertEqual(name, "gpu-some-gpu-80gb-cuda.md")
        for part in ("# Some GPU \\| 80GB, by cuda\n", "`./dev gpu --budget smoke`", "commit `", "| self-test | pass |", "cores",
                     "| smoke | 1 | 1,245 | 1.5 | 1,234 | 5 | 6 | 0 |", "| fuzz | 2 | 1,245 |",
                     "The device declares: relaxed. What passing cases made use of: strict.",
                     "| elementwise/add | 2,951 | GB/s |  |  | 1.02 | 1.0% |", "## Models", "| mlp step |",
                     "no time was left for `a long row on cuda:0`", "the time of 1 s is up, so not all cases were tried",
                     "PyTorch beside it: none: '--peers none'. No figure here is held against a vendor's library."):
            self.assertIn(part, page)
        self.assertNotIn("software", page)
        self.assertNotIn(self.folder, page.split("## Stages")[0])
        self.assertLessEqual({"gpu-some-gpu-80gb-cuda.md", "devices.json", "doctor.txt", "machine.json", "smoke/result.json",
                              "fuzz/report/report.json", "bench/stdout", "bench/log.txt"}, self.bundled())
        self.assertNotIn("lock", self.bundled())

    def test_what_is_done_is_not_done_again(self):
        self.call()
        self.calls()
        page = self.page()
        again = self.call()
        self.assertEqual(self.names(), [])
        self.assertEqual(again.stdout.count("done before"), len(ALL))
        self.assertEqual(self.page(), page)
        self.call("--budget", "ci")  # more time: more to see
        self.assertEqual(self.names(), ALL)
        self.call("--budget", "ci", "--seed", "5")
        self.assertEqual(self.names(), ["smoke", "run", "fuzz"])
        self.call("--budget", "ci", "--seed", "5", "--fresh")
        self.assertEqual(self.names(), ALL)
        with open(os.path.join(self.build, "bin", "tenon-probe"), "a", encoding="utf-8") as file:
            file.write("# another build\n")
        self.call("--budget", "ci", "--seed", "5")
        self.assertEqual(self.names(), ALL)

    def test_a_stage_that_crashes_costs_that_stage(self):
        self.ways(bench="crash", run=7)
        done = self.call(expect=1)
        self.assertEqual(self.names(), ALL)
        self.assertIn("bench    crashed: 1 rows; ended by Segmentation fault", done.stdout)
        page = self.page()[1]
        self.assertIn("| **crashed**: ended by Segmentation fault |", page)
        self.assertIn("- run crashed: exit code 7: the program says 7. The same command tries it again.", page)
        self.assertIn("these are the rows that it had told of", page)
        self.assertIn("| elementwise/add | 2,951 | GB/s |", page)
        self.ways()
        self.call()
        self.assertEqual(self.names(), ["run", "bench"])
        self.assertNotIn("crashed", self.page()[1])

    def test_failures_are_written_down_and_kept(self):
        self.ways(fuzz="fail")
        self.call(expect=1)
        page = self.page()[1]
        self.assertIn("| **failed** |", page)
        self.assertIn("| fuzz | FAIL | add | f32 | expected 1 \\| got 2 | `tenon-conformance replay 1:7` |", page)
        self.calls()
        self.call(expect=1)
        self.assertEqual(self.names(), [])

    def test_what_cannot_run_is_an_environment_fault(self):
        self.ways(models=3)
        self.call(expect=3)
        self.assertIn("- models not run: exit code 3: the program says 3.", self.page()[1])
        self.ways(models=3, smoke="fail")
        self.call("--seed", 2, expect=1)
        self.ways(fuzz=4)
        self.call("--seed", 3, expect=1)
        self.assertIn("**failed**: the device was lost three times", self.page()[1])

    def test_a_stage_that_hangs_is_ended(self):
        self.ways(bench="hang")
        self.call_with_limits({"bench": 2}, expect=1)
        self.assertIn("**timed out**: ended after 2 s", self.page()[1])
        self.assertEqual(self.names(), ALL)

    def stopped_by(self, number, stage):
        self.ways(**{stage: "hang"})
        process = subprocess.Popen(self.command(), env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        log = os.path.join(self.build, "bin", "calls")
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if os.path.exists(log):
                with open(log, encoding="utf-8") as file:
                    if f"\n{stage} " in file.read():
                        break
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
        return process.returncode, out, errors

    def test_a_run_that_is_stopped_goes_on(self):
        code, out, errors = self.stopped_by(signal.SIGINT, "fuzz")
        self.assertEqual(code, 130, out + errors)
        self.assertIn("gpu: stopped by SIGINT; the same command goes on from there", errors)
        self.assertIn("- fuzz stopped: stopped by SIGINT.", self.page()[1])
        self.assertIn("- bench: not run, as the run was stopped before it.", self.page()[1])
        self.assertEqual(self.names(), ["smoke", "run", "fuzz"])
        self.ways()
        self.call()
        calls = self.calls()
        self.assertEqual([line.split()[0] for line in calls], ["fuzz", "bench", "models"])
        self.assertIn(" --resume", calls[0])

    def test_a_run_that_is_killed_goes_on(self):
        code, out, errors = self.stopped_by(signal.SIGKILL, "bench")
        self.assertEqual(code, -signal.SIGKILL, out + errors)
        self.assertEqual(self.names(), ["smoke", "run", "fuzz", "bench"])
        self.ways()
        self.call()
        self.assertEqual(self.names(), ["bench", "models"])

    def test_two_do_not_share_a_folder(self):
        self.call()
        self.ways(models="hang")
        with subprocess.Popen(self.command("--fresh"), env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as first:
            first.stdout.readline()  # the device: it has the folder
            refused = self.call(expect=3)
            first.send_signal(signal.SIGTERM)
            first.communicate(timeout=60)
        self.assertIn("found another run that uses it", refused.stderr)
        self.assertEqual(first.returncode, 143)


class Selectors(Case):
    def setUp(self):
        super().setUp()
        self.programs_pretend()

    def test_a_device_that_is_not_there(self):
        refused = self.call("--device", "hip:1", expect=3)
        self.assertIn('gpu: [--device] expected a device "hip:1", found cpu:0 (cpu, A Processor); '
                      "cuda:0 (gpu, Some GPU | 80GB); hip: libamdhip64.so is not there", refused.stderr)

    def test_no_gpu_at_all(self):
        with open(os.path.join(self.build, "bin", "ways.json"), "w", encoding="utf-8") as file:
            json.dump({"hidden": ["cuda:0"]}, file)
        refused = self.call(expect=3)
        self.assertIn("gpu: expected a GPU of cuda, hip or vulkan, found cpu:0 (cpu, A Processor); hip: libamdhip64", refused.stderr)

    def test_bad_usage(self):
        for words in (("--device", "Cuda"), ("--device", "cuda:x"), ("--time", "0"), ("--time", "x"), ("--budget", "huge"),
                      ("--jobs", "0"), ("--seed", "-1"), ("more",)):
            with self.subTest(words):
                self.assertIn("usage: ./dev gpu", self.call(*words, expect=2).stderr)

    def test_peers_that_are_named_have_to_be_there(self):
        for wrong in ("/nowhere/python3", "/bin/false"):
            self.assertIn(f"[--peers] expected a Python whose PyTorch sees a GPU, got {wrong}: ", self.call("--peers", wrong, expect=3).stderr)
        self.call("--peers", "")  # looked for, and told of

    def test_peers_that_ran_nothing_are_not_claimed(self):
        python = os.path.join(self.folder, "python3")
        with open(python, "w", encoding="utf-8") as file:
            file.write("""#!/bin/sh\necho '{"version": "9.9", "runtime": "CUDA 99", "gpus": ["Another GPU"]}'\n""")
        os.chmod(python, 0o755)
        self.call("--peers", python)
        page = self.page()[1]
        self.assertIn("| beside | PyTorch 9.9, CUDA 99, which sees Another GPU |", page)
        self.assertIn("- PyTorch beside it: it was there, and ran no row (", page)

    def test_programs_that_are_not_built(self):
        os.remove(os.path.join(self.build, "bin", "tenon-bench"))
        self.assertIn("expected tenon-bench in", self.call(expect=3).stderr)


if __name__ == "__main__":
    unittest.main()
