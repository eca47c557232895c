# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command lines that are wrong: bad usage is exit code 2 with words on stderr, for every program and command."""
from harness import run

WRONG = {
    "tenon": [["nonsense"], ["run"], ["run", "/nowhere.tn"], ["run", "--no-such"], ["show", "--stage", "attic", "x.tn"],
              ["devices", "surplus"], ["new-backend"], ["run", ""], ["show", "/"]],
    "tenon-conformance": [["nonsense"], ["fuzz", "--cases", "many"], ["fuzz", "--seed", "1.5"], ["replay"],
                          ["replay", "/nowhere.tn"], ["compare", "/nowhere.json", "/nowhere.json"]],
    "tenon-bench": [["--no-such"]],
}


def refused(program, arguments):
    result = run(program, *arguments, timeout=60)
    assert result.returncode == 2, (result.returncode, result.stdout, result.stderr)
    assert result.stderr.strip(), "expected words on stderr"


def attacks():
    for program, lines in WRONG.items():
        for arguments in lines:
            yield f"{program} {' '.join(arguments)}", lambda p=program, a=arguments: refused(p, a)
