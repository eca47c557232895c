# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Output that cannot be written: a full disk, a closed descriptor, a pipe that nobody reads. No program says 0."""
import os
import subprocess
import tempfile

from harness import BIN, CACHE, GRAPHS, run

SOFTMAX = os.path.join(GRAPHS, "softmax.tn")
QUIET = {"PATH": "/usr/bin:/bin", "TENON_CACHE_DIR": CACHE.name, "TENON_DEVICES": "cpu"}
FUZZ = ["--backend", "cpu", "--no-vote", "--no-recheck", "--no-shrink"]
SHORT = ["--seed", "1", "--cases", "20"]


def report(folder):
    path = os.path.join(folder, "report")
    if not os.path.exists(path):
        run("tenon-conformance", "fuzz", *FUZZ, *SHORT, "--report", path)
    return os.path.join(path, "report.json")


LINES = {  # name -> program and arguments, made for a folder
    "help": ("tenon", lambda folder: ["--help"]),
    "version": ("tenon", lambda folder: ["--version"]),
    "devices": ("tenon", lambda folder: ["devices"]),
    "devices json": ("tenon", lambda folder: ["devices", "--json"]),
    "doctor": ("tenon", lambda folder: ["doctor"]),
    "doctor json": ("tenon", lambda folder: ["doctor", "--json"]),
    "run": ("tenon", lambda folder: ["run", SOFTMAX, "--random", "1"]),
    "run json": ("tenon", lambda folder: ["run", SOFTMAX, "--random", "1", "--json"]),
    "run check": ("tenon", lambda folder: ["run", SOFTMAX, "--random", "1", "--check"]),
    "show": ("tenon", lambda folder: ["show", SOFTMAX]),
    "show source": ("tenon", lambda folder: ["show", SOFTMAX, "--stage", "source"]),
    "show json": ("tenon", lambda folder: ["show", SOFTMAX, "--json"]),
    "new-backend": ("tenon", lambda folder: ["new-backend", "mine", os.path.join(folder, "mine")]),
    "list": ("tenon-conformance", lambda folder: ["list"]),
    "list json": ("tenon-conformance", lambda folder: ["list", "--json"]),
    "fuzz": ("tenon-conformance", lambda folder: ["fuzz", *FUZZ, *SHORT]),
    "fuzz json": ("tenon-conformance", lambda folder: ["fuzz", *FUZZ, *SHORT, "--json"]),
    "run cells": ("tenon-conformance", lambda folder: ["run", *FUZZ, "--cases", "20"]),
    "replay": ("tenon-conformance", lambda folder: ["replay", "1:3", "--backend", "cpu"]),
    "replay json": ("tenon-conformance", lambda folder: ["replay", "1:3", "--backend", "cpu", "--json"]),
    "report": ("tenon-conformance", lambda folder: ["report", report(folder)]),
    "compare": ("tenon-conformance", lambda folder: ["compare", report(folder), report(folder)]),
    "selftest": ("tenon-conformance", lambda folder: ["selftest", "--time", "1", "--only", "exp2_ln2"]),
    "bench help": ("tenon-bench", lambda folder: ["--help"]),
}


def full(program, arguments):
    with tempfile.TemporaryDirectory() as folder, open("/dev/full", "w", encoding="ascii") as device:
        result = subprocess.run([os.path.join(BIN, program), *arguments(folder)], env=QUIET, stdout=device,
                                stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        assert result.returncode in (1, 3), (result.returncode, result.stderr)
        assert "[output] expected to write standard output, got: " in result.stderr, result.stderr


def closed(program, arguments):
    """Descriptor 1 is closed: no file that is opened may become standard output."""
    with tempfile.TemporaryDirectory() as folder:
        line = [os.path.join(BIN, program), *arguments(folder)]
        result = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *line], env=QUIET, stderr=subprocess.PIPE, text=True,
                                timeout=300, check=False)
        assert result.returncode in (1, 3), (result.returncode, result.stderr)
        assert "[output] expected to write standard output, got: " in result.stderr, result.stderr
    assert run("tenon", "run", SOFTMAX, "--random", "1", TENON_DEVICES="cpu").stderr == ""  # the cache is sound


def unread(program, arguments):
    with tempfile.TemporaryDirectory() as folder:
        reader, writer = os.pipe()
        os.close(reader)
        result = subprocess.run([os.path.join(BIN, program), *arguments(folder)], env=QUIET, stdout=writer,
                                stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        os.close(writer)
        assert result.returncode in (-13, 1, 3), (result.returncode, result.stderr)  # SIGPIPE, as of any filter


def all_closed():
    with tempfile.TemporaryDirectory() as folder:
        line = [os.path.join(BIN, "tenon"), "run", SOFTMAX, "--random", "1", "-o", os.path.join(folder, "out")]
        result = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *line], env=QUIET, timeout=60, check=False)
        assert result.returncode == 3, result.returncode
        assert os.listdir(os.path.join(folder, "out")) == ["y.npy"]


def report_onto(kind):
    """The folder of a report is no folder, or full."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")
        if kind == "file":
            with open(path, "w", encoding="ascii") as file:
                file.write("precious")
        else:
            os.mkdir(path)
            os.symlink("/dev/full", os.path.join(path, "report.json"))
        result = run("tenon-conformance", "fuzz", *FUZZ, *SHORT, "--report", path)
        assert result.returncode == 3 and path in result.stderr, (result.returncode, result.stderr)
        if kind == "file":
            with open(path, encoding="ascii") as file:
                assert file.read() == "precious"


def attacks():
    for how in (full, closed, unread):
        for name, (program, arguments) in LINES.items():
            if how is not full and name in ("selftest",):
                continue  # its workers are those of fuzz
            yield f"{how.__name__} {name}", lambda h=how, p=program, a=arguments: h(p, a)
    yield "all closed", all_closed
    yield "report onto a file", lambda: report_onto("file")
    yield "report onto a full disk", lambda: report_onto("full")
