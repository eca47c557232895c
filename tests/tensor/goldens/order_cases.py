# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running sums, products and extremes; order and counting."""
import numpy as np

from golden_file import DTYPES, FLOATS, INTS, exact, to_dtype
from sample_inputs import WIDE, floats, int_limits, integers, with_limits

def cumulated(function, x, axis):
    return function(x, axis=axis) if axis is not None else function(x.ravel())


def log_cumulated(x, axis=0):
    return np.logaddexp.accumulate(x, axis=axis)


SCANS = {"cumsum": np.cumsum, "cumprod": np.cumprod, "cummax": np.maximum.accumulate,
         "cummin": np.minimum.accumulate, "logcumsumexp": log_cumulated}


def scan_cases(f):
    for dtype in FLOATS:
        inputs = [(floats(dtype, scale=1.5), (None, 0, 1, -1)), (with_limits(dtype), (1,))]
        if dtype in WIDE:
            inputs.append((floats(dtype, (2, 280), scale=1.1), (1,)))
        for x, axes in inputs:
            for name, function in SCANS.items():
                if name == "cumprod" and x.size > 500:
                    continue
                for axis in axes:
                    y = to_dtype(cumulated(function, exact(x), axis), dtype)
                    f.case(name, [x], y, **({} if axis is None else {"axis": axis}))
    for dtype in INTS:
        for x in (integers(dtype, (2, 40)), int_limits(dtype)):
            for name, function in (("cumsum", np.add.accumulate), ("cumprod", np.multiply.accumulate),
                                   ("cummax", np.maximum.accumulate), ("cummin", np.minimum.accumulate)):
                if name in ("cumsum", "cumprod"):
                    f.case(name, [x], function(x, axis=1, dtype=x.dtype), axis=1, dtype=dtype)
                    f.case(name, [x], (np.cumsum if name == "cumsum" else np.cumprod)(x, axis=1), axis=1)
                else:
                    f.case(name, [x], function(x, axis=1, dtype=x.dtype), axis=1)
    b = integers("u8", (2, 40), high=2).astype(bool)
    f.case("cumsum", [b], np.cumsum(b, axis=1), axis=1)
    f.case("cumprod", [b], np.cumprod(b, axis=1), axis=1)
    f.case("cummax", [b], np.logical_or.accumulate(b, axis=1), axis=1)
    f.case("cummin", [b], np.logical_and.accumulate(b, axis=1), axis=1)
    for name in SCANS:
        f.case(name, [np.zeros((2, 0), np.float32)], np.zeros((2, 0), np.float32), axis=1)
        f.case(name, [np.array(1.5, np.float32)], np.array([1.5], np.float32))


def order_cases(f):
    def order(x, axis):
        wide = x.astype(np.float64) if x.dtype.kind not in "iub" else x
        at = np.argsort(wide, axis=axis, kind="stable")
        f.case("argsort", [x], at, axis=axis, descending=0)
        if not (wide == 0).any() or x.dtype.kind in "iub":
            f.case("sort", [x], np.take_along_axis(x, at, axis), axis=axis, descending=0)
            f.case("sort", [x], np.flip(np.take_along_axis(x, at, axis), axis), axis=axis, descending=1)
        # of equals the first one first, NaN largest
        n = x.shape[axis]
        back = n - 1 - np.flip(np.argsort(np.flip(wide, axis), axis=axis, kind="stable"), axis)
        f.case("argsort", [x], back, axis=axis, descending=1)
    for dtype in FLOATS:
        order(floats(dtype, (2, 11)), 1)
        order(with_limits(dtype), 1)
        order(with_limits(dtype), 0)
        x = floats(dtype, (3, 9))
        wide = x.astype(np.float64)
        back = 8 - np.flip(np.argsort(np.flip(wide, 1), axis=1, kind="stable"), 1)[:, :4]
        f.case("topk", [x], [np.take_along_axis(x, back, 1), back], axis=1, k=4, largest=1)
        at = np.argsort(wide, axis=1, kind="stable")[:, :3]
        f.case("topk", [x], [np.take_along_axis(x, at, 1), at], axis=1, k=3, largest=0)
        line = np.sort(np.append(wide.ravel()[:12], [np.nan] * 2)).astype(x.dtype)
        probes = with_limits(dtype)
        for right in (0, 1):
            f.case("searchsorted", [line, probes], np.searchsorted(
                line.astype(np.float64), probes.astype(np.float64), side="right" if right else "left"), right=right)
        for v in (to_dtype(np.array([2, 1, 2, np.nan, 1, 3, np.nan, 2.0]), dtype), floats(dtype, (2, 3))):
            values, first, inverse, counts = np.unique(v.astype(np.float64), True, True, True)
            f.case("unique", [v], [values.astype(v.dtype), first, inverse.reshape(v.shape), counts])
        f.case("masked_select", [x, wide > 0.5], x[wide > 0.5])
        f.case("nonzero", [with_limits(dtype)], list(np.nonzero(with_limits(dtype).astype(np.float64))))
    for dtype in INTS:
        for x in (integers(dtype, (2, 9)), int_limits(dtype)):
            order(x, 1)
        x = integers(dtype, (2, 9))
        values, first, inverse, counts = np.unique(x, True, True, True)
        f.case("unique", [x], [values, first, inverse.reshape(x.shape), counts])
        line = np.sort(x.ravel())
        for right in (0, 1):
            f.case("searchsorted", [line, int_limits(dtype)], np.searchsorted(
                line, int_limits(dtype), side="right" if right else "left"), right=right)
        whole = np.array([0, 3, 1, 3, 3, 7], DTYPES[dtype])
        f.case("bincount", [whole], np.bincount(whole.astype(np.int64)))
        f.case("bincount", [whole], np.bincount(whole.astype(np.int64), minlength=10)[:5], length=5)
        f.case("nonzero", [x], list(np.nonzero(x)))
    order(np.array([[True, False, True, False]]), 1)
    order(floats("f32", (150,)), 0)
    order(integers("i64", (70,)), 0)
    weights = floats("f32", (6,))
    f.case("bincount", [np.array([0, 3, 1, 3, 3, 7]), weights],
           np.bincount([0, 3, 1, 3, 3, 7], weights=weights.astype(np.float64)).astype(np.float32), length=8)
    for dtype in ("f16", "f32", "f64"):
        x = floats(dtype, (40,))
        x[3], x[4], x[5] = np.nan, 2, -2
        counts, edges = np.histogram(x[~np.isnan(x)].astype(np.float64), bins=7, range=(-2, 2))
        f.case("histogram", [x], [counts, edges.astype(np.float64 if dtype == "f64" else np.float32)], bins=7,
               low=-2, high=2)
    nothing = np.zeros((2, 0), np.float32)
    f.case("sort", [nothing], nothing, axis=1, descending=0)
    f.case("argsort", [nothing], nothing.astype(np.int64), axis=1, descending=0)
    f.case("unique", [nothing], [np.zeros(0, np.float32), np.zeros(0, np.int64), np.zeros((2, 0), np.int64),
                                 np.zeros(0, np.int64)])
    f.case("searchsorted", [np.zeros(0, np.float32), np.array([1, np.nan], np.float32)], np.zeros(2, np.int64), right=0)
    f.case("masked_select", [np.float32([1, 2]), np.array([[True, False], [True, True]])], np.float32([1, 1, 2]))
    f.case("nonzero", [nothing], [np.zeros(0, np.int64)] * 2)
