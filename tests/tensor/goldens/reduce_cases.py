# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions: made in 80-bit floats of the exact inputs, and rounded once."""
import numpy as np

from golden_file import DTYPES, FLOATS, INTS, exact, to_dtype
from sample_inputs import AXES, axes_of, floats, int_limits, integers, with_limits

def norm_of(p):
    def norm(x, axis, keepdims):
        a = np.abs(x)
        if p == np.inf:
            return a.max(axis=axis, keepdims=keepdims)
        if p == -np.inf:
            return a.min(axis=axis, keepdims=keepdims)
        if p == 0:
            return (a != 0).sum(axis=axis, keepdims=keepdims).astype(np.longdouble)
        return (a ** np.longdouble(p)).sum(axis=axis, keepdims=keepdims) ** (1 / np.longdouble(p))
    return norm


def logsumexp(x, axis, keepdims):
    m = x.max(axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0)
    y = np.log(np.exp(x - m).sum(axis=axis, keepdims=True)) + m
    return y if keepdims else y.squeeze(axis if axis is not None else tuple(range(x.ndim)))


def log_softmax(x, axis):
    d = x - x.max(axis=axis, keepdims=True)
    return d - np.log(np.exp(d).sum(axis=axis, keepdims=True))


REAL = {
    "sum": lambda x, axis, keepdims: x.sum(axis=axis, keepdims=keepdims),
    "prod": lambda x, axis, keepdims: x.prod(axis=axis, keepdims=keepdims),
    "mean": lambda x, axis, keepdims: x.mean(axis=axis, keepdims=keepdims),
    "var": lambda x, axis, keepdims: x.var(axis=axis, keepdims=keepdims),
    "stddev": lambda x, axis, keepdims: x.std(axis=axis, keepdims=keepdims),
    "logsumexp": logsumexp,
}
QUESTIONS = {"any": np.any, "all": np.all, "count_nonzero": lambda x, **k: np.count_nonzero(x, **k).astype(np.int64)
             if isinstance(np.count_nonzero(x, **k), np.ndarray) else np.int64(np.count_nonzero(x, **k))}


