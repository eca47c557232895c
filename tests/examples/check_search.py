#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the search example against the same search in plain loops and doubles.

Usage: check_search.py PROGRAM FOLDER QUERY
"""
import collections
import math
import os
import subprocess
import sys


def sections(folder):
    paths = [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files]
    for path in sorted((p for p in paths if p.endswith(".md")), key=lambda p: p.split(os.sep)):
        name, found = os.path.relpath(path, folder), [("", "")]
        text = open(path, "rb").read().decode("latin-1")
        for line in (text[:-1] if text.endswith("\n") else text).split("\n"):
            if line.startswith("#"):
                found.append((line.lstrip("# "), ""))
            found[-1] = (found[-1][0], found[-1][1] + line + "\n")
        yield from ((name, title, body) for title, body in found if len(body) >= 3)


def trigrams(text):
    lower = [ord(c) + 32 if "A" <= c <= "Z" else ord(c) for c in text]
    counts = collections.Counter()
    for triple in zip(lower, lower[1:], lower[2:]):
        code = 2166136261
        for byte in triple:
            code = (code ^ byte) * 16777619 & 0xFFFFFFFF
        counts[code % 4096] += 1
    return counts


def main(program, folder, query):
    found = list(sections(folder))
    counts = [trigrams(text) for _, _, text in found]
    holders = collections.Counter(k for c in counts for k in c)

    def unit(c):
        row = {k: n * math.log((len(found) + 1) / (holders[k] + 1)) for k, n in c.items()}
        length = math.sqrt(sum(v * v for v in row.values())) or 1
        return {k: v / length for k, v in row.items()}

    asked = unit(trigrams(query))
    scores = [sum(v * asked.get(k, 0) for k, v in unit(c).items()) for c in counts]
    best = sorted(range(len(found)), key=lambda i: -scores[i])[:5]
    want = [f"{scores[i]:.4f}  {found[i][0]}  {found[i][1]}" for i in best]
    run = subprocess.run([program, folder, query], capture_output=True)
    got = run.stdout.decode("latin-1").splitlines()
    same = len(got) == len(want) and all(
        g[6:] == w[6:] and abs(float(g[:6]) - float(w[:6])) < 2e-4 for g, w in zip(got, want))
    if run.returncode or not same:
        print("expected:", *want, "got:", *got, run.stderr.decode(), sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
