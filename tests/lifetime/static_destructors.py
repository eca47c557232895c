# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No object file of the core, the sdk or a plugin registers the destructor of a static object: applications compute
in destructors of their own static objects, which come later. Usage: static_destructors.py NM BUILD"""
import os
import subprocess
import sys

FOLDERS = ("core", "frontend/CMakeFiles/tenon_tensor.dir", "sdk", "plugins")
SKIPPED = ("core/CMakeFiles/tenon_support.dir/support/output.cpp.o")  # <iostream>'s own, which keeps the streams alive


def main(nm, build):
    objects = []
    for folder in FOLDERS:
        for here, _, files in os.walk(os.path.join(build, folder)):
            for name in files:
                path = os.path.join(here, name)
                if name.endswith(".o") and not os.path.relpath(path, build).startswith(SKIPPED):
                    objects.append(path)
    assert len(objects) > 100, f"expected the object files of the core below {build}, got {len(objects)}"
    symbols = subprocess.run([nm, "-A", "-u", *objects], capture_output=True, text=True, check=True).stdout
    bad = [line.split(":")[0] for line in symbols.splitlines() if line.endswith(" U __cxa_atexit")]
    for path in bad:
        print(f"{path}: expected no static object with a destructor; write `static auto& x = *new T()`")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
