# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of the cases of reductions, scans and order."""
import numpy as np

from golden_file import DTYPES, to_dtype

WIDE = ["f16", "bf16", "f32", "f64"]
SHAPE = (2, 3, 4)


def floats(dtype, shape=SHAPE, seed=1, scale=3.0):
    return to_dtype(np.random.default_rng(seed).uniform(-scale, scale, shape), dtype)


def integers(dtype, shape=SHAPE, seed=2, low=-9, high=9):
    low = max(low, 0) if dtype[0] == "u" else low
    return np.random.default_rng(seed).integers(low, high, shape).astype(DTYPES[dtype])


def with_limits(dtype, axis_length=5):
    """Rows with NaN, infinities, equal numbers and both zeros."""
    rows = [[1, np.nan, 3, 2, 2], [np.inf, 1, -2, 0, 5], [-np.inf, 4, 4, 1, -1], [0, -0.0, 0, -0.0, 0],
            [np.inf, -np.inf, 2, 1, 0], [-np.inf] * 5, [np.inf] * 5]
    if dtype == "f8e4m3":
        rows = [[448 if v == np.inf else -448 if v == -np.inf else v for v in row] for row in rows]
    return np.array(rows, np.float64)[:, :axis_length].astype(DTYPES[dtype])


def int_limits(dtype):
    info = np.iinfo(DTYPES[dtype])
    return np.array([[info.max, info.min, 0, 1, info.max], [3, 3, 2, 1, 1]], DTYPES[dtype])


def axes_of(axes):
    return {} if axes is None else {"axes": list(axes)}


AXES = [None, (1,), (0, 2), (-1,)]