def reduce_cases(f):
    def both(name, x, function, **attributes):
        whole = x.dtype in (np.float32, np.int32)  # the others: fewer ways
        for axes in (AXES if whole else AXES[2:3]) if x.ndim == 3 else [(1,)]:
            for keep in (False, True) if whole else (False,):
                f.case(name, [x], function(x, axes, keep), keep=int(keep), **axes_of(axes), **attributes)
    for dtype in FLOATS:
        def real(function, dtype=dtype):
            return lambda x, axis, keep: to_dtype(function(exact(x), axis=axis, keepdims=keep), dtype)
        inputs = [floats(dtype), with_limits(dtype)]
        for x in inputs:
            for name, function in REAL.items():
                both(name, x, real(function))
            for p in (2, 1, 3, 0.5, 0, np.inf, -np.inf) if dtype in ("f32", "f64") else (2, np.inf):
                both("norm", x, real(norm_of(p)), p=p)
            both("ptp", x, real(np.ptp))
        both("var", inputs[0], real(lambda x, axis, keepdims: x.var(axis=axis, keepdims=keepdims, ddof=1)), ddof=1)
        for x in inputs:
            for axes in [(-1,), (0, 1)]:
                f.case("log_softmax", [x], to_dtype(log_softmax(exact(x), axes), dtype), axes=list(axes))
        # far numbers stay finite
        for scale in (1e4,) if dtype != "f8e4m3" else (400.0,):
            far = to_dtype(np.array([[scale, -scale, 0], [-scale, -scale, -scale], [scale, scale, 1]]), dtype)
            f.case("logsumexp", [far], to_dtype(logsumexp(exact(far), (1,), False), dtype), keep=0, axes=[1])
            f.case("log_softmax", [far], to_dtype(log_softmax(exact(far), (1,)), dtype), axes=[1])
        for q in (0.0, 0.3, 0.5, 1.0):
            for x in inputs:
                y = np.quantile(x.astype(np.float64), q, axis=1)
                rows = np.isnan(x.astype(np.float64)).any(axis=1)
                if not np.array_equal(np.isnan(y), rows):  # NumPy steps between equal infinities
                    continue
                f.case("quantile", [x], to_dtype(y, dtype), q=q, axes=[1], keep=0)
        f.case("median", [floats(dtype)], to_dtype(np.median(floats(dtype).astype(np.float64)), dtype), keep=0)
        for x in inputs:
            for name, function in (("argmax", np.argmax), ("argmin", np.argmin)):
                wide = x.astype(np.float64)
                f.case(name, [x], np.int64(function(wide)), keep=0)
                f.case(name, [x], np.asarray(function(wide, axis=1), np.int64), axis=1, keep=0)
            for name, function in QUESTIONS.items():
                both(name, x, lambda x, axis, keep: np.asarray(
                    function(x.astype(np.float64) != 0, axis=axis, keepdims=keep)))
    for method in ("lower", "higher", "midpoint", "nearest"):
        x = floats("f32", (4, 5))
        f.case("quantile", [x], np.quantile(x, 0.3, axis=(0, 1), method=method).astype(np.float32), q=0.3,
               axes=[0, 1], keep=0, method=method)
        f.case("quantile", [x], np.quantile(x, 0.375, axis=1, method=method, keepdims=True).astype(np.float32),
               q=0.375, axes=[1], keep=1, method=method)
    for dtype in INTS + ["bool"]:
        x = integers(dtype) if dtype != "bool" else integers("u8", high=2).astype(bool)
        edge = int_limits(dtype) if dtype != "bool" else np.array([[True, False], [True, True]])
        for v in (x, edge):
            for name, function in QUESTIONS.items():
                both(name, v, lambda v, axis, keep: np.asarray(function(v, axis=axis, keepdims=keep)))
            for name, function in (("argmax", np.argmax), ("argmin", np.argmin)):
                f.case(name, [v], np.asarray(function(v, axis=1), np.int64), axis=1, keep=0)
        if dtype != "bool":
            both("ptp", x, lambda v, axis, keep: np.asarray(np.ptp(v, axis=axis, keepdims=keep), DTYPES[dtype]))
        for name, function in (("sum", np.sum), ("prod", np.prod)):  # in NumPy's dtype, and in a chosen one
            for v in (x, edge):
                both(name, v, lambda v, axis, keep: np.asarray(function(v, axis=axis, keepdims=keep)))
            for other in (dtype, "i32", "u8", "f32"):
                f.case(name, [x], np.asarray(function(x, axis=(1, 2), dtype=DTYPES[other])), axes=[1, 2], keep=0, dtype=other)
        both("mean", x, lambda v, axis, keep: v.mean(axis=axis, keepdims=keep).astype(np.float32))
    empty, zero_d = np.zeros((0, 3), np.float32), np.array(2.5, np.float32)
    for name, answer in (("any", False), ("all", True)):
        f.case(name, [empty], np.full(3, answer), axes=[0], keep=0)
    f.case("count_nonzero", [empty], np.zeros(3, np.int64), axes=[0], keep=0)
    f.case("logsumexp", [empty], np.full(3, -np.inf, np.float32), axes=[0], keep=0)
    f.case("mean", [empty], np.full(3, np.nan, np.float32), axes=[0], keep=0)
    f.case("norm", [empty], np.zeros(3, np.float32), axes=[0], keep=0, p=2)
    for name, answer in (("any", True), ("all", True), ("count_nonzero", np.int64(1)), ("argmax", np.int64(0)),
                         ("argmin", np.int64(0)), ("mean", zero_d), ("var", np.float32(0)), ("stddev", np.float32(0)),
                         ("ptp", np.float32(0)), ("logsumexp", zero_d), ("median", zero_d)):
        f.case(name, [zero_d], np.asarray(answer), keep=0)
    f.case("norm", [zero_d], zero_d, keep=0, p=3)
