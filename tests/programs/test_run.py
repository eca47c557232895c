# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon run and tenon show on the graphs of tests/golden/in."""
import math
import os
import tempfile
import unittest

from harness import BUILD, GRAPHS, read_npy, run, run_json, write_npy


def graph(name):
    return os.path.join(GRAPHS, name + ".tn")


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def test_softmax_of_a_file(self):
        values = [0.1 * i for i in range(30)]
        write_npy(self.path("x.npy"), values, [3, 10])
        facts = run_json("tenon", "run", graph("softmax"), "--input", "x=" + self.path("x.npy"),
                         "--output-dir", self.path("out"), "--check")
        self.assertTrue(facts["check"]["ok"])
        self.assertEqual(facts["kernels"], 1)
        got, shape = read_npy(facts["outputs"][0]["path"])
        self.assertEqual(shape, (3, 10))
        for row in range(3):
            weights = [math.exp(v) for v in values[row * 10:row * 10 + 10]]
            for column, weight in enumerate(weights):
                self.assertAlmostEqual(got[row * 10 + column], weight / sum(weights), places=6)

    def test_every_graph_agrees_with_the_reference(self):
        for name in sorted(os.listdir(GRAPHS)):
            with self.subTest(name):
                facts = run_json("tenon", "run", os.path.join(GRAPHS, name), "--random", 3, "--check")
                self.assertTrue(facts["check"]["ok"], facts)

    def test_reference_gives_the_same_names_and_shapes(self):
        device = run_json("tenon", "run", graph("layer_norm"), "--random", 3)
        reference = run_json("tenon", "run", graph("layer_norm"), "--random", 3, "--reference")
        self.assertEqual(device["outputs"], reference["outputs"])
        self.assertEqual(reference["device"], "reference")

    def test_one_kernel_each(self):
        for name in ("softmax", "layer_norm", "matmul_bias_gelu"):
            with self.subTest(name):
                self.assertEqual(run_json("tenon", "run", graph(name), "--random", 1)["kernels"], 1)
                text = run("tenon", "show", graph(name), "--stage", "schedule").stdout
                self.assertEqual(text.count("graph "), 1, text)

    def test_arena_is_small(self):
        facts = run_json("tenon", "run", graph("transformer4"), "--random", 1)
        self.assertLessEqual(facts["arena_bytes"], 0.35 * facts["sum_bytes"])

    def test_every_stage_shows_something(self):
        for stage, word in (("graph", "graph"), ("schedule", "graph"), ("kernel", "grid"), ("program", "program"),
                            ("source", "define"), ("asm", "ret")):
            with self.subTest(stage):
                result = run("tenon", "show", graph("softmax"), "--stage", stage, TENON_DEVICES="cpu")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(word, result.stdout)

    def test_copies_between_devices_are_shown(self):
        null = os.path.join(BUILD, "lib", "tenon-examples")
        rows = self.path("rows.tn", """graph rows(%x: f32[64, 8], %y: f32[4, 8]) {
  %s = shrink %x, ranges=[(16,20),(0,8)]
  %r = add %s, %y
  return %r
}
""")
        both = self.path("both.tn", "graph both(%x: f32[4], %y: f32[4]) {\n  %r = add %x, %y\n  return %r\n}\n")
        shown = run("tenon", "show", both, "--on", "y=null:0", TENON_DEVICES="cpu,null", TENON_PLUGIN_PATH=null)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("step 0 on cpu:0: copy b1 -> b2 from null:0", shown.stdout)
        folder = "disk:" + self.folder.name
        shown = run("tenon", "show", rows, "--on", "x=" + folder, TENON_DEVICES="cpu," + folder)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("copy b0[128..] -> b2 from " + folder, shown.stdout)
        for wrong in ("z=cpu", "y", "y=warp"):
            with self.subTest(wrong):
                self.assertEqual(run("tenon", "show", both, "--on", wrong, TENON_DEVICES="cpu").returncode, 2)

    def test_bad_input_is_named(self):
        write_npy(self.path("wrong.npy"), [1.0] * 6, [2, 3])
        broken = self.path("broken.tn", "graph g(%x: f32[2]) {\n  %y = frobnicate %x\n  return %y\n}\n")
        not_npy = self.path("text.npy", "hello")
        cases = [
            (["run", self.path("missing.tn")], 3, "missing.tn"),
            (["run", broken], 2, "broken.tn:2:8"),
            (["run", graph("softmax")], 2, "--random"),
            (["run", graph("softmax"), "--input", "y=" + self.path("wrong.npy")], 2, "'y'"),
            (["run", graph("softmax"), "--input", "x=" + self.path("wrong.npy")], 2, "input x"),
            (["run", graph("softmax"), "--input", "x=" + not_npy], 2, "text.npy"),
            (["run", graph("softmax"), "--random", "1", "--symbol", "n=0"], 2, "n in [1,"),
            (["show", graph("softmax"), "--stage", "soup"], 2, "soup"),
            (["frob"], 2, "frob"),
        ]
        for arguments, code, word in cases:
            with self.subTest(arguments):
                result = run("tenon", *arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(word, result.stderr + result.stdout)

    def test_validate_passes(self):
        result = run("tenon", "run", graph("matmul_bias_gelu"), "--random", 1, TENON_VALIDATE="1")
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
