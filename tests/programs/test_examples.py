# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples as a user runs them; the two real ones against plain computations of the same."""
import concurrent.futures
import json
import math
import os
import re
import struct
import tempfile
import unittest

from harness import BIN, BUILD, SOURCE, run

DOCS = os.path.join(SOURCE, "docs")
HARBOUR = os.path.join(SOURCE, "examples", "data", "harbour.ppm")
NULL = {"TENON_DEVICES": "null", "TENON_PLUGIN_PATH": os.path.join(BUILD, "lib", "tenon-examples")}


def sections():
    files = []
    for folder, _, names in os.walk(DOCS):
        files += [os.path.join(folder, n) for n in names if n.endswith(".md")]
    result = []
    for path in sorted(files, key=lambda p: p.split(os.sep)):
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        name = os.path.relpath(path, DOCS)
        result.append([name, b"", b""])
        for line in lines:
            if line.startswith(b"#"):
                result.append([name, line.lstrip(b"# "), b""])
            result[-1][2] += line + b"\n"
    return [s for s in result if len(s[2]) >= 3]


def trigrams(text):
    counts = {}
    text = bytes(c + 32 if 65 <= c <= 90 else c for c in text)
    for i in range(len(text) - 2):
        value = 2166136261
        for byte in text[i:i + 3]:
            value = (value ^ byte) * 16777619 % 2**32
        counts[value % 4096] = counts.get(value % 4096, 0) + 1
    return counts


def search(query):
    found = sections()
    counts = [trigrams(s[2]) for s in found]
    having = {}
    for row in counts:
        for bucket in row:
            having[bucket] = having.get(bucket, 0) + 1

    def weigh(row):
        row = {b: c * math.log((len(found) + 1) / (having.get(b, 0) + 1)) for b, c in row.items()}
        length = math.sqrt(sum(v * v for v in row.values())) or 1
        return {b: v / length for b, v in row.items()}

    asked = weigh(trigrams(query.encode()))
    scores = [sum(v * asked.get(b, 0) for b, v in weigh(row).items()) for row in counts]
    best = sorted(range(len(found)), key=lambda i: -scores[i])[:5]
    return [(scores[i], found[i][0], found[i][1].decode()) for i in best]


def read_pnm(path):
    with open(path, "rb") as file:
        magic, size, _, pixels = file.read().split(b"\n", 3)
    width, height = map(int, size.split())
    return magic, width, height, pixels


