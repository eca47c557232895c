# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No object file of the core, the sdk or a plugin registers the destructor of a static object: applications compute
in destructors of their own static objects, which come later. Usage: static_destructors.py NM BUILD"""
import os
import subprocess
import sys

FOLDERS = ("core", "frontend/CMakeFiles/tenon_tensor.dir", "sdk", "plugins")
SKIPPED = ("core/CMakeFiles/tenon_support.dir/support/output.cpp.o")  # <iostream>'s own, which keeps the streams alive


def main(nm, build):
    bad, seen = [], 0
    for folder in FOLDERS:
        for here, _, files in os.walk(os.path.join(build, folder)):
            for name in files:
                path = os.path.join(here, name)
                if not name.endswith(".o") or os.path.relpath(path, build).startswith(SKIPPED):
                    continue
                seen += 1
                symbols = subprocess.run([nm, "-u", path], capture_output=True, text=True, check=True).stdout.split()
                if "__cxa_atexit" in symbols:
                    bad.append(os.path.relpath(path, build))
    for path in bad:
        print(f"{path}: expected no static object with a destructor; write `static auto& x = *new T()`")
    assert seen > 100, f"expected the object files of the core below {build}, got {seen}"
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
