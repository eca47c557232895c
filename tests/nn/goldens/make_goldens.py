#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers, losses and optimizers of PyTorch, computed in f64 from inputs of f32.

Usage: python3 make_goldens.py      writes layers.txt, losses.txt, optimizers.txt and recurrent.txt beside it
Lines are those of tests/tensor/goldens/make_goldens.py: function | inputs | attributes | outputs.
  layers      inputs: the state in the order of state_dict, then x; outputs: y, then gradients of
              sum(y cos(0, 1, 2 ..)) by x and by each parameter, then the state that is left, if it learns
  recurrent   as layers, after x the state; y: outputs and the state that is left, flattened, one after another
  losses      inputs: prediction, target, more; outputs: the loss, its gradient by the prediction
  optimizers  inputs: two parameters, then their gradients of 100 steps; outputs: the parameters after 1, 10, 100
"""
import os
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore", message="reduction: 'mean'")
HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"float32": "f32", "int64": "i64"}
rng = np.random.default_rng(12)


def text(x):
    if isinstance(x, torch.Tensor):
        x = x.detach().numpy()
    if x.dtype == np.float64:
        x = x.astype(np.float32)
    dims = ",".join(str(d) for d in x.shape)
    x = np.ascontiguousarray(x)
    size = x.dtype.itemsize
    bits = x.ravel().view(f"u{size}")
    return f"{NAMES[x.dtype.name]}[{dims}]:" + "".join(f"{int(b):0{2 * size}x}" for b in bits)


def option(v):
    return ",".join(str(e) for e in v) if isinstance(v, (list, tuple)) else str(int(v) if isinstance(v, bool) else v)


class File:
    def __init__(self, name):
        self.path = os.path.join(HERE, name + ".txt")
        self.lines = [f"# Made by make_goldens.py with PyTorch {torch.__version__.split('+')[0]}."]

    def case(self, function, inputs, outputs, **options):
        self.lines.append(f"{function} | {' '.join(map(text, inputs))} | "
                          f"{' '.join(f'{k}={option(v)}' for k, v in options.items())} | "
                          f"{' '.join(map(text, outputs))}")

    def write(self):
        with open(self.path, "w") as f:
            f.write("\n".join(self.lines) + "\n")


def draw(*shape):
    """Numbers that f32 holds."""
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).double()


def weigh(y):
    return (y * torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)).sum()


layers, losses, optimizers = File("layers"), File("losses"), File("optimizers")


def layer(name, module, *inputs, training=False, call=None, file=layers, **options):
    module = module.double().train(training)
    with torch.no_grad():
        for value in module.state_dict().values():
            if value.dtype == torch.float64:
                value.copy_(draw(*value.shape) * 0.5)
        for key, value in module.state_dict().items():
            if key.endswith("running_var"):
                value.copy_(value.abs() + 0.5)
    before = [v.clone() for v in module.state_dict().values()]
    inputs = [x.clone().requires_grad_(x.dtype == torch.float64) for x in inputs]
    y = (call or module)(*inputs)
    wrt = [x for x in inputs if x.requires_grad] + list(module.parameters())
    gradients = torch.autograd.grad(weigh(y), wrt)
    after = [v for k, v in module.state_dict().items() if training and "running" in k or training and "num" in k]
    file.case(name, before + inputs, [y, *gradients, *after], training=training, state=len(before), **options)


layer("linear", nn.Linear(5, 3), draw(2, 4, 5), of=5, to=3, bias=True)
layer("linear", nn.Linear(5, 3, bias=False), draw(5), of=5, to=3, bias=False)
layer("bilinear", nn.Bilinear(3, 4, 2), draw(5, 3), draw(5, 4), n=3, m=4, to=2)
layer("embedding", nn.Embedding(7, 3), torch.tensor([[1, 0, 6], [2, 2, 5]]), count=7, size=3, padding=-1)
layer("embedding", nn.Embedding(7, 3, padding_idx=2), torch.tensor([[1, 0, 6], [2, 2, 5]]), count=7, size=3, padding=2)

for n, kind in ((1, nn.Conv1d), (2, nn.Conv2d), (3, nn.Conv3d)):
    size = [7, 6, 4][:n] if n < 3 else [4, 3, 3]
    for stride, padding, dilation, groups, window, mode in (
            (1, 0, 1, 1, 3, "zeros"), (2, 1, 1, 2, 3, "zeros"), (1, 2, 2, 1, 3, "zeros"), (3, 1, 1, 1, 2, "zeros"),
            (2, 0, 1, 4, 1, "zeros"), (1, 1, 1, 1, 3, "reflect"), (1, 2, 1, 1, 3, "replicate"),
            (2, 1, 1, 1, 3, "circular"), (2, 0, 1, 1, 2, "zeros")):
        if n == 3 and (mode != "zeros" or window == 1):
            continue
        module = kind(4, 4, window, stride, padding, dilation, groups, bias=groups == 1, padding_mode=mode)
        layer(f"conv{n}d", module, draw(1 if n > 1 else 2, 4, *size), of=4, to=4, window=[window] * n, stride=[stride] * n,
              padding=[padding] * n, dilation=[dilation] * n, groups=groups, bias=groups == 1, mode=mode)
layer("conv2d", nn.Conv2d(2, 3, (3, 2), (1, 2), (2, 0), (2, 1)), draw(1, 2, 6, 5), of=2, to=3, window=[3, 2],
      stride=[1, 2], padding=[2, 0], dilation=[2, 1], groups=1, bias=True, mode="zeros")

for n, kind in ((1, nn.ConvTranspose1d), (2, nn.ConvTranspose2d), (3, nn.ConvTranspose3d)):
    size = [4, 3, 2][:n]
    for stride, padding, output_padding, groups, dilation, window in (
            (1, 0, 0, 1, 1, 3), (2, 1, 1, 2, 1, 3), (3, 0, 2, 1, 1, 2), (1, 2, 0, 1, 2, 3), (2, 3, 0, 1, 1, 3)):
        if n == 3 and padding > 1:
            continue
        module = kind(4, 2, window, stride, padding, output_padding, groups, True, dilation)
        layer(f"conv_transpose{n}d", module, draw(1 if n > 1 else 2, 4, *size), of=4, to=2, window=[window] * n,
              stride=[stride] * n, padding=[padding] * n, output_padding=[output_padding] * n, groups=groups,
              dilation=[dilation] * n)

layer("layer_norm", nn.LayerNorm(6), draw(3, 6), shape=[6], affine=True)
layer("layer_norm", nn.LayerNorm([4, 6], elementwise_affine=False), draw(2, 4, 6), shape=[4, 6], affine=False)
layer("rms_norm", nn.RMSNorm(6, eps=1e-6), draw(3, 6), size=6)
layer("group_norm", nn.GroupNorm(2, 4), draw(3, 4, 5), groups=2, channels=4)
layer("instance_norm", nn.InstanceNorm2d(3), draw(2, 3, 4, 5), channels=3)
for training in (False, True):
    layer("batch_norm", nn.BatchNorm1d(3), draw(5, 3), channels=3, training=training)
    layer("batch_norm", nn.BatchNorm2d(3), draw(2, 3, 4, 5), channels=3, training=training)

x1, x2, x3 = draw(2, 2, 11), draw(1, 2, 7, 6), draw(1, 1, 5, 4, 4)
for x, n in ((x1, 1), (x2, 2), (x3, 3)):
    top, mean = getattr(F, f"max_pool{n}d"), getattr(F, f"avg_pool{n}d")
    for window, stride, padding in ((2, 2, 0), (3, 1, 1), (3, 2, 0), (2, 3, 1)):
        o = dict(window=[window] * n, strides=[stride] * n, padding=[padding] * n)
        layer("max_pool", nn.Identity(), x, call=lambda v: top(v, window, stride, padding), **o)
        for counts in (True, False):
            layer("avg_pool", nn.Identity(), x, count_padding=counts,
                  call=lambda v: mean(v, window, stride, padding, count_include_pad=counts), **o)
    for m in (1, 2, 3, 4):
        layer("adaptive_avg_pool", nn.Identity(), x, sizes=[m] * n, call=lambda v: getattr(F, f"adaptive_avg_pool{n}d")(v, m))
        layer("adaptive_max_pool", nn.Identity(), x, sizes=[m] * n, call=lambda v: getattr(F, f"adaptive_max_pool{n}d")(v, m))
layer("lp_pool", nn.Identity(), x2.abs() + 0.1, window=[2, 3], strides=[2, 1], p=3.0, call=lambda v: F.lp_pool2d(v, 3.0, (2, 3), (2, 1)))
layer("sequential", nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2)), draw(3, 4))

for causal in (False, True):
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    mask = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1) if causal else None
    layer("multi_head_attention", module, draw(2, 5, 8), width=8, heads=2, causal=causal,
          call=lambda x: module(x, x, x, attn_mask=mask, need_weights=False)[0])
for heads, queries, keys, causal, window in ((2, 4, 4, 0, 0), (4, 3, 5, 1, 0), (4, 6, 6, 1, 3), (4, 6, 6, 0, 2)):
    at = torch.arange(queries)[:, None] + keys - queries
    key = torch.arange(keys)[None]
    seen = torch.ones(queries, keys, dtype=torch.bool)
    if causal:
        seen &= key <= at
    if window:
        seen &= (key > at - window) & (key < at + window)
    layer("attention", nn.Identity(), draw(2, heads, queries, 6), draw(2, 2, keys, 6), draw(2, 2, keys, 3), causal=causal,
          window=window, call=lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=seen, enable_gqa=True))


def rotate(x, first, interleaved):
    size = x.shape[-1]
    angle = (first + torch.arange(x.shape[-2]).double())[:, None] * 10000.0 ** (-2 * torch.arange(size // 2) / size)
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :size // 2], x[..., size // 2:])
    parts = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    return torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)


for first, interleaved in ((0, False), (7, False), (3, True)):
    layer("rotary", nn.Identity(), draw(2, 5, 6), first=first, interleaved=interleaved,
          call=lambda x: rotate(x, first, interleaved))


def loss(name, function, prediction, target, *more, **options):
    p = prediction.clone().requires_grad_()
    value = function(p, target, *more)
    losses.case(name, [p, target, *more], [value, *torch.autograd.grad(weigh(value), [p])], **options)


p, t = draw(4, 5), draw(4, 5)
labels = torch.tensor([1, 0, 4, 2])
some = torch.tensor([1, -100, 4, 2])
weight = draw(5).abs() + 0.1
for r in ("mean", "sum", "none"):
    o = dict(reduction=r)
    loss("l1", lambda a, b: F.l1_loss(a, b, **o), p, t, **o)
    loss("mse", lambda a, b: F.mse_loss(a, b, **o), p, t, **o)
    loss("huber", lambda a, b: F.huber_loss(a, b, delta=0.7, **o), p, t, delta=0.7, **o)
    loss("smooth_l1", lambda a, b: F.smooth_l1_loss(a, b, beta=0.7, **o), p, t, beta=0.7, **o)
    loss("smooth_l1", lambda a, b: F.smooth_l1_loss(a, b, beta=0.0, **o), p, t, beta=0.0, **o)
    for smoothing in (0.0, 0.1):
        s = dict(label_smoothing=smoothing, **o)
        loss("cross_entropy", lambda a, b: F.cross_entropy(a, b, **s), p, labels, smoothing=smoothing, **o)
        loss("cross_entropy", lambda a, b: F.cross_entropy(a, b, **s), p, some, smoothing=smoothing, **o)
        loss("cross_entropy", lambda a, b, w: F.cross_entropy(a, b, w, **s), p, some, weight, smoothing=smoothing, **o)
    loss("cross_entropy", lambda a, b: F.cross_entropy(a, b, **o), draw(2, 5, 3), torch.tensor([[1, 0, 4], [2, -100, 3]]),
         smoothing=0.0, **o)
    loss("nll", lambda a, b: F.nll_loss(a, b, **o), F.log_softmax(p, 1), some, **o)
    q = F.softmax(t, 1)
    loss("kl", lambda a, b: F.kl_div(a, b, **o), F.log_softmax(p, 1), q, **o)
    loss("bce", lambda a, b: F.binary_cross_entropy(a, b, **o), torch.sigmoid(p), (t > 0).double(), **o)
    loss("bce_logits", lambda a, b: F.binary_cross_entropy_with_logits(a, b, **o), p * 40, (t > 0).double(), **o)
    loss("bce_logits", lambda a, b, w: F.binary_cross_entropy_with_logits(a, b, pos_weight=w, **o), p, (t > 0).double(),
         weight, **o)
    loss("cosine_embedding", lambda a, b, y: F.cosine_embedding_loss(a, b, y, 0.2, **o), p, t,
         torch.tensor([1.0, -1, -1, 1]).double(), margin=0.2, **o)
    loss("triplet", lambda a, b, c: F.triplet_margin_loss(a, b, c, 1.0, **o), p, t, draw(4, 5), margin=1.0, **o)
loss("cross_entropy", lambda a, b: F.cross_entropy(a, b), p, F.softmax(t, 1), smoothing=0.0, reduction="mean")
loss("cross_entropy", lambda a, b: F.cross_entropy(a, b), draw(5), torch.tensor(3), smoothing=0.0, reduction="mean")


def lion(params, lr=1e-4, b1=0.9, b2=0.99, decay=0.1):
    state = [torch.zeros_like(p) for p in params]

    def step():
        for p, m in zip(params, state):
            with torch.no_grad():
                u = torch.sign(b1 * m + (1 - b1) * p.grad)
                m.mul_(b2).add_(p.grad, alpha=1 - b2)
                p.sub_(lr * (u + decay * p))
    return step


def lamb(params, lr=1e-2, b1=0.9, b2=0.999, eps=1e-6, decay=0.05):
    state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in params]
    count = [0]

    def step():
        count[0] += 1
        for p, (m, v) in zip(params, state):
            with torch.no_grad():
                m.mul_(b1).add_(p.grad, alpha=1 - b1)
                v.mul_(b2).add_(p.grad ** 2, alpha=1 - b2)
                u = (m / (1 - b1 ** count[0])) / ((v / (1 - b2 ** count[0])).sqrt() + eps) + decay * p
                p.sub_(lr * p.norm() / u.norm() * u)
    return step


def muon(params, lr=0.02, momentum=0.95, steps=5):
    state = [torch.zeros_like(p) for p in params]

    def step():
        for p, m in zip(params, state):
            with torch.no_grad():
                m.mul_(momentum).add_(p.grad)
                u = p.grad + momentum * m
                if u.dim() == 2:
                    x = u if u.shape[0] <= u.shape[1] else u.T
                    x = x / (x.norm() + 1e-7)
                    for _ in range(steps):
                        a = x @ x.T
                        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
                    u = (x if u.shape[0] <= u.shape[1] else x.T) * max(1, u.shape[0] / u.shape[1]) ** 0.5
                p.sub_(lr * u)
    return step


def clipped_sgd(params):
    optimizer = torch.optim.SGD(params, lr=0.1)

    def step():
        torch.nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()
    return step


def scheduled(params):
    optimizer = torch.optim.SGD(params, lr=1.0)
    count = [0]

    def step():
        t = count[0]
        rate = 0.1 * t / 10 if t < 10 else 0.01 + 0.09 * 0.5 * (1 + np.cos(np.pi * min(1, (t - 10) / 70)))
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        count[0] += 1
    return step


def accumulated(params):
    optimizer = torch.optim.AdamW(params, lr=0.01, weight_decay=0.1)
    sums = [torch.zeros_like(p) for p in params]
    count = [0]

    def step():
        count[0] += 1
        for p, s in zip(params, sums):
            s += p.grad / 3
            p.grad = s.clone()
        if count[0] % 3 == 0:
            optimizer.step()
            for s in sums:
                s.zero_()
    return step


def with_mean(params):
    optimizer = torch.optim.SGD(params, lr=0.05)
    holder = nn.ParameterList(params)
    mean = torch.optim.swa_utils.AveragedModel(holder, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))

    def step():
        optimizer.step()
        mean.update_parameters(holder)
    step.shown = list(mean.module.parameters())
    return step


def loss_scaled(params):
    """Gradients of a scaled loss; those of every seventh step are infinite."""
    optimizer = torch.optim.SGD(params, lr=0.05, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=4)
    scaler.scale(torch.zeros(()))  # makes the scale
    count = [0]

    def step():
        count[0] += 1
        if count[0] % 7 == 0:
            params[0].grad[0, 0] = float("inf")
        scaler.step(optimizer)
        scaler.update()
    return step


def partitioned(params):
    matrices, others = muon(params[:1]), torch.optim.AdamW(params[1:], lr=0.01, weight_decay=0.1)

    def step():
        matrices()
        others.step()
    return step


o = torch.optim
MAKERS = {
    "sgd": lambda p: o.SGD(p, lr=0.05).step,
    "sgd_momentum": lambda p: o.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01).step,
    "sgd_nesterov": lambda p: o.SGD(p, lr=0.05, momentum=0.9, nesterov=True).step,
    "adam": lambda p: o.Adam(p, lr=0.01).step,
    "adamw": lambda p: o.AdamW(p, lr=0.01, weight_decay=0.1).step,
    "rmsprop": lambda p: o.RMSprop(p, lr=0.01).step,
    "rmsprop_momentum": lambda p: o.RMSprop(p, lr=0.01, momentum=0.5).step,
    "adagrad": lambda p: o.Adagrad(p, lr=0.05).step,
    "adafactor": lambda p: o.Adafactor(p, lr=0.05, eps=(2.0 ** -23, 1e-3), weight_decay=0.1).step,
    "lion": lion, "lamb": lamb, "muon": muon, "clipped": clipped_sgd, "scheduled": scheduled,
    "accumulated": accumulated, "with_mean": with_mean, "loss_scaled": loss_scaled, "partitioned": partitioned,
}
begin = [draw(3, 4), draw(2)]
gradients = [[draw(3, 4), draw(2)] for _ in range(100)]
first = True
for name, make in MAKERS.items():
    params = [p.clone().requires_grad_() for p in begin]
    step = make(params)
    seen = []
    for i, g in enumerate(gradients):
        for p, v in zip(params, g):
            p.grad = v.clone()
        step()
        if i + 1 in (1, 10, 100):
            seen += [p.detach().clone() for p in getattr(step, "shown", params)]
    optimizers.case(name, begin if not first else begin + [torch.stack([g[0] for g in gradients]),
                                                           torch.stack([g[1] for g in gradients])], seen)
    first = False

rng = np.random.default_rng(13)  # what stands above stays as it is
for shape, sizes in (((2, 2, 5), [10]), ((2, 2, 5), [3]), ((1, 2, 4, 3), [8, 6]), ((1, 2, 4, 5), [3, 7]), ((1, 2, 2, 3, 2), [4, 2, 5]),
                     ((1, 1, 1, 4), [3, 1])):
    x, lines = draw(*shape), ("linear", "bilinear", "trilinear")[len(sizes) - 1]
    layer("interpolate", nn.Identity(), x, sizes=sizes, linear=False, corners=False, call=lambda v: F.interpolate(v, sizes))
    for corners in (False, True):
        layer("interpolate", nn.Identity(), x, sizes=sizes, linear=True, corners=corners,
              call=lambda v: F.interpolate(v, sizes, mode=lines, align_corners=corners))
layer("upsample", nn.Upsample(scale_factor=3), draw(1, 2, 3, 2), factor=3, linear=False, corners=False)
layer("upsample", nn.Upsample(scale_factor=2, mode="bilinear"), draw(1, 2, 3, 2), factor=2, linear=True, corners=False)
layer("upsample", nn.Upsample(scale_factor=2, mode="linear", align_corners=True), draw(1, 2, 3), factor=2, linear=True, corners=True)
layer("pixel_shuffle", nn.PixelShuffle(3), draw(2, 18, 2, 3), factor=3)
layer("pixel_unshuffle", nn.PixelUnshuffle(2), draw(2, 3, 4, 6), factor=2)
for shape, window, sizes in (((2, 3, 9, 8), (2, 3), (5, 4)), ((1, 2, 5, 5), (2, 2), (4, 1)), ((1, 2, 6, 6, 7), (2, 2, 3), (3, 4, 2))):
    samples = torch.from_numpy(rng.integers(0, 1024, (*shape[:2], len(window))))
    pool, order = getattr(F, f"fractional_max_pool{len(window)}d"), [1, 0] if len(window) == 2 else [0, 1, 2]
    layer("fractional_max_pool", nn.Identity(), draw(*shape), samples, window=window, sizes=sizes,  # PyTorch's first of two is the width's
          call=lambda v, s: pool(v, window, sizes, _random_samples=s[..., order].double() / 1024))


class GCN(nn.Module):
    """Kipf and Welling, 2017, on a normalised adjacency."""
    def __init__(self, inputs, outputs, bias):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        self.lin = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, a):
        y = a @ self.lin(x)
        return y if self.bias is None else y + self.bias


class GAT(nn.Module):
    """Velickovic et al., 2018; `a` tells which edges there are, from columns to rows."""
    def __init__(self, inputs, outputs, heads, concat):
        super().__init__()
        self.att_src, self.att_dst = (nn.Parameter(torch.zeros(1, heads, outputs)) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(heads * outputs if concat else outputs))
        self.lin = nn.Linear(inputs, heads * outputs, bias=False)
        self.shape, self.concat = (heads, outputs), concat

    def forward(self, x, a):
        h = self.lin(x).unflatten(-1, self.shape)
        src, dst = (h * self.att_src).sum(-1), (h * self.att_dst).sum(-1)
        n, out = x.shape[-2], []
        for i in range(n):
            near = [j for j in range(n) if j == i or a[i, j] != 0]
            weights = torch.softmax(F.leaky_relu(dst[..., i, None, :] + src[..., near, :], 0.2), -2)
            out.append((weights[..., None] * h[..., near, :, :]).sum(-3))
        y = torch.stack(out, -3)
        return (y.flatten(-2) if self.concat else y.mean(-2)) + self.bias


edges = torch.tensor([[0, 0, 1, 2, 5, 3, 3], [1, 2, 2, 4, 0, 4, 3]])
graph = torch.zeros(6, 6).double()
graph.index_put_((edges[1], edges[0]), torch.ones(7).double(), accumulate=True)


def normalised(a):
    a = a + torch.eye(a.shape[-1], dtype=a.dtype)
    root = a.sum(-1, keepdim=True) ** -0.5
    return a * root * root.transpose(-1, -2)


weights = rng.random((2, 6, 6)).astype(np.float32)
layer("normalised_adjacency", nn.Identity(), torch.from_numpy(weights).double(), call=normalised)
for bias, x in ((True, draw(6, 3)), (False, draw(2, 6, 3))):
    layer("gcn_conv", GCN(3, 4, bias), x, normalised(graph).float().double(), of=3, to=4, bias=bias)
for heads, concat, x in ((1, True, draw(6, 3)), (3, True, draw(2, 6, 3)), (2, False, draw(6, 3))):
    layer("gat_conv", GAT(3, 4, heads, concat), x, graph.long(), of=3, to=4, heads=heads, concat=concat)


# L-BFGS is for one function: here sum(k (w - at)^2 / 2 + (w - at)^4 / 4).
begin, at = [draw(3, 4), draw(2)], [draw(3, 4), draw(2)]
steepness = [0.5 + 3 * torch.from_numpy(rng.random(p.shape, np.float32)).double() for p in begin]
for history, rate in ((20, 0.8), (4, 1.0)):
    params = [p.clone().requires_grad_() for p in begin]
    optimizer = o.LBFGS(params, lr=rate, max_iter=1, history_size=history)
    seen = []
    for i in range(100):
        def closure():
            optimizer.zero_grad()
            value = sum((k * (p - a) ** 2 / 2 + (p - a) ** 4 / 4).sum() for p, a, k in zip(params, at, steepness))
            value.backward()
            return value
        optimizer.step(closure)
        if i + 1 in (1, 10, 100):
            seen += [p.detach().clone() for p in params]
    optimizers.case("lbfgs", begin + at + steepness, seen, history=history, rate=rate)

rng = np.random.default_rng(48)
recurrent = File("recurrent")


def along(kind, mode, batch=2, given=False, cell=False, **options):
    module = (getattr(nn, kind + "Cell") if cell else getattr(nn, kind))(3, 4, **options)
    shape = (batch,) if batch else ()
    x = draw(*shape, 3) if cell else draw(*((batch, 5) if options.get("batch_first") else (5, *shape)), 3)
    count = 0 if cell else options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    states = [draw(*((count,) if count else ()), *shape, 4) for _ in range((2 if kind == "LSTM" else 1) * given)]

    def call(x, *state):
        state = (tuple(state) if kind == "LSTM" else state[0]) if state else None
        out = module(x, state)
        out = [out] if cell else [out[0], out[1]]
        return torch.cat([y.flatten() for part in out for y in (part if isinstance(part, tuple) else (part,))])
    options.pop("nonlinearity", None)
    layer(mode, module, x, *states, call=call, file=recurrent, cell=cell, names=list(module.state_dict()),
          **{k: options.get(k, d) for k, d in (("num_layers", 1), ("bias", True), ("batch_first", False), ("bidirectional", False))})


for kind, mode, more in (("RNN", "tanh", {}), ("RNN", "relu", {"nonlinearity": "relu"}), ("LSTM", "lstm", {}), ("GRU", "gru", {})):
    along(kind, mode, cell=True, **more)
    along(kind, mode, cell=True, given=True, bias=False, **more)
    along(kind, mode, **more)
    along(kind, mode, batch=0, given=True, **more)
    along(kind, mode, given=True, num_layers=2, bidirectional=True, batch_first=True, **more)

ctc_targets = torch.tensor([[1, 2, 2, 3], [3, 1, 0, 0], [2, 2, 2, 2]])  # the last takes seven steps
for r in ("mean", "sum", "none"):
    for blank, length, zero in ((0, 8, False), (4, 8, False), (0, 6, True)):
        loss("ctc", lambda a, t, i, n: F.ctc_loss(F.log_softmax(a, 2), t, i, n, blank, r, zero), draw(8, 3, 5),
             ctc_targets, torch.tensor([8, 5, length]), torch.tensor([4, 2, 4]), blank=blank, zero_infinity=zero, reduction=r)

for file in (layers, losses, optimizers, recurrent):
    file.write()
