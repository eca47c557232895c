#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What share of the mutants of the CPU plugin does the conformance tool find?

Runs `tenon-conformance fuzz` on each mutant until it fails or the time is up, and prints a table.
Mutants in equivalent.txt change nothing that can be observed (each with its reason) and do not
count. Exit code 0 if enough of the others were found, 1 if not.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def equivalents(path):
    out = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.strip().partition(":")
                out[name.strip()] = reason.strip()
    return out


def run_one(args, mutant):
    command = [args.tool, "fuzz", "--plugin", args.plugin, "--seed", str(args.seed), "--time", str(args.time),
               "--stop-after", "1", "--no-shrink", "--json"]
    begin = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True,
                            env=dict(os.environ, TENON_MUTANT=str(mutant["number"])))
    seconds = time.monotonic() - begin
    row = dict(mutant, seconds=round(seconds, 2), found=result.returncode in (1, 3, 4, 5), exit=result.returncode)
    try:
        report = json.loads(result.stdout)
        if report["failures"]:
            failure = report["failures"][0]
            row["how"] = " ".join(failure[key] for key in ("status", "kind", "op", "dtype") if key in failure)
    except (json.JSONDecodeError, KeyError, TypeError):
        row["how"] = (result.stderr.strip() or result.stdout.strip())[:120]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder")
    parser.add_argument("--time", type=float, default=300, help="seconds for each mutant (300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at the same time")
    parser.add_argument("--only", help="numbers, as 3,17,200-210")
    parser.add_argument("--every", type=int, default=1, help="only one mutant of so many")
    parser.add_argument("--share", type=float, default=0.95, help="share that must be found (0.95)")
    parser.add_argument("--json", help="file for the rows")
    args = parser.parse_args()
    args.tool = os.path.join(args.build, "bin/tenon-conformance")
    args.plugin = os.path.join(args.build, "test-plugins/mutants/libtenon_cpu.so")
    with open(os.path.join(args.build, "tests/mutants/sources/mutants.json"), encoding="utf-8") as file:
        mutants = json.load(file)
    if args.only:
        wanted = set()
        for part in args.only.split(","):
            first, _, last = part.partition("-")
            wanted.update(range(int(first), int(last or first) + 1))
        mutants = [m for m in mutants if m["number"] in wanted]
    same = equivalents(os.path.join(HERE, "equivalent.txt"))
    names = {m["name"] for m in mutants}
    if not args.only and set(same) - names:
        sys.exit(f"equivalent.txt names mutants that are not there: {sorted(set(same) - names)}")
    mutants = mutants[::args.every]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        waiting = [pool.submit(run_one, args, m) for m in mutants if m["name"] not in same]
        for done in concurrent.futures.as_completed(waiting):
            row = done.result()
            rows.append(row)
            print(f"{row['number']:4} {'found' if row['found'] else 'MISSED':6} {row['seconds']:7.1f} s  {row['name']}"
                  f" (line {row['line']})  {row.get('how', '')}", flush=True)
    found = sum(row["found"] for row in rows)
    print(f"{found} of {len(rows)} found ({100 * found / max(len(rows), 1):.1f}%), "
          f"{len(mutants) - len(rows)} more are equivalent")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"found": found, "mutants": len(rows), "equivalent": len(mutants) - len(rows),
                       "seconds_each": args.time, "rows": sorted(rows, key=lambda r: r["number"])}, file, indent=1)
    return 0 if found >= args.share * len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
