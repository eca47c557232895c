#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs workloads of tenon-bench in PyTorch (eager, compiled, and its oneDNN by calls of it alone) and tinygrad, where they
are installed.

Reads a line of JSON, writes a line of JSON: {} gives {"peers": [..], "missing": [..]}; {"prepare": NAME, ..} and
{"prepare_model": NAME, ..} give {"missing": ""} or why not; {"time": NAME, "calls": N} gives {"seconds": ..} of N calls of
what was prepared last under that name. What names a "gpu" runs on the GPU that PyTorch calls so: eagerly, by the libraries of
its vendor, f32 without TF32; inputs without "files" are drawn there, and without "result" none is written.
"""
import functools
import json
import os
import re
import sys
import time

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print is not an answer
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads leave the cores to the others

import numpy  # noqa: E402

READ_AS = {"f32": numpy.float32, "bf16": numpy.float32, "i8": numpy.int8}
DRAWN_AS = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}


class Torch:
    def __init__(self, compiles=False):
        import torch

        self.torch, self.compiles = torch, compiles
        self.name = "torch " + torch.__version__.split("+")[0] + (" compiled" if compiles else "")

    def place(self, gpu):
        """Where it is to run, by the name of a GPU or "" for the processor, and what waits for it."""
        if not gpu:
            return self.torch.device("cpu"), lambda: None
        if self.compiles:
            raise ValueError("is not timed on GPUs")
        known = [self.torch.cuda.get_device_name(i) for i in range(self.torch.cuda.device_count())]
        if gpu not in known:
            raise ValueError(f"expected a GPU {gpu}, found {', '.join(known) or 'none'}")
        self.torch.backends.cuda.matmul.allow_tf32 = self.torch.backends.cudnn.allow_tf32 = False
        device = self.torch.device("cuda", known.index(gpu))
        return device, lambda: self.torch.cuda.synchronize(device)

    def drawn(self, shape, dtype, device):
        return self.torch.randn(shape, device=device).to(getattr(self.torch, DRAWN_AS[dtype]))

    def prepare_model(self, name, threads, path, device):
        import models

        self.torch.set_num_threads(threads)
        self.torch._dynamo.reset()
        return models.start(name, models.tensors(path), self.torch.compile if self.compiles else lambda f: f, device)

    def prepare(self, expression, threads, dtype, inputs, device):
        from torch.nn import functional

        self.torch.set_num_threads(threads)
        x = [a if self.torch.is_tensor(a) else self.torch.from_numpy(a.copy()) for a in inputs]
        if dtype == "bf16":
            x = [t.to(self.torch.bfloat16) for t in x]
        x = [t.to(device) for t in x]
        call = eval("lambda x: " + expression, {"torch": self.torch, "F": functional, "functools": functools})
        if self.compiles:
            self.torch._dynamo.reset()
            call = self.torch.compile(call)

        def run():
            with self.torch.no_grad():
                return call(x)

        def as_array(y):
            parts = y if isinstance(y, (tuple, list)) else [y]
            return numpy.concatenate([part.detach().to(self.torch.float32).cpu().numpy().ravel() for part in parts])

        return run, as_array


class OneDnn(Torch):
    """What PyTorch leaves to MKL, by the oneDNN that it brings."""

    def __init__(self):
        super().__init__()
        version = re.search(r"MKL-DNN v([\d.]+)", self.torch.__config__.show())
        if not version or not hasattr(self.torch.ops.mkldnn, "_linear_pointwise"):
            raise ImportError("PyTorch was built without it")
        self.name = f"oneDNN {version[1]} of torch"

    def place(self, gpu):
        if gpu:
            raise ValueError("is for processors")
        return super().place(gpu)

    def prepare_model(self, name, threads, path, device):
        raise ValueError("has no models")


class Tinygrad:
    def __init__(self):
        import tinygrad

        self.tinygrad = tinygrad
        self.name = "tinygrad"

    def place(self, gpu):
        if gpu:
            raise ValueError("is not timed on GPUs")
        return None, lambda: None

    def prepare(self, expression, threads, dtype, arrays, device):
        if threads != 1:
            raise ValueError("runs on one thread")
        x = [self.tinygrad.Tensor(a) for a in arrays]
        if dtype == "bf16":
            raise ValueError("bf16 is not run")
        x = [t.realize() for t in x]
        call = self.tinygrad.TinyJit(
            lambda: eval(expression, {"x": x, "dtypes": self.tinygrad.dtypes}).realize())
        return call, lambda y: y.numpy().astype(numpy.float32)

    def prepare_model(self, name, threads, path, device):
        raise ValueError("has no models")


def found():
    peers, missing = {}, []
    for name, make in (("torch", Torch), ("torch compiled", lambda: Torch(True)), ("oneDNN of torch", OneDnn), ("tinygrad", Tinygrad)):
        try:
            peer = make()
            peers[peer.name] = peer
        except ImportError as error:
            missing.append(f"{name}: {error}")
    return peers, missing


def prepare(peer, asked):
    """What is timed, having run three times, what waits for its end, and what its first calls gave."""
    device, wait = peer.place(asked["gpu"])
    if "prepare_model" in asked:
        run = peer.prepare_model(asked["model"], asked["threads"], asked["tensors"], device)
        return run, wait, [run().float().cpu().numpy().ravel() for _ in range(3)]
    if not asked["expression"]:
        raise ValueError("has no such function")
    dtype, shapes = asked["dtype"], asked["shapes"]
    if asked["files"]:
        inputs = [numpy.fromfile(file, READ_AS[dtype]).reshape(shape) for file, shape in zip(asked["files"], shapes)]
    else:
        inputs = [peer.drawn(shape, dtype, device) for shape in shapes]
    run, as_array = peer.prepare(asked["expression"], asked["threads"], dtype, inputs, device)
    results = [run() for _ in range(3)]
    return run, wait, [as_array(y) for y in results] if asked["result"] else []


def answer(facts):
    answers.write(json.dumps(facts) + "\n")
    answers.flush()


def main():
    (peers, missing), ready = found(), {}
    for line in sys.stdin:
        asked = json.loads(line)
        name = asked.get("prepare") or asked.get("prepare_model")
        if name:
            try:
                ready.pop(name, None)  # gives back its memory
                run, wait, results = prepare(peers[name], asked)
                results = results[:asked.get("checked", 1)]
                if results:
                    numpy.ascontiguousarray(numpy.concatenate([r.ravel() for r in results]), numpy.float32).tofile(asked["result"])
                ready[name] = run, wait
                answer({"missing": ""})
            except Exception as error:  # whatever a library throws is why it has no row
                answer({"missing": (f"{type(error).__name__}: {error}".splitlines() or [""])[0][:200]})
        elif "time" in asked:
            run, wait = ready[asked["time"]]
            run()  # wakes its threads
            wait()
            begin = time.perf_counter()
            for _ in range(asked["calls"]):
                run()
            wait()
            answer({"seconds": time.perf_counter() - begin})
        else:
            answer({"peers": list(peers), "missing": missing})


if __name__ == "__main__":
    main()
