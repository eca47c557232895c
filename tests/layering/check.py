#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may include whom, and how long a file may be. Fails naming file, line and rule.

Usage: check.py SOURCE_DIR          checks the tree
       check.py --self-test         checks that the checker finds planted violations
"""
import os
import re
import statistics
import sys
import tempfile

SDK = ["sdk/include"]
IR = ["core/support", "core/ir", "sdk/include/tenon/ops.def"]
# room -> the folders whose headers it may include (and its own)
ROOMS = {
    "sdk/include": [],
    "sdk/helpers": SDK,
    "sdk/render": SDK + ["sdk/helpers"],
    "sdk/stream": SDK + ["sdk/helpers", "sdk/render"],
    "sdk/shader": SDK + ["sdk/helpers", "sdk/render", "sdk/stream"],
    "sdk/spirv": SDK + ["sdk/helpers", "sdk/render", "sdk/shader"],
    "plugins": ["sdk"],
    "core/support": [],
    "core/ir": IR,
    "core/rewrite": IR,
    "core/reference": IR,
    "core/schedule": IR,
    "core/kernel": IR,
    "core/lower": IR + ["core/kernel", "core/schedule", "sdk"],
    "core/runtime": IR + ["core/rewrite", "core/reference", "core/schedule", "core/lower", "sdk"],
    "core/tensor": IR + ["core/reference", "core/runtime", "core/schedule", "sdk"],
    "core/cli": ["core", "sdk"],
    "core/include": ["core", "sdk"],
    "conformance": ["core", "sdk", "conformance"],
    "conformance/cases": ["core", "sdk"],
    "conformance/judge": ["core", "sdk", "conformance/cases"],
    "conformance/api": ["core", "sdk", "conformance/cases"],
    "conformance/shrink": ["core", "sdk", "conformance/cases"],
    "conformance/report": ["core", "sdk", "conformance/cases"],
    "conformance/worker": ["core", "sdk", "conformance/cases", "conformance/judge", "conformance/api"],
    "conformance/campaign": ["core", "sdk", "conformance/cases", "conformance/shrink", "conformance/report",
                             "conformance/worker"],
    "conformance/selftest": ["core", "sdk", "conformance/cases", "conformance/report", "conformance/campaign",
                             "conformance/worker"],
    "conformance/selftest/plugin": ["sdk"],
    "examples": ["core/include", "sdk/include", "core"],
    "examples/90_null_backend": ["sdk"],
}
# headers that a room may not include although their folder is open to it -> why
CLOSED = {
    ("conformance", "sdk/helpers/scalar.hpp"): "who judges may not share an interpreter's arithmetic",
}
PLUGIN_ROOMS = {"conformance/selftest/plugin"}
# system headers that only some rooms may use
RESERVED = {
    r"boost/dll": ["core/runtime"],
    r"llvm/": ["plugins/cpu"],
    r"tbb/|oneapi/tbb": ["plugins/cpu"],
    r"sqlite3\.h": ["core/runtime"],
    r"cuda|nvrtc|hip/|vulkan/|webgpu": ["plugins"],
    r"shaderc/": ["sdk/spirv"],
}
# one plugin never sees another, and the C headers only these
C_STANDARD = {"stddef.h", "stdint.h"}
MAX_LINES = 500
MEDIAN_LINES = 150
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCE = (".h", ".hpp", ".c", ".cpp", ".def")


def room_of(path):
    return max((r for r in ROOMS if path == r or path.startswith(r + "/")), key=len, default=None)


def plugin_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "plugins" and len(parts) > 2 else None


def resolve(root, including, name):
    """The repository path of an include, or None for a system header."""
    here = os.path.normpath(os.path.join(os.path.dirname(including), name))
    for candidate in (name, here, "sdk/include/" + name, "core/include/" + name):
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def check_include(root, path, name):
    room = room_of(path)
    target = resolve(root, path, name)
    if target is None:
        for pattern, rooms in RESERVED.items():
            if re.match(pattern, name) and not any(path.startswith(r + "/") for r in rooms):
                return f"<{name}> is for {', '.join(rooms)} alone"
        if room == "sdk/include" and name not in C_STANDARD:
            return f"sdk/include may include stddef.h and stdint.h, not <{name}>"
        return None
    if plugin_of(path) and plugin_of(target) and plugin_of(path) != plugin_of(target):
        return f"plugin {plugin_of(path)} may not include plugin {plugin_of(target)}"
    for (top, header), why in CLOSED.items():
        if room.startswith(top) and room not in PLUGIN_ROOMS and target == header:
            return f"{room} may not include {header}: {why}"
    allowed = ROOMS[room] + [room]
    if not any(target == a or target.startswith(a + "/") for a in allowed):
        return f"{room} may not include {target}"
    return None


def files_of(root, tops=("sdk", "core", "plugins", "conformance", "examples", "tests")):
    for top in tops:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                yield os.path.relpath(os.path.join(folder, name), root)


def check(root):
    problems, sizes = [], []
    for path in files_of(root):
        is_source = path.endswith(SOURCE)
        if not (is_source or path.endswith((".py", ".cmake", "CMakeLists.txt"))):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
        if is_source:
            sizes.append(len(lines))
        if len(lines) > MAX_LINES:
            problems.append(f"{path}: expected at most {MAX_LINES} lines, got {len(lines)}")
        if not is_source or room_of(path) is None:
            continue
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            problem = match and check_include(root, path, match.group(2))
            if problem:
                problems.append(f"{path}:{number}: {problem}")
    median = statistics.median(sizes) if sizes else 0
    if median > MEDIAN_LINES:
        problems.append(f"expected a median of at most {MEDIAN_LINES} lines a file, got {median}")
    return problems, len(sizes), median


def self_test():
    planted = {
        "core/ir/a.hpp": '#include "core/runtime/b.hpp"\n',
        "core/runtime/b.hpp": "#include <llvm/IR/Module.h>\n",
        "plugins/cpu/c.cpp": '#include "core/ir/a.hpp"\n',
        "plugins/gpu/d.hpp": '#include "plugins/cpu/e.hpp"\n',
        "plugins/cpu/e.hpp": "\n",
        "sdk/include/tenon/f.h": "#include <string.h>\n",
        "sdk/helpers/scalar.hpp": "\n",
        "conformance/api/g.cpp": '#include "sdk/helpers/scalar.hpp"\n',
        "conformance/selftest/plugin/h.cpp": '#include "sdk/helpers/scalar.hpp"\n',
        "core/tensor/long.cpp": "\n" * (MAX_LINES + 1),
    }
    with tempfile.TemporaryDirectory() as root:
        for path, text in planted.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        found = {p.split(":")[0] for p in check(root)[0]}
    harmless = {"plugins/cpu/e.hpp", "sdk/helpers/scalar.hpp", "conformance/selftest/plugin/h.cpp"}
    missed = (set(planted) - harmless - found) | (harmless & found)
    if missed:
        sys.exit(f"planted violations not found: {sorted(missed)}")
    print(f"{len(found)} planted violations found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2 or not os.path.isdir(os.path.join(sys.argv[1], "sdk")):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    problems, count, median = check(sys.argv[1])
    print("\n".join(problems))
    print(f"{count} sources, median {median:.0f} lines, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
