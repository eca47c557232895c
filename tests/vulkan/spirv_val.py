#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kernel of the golden graphs, compiled for targets that need no device, passes spirv-val.

Usage: spirv_val.py TENON GRAPH_DIR      exits with 4 where spirv-tools are not installed
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

TARGETS = ["vulkan1.2", "spirv1.5", "vulkan1.2+coop"]  # the first one takes every graph


def main(tenon, graphs):
    if not shutil.which("spirv-as") or not shutil.which("spirv-val"):
        print("skipped: spirv-tools are not installed")
        return 4
    modules = 0
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "kernel.spv")
        for graph in sorted(glob.glob(os.path.join(graphs, "*.tn"))):
            for target in TARGETS:
                shown = subprocess.run(
                    [tenon, "show", graph, "--stage", "asm", "--backend", "vulkan", "--target",
                     target, "--json"], capture_output=True, text=True)
                if "expected a device with" in shown.stderr and target != TARGETS[0]:
                    print(f"{graph} for {target} refused: {shown.stderr.strip()}")
                    continue
                if shown.returncode:
                    print(f"{graph} for {target}: {shown.stderr}")
                    return 1
                for text in json.loads(shown.stdout)["texts"]:
                    subprocess.run(["spirv-as", "--target-env", "spv1.5", "-o", binary, "-"],
                                   input=text, text=True, check=True)
                    subprocess.run(["spirv-val", "--target-env", "vulkan1.2", binary], check=True)
                    modules += 1
    print(f"{modules} modules are valid")
    return 0 if modules else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
