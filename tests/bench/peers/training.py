#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of the examples that learn beside the same steps of PyTorch, turn about, in milliseconds.

Usage: training.py BUILD_FOLDER [--threads N] [--rounds N] [--device cuda] [--only NAME]     needs torch and numpy
A step of an example is the difference of two runs, of many steps and of few, by the steps between them; both have met
the cache before. PyTorch runs eagerly: forward, backward and the optimizer, on batches of the same shapes.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import torch
from torch import nn
from torch.nn import functional as F

from models import ConvNet, Mlp, Reader, Transformer


MODELS = {
    "example_20_digits_mlp": (Mlp, torch.rand(64, 1, 8, 8), torch.randint(10, (64,)), None, 3000, 200),
    "example_21_digits_conv": (ConvNet, torch.rand(64, 1, 8, 8), torch.randint(10, (64,)), None, 220, 20),
    "example_22_text": (Transformer, torch.randint(256, (16, 128)), torch.randint(256, (2048,)), 1.0, 25, 5),
    "example_23_lstm": (Reader, torch.randint(256, (64, 16)), torch.randint(256, (1024,)), None, 25, 5),
}


def ours(program, many, few):
    def seconds(steps):
        out = subprocess.run([program, "--json", "--steps", str(steps)], capture_output=True, check=True, text=True)
        return json.loads(out.stdout)["seconds"]
    return 1000 * (seconds(many) - seconds(few)) / (many - few)


def torch_step(model, x, y, clip, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    begin = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        loss.item()
    return 1000 * (time.perf_counter() - begin) / steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu", help="of both, as each of them names it: cpu or cuda")
    parser.add_argument("--only", default="", help="part of a program's name")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    on_cpu = options.device == "cpu"
    os.environ["TENON_DEVICES"] = f"cpu@threads={options.threads}" if on_cpu else options.device
    print(f"torch {torch.__version__}, {options.device}, {options.threads} threads; median (least) of {options.rounds}, ms a step")
    for name, (make, x, y, clip, many, few) in MODELS.items():
        if options.only not in name:
            continue
        program = os.path.join(options.build, "bin", name)
        model, x, y = make().to(options.device), x.to(options.device), y.to(options.device)
        torch_step(model, x, y, clip, few)
        ours(program, many, few)
        a, b = [], []
        for _ in range(options.rounds):
            a.append(ours(program, many, few))
            b.append(torch_step(model, x, y, clip, many - few))
        print(f"{name}: tenon {statistics.median(a):.3f} ({min(a):.3f}), torch {statistics.median(b):.3f} ({min(b):.3f}), "
              f"torch / tenon {statistics.median(b) / statistics.median(a):.2f}")


if __name__ == "__main__":
    main()
