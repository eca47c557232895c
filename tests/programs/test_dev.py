# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""./dev refuses what it does not know, by name, before it does anything."""
import os
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ["TENON_SOURCE"]
ACTS = ("apt-get", "cmake", "ctest", "ninja", "clang-format", "clang-tidy", "git", "sudo", "rm", "dpkg-query")


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tenon-dev-")
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(os.path.join(SOURCE, "dev"), self.folder)
        house = os.path.join(self.folder, "tests", "house")
        os.makedirs(house)
        shutil.copy(os.path.join(SOURCE, "tests", "house", "build_times.py"), house)
        os.makedirs(os.path.join(self.folder, "build", "bin"))
        self.write("build/bin/tenon-conformance", "echo asked: \"$@\"")
        os.makedirs(os.path.join(self.folder, "stubs"))
        for name in ACTS:
            self.write(f"stubs/{name}", f"echo {name} >>'{self.folder}/acted'; exit 9")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)

    def dev(self, *arguments, **variables):
        environment = {**os.environ, "PATH": f"{self.folder}/stubs:{os.environ['PATH']}", **variables}
        done = subprocess.run([os.path.join(self.folder, "dev"), *arguments], env=environment, text=True,
                              capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def acted(self):
        return os.path.exists(os.path.join(self.folder, "acted"))

    def test_what_a_command_does_not_take_is_refused_by_name(self):
        refused = [(("clean", "junk"), "expected nothing after clean, got 'junk'"),
                   (("format", "--check"), "expected nothing after format, got '--check'"),
                   (("setup", "junk"), "expected nothing after setup, got 'junk'"),
                   (("demo", "fast"), "expected nothing after demo, got 'fast'"),
                   (("test", "--fats"), "expected --fast, --full or nothing after test, got '--fats'"),
                   (("test", "--fast", "junk"), "expected --fast, --full or nothing after test, got 'junk'"),
                   (("build", "relase"), "after build, got 'relase'"),
                   (("lint", "--recnt", "3"), "expected --recent N or nothing after lint, got '--recnt'"),
                   (("lint", "--recent"), "expected a number above 0 after lint --recent, got ''"),
                   (("lint", "--recent", "abc"), "got 'abc'"),
                   (("lint", "--recent", "3", "4"), "expected nothing after lint --recent 3, got '4'"),
                   (("times", "nosuch"), "expected a folder that Ninja built in, got 'nosuch'"),
                   (("times", "build", "junk"), "expected one build folder after times, got 'junk' too"),
                   (("nosuch",), "unknown command 'nosuch'")]
        for arguments, words in refused:
            with self.subTest(arguments=arguments):
                code, _, errors = self.dev(*arguments)
                self.assertEqual(code, 2, errors)
                self.assertIn(words, errors)
                self.assertFalse(self.acted())

    def test_a_number_of_jobs_is_one(self):
        for jobs in ("0", "abc", "-1", "1.5"):
            code, _, errors = self.dev("build", TENON_JOBS=jobs)
            self.assertEqual(code, 2)
            self.assertIn(f"expected a number above 0 in TENON_JOBS, got '{jobs}'", errors)
            self.assertFalse(self.acted())

    def test_help_does_nothing_else(self):
        for command in ("clean", "format", "setup", "demo", "test", "build", "lint", "times"):
            with self.subTest(command=command):
                code, text, errors = self.dev(command, "--help")
                self.assertEqual(code, 0, errors)
                self.assertIn("./dev clean", text)
                self.assertFalse(self.acted())
        for command in ("fuzz", "selftest"):
            code, text, errors = self.dev(command, "--help")
            self.assertEqual((code, text), (0, f"asked: {command} --help\n"), errors)
            self.assertFalse(self.acted())


if __name__ == "__main__":
    unittest.main()
