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

    def test_an_error_is_shown_beside_what_is_allowed(self):
        # The sum cancels to nearly nothing: many ULP of the result, and few of its terms.
        path = self.path("cancel.tn", """graph cancel(%x: f32[4096]) {
  %e = exp2 %x
  %s = reduce.add %e, axes=[0]
  %n = neg %s
  %r = flip %e, axes=[0]
  %t = reduce.add %r, axes=[0]
  %d = add %n, %t
  %w = expand %d : f32[4096]
  %y = add %w, %e
  return %y
}
""")
        check = run_json("tenon", "run", path, "--random", 5, "--check")["check"]
        self.assertTrue(check["ok"], check)
        self.assertGreater(check["max_ulp"], 0)
        self.assertGreaterEqual(check["allowed_ulp"], check["max_ulp"])
        self.assertLessEqual(check["share_of_allowed"], 1)
        text = run("tenon", "run", path, "--random", 5, "--check").stdout
        self.assertRegex(text, r"ok, largest error \S+ ULP where \S+ are allowed, \S+ absolute; no element is beyond \d+%")

    def test_quotients_of_lanes_whose_divisor_is_zero_in_some(self):
        # LLVM 19.1 took such a quotient of a vector for that of a lane where the divisor is replaced.
        path = self.path("quotients.tn", """graph quotients(%i: i64[4, 1], %x: u64[4, 1]) {
  %a = const 3 : u64[3, 65]
  %b = pad %a, pairs=[(1,0),(0,0)], fill=0
  %y = take %b, %i, axis=1
  %q = idiv %x, %y
  %r = mod %x, %y
  return %y, %q, %r
}""")
        for seed in range(6):
            self.assertTrue(run_json("tenon", "run", path, "--random", seed, "--check")["check"]["ok"], seed)

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

    def test_profile_times_each_kernel(self):
        facts = run_json("tenon", "run", graph("transformer4"), "--random", 1, "--profile", "--repeat", 3)
        kernels = facts["profile"]["kernels"]
        self.assertEqual(sum(kernel["launches"] for kernel in kernels), 3 * facts["kernels"])
        self.assertEqual(len(kernels), facts["programs"])
        self.assertEqual(kernels, sorted(kernels, key=lambda kernel: -kernel["seconds"]))
        for kernel in kernels:
            self.assertGreater(kernel["bytes"], 0)
            self.assertGreater(kernel["share_of_limit"], 0)
        text = run("tenon", "run", graph("softmax"), "--random", 1, "--profile").stdout
        self.assertRegex(text, r"softmax, reduce_\w{16}: reduce.max sub exp reduce.add fdiv -> f32\[n, 10\]")
        for wrong in (("--repeat", 0), ("--profile", "--reference")):
            with self.subTest(wrong):
                self.assertEqual(run("tenon", "run", graph("softmax"), "--random", 1, *wrong).returncode, 2)

    def test_profile_of_a_program_is_printed_when_it_ends(self):
        result = run("tenon", "run", graph("softmax"), "--random", 1, TENON_PROFILE="1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count(", softmax, reduce_"), 1, result.stderr)
        self.assertNotIn(", softmax, ", result.stdout)
        lesson = run("example_01_hello", TENON_PROFILE="1")  # its context is never destroyed
        self.assertEqual(lesson.stderr.count("kernels alone, each waited for"), 1, lesson.stderr)
        wrong = run("tenon", "run", graph("softmax"), "--random", 1, TENON_PROFILE="yes")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("[TENON_PROFILE] expected 0 or 1, got 'yes'", wrong.stderr)

    def test_arena_is_small(self):
        facts = run_json("tenon", "run", graph("transformer4"), "--random", 1)
        self.assertLessEqual(facts["arena_bytes"], 0.35 * facts["sum_bytes"])

    def test_a_limit_of_buffers_is_each_binding_s_alone(self):
        planted = {"TENON_PLUGIN_PATH": os.path.join(BUILD, "lib", "tenon-selftest"),
                   "TENON_DEVICES": "planted:0@bug=small_buffers"}
        # Temporaries of 0.8 MB each, of which two live at once, where a buffer has at most 1 MiB.
        path = self.path("scatter.tn", """graph scatter(%x: f32[200000], %i: i32[200000], %v: f32[200000]) {
  %a = store.add %x, %i, %v, axis=0
  %b = store.add %v, %i, %x, axis=0
  %c = flip %b, axes=[0]
  %d = mul %a, %c
  %m = reduce.max %d, axes=[0]
  return %m
}
""")
        facts = run_json("tenon", "run", path, "--random", 1, **planted)
        self.assertGreater(facts["arena_bytes"], 1 << 20)
        large = self.path("large.tn", "graph large(%x: f32[n]) where 1 <= n <= 1000000 {\n  %y = exp2 %x\n  return %y\n}\n")
        self.assertEqual(run("tenon", "run", large, "--random", 1, "--symbol", "n=262144", **planted).returncode, 0)
        refused = run("tenon", "run", large, "--random", 1, "--symbol", "n=262145", **planted)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("[launch] planted:0: expected buffers of at most 1048576 bytes, got 1048580", refused.stderr)

    def test_every_stage_shows_something(self):
        for stage, word in (("graph", "graph"), ("schedule", "graph"), ("kernel", "grid"), ("program", "program"),
                            ("source", "define"), ("asm", "ret"), ("all", ": choose (")):
            with self.subTest(stage):
                result = run("tenon", "show", graph("softmax"), "--stage", stage, TENON_DEVICES="cpu")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(word, result.stdout)

    def test_transforms_are_read_first_and_name_their_kernel(self):
        def show(path, transforms):
            return run("tenon", "show", path, "--stage", "kernel", "--transforms", transforms, TENON_DEVICES="cpu")

        add = self.path("add.tn", "graph add(%x: f32[64, 64]) {\n  %y = add %x, %x\n  return %y\n}\n")
        plain = show(add, "")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertIn("transforms: none", plain.stdout)
        none = self.path("none.tn", "graph none(%x: f32[0, 64]) {\n  %y = add %x, %x\n  return %y\n}\n")
        junk = show(none, "junk")
        self.assertEqual(junk.returncode, 2, junk.stdout)
        self.assertIn("[transform] column 1: expected a transform", junk.stderr)
        self.assertEqual(show(none, "split a0 4").returncode, 0)
        refused = show(graph("softmax"), "split a9 4")
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertRegex(refused.stderr, r"\[show\] kernel \w+: \[transform\] split a9 4: expected an axis")

    def test_passes_are_logged_with_their_time(self):
        result = run("tenon", "show", graph("softmax"), "--stage", "program", TENON_DEVICES="cpu", TENON_LOG="compile")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("simplify", "schedule", "legalise", "build", "choose", "emit"):
            self.assertRegex(result.stderr, rf"tenon\[compile\] \w+: {name} \d+\.\d+ ms")

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
