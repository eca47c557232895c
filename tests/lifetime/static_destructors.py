# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Static objects of the core, the sdk and the plugins. None registers a destructor: applications compute in destructors
of their own static objects, which come later. And none of the core is made while fork comes from another thread, whose
child would wait for it: it is made at load, or in a hold. Usage: static_destructors.py NM SOURCE BUILD"""
import os
import re
import subprocess
import sys

FOLDERS = ("core", "frontend/CMakeFiles/tenon_tensor.dir", "sdk", "plugins")
CALLERS = ("core", "frontend")  # the others are called in holds
SKIPPED = ("core/CMakeFiles/tenon_support.dir/support/output.cpp.o")  # <iostream>'s own, which keeps the streams alive


def is_safe(guard, text):
    """Whether the object of `guard`, as nm writes it, is a thread's own, named in a `_made_at_load` or made below a hold."""
    own = re.findall(r"thread_local \w+ (\w+);", text)
    at_load = re.findall(r"\w*made_at_load = (?:\w+::)*(\w+)\(\)", text)
    in_hold = re.findall(r"const ForkHold hold;[^\n]*\n\s*static [^=]*?(\w+)\s*=", text)
    return guard.split("::")[-1] in own + in_hold or any(f"{name}()" in guard for name in at_load)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources_of(source, build, made):
    """The sources that an object file is of: one, or those that one of CMake's unity files includes."""
    path = made.removesuffix(".o")
    if "/Unity/" in path:
        return re.findall(r'#include "([^"]+)"', read(os.path.join(build, path)))
    return [os.path.join(source, re.sub(r"CMakeFiles/\w+\.dir/", "", path))]


def main(nm, source, build):
    objects = []
    for folder in FOLDERS:
        for here, _, files in os.walk(os.path.join(build, folder)):
            for name in files:
                path = os.path.join(here, name)
                if name.endswith(".o") and not os.path.relpath(path, build).startswith(SKIPPED):
                    objects.append(path)
    assert len(objects) > 20, f"expected the object files of the core below {build}, got {len(objects)}"
    bad = guards = 0
    symbols = subprocess.run([nm, "-A", "-C", *objects], capture_output=True, text=True, check=True).stdout
    for line in symbols.splitlines():
        path = line.split(":")[0]
        here = os.path.relpath(path, build)
        if line.endswith(" U __cxa_atexit"):
            bad += 1
            print(f"{path}: expected no static object with a destructor; write `static auto& x = *new T()`")
        if "guard variable for " not in line or not here.startswith(CALLERS):
            continue
        guards += 1
        if not is_safe(line.split("guard variable for ")[1], "".join(map(read, sources_of(source, build, here)))):
            bad += 1
            print(f"{here}: {line.split('guard variable for ')[1]}: expected one that `f_made_at_load = f()` makes, or "
                  "below a `const ForkHold hold`")
    assert guards > 5, f"expected static objects of functions below {build}, got {guards}"
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
