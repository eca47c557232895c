# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of ./dev gpu share: calling it on a build folder of their own."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("TENON_BUILD", "")  # of the programs that do not pretend
PROGRAMS = ("tenon", "tenon-probe", "tenon-conformance", "tenon-bench")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.build = os.path.join(self.folder, "build")
        self.out = os.path.join(self.folder, "out")
        os.makedirs(os.path.join(self.build, "bin"))

    def command(self, *words):
        return [sys.executable, os.path.join(HERE, "gpu.py"), "--no-build", "--build", self.build, "--out", self.out, "--peers", "none",
                *map(str, words)]

    def environment(self, **more):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TENON_")}
        return {**inherited, "TENON_CACHE_DIR": os.path.join(self.folder, "cache"), **more}

    def call(self, *words, expect=0, **environment):
        done = subprocess.run(self.command(*words), env=self.environment(**environment), text=True, capture_output=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def call_with_limits(self, limits, *words, expect=0, **environment):
        """The same, but a stage is ended after so many seconds."""
        code = ("import json, sys; limits = json.loads(sys.argv.pop(1)); sys.path.insert(0, sys.argv.pop(1)); import gpu, stages\n"
                "plan = stages.plan\n"
                "def shorter(*words):\n"
                "    made = plan(*words)\n"
                "    for stage in made: stage.limit = limits.get(stage.name, stage.limit)\n"
                "    return made\n"
                "stages.plan = shorter; sys.exit(gpu.main())")
        python, script, *rest = self.command(*words)
        done = subprocess.run([python, "-c", code, json.dumps(limits), os.path.dirname(script), *rest], text=True, capture_output=True,
                              env=self.environment(**environment), timeout=300, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def programs_are(self, paths):
        for name, path in paths.items():
            place = os.path.join(self.build, "bin", name)
            if os.path.lexists(place):
                os.remove(place)
            os.symlink(path, place)

    def programs_pretend(self):
        for name in PROGRAMS:
            shutil.copy(os.path.join(HERE, "stub.py"), os.path.join(self.build, "bin", name))
            os.chmod(os.path.join(self.build, "bin", name), 0o755)

    def page(self):
        path, = glob.glob(os.path.join(self.out, "gpu-*.md"))
        with open(path, encoding="utf-8") as file:
            return os.path.basename(path), file.read()

    def bundled(self):
        """Names of the files in the bundle."""
        path, = glob.glob(os.path.join(self.out, "gpu-*.tar.gz"))
        with tarfile.open(path) as bundle:
            return {entry.name.split("/", 1)[1] for entry in bundle.getmembers() if entry.isfile()}


class DeviceCase(Case):
    """On the built programs."""

    def setUp(self):
        super().setUp()
        self.programs_are({name: os.path.join(BUILD, "bin", name) for name in PROGRAMS})

    def check(self, page, ident):
        """Every stage came to something, and the page holds its figures."""
        for part in (f"| device | {ident}: ", "| self-test | pass |", "## Right", "## Fast", "## Models", "## Not run",
                     "No figure here is held against a vendor's library"):
            self.assertIn(part, page)
        for stage in ("smoke", "run", "fuzz"):
            self.assertRegex(page, rf"\n\| {stage} \| .* \| passed(: less than one case an op and dtype was tried)? \| ")
            self.assertRegex(page, rf"\n\| {stage} \| \d \| [\d,]+ \| [\d.]+ \| [\d,]+ \| [\d,]+ \| [\d,]+ \| 0 \|")


def plugin(name):
    return os.path.join(BUILD, "lib", "tenon", f"libtenon_{name}.so")
