#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants bugs in the printed CUDA text, one at a time, and counts those that the emulator finds.

Each is a line of the text that is edited before it is compiled (tests/emulated/edit.hpp). A bug is
found if the run fails: by a wrong result, threads that race or do not meet, a bad address, a crash.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
EACH = 0
BARRIER = r"__syncthreads\(\);"
STEP = r"for \(int (v\d+) = 0; \1 < 2; \1 \+= 1\) \{"
COPY_A = r"(p_b0_tile \+ v\d+), (p_in0 \+ v\d+)\)"

# name, case, a regular expression for a line, its replacement, which of the lines that fit
PLANTED = [
    ("a wait for copies is missing", "gemm", r"tn_async_wait<0>\(\);", ";", 1),
    ("a wait leaves one group too many", "gemm", r"tn_async_wait<0>", "tn_async_wait<1>", 1),
    ("the first commit is missing", "gemm", r"tn_async_commit\(\);", ";", 1),
    ("the barrier after copies is missing", "gemm", BARRIER, ";", 2),
    ("a barrier is met by one thread", "gemm", BARRIER, "if (tn_thread == 0) __syncthreads();", 2),
    ("the barrier before a tile is read is missing", "across", BARRIER, ";", 2),
    ("the barrier of a turned tile is missing", "count", BARRIER, ";", 1),
    ("a subgroup does not wait for its sums", "gemm", r"__syncwarp\(\);", ";", 2),
    ("a subgroup overwrites sums that it still reads", "gemm", r"__syncwarp\(\);", ";", 3),
    ("lanes of A are swapped", "gemm", r"(tn_ldmatrix_x4\(.*)\(t & 15\)", "$1((t & 15) ^ 1)", EACH),
    ("halves of A are swapped", "gemm", r"\(t >> 4\) \* 8", "(1 - (t >> 4)) * 8", 1),
    ("lanes of B are swapped", "gemm", r"(ldmatrix_x2_trans\(.*)\(t & 15\)", "$1((t & 15) ^ 1)", 1),
    ("lanes of C are swapped", "gemm", r"\(t >> 2\)", "((t >> 2) ^ 1)", 1),
    ("a shuffle asks the wrong lane", "softmax", r"\^ 16;", "^ 8;", 1),
    ("rows of A are too near", "gemm", r"\(t & 15\) \* 40", "(t & 15) * 32", 1),
    ("B is not transposed", "gemm", r"_x2_trans\(", "_x2(", 1),
    ("rows are copied without their pad", "gemm", r"(= v\d+) \* 40;", "$1 * 32;", 1),
    ("a sum does not begin with zero", "gemm", r"v\d+\[l\] = 0x0p\+0f;", ";", 1),
    ("a step of the sum is skipped", "gemm", STEP, "for (int $1 = 1; $1 < 2; $1 += 1) {", 2),
    ("a copy is off by a row", "gemm", COPY_A, "$1, $2 + 64)", 1),
    ("a mask is dropped at an edge", "softmax", r"if \(v\d+\) \{ (p_out0\[.*;) \}", "$1", 3),
    ("a store is half as wide", "gemm", r"tn_move_16\(p_out0", "tn_move_8(p_out0", 1),
    ("a copy is half as wide", "gemm", r"tn_copy_async_16\(p_b1", "tn_copy_async_8(p_b1", 1),
    ("a copy fills the tile that is read", "gemm", r"= (v\d+) \* 2304;", "= ($1 - 1) * 2304;", 1),
    ("a copy fetches the last block again", "gemm", r"= (v\d+) \* 32;", "= ($1 - 1) * 32;", 2),
    ("two tiles have one address", "gemm", r"alignas.* (p_b1_tile)\[.*;",
     "unsigned short* const $1 = p_b0_tile;", 1),
    ("an atomic add is a plain one", "count", r"return atomicAdd\(p, v\);",
     "const int old = *p; *p = old + v; return old;", 1),
    ("tiles are not shown to the matrix units", "groups", r"tn_tiles_written\(\);", ";", EACH),
    ("products are not waited for", "groups", r"tn_products_wait\(\);", ";", EACH),
    ("pieces of a line are not exchanged", "groups", r"= (v\d+) \^ v\d+;", "= $1;", 1),
    ("an operand of products is turned", "groups", r"_n64<1, 0>", "_n64<0, 0>", 1),
    ("a tile begins a piece later", "groups", r"(tn_tile_at\(p_b1_tile \+ v\d+)", "$1 + 8", 1),
    ("a group of subgroups meets another", "groups", r"\(1 \+ tn_subgroup\)", "(2 + tn_subgroup)", 1),
]
DEVICES = {"groups": "sm_90a"}  # of cases that are not for the first


def run(args, case, edit, folder):
    """The status and the words of a run; then whether the text was edited, and compiled."""
    device = "emulated_" + DEVICES.get(case, "cuda")
    plugin = args.plugin.replace("emulated_cuda", device)
    env = dict(os.environ, TENON_PLUGINS=plugin, TENON_KEEP_SOURCES="1", TMPDIR=str(folder))
    env.pop("TENON_EMULATED_EDIT", None)
    if edit:
        env["TENON_EMULATED_EDIT"] = "\n".join(str(part) for part in edit)
    source = str(HERE / f"{case}.tn")
    command = [args.tenon, "run", "--random", "3", "--check", "--devices", device, source]
    if case == "count":
        command = [args.conformance, "replay", "--plugin", plugin, source]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=600)
    is_edited = any("// edited" in file.read_text() for file in folder.glob("*/k.cpp"))
    is_compiled = all((file.parent / "k.so").exists() for file in folder.glob("*/k.cpp"))
    return done.returncode, done.stdout, is_edited, is_compiled


def judge(args, name, case, edit):
    with tempfile.TemporaryDirectory() as folder:
        status, words, is_edited, is_compiled = run(args, case, edit, pathlib.Path(folder))
    if not is_compiled:
        return "DOES NOT COMPILE", words
    if is_edited != bool(edit):
        return "FITS NOWHERE", words
    if not edit:
        return ("passes" if status == 0 else "FAILS"), words
    return ("found" if status else "NOT FOUND"), words


def why(words):
    said = [line for line in words.splitlines() if re.search(r"emulated_\w+:0: ", line) and "ran in" not in line
            or "touch the same" in line or "check against" in line or line.startswith("FAIL")]
    return re.split(r"emulated_\w+:0: ", said[-1])[-1][:110] if said else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--conformance", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--only", default="", help="a part of the names of bugs to plant")
    args = parser.parse_args()
    planted = [row for row in PLANTED if args.only in row[0]]
    jobs = [(f"{case} as it is", case, None) for case in sorted({row[1] for row in planted})]
    jobs += [(name, case, edit) for name, case, *edit in planted]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda job: judge(args, *job), jobs))
    bad = 0
    for (name, case, _), (verdict, words) in zip(jobs, verdicts):
        is_good = verdict in ("found", "passes")
        bad += not is_good
        print(f"{verdict:10} {case:8} {name}: {why(words)}")
        if not is_good:
            print(words[-2000:])
    found = sum(verdict == "found" for verdict, _ in verdicts)
    print(f"{found} of {len(planted)} planted bugs are found")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
