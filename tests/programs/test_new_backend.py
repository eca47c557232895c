# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tenon new-backend: the copy builds against the sdk alone and passes the conformance run."""
import glob
import os
import shlex
import subprocess
import tempfile
import unittest

from harness import BUILD, SOURCE, run


class NewBackend(unittest.TestCase):
    def test_template_is_at_most_300_lines(self):
        lines = 0
        for path in glob.glob(os.path.join(SOURCE, "examples", "90_null_backend", "*")):
            with open(path, encoding="utf-8") as file:
                lines += len(file.readlines())
        self.assertLessEqual(lines, 300)
        self.assertGreater(lines, 100)

    def new_backend_passes(self, name, options, *judge):
        """Makes a backend, builds it, and judges its plugin."""
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "foo")
            result = run("tenon", "new-backend", name, target, *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            build = os.path.join(target, "build")
            for command in (["cmake", "-S", target, "-B", build, f"-DCMAKE_PREFIX_PATH={BUILD}"],
                            ["cmake", "--build", build]):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            plugin = os.path.join(build, "lib", "tenon", f"libtenon_{name}.so")
            conformance = run("tenon-conformance", *judge, "--plugin", plugin, timeout=900)
            self.assertEqual(conformance.returncode, 0, conformance.stdout + conformance.stderr)

    def test_from_name_to_passing(self):
        self.new_backend_passes("foo", [], "run", "--jobs", 2)

    def test_template_of_an_ir_builder(self):
        if not glob.glob("/usr/lib/gcc/*/*/include/libgccjit.h"):
            self.skipTest("no libgccjit")
        self.new_backend_passes("foo_bar", ["--template", "gccjit"], "fuzz", "--cases", 10)

    def test_what_is_next_can_be_pasted(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("tenon", "new-backend", "foo", os.path.join(folder, "it's here"))
            words = shlex.split(result.stdout.splitlines()[-1])
            self.assertEqual(words[:4], ["next:", "cmake", "-S", os.path.join(folder, "it's here")])

    def test_bad_names_and_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("Foo", "9x", "a-b", "", "x" * 33, "int", "std", "and"):
                with self.subTest(name):
                    self.assertEqual(run("tenon", "new-backend", name, os.path.join(folder, "x")).returncode, 2)
            with open(os.path.join(folder, "precious"), "w", encoding="utf-8") as file:
                file.write("keep")
            self.assertEqual(run("tenon", "new-backend", "foo", folder).returncode, 2)
            self.assertEqual(os.listdir(folder), ["precious"])


if __name__ == "__main__":
    unittest.main()
