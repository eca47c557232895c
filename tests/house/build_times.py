# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a build and its tests took: seconds of each module's steps (ninja's log: as many run at once as ninja has jobs) and of
each test (CTest's log of the last run), as tables of docs/measured/build.md. Usage: build_times.py [BUILD]"""
import collections
import os
import re
import sys


def steps(log):
    """(output, seconds) of each step, the last time it ran; a step with several outputs counts once."""
    last = {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                begin, end, _, output, command = line.rstrip("\n").split("\t")
                last[output] = (int(begin), int(end), command)
    once = {}
    for output, step in sorted(last.items()):
        once.setdefault(step, output)
    return [(output, (step[1] - step[0]) / 1000) for step, output in once.items()]


def module_of(output):
    if output.endswith(".gch"):
        return "precompiled headers"
    target = re.search(r"(.*?)/?CMakeFiles/(\w[\w-]*)\.dir/", output)
    if not target or not output.endswith(".o"):
        return "links, copies and generated files"
    folder, name = target.groups()
    if folder.startswith("examples"):
        return "examples"
    if folder.startswith("tests"):
        return f"tests: {name.removeprefix('test_').removesuffix('_helpers')}"
    if folder == "core":
        return f"core/{name.removeprefix('tenon_')}"
    return folder if folder != "frontend" else "frontend/tensor"


def table(head, rows, least):
    """Rows of (name, seconds, count) as Markdown; those of less than `least` seconds in one."""
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    rows = sorted(rows, key=lambda row: -row[1])
    small = [row for row in rows if row[1] < least]
    for name, *numbers in [row for row in rows if row[1] >= least]:
        print(f"| {name} | {' | '.join(f'{n:.1f}' if isinstance(n, float) else str(n) for n in numbers)} |")
    if small:
        print(f"| {len(small)} others | {sum(row[1] for row in small):.1f} |" + " |" * (len(head) - 2))
    print(f"| **all** | **{sum(row[1] for row in rows):.0f}** |" + " |" * (len(head) - 2))


def tests(log):
    with open(log, encoding="utf-8", errors="replace") as file:
        return [(name, float(seconds)) for name, seconds in re.findall(
            r'^"([^"]+)" start time:.*?^Test time = +([0-9.]+) sec$', file.read(), re.M | re.S)]


def main(build="build"):
    if not os.path.exists(os.path.join(build, ".ninja_log")):
        print(f"build_times: expected a folder that Ninja built in, got {build!r}", file=sys.stderr)
        sys.exit(2)
    modules = collections.defaultdict(lambda: [0.0, 0])
    for output, seconds in steps(os.path.join(build, ".ninja_log")):
        module = modules[module_of(output)]
        module[0] += seconds
        module[1] += 1
    table(("module", "seconds", "steps"), [(name, *module) for name, module in modules.items()], 3)
    log = os.path.join(build, "Testing", "Temporary", "LastTest.log")
    if os.path.exists(log):
        table(("test", "seconds"), tests(log), 5)


if __name__ == "__main__":
    main(*sys.argv[1:])
