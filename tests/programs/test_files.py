# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs read and write: names that are no file names, files that are no files, output that cannot be written.
tests/torture has many more of each."""
import json
import os
import subprocess
import tempfile
import unittest

from harness import BIN, CACHE, run, run_json

SOURCE = "graph g(%x: f32[2]) {{\n  %y = add %x, %x\n  %z = mul %x, %x\n  return {}\n}}\n"
REFERENCE = ("--reference", "--random", "1")


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def graph(self, outputs):
        with open(self.path("g.tn"), "w", encoding="utf-8") as file:
            file.write(SOURCE.format(outputs))
        return self.path("g.tn")

    def refused(self, words, *arguments, code=2, program="tenon", **environment):
        result = run(program, *arguments, timeout=60, **environment)
        self.assertEqual(result.returncode, code, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_output_names_are_no_paths(self):
        out = self.path("a/b/out")
        for name in ("../../up", self.path("absolute"), "sub/y", "y\\x00z", "y\\x1b[2J", "n" * 256):
            with self.subTest(name):
                self.refused(["file names"], "run", self.graph(f'"{name}"=%y'), *REFERENCE, "-o", out)
        self.refused(["different names", "'y'"], "run", self.graph("y=%y, y=%z"), *REFERENCE, "-o", out)
        self.refused(["different names", "'out1'"], "run", self.graph("out1=%y, \"\"=%z"), *REFERENCE, "-o", out)
        self.assertEqual(os.listdir(self.folder.name), ["g.tn"])
        facts = run_json("tenon", "run", self.graph("y=%y, z=%z"), *REFERENCE, "-o", out)
        self.assertEqual([o["path"] for o in facts["outputs"]], [os.path.join(out, n) for n in ("y.npy", "z.npy")])

    def test_names_do_not_reach_the_terminal(self):
        graph = self.graph('"\\x1b[2J\\x9b\\x0aline"=%y')
        for form in ([], ["--json"]):
            shown = run("tenon", "run", graph, *REFERENCE, *form)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertNotIn("\x1b", shown.stdout)
        self.assertEqual(json.loads(shown.stdout)["outputs"][0]["name"], "\x1b[2J\ufffd\nline")

    def test_what_is_no_file_is_not_waited_for(self):
        os.mkfifo(self.path("pipe"))
        graph = self.graph("%y")
        for place, word in ((self.path("pipe"), "a pipe"), ("/dev/zero", "a device"), (self.folder.name, "a folder")):
            for arguments in (["run", place, *REFERENCE], ["show", place, "--stage", "graph"],
                              ["run", graph, "--reference", "--input", "x=" + place]):
                with self.subTest(arguments):
                    self.refused(["regular file", word], *arguments)
            self.refused(["regular file", word], "replay", place, program="tenon-conformance")
        with open(self.path("empty.tn"), "w", encoding="ascii"):
            self.refused(["empty.tn:1:1", "'graph'"], "run", self.path("empty.tn"), *REFERENCE)

    def test_output_that_cannot_be_written_is_a_fault(self):
        lines = [["tenon", "run", self.graph("%y"), *REFERENCE], ["tenon", "devices"], ["tenon", "doctor"],
                 ["tenon", "show", self.graph("%y"), "--stage", "graph"], ["tenon", "--help"],
                 ["tenon-conformance", "list"], ["tenon-conformance", "replay", "1:3", "--backend", "cpu"],
                 ["tenon-bench", "--help"]]
        for program, *arguments in lines:
            for close, why in (("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
                with self.subTest((program, arguments, close)):
                    line = ["sh", "-c", f'exec "$@" {close}', "sh", os.path.join(BIN, program), *arguments]
                    result = subprocess.run(line, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
                                            env={"PATH": os.environ["PATH"], "TENON_CACHE_DIR": CACHE.name})
                    self.assertEqual(result.returncode, 3, result.stderr)
                    self.assertIn("[output] expected to write standard output, got: " + why, result.stderr)

    def test_options_that_do_nothing_are_refused(self):
        graph = self.graph("%y")
        for arguments in (["--stage", "graph", "--devices", "cpu"], ["--stage", "graph", "--on", "x=cpu"],
                          ["--stage", "graph", "--transforms", "x"], ["--stage", "schedule", "--transforms", "x"],
                          ["--stage", "graph", "--backend", "cpu", "--target", "x86-64"],
                          ["--backend", "cpu", "--target", "x86-64", "--on", "x=cpu"], ["--on", "x=cpu", "--on", "x=cpu"]):
            with self.subTest(arguments):
                self.refused(["[show] expected"], "show", graph, *arguments, TENON_DEVICES="cpu")
        self.refused(["--devices"], "run", graph, *REFERENCE, "--devices", "cpu")

    def test_a_name_that_is_not_utf_8_is_json(self):
        name = os.fsencode(self.path("")) + b"\xff.tn"
        with open(name, "w", encoding="ascii") as file:
            file.write(SOURCE.format("%y"))
        line = [os.path.join(BIN, "tenon"), "show", name, "--stage", "graph", "--json"]
        result = subprocess.run(line, capture_output=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("\ufffd.tn", json.loads(result.stdout)["file"])


if __name__ == "__main__":
    unittest.main()
