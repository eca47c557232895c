# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One program, every device of the machine; targets that are not there; a worker that is killed."""
import glob
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from harness import BIN, GRAPHS, SOURCE, run, run_json

ONCE_WRONG = os.path.join(SOURCE, "conformance", "regressions")  # cases that some driver got wrong
SOFTMAX = os.path.join(GRAPHS, "softmax.tn")
LESSONS = sorted(name for name in os.listdir(BIN) if name.startswith("example_0"))

EVERY = int(os.environ.get("TENON_TESTS_EVERY", "1"))  # on devices beside the CPU: each n-th graph

# Every graph gives equal results on every device, but these, which are refused with these words:
REFUSED = {
    # WGSL has no f64, and there is no wider dtype to compute it in.
    ("wgsl", "cpu-min_signalling_nan.tn"): "expected a dtype that wgsl:0 stores, got buffer b1 x2: f64",
}


def devices():
    """Ids of what computes and passes its self-test, one device of each backend."""
    found = {}
    for device in run_json("tenon", "devices")["devices"]:
        if device["selftest"] == "pass" and device["kind"] != "storage":
            found.setdefault(device["backend"], device["id"])
    return list(found.values())


def graphs():
    """Those of the golden tests, and those that some driver got wrong."""
    once_wrong = []
    for path in glob.glob(os.path.join(ONCE_WRONG, "*.tn")):
        with open(path, encoding="utf-8") as file:
            if "\ngraph " in file.read():  # others are calls
                once_wrong.append(path)
    return sorted(glob.glob(os.path.join(GRAPHS, "*.tn")) + once_wrong)


def has_cases(journal):
    if not os.path.exists(journal):
        return False
    with open(journal, encoding="utf-8") as file:
        return "\nend " in file.read()


def others():
    return [device for device in devices() if not device.startswith("cpu:")]


class OneProgram(unittest.TestCase):
    def test_search(self):
        query = "how does a plugin say what it supports"
        expected = None
        for device in ["cpu:0"] + others():
            with self.subTest(device):
                result = run("example_10_search", os.path.join(SOURCE, "docs"), query, TENON_DEVICES=device)
                self.assertEqual(result.returncode, 0, result.stderr)
                rows = [line.split("  ") for line in result.stdout.splitlines()]
                expected = expected or rows
                self.assertEqual([row[1:] for row in rows], [row[1:] for row in expected])
                for row, other in zip(rows, expected):
                    self.assertAlmostEqual(float(row[0]), float(other[0]), places=3)

    def test_image(self):
        harbour = os.path.join(SOURCE, "examples", "data", "harbour.ppm")
        expected = None
        for device in ["cpu:0"] + others():
            with self.subTest(device), tempfile.TemporaryDirectory() as folder:
                result = run("example_11_image", harbour, folder, TENON_DEVICES=device)
                self.assertEqual(result.returncode, 0, result.stderr)
                pictures = {}
                for name in sorted(os.listdir(folder)):
                    with open(os.path.join(folder, name), "rb") as file:
                        pictures[name] = file.read()
                expected = expected or pictures
                self.assertEqual(list(pictures), list(expected))
                for name, pixels in pictures.items():
                    self.assertEqual(len(pixels), len(expected[name]))
                    worst = max(abs(a - b) for a, b in zip(pixels, expected[name]))
                    self.assertLessEqual(worst, 1, f"{name} on {device}")

    def test_lessons(self):
        expected = {}
        for device in devices():
            for name in LESSONS:
                with self.subTest(name, device=device):
                    result = run(name, TENON_DEVICES=device)
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                    said = result.stdout.replace(device, "DEVICE")
                    if name != "example_02_devices":  # says what each device has
                        self.assertEqual(said, expected.setdefault(name, said))

    def test_digits(self):
        for name, steps in (("example_20_digits_mlp", 40), ("example_21_digits_conv", 10)):
            expected = None
            for device in ["cpu:0"] + others():
                with self.subTest(name, device=device):
                    result = run(name, "--json", "--steps", str(steps), TENON_DEVICES=device)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    losses = json.loads(result.stdout)["losses"]
                    expected = expected or losses
                    self.assertEqual(len(losses), steps)
                    for seen, other in zip(losses, expected):
                        self.assertLessEqual(abs(seen - other), 2e-3 * abs(other))

    def test_disk_matmul(self):
        for device in devices():
            with self.subTest(device), tempfile.TemporaryDirectory() as folder:
                result = run("example_12_disk_matmul", folder, TENON_DEVICES=f"{device}@pool=64M")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn(f"of memory on {device}: right", result.stdout)

    def test_graphs(self):
        refused = {}
        for device in devices():
            backend = device.partition(":")[0]
            for number, path in enumerate(graphs()):
                name = os.path.basename(path)
                if backend != "cpu" and number % EVERY and (backend, name) not in REFUSED:
                    continue
                with self.subTest(device=device, graph=name):
                    result = run("tenon", "run", path, "--random", 3, "--check", TENON_DEVICES=device)
                    if result.returncode == 2:
                        refused[backend, name] = result.stderr
                        continue
                    self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        known = {key: words for key, words in REFUSED.items() if key[0] in {d.partition(":")[0] for d in devices()}}
        self.assertEqual(sorted(refused), sorted(known), refused)
        for key, words in known.items():
            self.assertIn(words, refused[key])


