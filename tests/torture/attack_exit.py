# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that end in twelve ways with work that nobody waited for, on each backend: none crashes, none loses its lines.
Fifty runs of each, of which ten find an empty cache."""
import os
import tempfile

from harness import BUILD, run

PROGRAM = os.path.join(BUILD, "test-programs", "exits")
BACKENDS = ("cpu", "vulkan", "wgsl")
ENDED = "error [exit] expected a running process, got one that is ending: its devices are closed"
PATTERNS = {  # pattern -> all that it writes
    "main": ["begin", "end"],
    "exit": ["begin"],
    "exit-in-thread": ["begin", "exit"],
    "static-tensors": ["begin", "end", f"early tensor {ENDED}"],
    "thread-tensors": ["begin", "end"],
    "static-destructors": ["begin", "end", "late destructor 12321", f"early tensor {ENDED}", f"early destructor {ENDED}"],
    "atexit-handlers": ["begin", "end", "late handler 10404", f"early handler {ENDED}"],
    "quick-exit": ["begin", "quick"],
    "detached-thread": ["begin", "end"],
    "other-contexts": ["begin", "end"],
    "idle-setting": ["begin", "end"],
    "array": ["begin", "sum 1024", "end"],
}
TOLD = {"idle-setting": "no kernel was called 'map_0123456789abcdef', for which something is set"}
BATCHES, RUNS = 10, 5  # a sample of every tenth attack is a batch of each pattern and backend
WARM = tempfile.TemporaryDirectory()


def end(backend, pattern):
    for i in range(RUNS):
        with tempfile.TemporaryDirectory() as cold:
            result = run(PROGRAM, pattern, TENON_DEVICES=backend,
                         TENON_CACHE_DIR=cold if i == 0 else WARM.name)
        assert result.returncode == 0, (i, result.returncode, result.stdout, result.stderr)
        assert result.stdout.splitlines() == PATTERNS[pattern], (i, result.stdout, result.stderr)
        assert result.stderr.count(TOLD.get(pattern, "")) == 1 or pattern not in TOLD, (i, result.stderr)


def attacks():
    for backend in BACKENDS:
        if not os.path.exists(os.path.join(BUILD, "lib", "tenon", f"libtenon_{backend}.so")):
            continue
        for pattern in PATTERNS:
            for batch in range(BATCHES):
                yield f"{pattern} on {backend}, {batch}", lambda b=backend, p=pattern: end(b, p)
