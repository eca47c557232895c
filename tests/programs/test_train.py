# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that learn: killed and resumed, and what they show on a terminal."""
import os
import pty
import signal
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from harness import BIN, CACHE, run

STEPS = 25


class Train(unittest.TestCase):
    def learner(self, folder, *words):
        return run("train_learner", folder, STEPS, *words, TENON_DEVICES="cpu")

    def test_killed_and_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = self.learner(os.path.join(folder, "whole"))
            self.assertEqual(whole.returncode, 0, whole.stderr)
            first, _, expected = whole.stdout.partition(" ")
            self.assertEqual(first, "0")
            path = os.path.join(folder, "killed")
            for kill_at in (3, 12, 14, 24):  # checkpoints are made after 7, 14, 21
                killed = self.learner(path, kill_at)
                self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
            last = self.learner(path)
            self.assertEqual(last.returncode, 0, last.stderr)
            first, _, bits = last.stdout.partition(" ")
            self.assertEqual(first, "21")
            self.assertEqual(bits, expected)
            self.assertEqual(sorted(os.listdir(path)), ["step-00000021.safetensors", "step-00000025.safetensors"])

    def on_terminal(self, **environment):
        """What example 20 writes to a terminal that is its standard error."""
        ours, theirs = pty.openpty()
        variables = {k: v for k, v in os.environ.items() if not k.startswith("TENON_") and k != "NO_COLOR"}
        variables.update({"TENON_CACHE_DIR": CACHE.name, "TERM": "xterm", **environment})
        with subprocess.Popen([os.path.join(BIN, "example_20_digits_mlp"), "--steps", "3", "--json"], env=variables,
                              stdout=subprocess.PIPE, stderr=theirs) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                shown += part
            process.stdout.read()
            self.assertEqual(process.wait(), 0, shown)
        os.close(ours)
        return shown.decode()

    def test_progress(self):
        shown = self.on_terminal()
        self.assertIn("3/3, loss ", shown)
        self.assertIn("steps/s, 0:00 left", shown)
        self.assertIn("\x1b[32m", shown)
        self.assertTrue(shown.endswith("\n"), shown)
        self.assertNotIn("\x1b[32m", self.on_terminal(NO_COLOR="1"))
        self.assertEqual(self.on_terminal(TERM="dumb"), "")
        piped = run("example_20_digits_mlp", "--steps", "3", "--json")
        self.assertEqual(piped.stderr, "")

    def test_curves(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "curve.svg")
            said = run("example_20_digits_mlp", "--steps", "20", "--svg", path)
            self.assertEqual(said.returncode, 0, said.stderr)
            rows = [line.split() for line in said.stdout.splitlines() if line.startswith("step ")]
            self.assertEqual([row[1] for row in rows], [str(n) for n in range(2, 21, 2)])
            self.assertLess(float(rows[-1][2]), float(rows[0][2]))
            self.assertTrue(xml.etree.ElementTree.parse(path).getroot().tag.endswith("svg"))
            refused = run("example_20_digits_mlp", "--steps", "1", "--svg", os.path.join(folder, "no", "x.svg"))
            self.assertEqual(refused.returncode, 3)
            self.assertIn("x.svg", refused.stderr)


if __name__ == "__main__":
    unittest.main()