class Examples(unittest.TestCase):
    def test_lessons(self):
        names = sorted(n for n in os.listdir(BIN) if n.startswith("example_0"))
        self.assertGreaterEqual(len(names), 5)
        for name in names:
            for environment in ({}, NULL):
                with self.subTest(name, **environment):
                    result = run(name, **environment)
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_disk_matmul(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("example_12_disk_matmul", folder)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            matrix = os.path.join(folder, "matrix.bin")
            self.assertEqual(os.path.getsize(matrix), 16384 * 2048 * 4)
            self.assertIn("128 MiB on disk", result.stdout)
            missing = run("example_12_disk_matmul", os.path.join(folder, "none"))
            self.assertEqual(missing.returncode, 3)
            self.assertIn(os.path.join(folder, "none", "matrix.bin"), missing.stderr)
            # Two processes at once on one file.
            with concurrent.futures.ThreadPoolExecutor() as pool:
                for done in pool.map(lambda _: run("example_12_disk_matmul", folder), range(2)):
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def check_search(self, **environment):
        for query in ("how does a plugin say what it supports", "symbolic dimensions", "who may include whom"):
            with self.subTest(query):
                result = run("example_10_search", DOCS, query, **environment)
                self.assertEqual(result.returncode, 0, result.stderr)
                rows = [line.split("  ", 2) for line in result.stdout.splitlines()]
                expected = search(query)
                self.assertEqual(len(rows), 5)
                for row, (score, name, title) in zip(rows, expected):
                    self.assertAlmostEqual(float(row[0]), score, places=3)
                    self.assertEqual((row[1], row[2]), (name, title))

    def learn(self, name, *words, **environment):
        result = run(name, "--json", *words, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_digits(self):
        mlp = self.learn("example_20_digits_mlp", "--seed", "1", "--steps", "150")
        self.assertEqual(len(mlp["losses"]), 150)
        self.assertLess(mlp["losses"][-1], 0.5)
        self.assertGreater(mlp["accuracy"], 0.9)
        again = self.learn("example_20_digits_mlp", "--seed", "1", "--steps", "20")
        self.assertEqual(again["losses"], mlp["losses"][:20])
        other = self.learn("example_20_digits_mlp", "--seed", "2", "--steps", "20")
        self.assertNotEqual(other["losses"], again["losses"])
        refused = run("example_20_digits_mlp", "--png", "digits.png")  # it makes no images
        self.assertEqual(refused.returncode, 2, refused.stdout)
        self.assertIn("got '--png digits.png'", refused.stderr)
        conv = self.learn("example_21_digits_conv", "--steps", "60")
        self.assertGreater(conv["accuracy"], 0.9)

    def writes(self, name):
        """After one step what it did not see is a guess of one in 256, and it writes on."""
        said = run(name, "--steps", "1", timeout=300)
        self.assertEqual(said.returncode, 0, said.stderr)
        held_out = re.search(r"^(\d\.\d{4}) bits a byte of what it did not see$", said.stdout, re.MULTILINE)
        self.assertIsNotNone(held_out, said.stdout)
        self.assertLess(abs(float(held_out[1]) - 8), 1)
        self.assertIn("---\nseven, ten, ", said.stdout)

    def test_text(self):
        learned = self.learn("example_22_text", "--steps", "20")
        self.assertNotIn("accuracy", learned)
        losses = [loss / math.log(2) for loss in learned["losses"]]  # bits a byte
        self.assertLess(abs(losses[0] - 8), 1)
        self.assertLess(losses[-1], 3.5)
        self.writes("example_22_text")

    def test_vit(self):
        learned = self.learn("example_24_vit", "--steps", "60")
        self.assertLess(learned["losses"][-1], 1.2)
        self.assertGreater(learned["accuracy"], 0.6)

    def test_graph(self):
        learned = self.learn("example_25_graph", "--steps", "120")
        self.assertLess(learned["losses"][-1], 0.2)
        self.assertGreater(learned["accuracy"], 0.85)  # of 32 members, none of whom it was told
        said = run("example_25_graph", "--steps", "120")
        self.assertEqual(said.returncode, 0, said.stderr)
        rows = [line.split(": ")[1].split() for line in said.stdout.splitlines() if line.startswith("with member")]
        self.assertEqual(sorted(int(m.removesuffix("(wrong)")) for row in rows for m in row), list(range(1, 35)))

    def test_diffusion(self):
        with tempfile.TemporaryDirectory() as folder:
            png, recorded = os.path.join(folder, "digits.png"), os.path.join(folder, "first.safetensors")
            learned = self.learn("example_26_diffusion", "--steps", "60", "--png", png, "--record", recorded)
            self.assertLess(sum(learned["losses"][-10:]), 0.6 * sum(learned["losses"][:10]))
            with open(png, "rb") as file:
                begin = file.read(24)
            self.assertEqual(begin[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(struct.unpack(">2I", begin[16:]), (400, 240))
            with open(recorded, "rb") as file:
                header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            self.assertEqual(header["model.blocks.2.fc.weight"]["shape"], [192, 192])
            self.assertEqual(header["59.noise"]["shape"], [128, 64])
            self.assertNotIn("60.noise", header)

    def test_lstm(self):
        with tempfile.TemporaryDirectory() as folder:
            curve = os.path.join(folder, "lstm.svg")
            learned = self.learn("example_23_lstm", "--steps", "8", "--svg", curve)
            losses = [loss / math.log(2) for loss in learned["losses"]]  # bits a byte
            self.assertEqual(len(losses), 8)
            self.assertLess(abs(losses[0] - 8), 0.5)
            self.assertLess(losses[-1], 6)
            with open(curve) as file:
                self.assertIn("bits a byte", file.read())
        self.writes("example_23_lstm")

    def test_programs_that_learn_refuse_what_they_do_not_know(self):
        for words in (["--steps"], ["--steps", "x"], ["--steps", "-1"], ["--steps", "99999999999999999999"],
                      ["--what", "1"]):
            with self.subTest(words):
                result = run("example_20_digits_mlp", *words)
                self.assertEqual(result.returncode, 2)
                self.assertIn(words[0], result.stderr)
        self.assertIn("usage:", run("example_20_digits_mlp", "--help").stdout)

    def test_search(self):
        self.check_search()

    def check_image(self, **environment):
        with tempfile.TemporaryDirectory() as folder:
            result = run("example_11_image", HARBOUR, folder, **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            return {name: read_pnm(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}

    def test_image(self):
        results = self.check_image()
        self.assertEqual(list(results), ["blur.pgm", "edges.pgm", "equalised.ppm"])
        _, width, height, pixels = read_pnm(HARBOUR)
        grey = [0.299 * pixels[i] + 0.587 * pixels[i + 1] + 0.114 * pixels[i + 2] for i in range(0, len(pixels), 3)]

        def at(y, x):
            return grey[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]

        taps = (1, 4, 6, 4, 1)
        for y, x in ((0, 0), (5, 7), (64, 96), (127, 191), (40, 191)):
            blur = sum(taps[i] * taps[j] * at(y + i - 2, x + j - 2) for i in range(5) for j in range(5)) / 256
            self.assertAlmostEqual(results["blur.pgm"][3][y * width + x], blur, delta=0.51)
            dx = sum(w * (at(y + i, x + 1) - at(y + i, x - 1)) for i, w in ((-1, 1), (0, 2), (1, 1)))
            dy = sum(w * (at(y + 1, x + i) - at(y - 1, x + i)) for i, w in ((-1, 1), (0, 2), (1, 1)))
            self.assertAlmostEqual(results["edges.pgm"][3][y * width + x], min(255, math.hypot(dx, dy)), delta=0.51)
        # Equalised: the share of pixels at or below a level is near level / 255, up to one level's own share.
        _, _, _, equal = results["equalised.ppm"]
        level = sorted(0.299 * equal[i] + 0.587 * equal[i + 1] + 0.114 * equal[i + 2] for i in range(0, len(equal), 3))
        median = level[len(level) // 2]
        self.assertTrue(100 < median < 156, median)

    def test_another_device_gives_the_same_pictures(self):
        for name, (_, _, _, pixels) in self.check_image(**NULL).items():
            with self.subTest(name):
                cpu = self.check_image()[name][3]
                self.assertEqual(len(cpu), len(pixels))
                self.assertLessEqual(max(abs(a - b) for a, b in zip(cpu, pixels)), 1)

    def test_bad_images(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (("text.ppm", b"hello"), ("short.ppm", b"P6\n4 4\n255\nxx"), ("huge.ppm", b"P5\n99999 1\n255\n"),
                               ("deep.ppm", b"P5\n1 1\n65535\nxx"), ("words.ppm", b"P2\n1 one\n255\n0")):
                with self.subTest(name):
                    path = os.path.join(folder, name)
                    with open(path, "wb") as file:
                        file.write(data)
                    result = run("example_11_image", path, os.path.join(folder, "out"))
                    self.assertEqual(result.returncode, 2, result.stderr)
                    self.assertIn(name, result.stderr)
                    self.assertFalse(os.path.exists(os.path.join(folder, "out")))
            self.assertEqual(run("example_11_image", os.path.join(folder, "none"), folder).returncode, 3)
            self.assertEqual(run("example_10_search", folder, "x").returncode, 2)

    def test_images_of_other_maxima(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "dim.pgm")
            with open(path, "wb") as file:
                file.write(b"P5\n3 1\n15\n\x0f\x0f\x0f")
            self.assertEqual(run("example_11_image", path, folder).returncode, 0)
            self.assertEqual(read_pnm(os.path.join(folder, "blur.pgm"))[3], b"\xff" * 3)

    def test_no_folder_for_the_results(self):
        result = run("example_11_image", HARBOUR, HARBOUR)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn(HARBOUR, result.stderr)

    def test_search_over_empty_headings_and_pipes(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(os.path.join(folder, "pipe.md"))
            with open(os.path.join(folder, "empty.md"), "w") as file:
                file.write("# \nwords here\n###\nothers\n")
            result = run("example_10_search", folder, "others")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stdout.count("empty.md"), 2)


if __name__ == "__main__":
    unittest.main()
