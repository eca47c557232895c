# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of the examples 20 to 23, and GPT-2 of 124 million numbers, in PyTorch: what tenon-bench (../models.cpp), training.py
and losses.py measure and compare with."""
import json

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 64), nn.Linear(64, 10)

    def forward(self, x):
        return self.fc2(self.fc1(x.flatten(1)).relu())


class ConvNet(nn.Module):
    def __init__(self, drop=0.25):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2d(16), nn.BatchNorm2d(32)
        self.drop, self.fc = nn.Dropout(drop) if drop else nn.Identity(), nn.Linear(128, 10)

    def forward(self, x):
        a = F.max_pool2d(self.bn1(self.conv1(x)).relu(), 2)
        b = F.max_pool2d(self.bn2(self.conv2(a)).relu(), 2)
        return self.fc(self.drop(b.flatten(1)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(128), nn.LayerNorm(128)
        self.qkv, self.out = nn.Linear(128, 384), nn.Linear(128, 128)
        self.fc, self.proj = nn.Linear(128, 512), nn.Linear(512, 128)
        angle = torch.arange(128)[:, None] * 10000 ** (-torch.arange(16) / 16)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def rotary(self, x):
        a, b = x.chunk(2, -1)
        return torch.cat([a * self.cos - b * self.sin, a * self.sin + b * self.cos], -1)

    def forward(self, x):
        q, k, v = (t.reshape(16, 128, 4, 32).transpose(1, 2) for t in self.qkv(self.ln_1(x)).chunk(3, -1))
        h = F.scaled_dot_product_attention(self.rotary(q), self.rotary(k), v, is_causal=True).transpose(1, 2).reshape(16, 128, 128)
        h = x + self.out(h)
        return h + self.proj(F.gelu(self.fc(self.ln_2(h)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(256, 128)
        self.h = nn.Sequential(*(Block() for _ in range(4)))
        self.ln_f, self.head = nn.LayerNorm(128), nn.Linear(128, 256, bias=False)

    def forward(self, x):
        return self.head(self.ln_f(self.h(self.wte(x)))).flatten(0, 1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm, self.head = nn.Embedding(256, 64), nn.LSTM(64, 256), nn.Linear(256, 256)

    def forward(self, x):
        return self.head(self.lstm(self.embedding(x))[0]).flatten(0, 1)


class Gpt2Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(768), nn.LayerNorm(768)
        self.qkv, self.out = nn.Linear(768, 2304), nn.Linear(768, 768)
        self.fc, self.proj = nn.Linear(768, 3072), nn.Linear(3072, 768)

    def forward(self, x, keys, values, first):
        count = x.shape[1]
        q, k, v = (t.reshape(1, count, 12, 64).transpose(1, 2) for t in self.qkv(self.ln_1(x)).chunk(3, -1))
        keys[:, :, first:first + count], values[:, :, first:first + count] = k, v
        seen = slice(0, first + count)
        h = F.scaled_dot_product_attention(q, keys[:, :, seen], values[:, :, seen], is_causal=count > 1)
        h = x + self.out(h.transpose(1, 2).reshape(x.shape))
        return h + self.proj(F.gelu(self.fc(self.ln_2(h)), approximate="tanh"))


class Gpt2(nn.Module):
    """Of words [1, n] that come after `first` others; what was read is in caches [layers, 2, 1, heads, positions, size]."""

    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(50257, 768), nn.Embedding(1024, 768)
        self.h, self.ln_f = nn.ModuleList(Gpt2Block() for _ in range(12)), nn.LayerNorm(768)

    def forward(self, words, caches, first):
        x = self.wte(words) + self.wpe.weight[first:first + words.shape[1]]
        for block, (keys, values) in zip(self.h, caches):
            x = block(x, keys, values, first)
        return (self.ln_f(x[:, -1:]) @ self.wte.weight.T).flatten()


def tensors(path):
    with open(path, "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    kinds = {"F32": np.float32, "I64": np.int64}
    return {name: torch.from_numpy(np.frombuffer(data[8 + length:][slice(*of["data_offsets"])], kinds[of["dtype"]])
                                   .reshape(of["shape"]).copy()) for name, of in header.items()}


def training(model, given, compiled, clip=None):
    x, y = given["x"], given["y"]
    optimizer, call = torch.optim.AdamW(model.parameters(), lr=1e-3), compiled(model)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(call(x), y)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss.detach()
    return step


def answering(model, given, compiled, count):
    """To the last `count` words, the others having been read."""
    words = given["words"]
    first, caches = words.shape[1] - count, torch.zeros(12, 2, 1, 12, words.shape[1], 64, device=words.device)
    call = compiled(model)

    def answer():
        with torch.no_grad():
            return call(words[:, first:], caches, first)
    with torch.no_grad():
        if first:
            model(words[:, :first], caches, 0)
    return answer


MODELS = {
    "mlp step": (Mlp, training, {}),
    "conv net step": (lambda: ConvNet(drop=0), training, {}),
    "byte transformer step": (Transformer, training, {"clip": 1.0}),
    "lstm step": (Reader, training, {}),
    "gpt2 prefill of 256": (Gpt2, answering, {"count": 256}),
    "gpt2 decode": (Gpt2, answering, {"count": 1}),
}


def start(name, given, compiled, device="cpu"):
    """What a call does, by a model with tensors "model.fc1.weight" and inputs; `compiled` of a module is what is called."""
    make, of, options = MODELS[name]
    model, given = make().to(device), {key: value.to(device) for key, value in given.items()}
    model.load_state_dict({key[6:]: value for key, value in given.items() if key.startswith("model.")}, strict=False)
    return of(model, given, compiled, **options)
