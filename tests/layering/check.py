#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may include whom, and how long a file may be. Fails naming file, line and rule.

Usage: check.py SOURCE_DIR          checks the tree
       check.py --self-test         checks that the checker finds planted violations
"""
import os
import re
import sys
import tempfile

# module -> what it may include beside its own headers; docs/architecture.md has the same table for people,
# core/CMakeLists.txt links by it.
MODULES = {
    "sdk/include": [],
    "sdk/support": ["sdk/include"],
    "sdk/program": ["sdk/include", "sdk/support"],
    "sdk/backend": ["sdk/include", "sdk/support", "sdk/program"],
    "sdk/render": ["sdk/include", "sdk/support", "sdk/program", "sdk/backend"],
    "sdk/stream": ["sdk/include", "sdk/support", "sdk/program", "sdk/backend", "sdk/render"],
    "sdk/shader": ["sdk/include", "sdk/support", "sdk/program", "sdk/backend", "sdk/render", "sdk/stream"],
    "sdk/spirv": ["sdk/include", "sdk/support", "sdk/program", "sdk/backend", "sdk/render", "sdk/shader"],
    "plugins": ["sdk"],
    "core/support": [],
    "core/expr": ["core/support"],
    "core/ir": ["core/support", "core/expr", "sdk/include/tenon/ops.def", "sdk/include/tenon/dtypes.def"],
    "core/rewrite": ["core/support", "core/expr", "core/ir"],
    "core/reference": ["core/support", "core/expr", "core/ir"],
    "core/interval": ["core/support", "core/expr", "core/ir", "core/reference"],
    "core/schedule": ["core/support", "core/expr", "core/ir"],
    "core/kernel": ["core/support", "core/expr", "core/ir"],
    "core/lower": ["core/support", "core/expr", "core/ir", "core/kernel", "sdk/include", "sdk/program"],
    "core/plugin": ["core/support", "core/ir", "sdk/include"],
    "core/device": ["core/support", "core/ir", "core/plugin", "sdk/include"],
    "core/runtime": ["core", "sdk/include", "sdk/program"],
    "frontend/tensor": ["core/support", "core/expr", "core/ir", "core/reference", "core/runtime", "core/device",
                        "core/schedule"],
    "frontend/cli": ["core", "sdk", "frontend/tensor"],
    "frontend/probe": ["core/support", "core/ir", "core/plugin", "core/device", "core/runtime", "sdk/include"],
    "conformance": ["core", "sdk", "conformance", "frontend/cli"],
    "conformance/cases": ["core", "sdk"],
    "conformance/judge": ["core", "sdk", "conformance/cases"],
    "conformance/abi": ["core", "sdk", "conformance/cases"],
    "conformance/shrink": ["core", "sdk", "conformance/cases"],
    "conformance/report": ["core", "sdk", "conformance/cases"],
    "conformance/worker": ["core", "sdk", "conformance/cases", "conformance/judge", "conformance/abi"],
    "conformance/campaign": ["core", "sdk", "conformance/cases", "conformance/shrink", "conformance/report",
                             "conformance/worker"],
    "conformance/selftest": ["core", "sdk", "conformance/cases", "conformance/report", "conformance/campaign",
                             "conformance/worker"],
    "conformance/selftest/plugin": ["sdk"],
    "examples": ["frontend/tensor/include", "sdk/include", "core"],
    "examples/90_null_backend": ["sdk"],
}
# headers that a module may not include although their folder is open to it -> why
CLOSED = {
    ("conformance", "sdk/program/scalar.hpp"): "who judges may not share an interpreter's arithmetic",
}
PLUGIN_MODULES = {"conformance/selftest/plugin"}
# system headers that only some modules may use
RESERVED = {
    r"boost/dll": ["core/plugin"],
    r"llvm/": ["plugins/cpu"],
    r"tbb/|oneapi/tbb": ["plugins/cpu"],
    r"sqlite3\.h": ["core/support"],
    r"cuda|nvrtc|hip/|vulkan/|webgpu": ["plugins"],
    r"shaderc/": ["sdk/spirv"],
}
# one plugin never sees another, and the C headers only these
C_STANDARD = {"stddef.h", "stdint.h"}
MAX_LINES = 500
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCE = (".h", ".hpp", ".c", ".cpp", ".def")


def module_of(path):
    return max((r for r in MODULES if path == r or path.startswith(r + "/")), key=len, default=None)


def plugin_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "plugins" and len(parts) > 2 else None


def resolve(root, including, name):
    """The repository path of an include, or None for a system header."""
    here = os.path.normpath(os.path.join(os.path.dirname(including), name))
    for candidate in (name, here, "sdk/include/" + name, "frontend/tensor/include/" + name):
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def check_include(root, path, name):
    module = module_of(path)
    target = resolve(root, path, name)
    if target is None:
        for pattern, modules in RESERVED.items():
            if re.match(pattern, name) and not any(path.startswith(r + "/") for r in modules):
                return f"<{name}> is for {', '.join(modules)} alone"
        if module == "sdk/include" and name not in C_STANDARD:
            return f"sdk/include may include stddef.h and stdint.h, not <{name}>"
        return None
    if plugin_of(path) and plugin_of(target) and plugin_of(path) != plugin_of(target):
        return f"plugin {plugin_of(path)} may not include plugin {plugin_of(target)}"
    for (top, header), why in CLOSED.items():
        if module.startswith(top) and module not in PLUGIN_MODULES and target == header:
            return f"{module} may not include {header}: {why}"
    allowed = MODULES[module] + [module]
    if not any(target == a or target.startswith(a + "/") for a in allowed):
        return f"{module} may not include {target}"
    return None


def files_of(root, tops=("sdk", "core", "frontend", "plugins", "conformance", "examples", "tests")):
    for top in tops:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                yield os.path.relpath(os.path.join(folder, name), root)


def check(root):
    problems, count = [], 0
    for path in files_of(root):
        is_source = path.endswith(SOURCE)
        if not (is_source or path.endswith((".py", ".cmake", "CMakeLists.txt"))):
            continue
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
        if is_source:
            count += 1
        if len(lines) > MAX_LINES:
            problems.append(f"{path}: expected at most {MAX_LINES} lines, got {len(lines)}")
        if not is_source or module_of(path) is None:
            continue
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            problem = match and check_include(root, path, match.group(2))
            if problem:
                problems.append(f"{path}:{number}: {problem}")
    return problems, count


def self_test():
    planted = {
        "core/ir/a.hpp": '#include "core/runtime/b.hpp"\n',
        "core/runtime/b.hpp": "#include <llvm/IR/Module.h>\n",
        "plugins/cpu/c.cpp": '#include "core/ir/a.hpp"\n',
        "plugins/gpu/d.hpp": '#include "plugins/cpu/e.hpp"\n',
        "plugins/cpu/e.hpp": "\n",
        "sdk/include/tenon/f.h": "#include <string.h>\n",
        "sdk/program/scalar.hpp": "\n",
        "conformance/abi/g.cpp": '#include "sdk/program/scalar.hpp"\n',
        "conformance/selftest/plugin/h.cpp": '#include "sdk/program/scalar.hpp"\n',
        "frontend/tensor/long.cpp": "\n" * (MAX_LINES + 1),
    }
    with tempfile.TemporaryDirectory() as root:
        for path, text in planted.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        found = {p.split(":")[0] for p in check(root)[0]}
    harmless = {"plugins/cpu/e.hpp", "sdk/program/scalar.hpp", "conformance/selftest/plugin/h.cpp"}
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
    problems, count = check(sys.argv[1])
    print("\n".join(problems))
    print(f"{count} sources, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
