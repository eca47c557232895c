#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses of the examples that learn beside PyTorch's, from equal weights on equal batches.

Usage: losses.py BUILD_FOLDER [--steps N] [--seeds N] [--only NAME]     needs torch and numpy
An example writes its first weights and what each step draws (--record); the same model of PyTorch, in f32, learns from
these. Convolutions on digits drop by other random numbers than PyTorch's: of them the accuracies are compared.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from models import ConvNet, Reader, Transformer, tensors

DIGITS = torch.from_numpy(np.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/data/digits.npy")))
HELD = torch.arange(len(DIGITS)) % 5 == 0


def digits(held):
    rows = DIGITS[HELD == held]
    return rows[:, :64].float().reshape(-1, 1, 8, 8) / 16, rows[:, 64].long()


class Block(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, 4, batch_first=True)
        self.fc, self.proj = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        y = self.ln_1(x)
        h = x + self.attn(y, y, y, need_weights=False)[0]
        return h + self.proj(F.gelu(self.fc(self.ln_2(h)), approximate="tanh"))


class Vit(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.cls, self.positions = nn.Parameter(torch.zeros(1, 1, width)), nn.Parameter(torch.zeros(17, width))
        self.patches, self.norm, self.head = nn.Conv2d(1, width, 2, 2), nn.LayerNorm(width), nn.Linear(width, 10)
        self.blocks = nn.Sequential(Block(), Block())

    def forward(self, x):
        seen = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.cls.expand(len(x), -1, -1), seen], 1) + self.positions
        return self.head(self.norm(self.blocks(tokens)[:, 0]))


class GcnLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.bias, self.lin = nn.Parameter(torch.zeros(outputs)), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, a):
        return a @ self.lin(x) + self.bias


class Gcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = GcnLayer(34, 16), GcnLayer(16, 2)

    def forward(self, a):
        return self.conv2(self.conv1(torch.eye(34), a).relu(), a)


class DenoiserBlock(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.norm, self.fc, self.proj = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, of):
        return x + self.proj(F.silu(self.fc(self.norm(x + of))))


class Denoiser(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.out, self.digit, self.time = nn.Linear(width, 64), nn.Embedding(10, width), nn.Embedding(100, width)
        self.blocks = nn.ModuleList(DenoiserBlock() for _ in range(3))
        self.add_module("in", nn.Linear(64, width))

    def forward(self, x, t, digit):
        of, h = self.time(t) + self.digit(digit), getattr(self, "in")(x)
        for block in self.blocks:
            h = block(h, of)
        return self.out(h)


def digits_loss(model, draw):
    x, y = digits(False)
    return F.cross_entropy(model(x[draw["images"]]), y[draw["images"]])


def graph_loss(model, draw):
    labels = torch.full((34,), -100)
    labels[0], labels[33] = 0, 1
    return F.cross_entropy(model(draw["graph"]), labels)


def diffusion_loss(model, draw):
    x, y = digits(False)
    at, t, noise = draw["images"], draw["times"], draw["noise"]
    left = torch.cumprod(1 - torch.linspace(1e-3, 0.2, 100, dtype=torch.float64), 0).float()[t, None]
    return F.mse_loss(model(left.sqrt() * (x[at].flatten(1) * 2 - 1) + (1 - left).sqrt() * noise, t, y[at]), noise)


def transformer_loss(model, draw):
    return F.cross_entropy(model(draw["rows"][:, :-1]), draw["rows"][:, 1:].flatten())


def text_loss(model, draw):
    rows = draw["rows"].T
    return F.cross_entropy(model(rows[:-1]), rows[1:].flatten())


def warmup_cosine(peak, steps):
    """Of 20 steps, then down to 0."""
    return lambda t: peak * t / 20 if t < 20 else peak * 0.5 * (1 + math.cos(math.pi * min(1, (t - 20) / (steps - 20))))


def run(build, name, *words):
    """What an example says, and what it recorded."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "record.safetensors")
        out = subprocess.run([os.path.join(build, "bin", name), "--json", "--record", path, *map(str, words)],
                             capture_output=True, check=True, text=True)
        return json.loads(out.stdout), tensors(path)


def learn(model, record, steps, rate, loss_of, clip=None, **options):
    model.load_state_dict({name[6:]: value for name, value in record.items() if name.startswith("model.")})
    optimizer = torch.optim.AdamW(model.parameters(), lr=1, **options)
    losses = []
    for i in range(steps):
        optimizer.param_groups[0]["lr"] = rate(i)
        draw = {name.split(".", 1)[1]: value for name, value in record.items() if name.startswith(f"{i}.")}
        optimizer.zero_grad()
        loss = loss_of(model, draw)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="part of a program's name")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cosine = warmup_cosine
    cases = {"example_22_text": (Transformer, transformer_loss, cosine(4e-3, options.steps),
                                 {"clip": 1.0, "betas": (0.9, 0.99), "weight_decay": 0.1}),
             "example_23_lstm": (Reader, text_loss, lambda t: 3e-3, {}),
             "example_24_vit": (Vit, digits_loss, cosine(3e-3, options.steps), {}),
             "example_25_graph": (Gcn, graph_loss, lambda t: 1e-2, {"weight_decay": 5e-4}),
             "example_26_diffusion": (Denoiser, diffusion_loss, cosine(3e-3, options.steps), {})}
    print(f"torch {torch.__version__}; largest relative difference of {options.steps} losses")
    for name, (make, loss_of, rate, more) in cases.items():
        if options.only not in name:
            continue
        said, record = run(options.build, name, "--steps", options.steps)
        losses = learn(make(), record, options.steps, rate, loss_of, **more)
        worst = max(abs(a - b) / abs(b) for a, b in zip(said["losses"], losses, strict=True))
        print(f"{name}: {worst:.2e}; first {said['losses'][0]:.6f} and {losses[0]:.6f}, last {said['losses'][-1]:.6f} and {losses[-1]:.6f}")
    if options.only not in "example_21_digits_conv":
        return
    ours, theirs = [], []
    x, y = digits(True)
    for seed in range(options.seeds):
        said, record = run(options.build, "example_21_digits_conv", "--steps", 300, "--seed", seed)
        ours.append(100 * said["accuracy"])
        torch.manual_seed(seed)
        model = ConvNet()
        learn(model, record, 300, cosine(5e-3, 300), digits_loss)
        model.eval()
        theirs.append(100 * (model(x).argmax(1) == y).float().mean().item())
    print("example_21_digits_conv, % of the images held out: tenon", *(f"{a:.1f}" for a in ours), f"mean {sum(ours) / len(ours):.2f},",
          "torch", *(f"{a:.1f}" for a in theirs), f"mean {sum(theirs) / len(theirs):.2f}")


if __name__ == "__main__":
    main()
