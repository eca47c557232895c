# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Children made by fork: what is the parent's is refused at once, a Context of their own computes, and both end."""
import os

from harness import BUILD, run

PROGRAM = os.path.join(BUILD, "test-programs", "forks")
BACKENDS = ("cpu", "vulkan", "wgsl")
# Mesa's handler of exit() joins threads of the parent, which a child does not have: it has to leave by _exit.
JOINS = ("vulkan", "wgsl")
REFUSED = "error [fork] expected a Context made in this process, got one"
PATTERNS = {  # pattern -> all that it writes, runs
    "parents-context": (["parent 8388608", f"standard {REFUSED}", f"realised {REFUSED}", f"lazy {REFUSED}",
                         f"device {REFUSED}", "parent again 4096"], 4),
    "new-context": (["parent 8388608", "child 8388608", f"grandchild in child's {REFUSED}", "grandchild 8388608",
                     "child again 384", "parent again 256"], 4),
    "unused": (["standard 8388608"], 2),
    "destructors": ([f"global {REFUSED}"], 4),
    "busy": (["child 524288"] * 4, 3),
}


def fork(backend, pattern):
    how = ["at-once"] if backend in JOINS else []
    result = run(PROGRAM, pattern, *how, TENON_DEVICES=backend)
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    assert result.stdout.splitlines() == PATTERNS[pattern][0], (result.stdout, result.stderr)


def attacks():
    for backend in BACKENDS:
        if not os.path.exists(os.path.join(BUILD, "lib", "tenon", f"libtenon_{backend}.so")):
            continue
        for pattern, (_, runs) in PATTERNS.items():
            for i in range(runs):
                yield f"{pattern} on {backend}, {i}", lambda b=backend, p=pattern: fork(b, p)
