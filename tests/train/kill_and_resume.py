#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kills a program that learns at random moments, resumes it, and compares the bits at the end.

Usage: kill_and_resume.py BUILD_FOLDER [--kills N] [--steps N] [--seed N]
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draws = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        def command(name):
            return [os.path.join(options.build, "bin", "train_learner"), os.path.join(folder, name),
                    str(options.steps)]
        begin = time.monotonic()
        whole = subprocess.run(command("whole"), capture_output=True, text=True, check=True).stdout.partition(" ")[2]
        seconds = time.monotonic() - begin
        kills = 0
        while kills < options.kills:
            with subprocess.Popen(command("killed"), stdout=subprocess.PIPE, text=True) as process:
                try:
                    process.communicate(timeout=draws.uniform(0.05, 1 + 1.5 * seconds / options.kills))
                    print(f"it came to its end after {kills} kills: more --steps are needed")
                    sys.exit(2)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
            kills += 1
            path = os.path.join(folder, "killed")
            kept = sorted(os.listdir(path)) if os.path.isdir(path) else []
            print(f"kill {kills}: {', '.join(kept) or 'nothing yet'}", flush=True)
        last = subprocess.run(command("killed"), capture_output=True, text=True, check=True).stdout
        first, _, bits = last.partition(" ")
        print(f"{kills} kills; the last run began at step {first} of {options.steps}; "
              f"{'bit-identical' if bits == whole else 'OTHER BITS'} to one that was not stopped")
        sys.exit(bits != whole)


if __name__ == "__main__":
    main()
