#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs workloads of tenon-bench in PyTorch (eager and compiled) and tinygrad, where they are installed.

Reads a line of JSON, writes a line of JSON: {} gives {"peers": [..]}; {"prepare": NAME, ..} gives {"missing": ""} or why not;
{"time": NAME, "calls": N} gives {"seconds": ..} of N calls of what was prepared last under that name.
"""
import json
import os
import sys
import time

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print is not an answer
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads leave the cores to the others

import numpy  # noqa: E402

READ_AS = {"f32": numpy.float32, "bf16": numpy.float32, "i8": numpy.int8}


class Torch:
    def __init__(self, compiles):
        import torch

        self.torch, self.compiles = torch, compiles
        self.name = "torch " + torch.__version__.split("+")[0] + (" compiled" if compiles else "")

    def prepare(self, expression, threads, dtype, arrays):
        from torch.nn import functional

        self.torch.set_num_threads(threads)
        x = [self.torch.from_numpy(a.copy()) for a in arrays]
        if dtype == "bf16":
            x = [t.to(self.torch.bfloat16) for t in x]
        call = eval("lambda x: " + expression, {"torch": self.torch, "F": functional})
        if self.compiles:
            self.torch._dynamo.reset()
            call = self.torch.compile(call)

        def run():
            with self.torch.no_grad():
                return call(x)

        return run, lambda y: y.to(self.torch.float32).numpy()


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


def found():
    peers = {}
    for make in (lambda: Torch(False), lambda: Torch(True), Tinygrad):
        try:
            peer = make()
            peers[peer.name] = peer
        except ImportError:
            pass
    return peers


def answer(facts):
    answers.write(json.dumps(facts) + "\n")
    answers.flush()


def main():
    peers, ready = found(), {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "prepare" in asked:
            try:
                if not asked["expression"]:
                    raise ValueError("has no such function")
                arrays = [numpy.fromfile(file, READ_AS[asked["dtype"]]).reshape(shape)
                          for file, shape in zip(asked["files"], asked["shapes"])]
                run, as_array = peers[asked["prepare"]].prepare(asked["expression"], asked["threads"], asked["dtype"], arrays)
                for _ in range(3):
                    result = run()
                numpy.ascontiguousarray(as_array(result), numpy.float32).tofile(asked["result"])
                ready[asked["prepare"]] = run
                answer({"missing": ""})
            except Exception as error:  # whatever a library throws is why it has no row
                answer({"missing": f"{type(error).__name__}: {error}".splitlines()[0][:200]})
        elif "time" in asked:
            run = ready[asked["time"]]
            run()  # wakes its threads
            begin = time.perf_counter()
            for _ in range(asked["calls"]):
                run()
            answer({"seconds": time.perf_counter() - begin})
        else:
            answer({"peers": list(peers)})


if __name__ == "__main__":
    main()
