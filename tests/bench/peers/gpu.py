#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes, products and launches on a CUDA device through Tenon and through PyTorch, one after the other.

Usage: gpu.py BUILD_FOLDER [--device cuda:0]     needs torch
Rates are those of tenon-bench's rows; PyTorch's are the median of nine rounds of ten calls each. f32 is f32 in both.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import torch
from torch.nn import functional as F


def rate(work, call):
    call()
    torch.cuda.synchronize()
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        for _ in range(10):
            call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / 10)
    return work / statistics.median(times)


def rows():
    gigabytes = 4e-9 * 2**26
    x, y = (torch.randn(2**26, device="cuda") for _ in range(2))
    m = x.reshape(16384, 4096)
    yield "elementwise/add", rate(3 * gigabytes, lambda: x + y)
    yield "elementwise/gelu", rate(2 * gigabytes, lambda: F.gelu(x, approximate="tanh"))
    yield "softmax/rows of 4096", rate(2 * gigabytes, lambda: m.softmax(-1))
    yield "norm/layer_norm", rate(2 * gigabytes, lambda: F.layer_norm(m, (4096,)))
    yield "transpose/4096 columns", rate(2 * gigabytes, lambda: (m.t() + 0.5).contiguous())
    yield "sum/over rows", rate(gigabytes, lambda: m.sum(0))
    yield "sum/of all", rate(gigabytes, lambda: x.sum())
    for name, dtype in (("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16)):
        for n in (256, 1024, 4096, 8192):
            a, b = (torch.randn(n, n, device="cuda").to(dtype) for _ in range(2))
            yield f"sgemm/{name} {n}", rate(2e-12 * n**3, lambda: a @ b)
    q, k, v = (torch.randn(16, 2048, 64, device="cuda", dtype=torch.float16) for _ in range(3))
    work = 4e-12 * 16 * 2048 * 2048 * 64
    yield "attention/f16", rate(work, lambda: ((q @ k.transpose(-1, -2)) * 0.125).softmax(-1) @ v)
    yield "attention/f16, fused", rate(work, lambda: F.scaled_dot_product_attention(q[None], k[None], v[None]))
    few = torch.randn(1024, device="cuda")
    yield "launch/calls of one kernel", rate(1e-3, lambda: few + 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--device", default="cuda:0", help="as Tenon names it")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    bench = os.path.join(options.build, "bin", "tenon-bench")
    out = subprocess.run([bench, "--json", "--only", f" on {options.device}$"], capture_output=True, check=True, text=True)
    ours = {row["name"].removesuffix(" on " + options.device): row for row in json.loads(out.stdout)["rows"]}
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    print(f"{'':28s} {'Tenon':>9s} {'PyTorch':>9s} {'ratio':>6s}  of a copy")
    for name, theirs in rows():
        row = ours.get(name)
        share = f"{row['limit_ratio']:.2f}" if row and row.get("limit_ratio") else ""
        mine = f"{row['ours']:9.2f} {theirs:9.2f} {row['ours'] / theirs:6.2f}" if row else f"{'':9s} {theirs:9.2f} {'':6s}"
        print(f"{name:28s} {mine}  {share:9s} {row['unit'] if row else ''}")


if __name__ == "__main__":
    main()
