# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev gpu on a software driver of Vulkan, where there is one."""
import json
import os
import subprocess
import unittest

from harness import BUILD, DeviceCase, plugin

SECONDS = 5  # of all stages together


class Lavapipe(DeviceCase):
    def test_it_is_tried_and_described(self):
        listed = subprocess.run([os.path.join(BUILD, "bin", "tenon"), "devices", "--json"], env=self.environment(TENON_PLUGINS=plugin("vulkan")),
                                capture_output=True, check=False)
        device = next(iter(json.loads(listed.stdout)["devices"]), None) if os.path.exists(plugin("vulkan")) else None
        if not device or device["kind"] != "cpu":
            self.skipTest("no software driver of Vulkan")
        plugins = os.pathsep.join((plugin("cpu"), plugin("vulkan")))
        self.call("--device", "vulkan", "--time", SECONDS, TENON_PLUGINS=plugins)
        self.check(self.page()[1], "vulkan:0")
        self.assertIn("This is a software device", self.page()[1])
        self.assertRegex(self.page()[1], r"\| elementwise/chain/\d+x\d+ \| [\d.,]+ \| GB/s \| [\d.,]+ \| \S+ \|  \| [\d.]+% \| the CPU plugin")
        again = self.call("--device", "vulkan:0", "--time", SECONDS, TENON_PLUGINS=plugins)
        self.assertEqual(again.stdout.count("passed, done before"), 5)
        self.assertLessEqual({"devices.json", "smoke/report/report.html", "bench/stdout"}, self.bundled())
        refused = self.call(expect=3, TENON_PLUGINS=plugins)
        self.assertIn("expected a GPU of cuda, hip or vulkan, found cpu:0 (cpu, ", refused.stderr)


if __name__ == "__main__":
    unittest.main()
