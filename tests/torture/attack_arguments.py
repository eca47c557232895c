# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command lines that are wrong: bad usage is exit code 2 with words on stderr, for every program and command. A file
that is not there is the environment's fault for `tenon` (3), and bad input for `tenon-conformance` (2)."""
from harness import run

WRONG = {
    "tenon": [["nonsense"], ["run"], ["run", "--no-such"], ["show", "--stage", "attic", "x.tn"],
              ["devices", "surplus"], ["new-backend"], ["show", "/"]],
    "tenon-conformance": [["nonsense"], ["fuzz", "--cases", "many"], ["fuzz", "--seed", "1.5"], ["replay"],
                          ["replay", "/nowhere.tn"], ["compare", "/nowhere.json", "/nowhere.json"]],
    "tenon-bench": [["--no-such"]],
}
MISSING = [["run", "/nowhere.tn"], ["run", ""], ["show", "/nowhere/x.tn"]]


def refused(program, arguments, code=2):
    result = run(program, *arguments)
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    assert result.stderr.strip(), "expected words on stderr"


def attacks():
    for program, lines in WRONG.items():
        for arguments in lines:
            yield f"{program} {' '.join(arguments)}", lambda p=program, a=arguments: refused(p, a)
    for arguments in MISSING:
        yield f"tenon {' '.join(arguments)}", lambda a=arguments: refused("tenon", a, 3)
