# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev gpu on what there is of devices without a GPU, by the built programs: lavapipe, and a GPU's kernels under the emulator."""
import json
import os
import subprocess
import unittest

from harness import PROGRAMS, Case

BUILD = os.environ["TENON_BUILD"]
EMULATED = os.path.join(BUILD, "test-plugins", "emulated", "libtenon_emulated_cuda.so")
SECONDS = 12  # of all stages together
CPU = os.path.join(BUILD, "lib", "tenon", "libtenon_cpu.so")


def plugin(name):
    return os.path.join(BUILD, "lib", "tenon", f"libtenon_{name}.so")


class Devices(Case):
    def setUp(self):
        super().setUp()
        self.programs_are({name: os.path.join(BUILD, "bin", name) for name in PROGRAMS})

    def check(self, page, ident):
        """Every stage came to something, and the page holds its figures."""
        for part in (f"| device | {ident}: ", "| self-test | pass |", "## Right", "## Fast", "## Models", "## Not run",
                     "No figure here is held against a vendor's library"):
            self.assertIn(part, page)
        for stage in ("smoke", "run", "fuzz"):
            self.assertRegex(page, rf"\n\| {stage} \| .* \| passed \| ")
            self.assertRegex(page, rf"\n\| {stage} \| \d \| [\d,]+ \| [\d.]+ \| [\d,]+ \| [\d,]+ \| [\d,]+ \| 0 \|")

    def test_lavapipe(self):
        listed = subprocess.run([os.path.join(BUILD, "bin", "tenon"), "devices", "--json"], env=self.environment(TENON_PLUGINS=plugin("vulkan")),
                                capture_output=True, check=False)
        device = next(iter(json.loads(listed.stdout)["devices"]), None) if os.path.exists(plugin("vulkan")) else None
        if not device or device["kind"] != "cpu":
            self.skipTest("no software driver of Vulkan")
        plugins = os.pathsep.join((CPU, plugin("vulkan")))
        self.call("--device", "vulkan", "--time", SECONDS, TENON_PLUGINS=plugins)
        self.check(self.page()[1], "vulkan:0")
        self.assertIn("This is a software device", self.page()[1])
        self.assertRegex(self.page()[1], r"\| elementwise chain/\d+x\d+ \| [\d.,]+ \| GB/s \| [\d.,]+ \|")
        again = self.call("--device", "vulkan:0", "--time", SECONDS, TENON_PLUGINS=plugins)
        self.assertEqual(again.stdout.count("passed, done before"), 5)
        self.assertLessEqual({"devices.json", "smoke/report/report.html", "bench/stdout"}, self.bundled())
        refused = self.call(expect=3, TENON_PLUGINS=plugins)
        self.assertIn("expected a GPU of cuda, hip or vulkan, found cpu:0 (cpu, ", refused.stderr)

    def test_an_emulated_gpu(self):
        if not os.path.exists(EMULATED):
            self.skipTest("the emulated plugin is not built")
        # Its first row would take hours.
        done = self.call_with_limits({"bench": 4, "models": 4}, "--device", "emulated_cuda", "--time", SECONDS, expect=1,
                                     TENON_PLUGINS=os.pathsep.join((CPU, EMULATED)))
        page = self.page()[1]
        self.check(page, "emulated_cuda:0")
        self.assertNotIn("software device", done.stdout + page)
        for stage in ("bench", "models"):
            self.assertIn(f"- {stage} timed out: ended after 4 s. The same command tries it again.", page)


if __name__ == "__main__":
    unittest.main()
