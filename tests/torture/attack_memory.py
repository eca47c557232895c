# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling with little memory left gives a value or an error, and never ends the process."""
import os
import tempfile

from harness import BUILD, run

PROGRAM = os.path.join(BUILD, "test-programs", "little_memory")
SAID = ("value 1", "error out of memory", "bad_alloc",
        "error [submit] cpu:0: pthread_create has failed: Resource temporarily unavailable",
        "error [compile] cpu:0: kernel ")
KIBIBYTES = [*range(0, 2000, 100), *range(2000, 12000, 400), 16000, 32000, 64000, 1000000]


def compile_with(kibibytes):
    with tempfile.TemporaryDirectory() as cold:
        result = run(PROGRAM, kibibytes, TENON_DEVICES="cpu", TENON_CACHE_DIR=cold)
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    assert result.stdout.startswith(SAID), (result.stdout, result.stderr)
    assert kibibytes < 1000000 or result.stdout.strip() == "value 1", result.stdout


def attacks():
    for kibibytes in KIBIBYTES:
        yield f"compile with {kibibytes} KiB", lambda k=kibibytes: compile_with(k)
