# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon train and tenon run on models in text form."""
import json
import math
import os
import struct
import tempfile
import unittest
import zipfile

from harness import BUILD, SOURCE, read_npy, run, run_json, write_npy

MODEL = os.path.join(SOURCE, "examples", "digits.tn")
DIGITS = os.path.join(SOURCE, "examples", "data", "digits.npy")
NULL = os.path.join(BUILD, "lib", "tenon-examples", "libtenon_null.so")
LINE = """main line(%x: f32[n, 2]) where 1 <= n <= 64 {
  parameters %w: f32[1, 2] = constant(0.5)
  %e = expand %w : [n, 2]
  %p = mul %x, %e
  %s = reduce.add %p, axes=[1]
  %y = reshape %s : [n]
  return %y
}
loss(%y: f32[n], %t: f32[n]) {
  %d = sub %y, %t
  %q = mul %d, %d
  %s = reduce.add %q, axes=[0]
  %loss = reshape %s : []
  return %loss
}
"""


def read_safetensors(path):
    with open(path, "rb") as file:
        raw = file.read()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    out = {}
    for name, info in header.items():
        if name != "__metadata__":
            begin, end = info["data_offsets"]
            out[name] = list(struct.unpack(f"<{(end - begin) // 4}f", raw[8 + size + begin:8 + size + end]))
    return out


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def digits(self, *words, **environment):
        environment.setdefault("TENON_DEVICES", "cpu")
        return run_json("tenon", "train", MODEL, "--data", DIGITS, *words, **environment)

    def test_digits_are_learnt_and_the_weights_say_the_same(self):
        weights = self.path("w.safetensors")
        facts = self.digits("--hold-out", 5, "--steps", 200, "--rate", "5e-3", "-o", weights)
        self.assertEqual((facts["device"], facts["steps"], facts["parameters"]), ("cpu:0", 200, 4810))
        self.assertEqual(len(facts["losses"]), 200)
        self.assertGreater(facts["accuracy"], 0.9)
        self.assertLess(facts["loss"], facts["losses"][0] / 4)
        # The rows that were held out, through tenon run and through plain Python.
        values, shape = read_npy(DIGITS)
        rows = [values[r * 65:r * 65 + 65] for r in range(0, shape[0], 5)]
        write_npy(self.path("pixels.npy"), [v for row in rows for v in row[:64]], [len(rows), 64], "|u1")
        ran = run_json("tenon", "run", MODEL, "--input", "pixels=" + self.path("pixels.npy"), "--weights", weights,
                       "--output-dir", self.path("out"), TENON_DEVICES="cpu")
        logits, shape = read_npy(ran["outputs"][0]["path"])
        self.assertEqual(shape, (len(rows), 10))
        right, loss = 0, 0
        for r, row in enumerate(rows):
            own = logits[r * 10:r * 10 + 10]
            right += own[row[64]] == max(own)
            loss += math.log(sum(math.exp(v - own[row[64]]) for v in own))
        self.assertAlmostEqual(right / len(rows), facts["accuracy"], places=5)
        self.assertAlmostEqual(loss / len(rows), facts["loss"], places=4)
        named = read_safetensors(weights)
        self.assertEqual(sorted(named), ["fc1.bias", "fc1.weight", "fc2.bias", "fc2.weight"])
        x = [v / 16 for v in rows[0][:64]]
        hidden = [max(0, b + sum(p * q for p, q in zip(x, named["fc1.weight"][i * 64:i * 64 + 64])))
                  for i, b in enumerate(named["fc1.bias"])]
        for i, b in enumerate(named["fc2.bias"]):
            logit = b + sum(p * q for p, q in zip(hidden, named["fc2.weight"][i * 64:i * 64 + 64]))
            self.assertAlmostEqual(logit, logits[i], places=3)

    def test_any_plugin_gives_these_losses(self):
        expected = self.digits("--steps", 4, "--batch", 16)["losses"]
        got = run_json("tenon", "train", MODEL, "--data", DIGITS, "--steps", 4, "--batch", 16, "--plugin", NULL)
        self.assertTrue(got["device"].startswith("null"), got["device"])
        for a, b in zip(got["losses"], expected, strict=True):
            self.assertAlmostEqual(a, b, places=4)

    def test_a_stopped_run_goes_on(self):
        def learn(steps, folder, to):
            return self.digits("--steps", steps, "--batch", 32, "--checkpoints", self.path(folder), "-o", self.path(to))
        whole = learn(8, "whole", "whole.safetensors")
        learn(5, "parts", "part.safetensors")
        rest = learn(8, "parts", "parts.safetensors")
        self.assertEqual(rest["losses"], whole["losses"][5:])
        with open(self.path("whole.safetensors"), "rb") as a, open(self.path("parts.safetensors"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def line(self, rows=4, to="line.csv"):
        """t = 2 a - b"""
        lines = ["a,b,t"] + [f"{i},{i * i % 5},{2 * i - i * i % 5}" for i in range(rows)]
        return self.path(to, "\n".join(lines) + "\n")

    def test_a_step_is_what_its_formula_says(self):
        model, table = self.path("line.tn", LINE), self.line()
        facts = run_json("tenon", "train", model, "--data", table, "--steps", 2, "--optimizer", "sgd", "--rate", "0.01",
                         "-o", self.path("w.safetensors"), "--metrics", self.path("m.csv"), TENON_DEVICES="cpu")
        w, losses = [0.5, 0.5], []
        rows = [(i, i * i % 5, 2 * i - i * i % 5) for i in range(4)]
        for _ in range(2):
            errors = [a * w[0] + b * w[1] - t for a, b, t in rows]
            losses.append(sum(e * e for e in errors))
            w = [w[k] - 0.01 * sum(2 * e * row[k] for e, row in zip(errors, rows)) for k in range(2)]
        for a, b in zip(facts["losses"], losses, strict=True):
            self.assertAlmostEqual(a, b, places=4)
        for a, b in zip(read_safetensors(self.path("w.safetensors"))["w"], w, strict=True):
            self.assertAlmostEqual(a, b, places=5)
        with open(self.path("m.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.read().splitlines()), 3)

    def test_arrays_of_an_archive(self):
        model = self.path("line.tn", LINE)
        write_npy(self.path("x.npy"), [float(v) for i in range(4) for v in (i, i * i % 5)], [4, 2])
        write_npy(self.path("t.npy"), [float(2 * i - i * i % 5) for i in range(4)], [4])
        write_npy(self.path("other.npy"), [1.0], [1])
        with zipfile.ZipFile(self.path("line.npz"), "w") as archive:
            for name in ("t", "other", "x"):
                archive.write(self.path(name + ".npy"), name + ".npy")
        losses = [run_json("tenon", "train", model, "--data", data, "--steps", 2, TENON_DEVICES="cpu")["losses"]
                  for data in (self.path("line.npz"), self.line())]
        self.assertEqual(*losses)

    def refused(self, *words, code=2, says=()):
        result = run("tenon", *words, TENON_DEVICES="cpu")
        self.assertEqual(result.returncode, code, (words, result.stdout, result.stderr))
        for part in says:
            self.assertIn(part, result.stderr)

    def test_data_that_does_not_fit(self):
        model, table = self.path("line.tn", LINE), self.line()

        def train(*words, of=model, says, steps=("--steps", 1), code=2):
            self.refused("train", of, *steps, *words, says=says, code=code)
        train("--data", table, steps=(), says=["expected --steps or --epochs"])
        train("--data", self.path("none.csv"), code=3, says=["none.csv"])
        train("--data", self.path("a.txt", "1"), says=["expected NAME=FILE.npy, FILE.npz, or a table"])
        train("--data", self.path("two.csv", "1,2\n"), says=["expected 3 columns (2 of x, 1 of t)", "got 2"])
        train("--data", self.path("word.csv", "a,b,t\n1,2,three\n"), says=["word.csv: line 2, column 3 (t)"])
        train("--data", self.path("empty.csv", "a,b,t\n"), says=["expected rows, got none"])
        train("--data", table, "--batch", 5, says=["expected at most the 4 rows"])
        train("--data", self.line(100, "long.csv"), "--batch", 65, says=["expected n in [1, 64]", "got 65"])
        write_npy(self.path("x.npy"), range(6), [3, 2])
        write_npy(self.path("t.npy"), range(4), [4])
        write_npy(self.path("wide.npy"), range(9), [3, 3])
        write_npy(self.path("half.npy"), [0.5] * 65, [1, 65])
        write_npy(self.path("flat.npy"), range(3), [3])
        x = "x=" + self.path("x.npy")
        train("--data", x, says=["expected data for the inputs x, t, got none for t"])
        train("--data", x, x, says=["expected each input once, got x twice"])
        train("--data", "y=" + self.path("x.npy"), says=["expected one of the inputs x, t, got 'y'"])
        train("--data", x, "t=" + self.path("t.npy"), says=["expected equally many rows", "3 of x and 4 of t"])
        flat = "t=" + self.path("flat.npy")
        train("--data", "x=" + self.path("wide.npy"), flat, says=["expected 2 as the size of axis 1 of x, got 3"])
        train("--data", "x=" + self.path("flat.npy"), flat, says=["expected f32[n, 2] for x"])
        train("--data", self.path("half.npy"), of=MODEL, says=["expected values of u8 for pixels, got 0.5"])
        values, _ = read_npy(DIGITS)
        write_npy(self.path("wrong.npy"), list(values[:64]) + [10], [1, 65], "|u1")
        train("--data", self.path("wrong.npy"), of=MODEL, says=["expected label in [0, 9], got 10 in row 0"])
        train("--data", table, "--hold-out", 2, "--validate", table, says=["excludes"])
        train("--data", table, "--plugin", table, says=["expected a file libtenon_BACKEND.so"])
        train("--data", table, "--warmup", 1, says=["expected --schedule cosine"])
        train("--data", table, of=os.path.join(SOURCE, "tests", "golden", "in", "softmax.tn"),
              says=["softmax.tn:1:1: expected a model"])
        train("--data", table, of=self.path("main.tn", LINE[:LINE.index("loss(")]), says=["expected a loss"])
        train("--data", table, of=self.path("bad.tn", LINE.replace("mul %x, %e", "mul %x, %f")),
              says=["bad.tn:4:16: expected a value defined above"])
        # A loss that is not finite is a failure and no fault of the user.
        train("--data", table, "--optimizer", "sgd", "--rate", "1e9", steps=("--steps", 30), code=1,
              says=["expected a finite loss"])

    def test_a_place_for_weights_is_asked_for_before_learning(self):
        metrics = self.path("m.csv")
        for place in (self.path("none") + "/w.safetensors", self.folder.name):
            with self.subTest(place):
                self.refused("train", MODEL, "--data", DIGITS, "--steps", 1, "--metrics", metrics, "-o", place, code=3,
                             says=["[-o] expected a file in a folder that can be written, got " + place])
                self.assertFalse(os.path.exists(metrics))

    def test_weights_of_another_model(self):
        model, table = self.path("line.tn", LINE), self.line()
        write_npy(self.path("x.npy"), range(6), [3, 2])
        train = ("train", model, "--data", table, "--steps", 1, "-o", self.path("w.safetensors"))
        self.refused(*train, code=0)
        ran = run_json("tenon", "run", model, "--input", "x=" + self.path("x.npy"), "--weights",
                       self.path("w.safetensors"), TENON_DEVICES="cpu")
        self.assertEqual(ran["outputs"][0]["shape"], [3])
        self.refused("run", MODEL, "--weights", self.path("w.safetensors"), "--random", 1,
                     says=["missing: fc1.weight, fc1.bias, fc2.weight, fc2.bias", "not wanted: w"])
        other = self.path("other.tn", LINE.replace("%w: f32[1, 2]", "%w: f32[2, 1]").replace(
            "%e = expand %w", "%u = reshape %w : [1, 2]\n  %e = expand %u"))
        self.refused("run", other, "--weights", self.path("w.safetensors"), "--random", 1,
                     says=["of other types: w (expected f32[2, 1], got f32[1, 2])"])
        self.refused("run", model, "--weights", table, "--random", 1, says=["line.csv"])


if __name__ == "__main__":
    unittest.main()
