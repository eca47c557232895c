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
    "sdk/walk": ["sdk/include", "sdk/support", "sdk/program"],
    "sdk/render": ["sdk/include", "sdk/support", "sdk/program", "sdk/backend"],
    "sdk/stream": ["sdk/include", "sdk/support", "sdk/program", "sdk/backend", "sdk/render"],
    "sdk/shader": ["sdk/include", "sdk/support", "sdk/program", "sdk/backend", "sdk/render", "sdk/stream"],
    "sdk/spirv": ["sdk/include", "sdk/support", "sdk/program", "sdk/backend", "sdk/render", "sdk/shader"],
    "plugins": ["sdk"],
    "core/include": ["sdk/include/tenon/dtypes.def"],
    "core/support": ["core/include"],
    "core/expr": ["core/include", "core/support"],
    "core/ir": ["core/include", "core/support", "core/expr", "sdk/include/tenon/ops.def", "sdk/include/tenon/op_words.def", "sdk/include/tenon/dtypes.def", "sdk/support/scanner.hpp"],
    "core/autodiff": ["core/include", "core/support", "core/expr", "core/ir", "sdk/include/tenon/ops.def"],
    "core/rewrite": ["core/include", "core/support", "core/expr", "core/ir"],
    "core/reference": ["core/include", "core/support", "core/expr", "core/ir"],
    "core/interval": ["core/include", "core/support", "core/expr", "core/ir", "core/reference"],
    "core/schedule": ["core/include", "core/support", "core/expr", "core/ir"],
    "core/kernel": ["core/include", "core/support", "core/expr", "core/ir", "sdk/support/scanner.hpp"],
    "core/lower": ["core/include", "core/support", "core/expr", "core/ir", "core/kernel", "sdk/include", "sdk/program"],
    "core/compile": ["core/include", "core/support", "core/expr", "core/ir", "core/rewrite", "core/schedule", "core/kernel",
                     "core/lower", "sdk/include", "sdk/program"],
    "core/budget": ["core/include", "core/support", "core/expr", "core/ir", "sdk/include", "sdk/program"],
    "core/plugin": ["core/include", "core/support", "core/ir", "sdk/include", "sdk/support/scanner.hpp"],
    "core/device": ["core/include", "core/support", "core/ir", "core/plugin", "sdk/include"],
    "core/runtime": ["core", "sdk/include", "sdk/program"],
    "frontend/tensor/include": ["core/include"],
    "frontend/tensor": ["core/include", "core/support", "core/expr", "core/ir", "core/autodiff", "core/reference", "core/runtime", "core/device",
                        "core/schedule"],
    "frontend/nn/include": ["core/include", "frontend/tensor/include", "frontend/formats/include"],
    "frontend/nn": ["core/include", "core/support/as_op.hpp", "core/support/error.hpp", "frontend/tensor/include", "frontend/formats/include"],
    "frontend/formats/include": ["core/include", "frontend/tensor/include"],
    "frontend/formats": ["core/include", "core/support/error.hpp", "frontend/tensor/include"],
    "frontend/data/include": ["core/include", "frontend/tensor/include"],
    "frontend/data": ["core/include", "core/support/error.hpp", "frontend/tensor/include", "frontend/formats/include"],
    "frontend/train/include": ["core/include", "frontend/tensor/include", "frontend/formats/include", "frontend/nn/include",
                               "frontend/data/include"],
    "frontend/train": ["core/include", "core/support/error.hpp", "frontend/tensor/include", "frontend/formats/include",
                       "frontend/nn/include", "frontend/data/include"],
    "frontend/c/include": [],
    "frontend/c": ["core/include", "frontend/tensor/include", "sdk/support/float_state.hpp"],
    "frontend/python": ["core/include", "frontend/tensor/include", "frontend/nn/include", "frontend/formats/include",
                        "frontend/tensor/dlpack_abi.hpp"],
    "frontend/cli": ["core", "sdk", "frontend/tensor", "frontend/nn/include", "frontend/formats/include", "frontend/data/include",
                     "frontend/train/include"],
    "frontend/probe": ["core/include", "core/support", "core/ir", "core/plugin", "core/device", "core/runtime", "sdk/include"],
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
    "examples": ["frontend/tensor/include", "frontend/nn/include", "frontend/formats/include", "frontend/data/include",
                 "frontend/train/include", "core/include"],
    "examples/93_c_api": ["frontend/c/include"],
    "examples/90_null_backend": ["sdk"],
    "examples/91_opencl": ["sdk"],
    "examples/92_gccjit": ["sdk"],
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
    r"sqlite3\.h": ["core/support"],
    r"cuda|nvrtc|hip/|vulkan/|webgpu": ["plugins"],
    r"shaderc/": ["sdk/spirv"],
    r"CL/": ["examples/91_opencl"],
    r"libgccjit": ["examples/92_gccjit"],
}
# one plugin never sees another, and the C headers only these
C_STANDARD = {"stddef.h", "stdint.h"}
MAX_LINES = 700
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
    public = [m for m in MODULES if m.endswith("/include")]
    for candidate in (name, here, *(f"{m}/{name}" for m in public)):
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


