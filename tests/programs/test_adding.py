# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/adding-an-op.md does what it says: its patches apply, and with TENON_TESTS_BUILD=1 the copy that they make is
built, and the op and the dtype run."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, SOURCE

PAGE = os.path.join(SOURCE, "docs", "adding-an-op.md")
OP, DTYPE = "ceil", "f8e3m4"
BACKENDS = ("cpu", "vulkan", "wgsl", "null")
MOST_FILES = {OP: 8, DTYPE: 6}  # that a person edits
SECONDS = 3000
CASTS = f"""graph casts(%x: f32[1000]) {{
  %n = cast %x : {DTYPE}
  %y = cast %n : f32
  return %n, %y
}}
"""


def blocks(language):
    with open(PAGE, encoding="utf-8") as file:
        op, dtype = file.read().split("\n# Adding a dtype\n")
    return {name: re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
            for name, text in ((OP, op), (DTYPE, dtype))}


def files_of(patches):
    return sorted({path for patch in patches for path in re.findall(r"^\+\+\+ b/(.+)$", patch, re.M)})


def call(*command, folder=None, expect=0, timeout=SECONDS, **environment):
    variables = {k: v for k, v in os.environ.items() if not k.startswith("TENON_")}
    done = subprocess.run(command, cwd=folder, env={**variables, **environment}, capture_output=True, text=True,
                          timeout=timeout, check=False)
    assert done.returncode == expect, f"{' '.join(command)}: {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def apply(patch, folder):
    path = os.path.join(folder, "step.diff")
    for of_file in re.split(r"^(?=--- a/)", patch, flags=re.M)[1:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"^@@$", "@@ -9 +9 @@", of_file, flags=re.M))  # the lines about it say where
        # Not a part of the repository that the folder may lie in.
        call("git", "apply", "--recount", path, folder=folder, GIT_CEILING_DIRECTORIES=os.path.dirname(folder))
    os.remove(path)


class Page(unittest.TestCase):
    def test_patches_apply_one_after_the_other(self):
        patches = blocks("diff")
        with tempfile.TemporaryDirectory() as folder:
            for path in files_of(patches[OP] + patches[DTYPE]):
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
                shutil.copy(os.path.join(SOURCE, path), os.path.join(folder, path))
            for name, steps in patches.items():
                for number, patch in enumerate(steps, 1):
                    with self.subTest(f"{name}, patch {number} of {PAGE}"):
                        apply(patch, folder)

    def test_a_person_edits_few_files(self):
        for name, steps in blocks("diff").items():
            self.assertLessEqual(len(files_of(steps)), MOST_FILES[name], name)

    def test_files_that_it_names_are_there(self):
        with open(PAGE, encoding="utf-8") as file:
            text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.M | re.S)
        for path in re.findall(r"`((?:core|sdk|tests|frontend|plugins)/[^`*<]+)`", text):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, path)), path)


@unittest.skipUnless(os.environ.get("TENON_TESTS_BUILD"), "builds the sources anew: TENON_TESTS_BUILD=1")
class Built(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.copy = os.path.join(BUILD, "adding")
        shutil.rmtree(os.path.join(cls.copy, "source"), ignore_errors=True)
        cls.build = os.path.join(cls.copy, "build")
        source = os.path.join(cls.copy, "source")
        tracked = call("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=SOURCE).split("\0")
        for path in filter(None, tracked):
            if not os.path.exists(os.path.join(SOURCE, path)):
                continue
            os.makedirs(os.path.dirname(os.path.join(source, path)), exist_ok=True)
            shutil.copy2(os.path.join(SOURCE, path), os.path.join(source, path))
        for steps in blocks("diff").values():
            for patch in steps:
                apply(patch, source)
        call("cmake", "-S", source, "-B", cls.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
             "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG",
             f"-DTENON_WEBGPU_DIR={os.path.join(SOURCE, '.env', 'wgpu')}")
        targets = call("ninja", "-C", cls.build, "-t", "targets", "all")
        cls.backends = [name for name in BACKENDS if re.search(rf"^tenon_{name}: ", targets, re.M)]
        call("cmake", "--build", cls.build, "--target", "tenon_program", "tenon-probe", "tenon-conformance", "test_docs",
             *(f"tenon_{name}" for name in cls.backends))

    def program(self, name, *arguments, **more):
        # Plugins are probed on a machine that may be busy with the other tests.
        with tempfile.TemporaryDirectory() as cache:
            return call(os.path.join(self.build, "bin", name), *arguments, TENON_CACHE_DIR=cache,
                        TENON_PROBE_SECONDS="300",
                        TENON_PLUGIN_PATH=os.path.join(self.build, "lib", "tenon-examples"), **more)

    def graph(self, name, text):
        path = os.path.join(self.copy, name + ".tn")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_backends_that_the_page_speaks_of_are_tried(self):
        self.assertIn("cpu", self.backends)
        self.assertTrue({"vulkan", "wgsl"} & set(self.backends), self.backends)

    def test_op_runs_and_is_the_references(self):
        path = self.graph(OP, blocks("tn")[OP][0])
        for backend in self.backends:
            with self.subTest(backend):
                self.program("tenon", "run", path, "--random", "3", "--check", "--devices", backend)

    def test_who_claims_it_gets_it_and_who_does_not_gets_others(self):
        path = self.graph(OP, blocks("tn")[OP][0])
        for backend in self.backends:
            with self.subTest(backend):
                program = self.program("tenon", "show", path, "--stage", "program", "--devices", backend)
                self.assertEqual(f"= {OP} " in program, backend in ("cpu", "vulkan"), program)

    def test_dtype_is_stored_and_cast(self):
        path = self.graph("casts", CASTS)
        for backend in self.backends:
            with self.subTest(backend):
                self.program("tenon", "run", path, "--random", "3", "--check", "--devices", backend)

    def test_cells_pass(self):
        for backend in self.backends:
            with self.subTest(backend), tempfile.TemporaryDirectory() as report:
                self.program("tenon-conformance", "fuzz", "--backend", backend, "--seed", "5", "--layers", "cells",
                             "--cases", "4000", "--no-vote", "--report", report)
                with open(os.path.join(report, "report.json"), encoding="utf-8") as file:
                    rows = json.load(file)["cells"]
                tried = [row for row in rows if row["op"] == OP or DTYPE in (row["dtype"], row["op"][5:])]
                self.assertTrue(any(row["op"] == OP for row in tried), rows[:3])
                self.assertTrue(any(row["dtype"] == DTYPE for row in tried), rows[:3])

    def test_tables_of_the_docs_are_written(self):
        call(os.path.join(self.build, "bin", "test_docs"), TENON_UPDATE="1")
        with open(os.path.join(self.copy, "source", "docs", "ir.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn(f"| `{OP}` |", text)
        self.assertIn(f"| `{DTYPE}` |", text)


if __name__ == "__main__":
    unittest.main()
