#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compilers of GPUs that are not here make of a few graphs: rules that every kernel keeps,
and facts beside each (graphs/*.tn, facts.txt). TENON_UPDATE=1 writes the facts anew.

Usage: emitted.py BUILD_DIR       exit status 77: no compiler for any target
"""
import difflib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = [("cuda", "sm_80"), ("cuda", "sm_90a")]
SKIPPED = 77
A_MILLION = 1_000_000

# What each kernel is to reach of its bound, by the budget: a share of memory's rate or of the matrix units' peak.
MEMORY = {name: 0.85 for name in
          "add columns decode gelu_f16 layer_norm softmax sum_all sum_rows transpose".split()}
MATRICES = {("conv", "sm_80"): 0.25, ("gemm_bf16", "sm_80"): 0.60, ("gemm_f16", "sm_80"): 0.60, ("weights_bf16", "sm_80"): 0.60,
            ("attention", "sm_80"): 0.35, ("attention", "sm_90a"): 0.25}
# No bank of shared memory serves two rows one after the other.
NO_CONFLICTS = {"gemm_bf16", "gemm_f16", "transpose"}


class NoCompiler(Exception):
    pass


def show(build, backend, target, stage, graph):
    done = subprocess.run([os.path.join(build, "bin", "tenon"), "show", "--backend", backend, "--target", target,
                           "--stage", stage, graph], capture_output=True, text=True)
    if done.returncode == 3:
        raise NoCompiler(done.stderr.strip())
    if done.returncode != 0:
        raise AssertionError(f"tenon show --stage {stage} of {graph}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def budgets(text):
    """A dict for each kernel."""
    out = []
    for part in re.split(r"^kernel ", text, flags=re.M)[1:]:
        grid, block = re.search(r"(\d+x\d+x\d+) workgroups of (\d+x\d+x\d+)", part).groups()
        one = {"grid": grid, "block": block}
        one["spills"] = int(re.search(r"spilled bytes (\d+)", part).group(1))
        one["units"] = int(re.search(r"on (\d+) units", part).group(1))
        one["memory"] = float(re.search(r"memory ([\d.]+) MB", part).group(1)) * 1e6
        one["memory share"] = float(re.search(r"([\d.]+) of its rate", part).group(1))
        found = re.search(r"matrix products, ([\d.]+) of", part)
        one["matrix share"] = float(found.group(1)) if found else None
        one["accesses"] = [
            (where, what, int(size), float(pieces), float(least))
            for where, what, size, pieces, least in re.findall(
                r"  (global|shared) ([a-z ]+?) \w+, (\d+) bytes at once: \d+ requests, ([\d.]+) \w+ each "
                r"\(([\d.]+) at the least\)", part)]
        out.append(one)
    return out


def kernels_of(assembly):
    """The PTX of each entry."""
    return re.split(r"^\s*\.visible \.entry ", assembly, flags=re.M)[1:]


def widths(ptx, pattern):
    """Bytes of the accesses that a pattern of two groups finds: vector and type."""
    size = set()
    for vector, bits in re.findall(pattern, ptx):
        size.add(int(vector or 1) * int(bits) // 8)
    return sorted(size, reverse=True)


def facts_of(ptx, budget):
    ops = {
        "global loads": widths(ptx, r"ld\.global(?:\.nc)?(?:\.L\S+?)?(?:\.v(\d))?\.[a-z]+(\d+)"),
        "global stores": widths(ptx, r"st\.global(?:\.v(\d))?\.[a-z]+(\d+)"),
        "shared loads": widths(ptx, r"ld\.shared(?:\.v(\d))?\.[a-z]+(\d+)"),
        "shared stores": widths(ptx, r"st\.shared(?:\.v(\d))?\.[a-z]+(\d+)"),
        "async copies": sorted({int(n) for n in re.findall(r"cp\.async\.c[ag]\.shared\.global[^;]*?, (\d+)", ptx)},
                               reverse=True),
    }
    lines = [f"{budget['grid']} workgroups of {budget['block']}"]
    lines += [f"{name}: {', '.join(map(str, sizes))} bytes" for name, sizes in ops.items() if sizes]
    atoms = sorted(set(re.findall(r"(?:wgmma\.)?mma(?:_async)?\.sync\.aligned\.(?:\w+\.)*?(m\d+n\d+k\d+\S*)", ptx)))
    lines += [f"matrix products: {atom}" for atom in atoms]
    conflicts = [f"{what} of {size} bytes: {pieces:g} turns for {least:g}"
                 for where, what, size, pieces, least in budget["accesses"] if where == "shared" and pieces > least]
    lines += [f"bank conflicts: {line}" for line in sorted(set(conflicts))]
    apart = [f"{what} of {size} bytes: {pieces:g} sectors for {least:g}"
             for where, what, size, pieces, least in budget["accesses"] if where == "global" and pieces > least]
    lines += [f"apart in memory: {line}" for line in sorted(set(apart))]
    return lines


def rules(name, target, ptx, budget):
    """What is wrong."""
    if re.search(r"\b(ld|st)\.local\b", ptx) or ".local " in ptx:
        yield "uses local memory"
    if budget["spills"]:
        yield f"spills {budget['spills']} bytes"
    if ".tf32" in ptx:
        yield "rounds f32 to tf32 though nobody asked for it"
    copies = len(re.findall(r"cp\.async\.c[ag]", ptx))
    waits = [int(n) for n in re.findall(r"cp\.async\.wait_group\s+(\d+)", ptx)]
    if copies and not waits:
        yield "waits for none of its asynchronous copies"
    if waits and len(re.findall(r"cp\.async\.commit_group", ptx)) == 0:
        yield "waits for groups of copies that it never closes"
    x, y, z = map(int, budget["grid"].split("x"))
    if x * y * z < budget["units"] and budget["memory"] > 4 * A_MILLION:
        yield f"{x * y * z} workgroups for {budget['units']} units and {budget['memory'] / 4e6:.1f} M elements"
    if name in NO_CONFLICTS:
        for where, what, size, pieces, least in budget["accesses"]:
            if where == "shared" and pieces > least:
                yield f"{what} of {size} bytes takes {pieces:g} turns, {least:g} would do"


def check(build, backend, target, path):
    name = os.path.splitext(os.path.basename(path))[0]
    found = budgets(show(build, backend, target, "budget", path))
    texts = kernels_of(show(build, backend, target, "asm", path))
    assert len(texts) == len(found), f"{name} {target}: {len(texts)} kernels in the assembly, {len(found)} in the budget"
    lines, wrong = [f"{name} {target}"], []
    for number, (ptx, budget) in enumerate(zip(texts, found)):
        lines += [f"  kernel {number}"] + ["    " + line for line in facts_of(ptx, budget)]
        wrong += [f"{name} {target} kernel {number}: {text}" for text in rules(name, target, ptx, budget)]
    most = max(found, key=lambda b: b["memory"])
    if name in MEMORY and most["memory share"] < MEMORY[name]:
        wrong.append(f"{name} {target}: predicted {most['memory share']} of memory's rate, expected {MEMORY[name]}")
    least = MATRICES.get((name, target))
    if least and (most["matrix share"] or 0) < least:
        wrong.append(f"{name} {target}: predicted {most['matrix share']} of the matrix units' peak, expected {least}")
    return lines, wrong


def main():
    build = sys.argv[1]
    graphs = sorted(os.listdir(os.path.join(HERE, "graphs")))
    lines, wrong, checked = [], [], 0
    for backend, target in TARGETS:
        for graph in graphs:
            try:
                more, bad = check(build, backend, target, os.path.join(HERE, "graphs", graph))
            except NoCompiler as reason:
                print(f"{target}: not checked: {reason}")
                break
            lines += more
            wrong += bad
            checked += 1
    if not checked:
        return SKIPPED
    facts = os.path.join(HERE, "facts.txt")
    text = "\n".join(lines) + "\n"
    if os.environ.get("TENON_UPDATE"):
        with open(facts, "w", encoding="utf-8") as file:
            file.write(text)
    with open(facts, encoding="utf-8") as file:
        expected = file.read()
    for line in difflib.unified_diff(expected.splitlines(), text.splitlines(), "facts.txt", "now", lineterm=""):
        print(line)
    for line in wrong:
        print(line)
    print(f"{checked} graphs, {len(wrong)} rules broken, facts {'equal' if text == expected else 'differ'}")
    return 1 if wrong or text != expected else 0


if __name__ == "__main__":
    sys.exit(main())