def words(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def check_links(root):
    """core/CMakeLists.txt links what MODULES lets in, and nothing else."""
    needs = {}
    for name, rest in re.findall(r"^tenon_module\((\w+) NEEDS ([^)]*)\)", words(root, "core/CMakeLists.txt"), re.M):
        needs["core/" + name] = {"core/" + n for n in re.findall(r"\btenon_(\w+)", rest.split("PRIVATE")[0])
                                 if n not in ("sdk", "abi", "options")}
    problems = []
    for module in (m for m in MODULES if m.startswith("core/") and m not in ("core/include",)):
        if module not in needs:
            problems.append(f"core/CMakeLists.txt: expected a library for {module}, found none")
            continue
        reached, queue = set(), [module]
        while queue:
            new = needs.get(queue.pop(), set()) - reached
            reached |= new
            queue += new
        allowed = {m for m in MODULES if any(m == a or m.startswith(a + "/") for a in MODULES[module])}
        for other in sorted(needs[module] - allowed):
            problems.append(f"core/CMakeLists.txt: {module} may not link {other}")
        linkable = {m for m in allowed if m in needs} - {module} if "core" not in MODULES[module] else set()
        for other in sorted(linkable - reached):
            problems.append(f"core/CMakeLists.txt: {module} includes {other} and does not link it")
    return problems


def check_architecture(root):
    """docs/architecture.md names the modules of this table, and paths that are there."""
    path = "docs/architecture.md"
    text = words(root, path)
    problems = []
    rows = re.findall(r"^\| `([a-z/]+)` \|", text.split("## The modules")[1].split("\n## ")[0], re.M)
    for module in sorted(set(MODULES) - set(rows)):
        if module.count("/") < 2 and not module.startswith(("conformance/", "examples/")):
            problems.append(f"{path}: expected a row for `{module}`, found none")
    for module in sorted(set(rows) - set(MODULES)):
        problems.append(f"{path}: expected a module, got `{module}`")
    for name in re.findall(r"`([\w./]+/[\w./]*)`", text):
        if not any(os.path.exists(os.path.join(root, base, name)) for base in ("", "core", "core/rewrite")):
            problems.append(f"{path}: expected a path of this repository, got `{name}`")
    places = re.findall(r"^\| an? [^|]+\|[^|]*`", text.split("## Where do I add")[1].split("\n## ")[0], re.M)
    if len(places) < 10:
        problems.append(f"{path}: expected at least ten places to add something, got {len(places)}")
    return problems


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
    links = "".join(f"tenon_module({m[5:]} NEEDS {'tenon_runtime' if m == 'core/ir' else ''})\n"
                    for m in MODULES if m.startswith("core/") and m != "core/include")
    page = "## The modules\n| `core/nothing` | x | y |\n## Where do I add\n| a | `core/no/such.cpp` |\n"
    with tempfile.TemporaryDirectory() as root:
        for path, text in (("core/CMakeLists.txt", links), ("docs/architecture.md", page)):
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        said = "\n".join(check_links(root) + check_architecture(root))
    for wanted in ("core/ir may not link core/runtime", "core/ir includes core/expr and does not link it",
                   "expected a row for `core/ir`", "expected a module, got `core/nothing`",
                   "got `core/no/such.cpp`", "expected at least ten places"):
        if wanted not in said:
            sys.exit(f"not said: {wanted}")
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
    problems += check_links(sys.argv[1]) + check_architecture(sys.argv[1])
    print("\n".join(problems))
    print(f"{count} sources, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
