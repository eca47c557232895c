#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon grad: a gradient as text, which runs and is checked like any other graph."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TENON = os.path.join(os.environ["TENON_BUILD"], "bin", "tenon")
GRAPHS = os.path.join(os.environ["TENON_SOURCE"], "tests", "golden", "in")

LOSS = """graph loss(%x: f32[n, 4], %w: f32[4]) where 1 <= n <= 64 {
  graph square(%a: f32[n, 4]) {
    %s = mul %a, %a
    return %s
  }
  %r = reshape %w : f32[1, 4]
  %e = expand %r : f32[n, 4]
  %p = mul %x, %e
  %q = call %p, body=square
  %l = reduce.add %q, axes=[0, 1]
  return %l
}
"""


def tenon(*args):
    return subprocess.run([TENON, *args], capture_output=True, text=True, timeout=120)


class Grad(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.loss = self.path("loss.tn")
        with open(self.loss, "w", encoding="utf-8") as file:
            file.write(LOSS)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def made(self, *args):
        out = tenon("grad", *args)
        self.assertEqual(out.returncode, 0, out.stderr)
        return out.stdout

    def checked(self, path):
        out = tenon("run", path, "--random", "3", "--check", "--json")
        self.assertEqual(out.returncode, 0, out.stderr + out.stdout)
        return json.loads(out.stdout)

    def test_prints_and_writes_one_text(self):
        printed = self.made(self.loss, "--wrt", "w")
        self.assertEqual(self.made(self.loss, "--wrt", "w", "-o", self.path("g.tn")), "")
        with open(self.path("g.tn"), encoding="utf-8") as file:
            self.assertEqual(file.read(), printed)
        self.assertIn("graph loss_gradient(", printed)
        self.assertIn("call", printed)
        self.assertIn("body=square_adjoint", printed)

    def test_runs_and_is_checked(self):
        self.made(self.loss, "--wrt", "x,w", "-o", self.path("g.tn"))
        facts = self.checked(self.path("g.tn"))
        self.assertEqual([o["name"] for o in facts["outputs"]], ["l", "d_x", "d_w"])
        self.assertTrue(facts["check"]["ok"])

    def test_golden_graphs(self):
        for name, wrt in (("softmax", "x"), ("layer_norm", "x"), ("matmul_bias_gelu", "b")):
            self.made(os.path.join(GRAPHS, name + ".tn"), "--wrt", wrt, "-o", self.path("g.tn"))
            self.assertTrue(self.checked(self.path("g.tn"))["check"]["ok"], name)

    def test_gradient_of_a_gradient(self):
        self.made(self.loss, "--wrt", "w", "-o", self.path("g.tn"))
        self.made(self.path("g.tn"), "--wrt", "w", "--output", "d_w", "-o", self.path("h.tn"))
        facts = self.checked(self.path("h.tn"))
        self.assertEqual([o["name"] for o in facts["outputs"]], ["d_w", "d_w"])

    def test_json(self):
        facts = json.loads(self.made(self.loss, "--wrt", "w", "--json"))
        self.assertEqual(facts["outputs"], ["l", "d_w"])
        self.assertIn("graph loss_gradient", facts["graph"])

    def test_bad_input(self):
        def fails(expected, *args):
            out = tenon("grad", *args)
            self.assertEqual(out.returncode, 2, out.stderr)
            self.assertIn(expected, out.stderr)

        fails("expected one of the params x, w, got q", self.loss, "--wrt", "q")
        fails("expected one of the outputs l, got z", self.loss, "--wrt", "w", "--output", "z")
        fails("--wrt is required", self.loss)
        fails("expected a param that y depends on, got z: the output does not depend on it",
              self.write("graph g(%x: f32[2], %z: f32[2]) {\n  %y = exp %x\n  return %y\n}\n"), "--wrt", "z")
        fails("expected an output below 0, got 0", self.write("graph g(%x: f32[2]) {\n  return\n}\n"), "--wrt", "x")

    def write(self, text):
        path = self.path("bad.tn")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
