#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attacks on the built programs: hostile plugins, files, processes and numbers.

Each attack_*.py in this folder is one subject. It has `attacks()`, which yields pairs (name, function). A function
that returns has been survived; one that raises AssertionError shows a crash, a hang, a lost output or a silent wrong.

Usage: torture.py [--sample N] [--only TEXT] [--jobs N] [--list]
  --sample N  every Nth attack of each subject, its first always (what ./dev test runs)
  --only TEXT attacks whose "subject/name" contains TEXT
"""
import argparse
import concurrent.futures
import importlib
import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "programs")]


def collect(sample, only):
    found = []
    for file in sorted(os.listdir(HERE)):
        if not (file.startswith("attack_") and file.endswith(".py")):
            continue
        subject = file[len("attack_"):-len(".py")]
        named = [(f"{subject}/{name}", function) for name, function in importlib.import_module(file[:-3]).attacks()]
        found += [(name, function) for name, function in named[::sample] if only in name]
    return found


def attempt(attack):
    name, function = attack
    begin = time.monotonic()
    try:
        function()
        return name, None, time.monotonic() - begin
    except Exception:  # whatever went wrong is what we came for
        return name, traceback.format_exc(), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    found = collect(max(1, options.sample), options.only)
    if options.list:
        print("\n".join(name for name, _ in found))
        return 0
    if not found:
        print(f"torture: no attack's name contains '{options.only}'", file=sys.stderr)
        return 2
    counts = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, trouble, seconds in pool.map(attempt, found):
            tally = counts.setdefault(name.split("/")[0], [0, 0, 0.0])
            tally[trouble is not None] += 1
            tally[2] += seconds
            if trouble:
                print(f"FAILED {name} ({seconds:.1f} s)\n{trouble}", flush=True)
    for subject, (good, bad, seconds) in counts.items():
        print(f"{subject:12} {good:5} survived {bad:5} failed {seconds:8.1f} s")
    good, bad = (sum(c[i] for c in counts.values()) for i in (0, 1))
    print(f"{good} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
