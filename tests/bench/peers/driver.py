#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs workloads of tenon-bench in PyTorch (eager, compiled, and its oneDNN by calls of it alone) and tinygrad, where they
are installed.

Reads a line of JSON, writes a line of JSON: {} gives {"peers": [..], "missing": [..]}; {"prepare": NAME, ..} and
{"prepare_model": NAME, ..} give {"missing": ""} or why not; {"time": NAME, "calls": N} gives {"seconds": ..} of N calls of
what was prepared last under that name.
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


class Torch:
    def __init__(self, compiles=False):
        import torch

        self.torch, self.compiles = torch, compiles
        self.name = "torch " + torch.__version__.split("+")[0] + (" compiled" if compiles else "")

    def prepare_model(self, name, threads, path):
        import models

        self.torch.set_num_threads(threads)
        self.torch._dynamo.reset()
        return models.start(name, models.tensors(path), self.torch.compile if self.compiles else lambda f: f)

    def prepare(self, expression, threads, dtype, arrays):
        from torch.nn import functional

        self.torch.set_num_threads(threads)
        x = [self.torch.from_numpy(a.copy()) for a in arrays]
        if dtype == "bf16":
            x = [t.to(self.torch.bfloat16) for t in x]
        call = eval("lambda x: " + expression, {"torch": self.torch, "F": functional, "functools": functools})
        if self.compiles:
            self.torch._dynamo.reset()
            call = self.torch.compile(call)

        def run():
            with self.torch.no_grad():
                return call(x)

        def as_array(y):
            parts = y if isinstance(y, (tuple, list)) else [y]
            return numpy.concatenate([part.detach().to(self.torch.float32).numpy().ravel() for part in parts])

        return run, as_array


class OneDnn(Torch):
    """What PyTorch leaves to MKL, by the oneDNN that it brings."""

    def __init__(self):
        super().__init__()
        version = re.search(r"MKL-DNN v([\d.]+)", self.torch.__config__.show())
        if not version or not hasattr(self.torch.ops.mkldnn, "_linear_pointwise"):
            raise ImportError("PyTorch was built without it")
        self.name = f"oneDNN {version[1]} of torch"

    def prepare_model(self, name, threads, path):
        raise ValueError("has no models")


class Tinygrad:
    def __init__(self):
        import tinygrad

        self.tinygrad = tinygrad
        self.name = "tinygrad"

    def prepare(self, expression, threads, dtype, arrays):
        if threads != 1:
            raise ValueError("runs on one thread")
        x = [self.tinygrad.Tensor(a) for a in arrays]
        if dtype == "bf16":
            raise ValueError("bf16 is not run")
        x = [t.realize() for t in x]
        call = self.tinygrad.TinyJit(
            lambda: eval(expression, {"x": x, "dtypes": self.tinygrad.dtypes}).realize())
        return call, lambda y: y.numpy().astype(numpy.float32)

    def prepare_model(self, name, threads, path):
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
    """What is timed, having run three times, and what its first calls gave."""
    if "prepare_model" in asked:
        run = peer.prepare_model(asked["model"], asked["threads"], asked["tensors"])
        return run, [run().float().numpy().ravel() for _ in range(3)]
    if not asked["expression"]:
        raise ValueError("has no such function")
    arrays = [numpy.fromfile(file, READ_AS[asked["dtype"]]).reshape(shape) for file, shape in zip(asked["files"], asked["shapes"])]
    run, as_array = peer.prepare(asked["expression"], asked["threads"], asked["dtype"], arrays)
    return run, [as_array(run()) for _ in range(3)]


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
                run, results = prepare(peers[name], asked)
                results = results[:asked.get("checked", 1)]
                numpy.ascontiguousarray(numpy.concatenate([r.ravel() for r in results]), numpy.float32).tofile(asked["result"])
                ready[name] = run
                answer({"missing": ""})
            except Exception as error:  # whatever a library throws is why it has no row
                answer({"missing": (f"{type(error).__name__}: {error}".splitlines() or [""])[0][:200]})
        elif "time" in asked:
            run = ready[asked["time"]]
            run()  # wakes its threads
            begin = time.perf_counter()
            for _ in range(asked["calls"]):
                run()
            answer({"seconds": time.perf_counter() - begin})
        else:
            answer({"peers": list(peers), "missing": missing})


if __name__ == "__main__":
    main()
