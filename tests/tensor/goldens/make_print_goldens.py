#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes print.json: arrays and what NumPy prints of them. Usage: make_print_goldens.py (NumPy 2)."""
import json
import os

import numpy as np

random = np.random.default_rng(7)
inf, nan = np.inf, np.nan
arrays = []


def add(values, dtype):
    arrays.append(np.array(values, dtype=dtype))


for dtype in (np.float32, np.float64, np.float16):
    for values in (
            [1, 2, 3], [1.5, -2.25, 100], [0.1, 0.2, 0.3], [1e-5, 1, 2], [1e10, 1], [0, -0.0], [nan, inf, -inf, 1.5], [nan, nan],
            [-inf], [1 / 3, 2 / 3, 1e3], [1e-8, 1e-9], [1234567.0, 0.5], [99999999.0, 1.0], [100000000.0], [], [[1.5, 2], [3, 4]],
            [[[0.001, 1], [2, 3]], [[4, 5], [6, 7.125]]], 0.1, 1.0, 1e-5, 1e16, -0.0, nan, -inf, 123456.789, [1e300, 1e-300], 3e-310,
            [5e-324, 1], [0.12345678912345, 12.3], [1.00000001, 2]):
        with np.errstate(over="ignore"):
            add(values, dtype)
    arrays.append(random.normal(size=(3, 17)).astype(dtype))
    arrays.append((random.normal(size=(4, 5)) * 10.0 ** random.integers(-3, 4, size=(4, 5))).astype(dtype))
    arrays.append(random.normal(size=1001).astype(dtype))
for dtype in (np.int8, np.int32, np.int64, np.uint8, np.uint64):
    for values in ([1, 2, 3], [100, 2], [], [[1, 22], [3, 4]], 7, [[[1]]]):
        add(values, dtype)
add([-100, 5], np.int16)
add([-2**63, 2**63 - 1], np.int64)
add([2**64 - 1], np.uint64)
add([True, False], bool)
add(True, bool)
add([[True], [True]], bool)
arrays += [np.arange(1000), np.arange(1001), np.arange(2000).reshape(40, 50), np.arange(3000).reshape(10, 3, 100), np.arange(30).reshape(2, 3, 5),
           np.arange(60).reshape(1, 60) * 1000, np.zeros((2, 0, 3)), np.arange(1200).reshape(2, 2, 2, 150), np.zeros((1001, 2), np.float32)]

cases = []
for a in arrays:
    name = {"float16": "f16", "float32": "f32", "float64": "f64", "bool": "bool"}.get(a.dtype.name) or a.dtype.name.replace("uint", "u").replace("int", "i")
    count = a.size
    # Long ones are made of few bytes: an arange, or all zeros.
    made = "hex"
    if count > 60 and np.array_equal(a.ravel(), np.arange(count).astype(a.dtype)):
        made = "arange"
    elif count > 60 and not a.any():
        made = "zeros"
    cases.append({"dtype": name, "shape": list(a.shape), "made": made,
                  "hex": np.ascontiguousarray(a).tobytes().hex() if made == "hex" else "", "text": str(a)})
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "print.json")
with open(path, "w", encoding="utf-8") as file:
    json.dump({"numpy": np.__version__, "cases": cases}, file, indent=0)
    file.write("\n")
print(len(cases), "cases,", os.path.getsize(path), "bytes")
