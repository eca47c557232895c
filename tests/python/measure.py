# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python package costs over the library: microseconds of a call, medians of runs.

    PYTHONPATH=build/python .env/python/bin/python tests/python/measure.py
"""
import statistics
import subprocess
import sys
import time

import numpy as np
import tenon as tn


def microseconds(f, n, runs=15):
    def one():
        begin = time.perf_counter()
        for _ in range(n):
            f()
        return (time.perf_counter() - begin) / n * 1e6
    one()
    return statistics.median(one() for _ in range(runs))


def main():
    x = tn.realize(tn.ones((2, 3)) + 1)
    rows = [("x + x", lambda: x + x), ("x + 1", lambda: x + 1), ("tn.sqrt(x)", lambda: tn.sqrt(x)),
            ("x.sum(axis=0)", lambda: x.sum(axis=0)), ("tn.add(x, 1)", lambda: tn.add(x, 1)), ("x[0]", lambda: x[0]),
            ("x.shape", lambda: x.shape), ("x.dtype", lambda: x.dtype)]
    for name, f in rows:
        print(f"traced: {name:20} {microseconds(f, 2000):8.2f} us")
    arguments = [tn.realize(tn.ones(4) + i) for i in range(20)]
    same = tn.compile(lambda *a: a[0])
    print(f"compiled call, 20 arguments, nothing to run {microseconds(lambda: same(*arguments), 500):8.2f} us")
    step = tn.compile(lambda *a: a[0] + a[1])
    print(f"compiled call, 20 arguments, one kernel     {microseconds(lambda: step(*arguments), 500):8.2f} us")
    one = tn.compile(lambda a, b: a + b)
    print(f"compiled call, 2 arguments, one kernel      {microseconds(lambda: one(*arguments[:2]), 500):8.2f} us")
    a = np.ones(256, np.float32)
    print(f"DLPack, NumPy to tensor and back            {microseconds(lambda: np.from_dlpack(tn.from_dlpack(a)), 2000):8.2f} us")
    code = "import time; t = time.perf_counter(); import tenon; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(9)]
    print(f"import tenon                                {statistics.median(times) * 1000:8.2f} ms")


if __name__ == "__main__":
    main()
