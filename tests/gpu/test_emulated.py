# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev gpu on a GPU's kernels under the emulator."""
import os
import unittest

from harness import BUILD, DeviceCase, plugin

EMULATED = os.path.join(BUILD, "test-plugins", "emulated", "libtenon_emulated_cuda.so")
SECONDS = 12  # of all stages together


class Emulated(DeviceCase):
    def test_it_is_tried_and_described(self):
        if not os.path.exists(EMULATED):
            self.skipTest("the emulated plugin is not built")
        # Its first row would take hours.
        done = self.call_with_limits({"bench": 4, "models": 4}, "--device", "emulated_cuda", "--time", SECONDS, expect=1,
                                     TENON_PLUGINS=os.pathsep.join((plugin("cpu"), EMULATED)))
        page = self.page()[1]
        self.check(page, "emulated_cuda:0")
        self.assertNotIn("software device", done.stdout + page)
        for stage in ("bench", "models"):
            self.assertIn(f"- {stage} timed out: ended after 4 s. The same command tries it again.", page)


if __name__ == "__main__":
    unittest.main()