class Targets(unittest.TestCase):
    def test_a_target_that_is_not_there(self):
        for stage, word in (("schedule", "cpu x86-64-v3"), ("program", "program kernel"), ("asm", "kernel")):
            with self.subTest(stage):
                result = run("tenon", "show", SOFTMAX, "--stage", stage, "--backend", "cpu", "--target", "x86-64-v3")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(word, result.stdout)

    def test_sums_stay_in_registers_beside_constants(self):
        """GELU after a product of so many columns: its constants are many, the sums fill the registers."""
        gelu = """
            %cubic = const 0.044715 : f32[1024, {0}]
            %root = const 1.5957691 : f32[1024, {0}]
            %one = const 1.0 : f32[1024, {0}]
            %square = mul %s, %s
            %u = mul %square, %cubic
            %v = add %u, %one
            %w = mul %s, %v
            %x = mul %w, %root
            %e = exp %x
            %f = add %e, %one
            %r = recip %f
            %g = sub %one, %r
            %y = mul %s, %g"""
        for columns in (512, 1000):
            with self.subTest(columns), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "product.tn")
                with open(path, "w") as file:
                    file.write(f"""graph product(%a: f32[1024, 1024, 1], %b: f32[1, 1024, {columns}]) {{
                        %c = expand %a : f32[1024, 1024, {columns}]
                        %d = expand %b : f32[1024, 1024, {columns}]
                        %p = mul %c, %d
                        %t = reduce.add %p, axes=[1]
                        %s = reshape %t : f32[1024, {columns}] {gelu.format(columns)}
                        return %y
                    }}""")
                result = run("tenon", "show", path, "--stage", "asm", "--backend", "cpu", "--target", "x86-64-v3")
                self.assertEqual(result.returncode, 0, result.stderr)
                loops = re.findall(r"^(\.LBB\w+):\n((?:\t.*\n)*)\tj\w+\t\1$", result.stdout, re.MULTILINE)
                tiles = [body for _, body in loops if body.count("vfmadd") >= 12 and "vdivps" not in body]
                self.assertTrue(tiles, result.stdout)
                for body in tiles:
                    self.assertNotRegex(body, r"\(%rsp\)|vmovaps\t%ymm\d+, %ymm", result.stdout)

    def test_products_of_halves_reach_matrix_units(self):
        def product(dtype, folder, n):
            path = os.path.join(folder, f"{dtype}_{n}.tn")
            with open(path, "w") as file:
                file.write(f"""graph product(%a: {dtype}[{n}, {n}, 1], %b: {dtype}[1, {n}, {n}]) {{
                    %c = expand %a : {dtype}[{n}, {n}, {n}]
                    %d = expand %b : {dtype}[{n}, {n}, {n}]
                    %p = mul %c, %d
                    %t = reduce.add %p, axes=[1]
                    return %t
                }}""")
            return path

        for dtype in ("f16", "bf16"):
            with self.subTest(dtype), tempfile.TemporaryDirectory() as folder:
                result = run("tenon", "run", product(dtype, folder, 32), "--random", 1, "--check", "--devices", "cpu")
                self.assertEqual(result.returncode, 0, result.stderr)
                result = run("tenon", "show", product(dtype, folder, 512), "--stage", "program", "--backend", "cuda",
                             "--target", "sm_80")
                if result.returncode == 3:
                    self.skipTest(result.stderr)
                self.assertIn("matrix_multiply", result.stdout)

    def test_budgets_are_of_devices_whose_rates_are_known(self):
        line = ["tenon", "show", SOFTMAX, "--stage", "budget"]
        result = run(*line, "--backend", "cpu", "--target", "x86-64-v3")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("expected a device whose properties have rates", result.stderr)
        result = run(*line, "--backend", "cuda", "--target", "sm_80")
        if result.returncode == 3:
            self.skipTest(result.stderr)
        for words in ("resident workgroups", "on 108 units", "predicted", "of its rate"):
            self.assertIn(words, result.stdout)

    def test_programs_are_shown_as_graphs_are(self):
        target = ("--backend", "cpu", "--target", "host")
        program = run("tenon", "show", SOFTMAX, "--stage", "program", *target).stdout
        self.assertTrue(program.startswith("program "), program)
        asm = run("tenon", "show", SOFTMAX, "--stage", "asm", *target).stdout
        with tempfile.TemporaryDirectory() as folder:
            def write(name, text):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                return path

            alone = write("alone.tn", program)
            for arguments in ((), ("--stage", "program")):
                shown = run("tenon", "show", alone, *arguments)
                self.assertEqual((shown.returncode, shown.stdout), (0, program), shown.stderr)
            self.assertEqual(run("tenon", "show", alone, "--stage", "asm", *target).stdout, asm)
            on_device = run("tenon", "show", alone, "--stage", "asm", "--devices", "cpu")
            self.assertEqual(on_device.returncode, 0, on_device.stderr)
            self.assertIn("ret", on_device.stdout)
            two = write("two.tn", program + "\n" + program)
            self.assertEqual(run("tenon", "show", two).stdout, program + program)
            # As tenon-conformance writes what fails.
            lines = "".join(f"# sequence | {line}\n" for line in program.splitlines())
            found = write("found.tn", "# tenon-conformance 1\n# case 1:1 api.program - -\n# status FAIL mismatch\n"
                          "# backend cpu\n# sequence program 1 1 1 0 0\n" + lines)
            self.assertEqual(run("tenon", "show", found).stdout, program)
            self.assertEqual(run("tenon", "show", found, "--stage", "asm", *target).stdout, asm)
            broken = write("broken.tn", lines.replace(" index ", " indices "))
            for path, arguments, words in (
                    (alone, ("--stage", "schedule"), "expected --stage program, source or asm of a file of programs, got schedule"),
                    (alone, ("--transforms", "", "--stage", "asm"), "expected --on and --transforms with a graph"),
                    (alone, ("--devices", "cpu"), "with --stage source or asm"),
                    (broken, (), "broken.tn: [program] line ")):
                with self.subTest(arguments):
                    result = run("tenon", "show", path, *arguments)
                    self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                    self.assertIn(words, result.stderr)

    def test_wrong_targets(self):
        for arguments, code, words in (
                (("--backend", "cpu", "--target", "abacus"), 2, "expected a target that cpu knows, got \"abacus\""),
                (("--backend", "abacus", "--target", "x"), 3, "expected one of the backends "),
                (("--target", "x"), 2, "expected --backend and --target together"),
                (("--backend", "cpu", "--target", "host", "--devices", "cpu"), 2, "expected --devices or --target")):
            with self.subTest(arguments):
                result = run("tenon", "show", SOFTMAX, "--stage", "asm", *arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(words, result.stderr)

    def test_compile_only(self):
        facts = run_json("tenon-conformance", "compile", "--backend", "cpu", "--target", "x86-64-v3", "--cases", 20,
                         "--time", 5, "--jobs", 2)
        self.assertGreater(facts["counts"]["PASS"], 20)
        self.assertEqual(facts["counts"].get("FAIL", 0), 0, facts["failures"])

    def test_compiled_cases_are_kept_and_come_again(self):
        with tempfile.TemporaryDirectory() as folder:
            run_json("tenon-conformance", "compile", "--backend", "cpu", "--target", "host", "--time", 0.2,
                     "--keep", folder)
            kept = sorted(os.listdir(folder))
            self.assertTrue(any(name.endswith(".program") for name in kept), kept)
        facts = run_json("tenon-conformance", "replay", "1:2000000007", "--backend", "cpu", "--target", "host")
        self.assertEqual(facts["status"], "PASS")
        self.assertEqual(run("tenon-conformance", "replay", "1:2000000007", "--backend", "cpu").returncode, 2)


class Killed(unittest.TestCase):
    def killed(self, device):
        """Exit code and output of a run of which a worker was killed."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TENON_")}
        with tempfile.TemporaryDirectory() as folder:
            with subprocess.Popen([os.path.join(BIN, "tenon-conformance"), "fuzz", "--backend", device, "--cases",
                                   "200", "--report", folder, "--json"], env=environment, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL) as parent:
                journal = os.path.join(folder, "journal-0.txt")
                deadline = time.time() + 60
                while time.time() < deadline and not has_cases(journal):
                    time.sleep(0.05)
                with open(f"/proc/{parent.pid}/task/{parent.pid}/children", encoding="ascii") as file:
                    children = file.read().split()
                os.kill(int(children[0]), signal.SIGKILL)
                out, _ = parent.communicate(timeout=300)
        return parent.returncode, out

    def test_a_killed_worker_costs_one_case(self):
        for device in devices():
            with self.subTest(device):
                for _ in range(5):  # one that was at no case costs none: then once more
                    code, out = self.killed(device)
                    if code != 0:
                        break
                self.assertEqual(code, 1, out)
                self.assertIn('"CRASH"', out)
                self.assertEqual(run("example_01_hello", TENON_DEVICES="cpu").returncode, 0)


if __name__ == "__main__":
    unittest.main()
