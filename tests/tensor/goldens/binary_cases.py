# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of two and three tensors, and dtypes that meet."""
import ctypes

import mpmath
import numpy as np

from golden_file import DTYPES, FLOATS, INTS, NAMES, L, exact, int_pool, limits, pool, to_dtype

LIBM = ctypes.CDLL("libm.so.6")
LIBM.pow.argtypes, LIBM.pow.restype = [ctypes.c_double, ctypes.c_double], ctypes.c_double
PAIRS = [0.0, -0.0, 1, -1, 0.5, 2, -2, 3, -3.7, 0.1, 7, 40.25, 1e3]


def pairs(dtype):
    """All pairs of a few numbers, and of limits with some."""
    with np.errstate(all="ignore"):
        plain = to_dtype(np.array(PAIRS), dtype)
    edges = np.array(limits(dtype), np.float64).astype(DTYPES[dtype])
    n, m = len(plain), len(edges)
    left, right = [plain[i] for i in range(n)], [plain[(5 * i + 3) % n] for i in range(n)]
    for i in range(n):  # beside 0, 1, a whole and a broken number
        left.append(plain[i])
        right.append(plain[(0, 3, 6, 9)[i % 4]])
    for i in range(m):
        left += [edges[i], edges[i], plain[2 + i % 6]]
        right += [edges[(3 * i + 1) % m], plain[(i * 3 + 2) % n], edges[i]]
    return np.array(left, DTYPES[dtype]), np.array(right, DTYPES[dtype])


def int_pairs(dtype):
    p = int_pool(dtype)
    a, b = np.meshgrid(p, p)
    return a.ravel()[::4], b.ravel()[::4]


def power(x, y):
    """x ** y to 80 bits by mpmath where that can say, else as C's pow."""
    def one(a, b):
        c = np.float64(LIBM.pow(float(a), float(b)))  # np.power is sqrt for 0.5
        if not np.isfinite(c) or c == 0 or not np.isfinite(a) or not np.isfinite(b) or a == 0 or abs(b) > 1e9:
            return L(c)
        sign = -1 if c < 0 else 1
        y = mpmath.power(abs(mpmath.mpf(float(a))), mpmath.mpf(float(b)))
        high = float(y)
        return sign * (L(high) + L(float(y - high)))
    return np.array([one(a, b) for a, b in zip(x, y)], L)


def logaddexp(x, y):
    m = np.maximum(x, y)
    return np.where(x == y, m + np.log(L(2)), m + np.log1p(np.exp(-np.abs(x - y))))


def xlogy(x, y):
    return np.where((x == 0) & ~np.isnan(y), L(0), x * np.log(y))


BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "divide": np.divide,
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin,
    "copysign": np.copysign, "heaviside": np.heaviside, "hypot": np.hypot, "atan2": np.arctan2,
    "logaddexp": logaddexp, "xlogy": xlogy, "pow": power,
    "prelu": lambda x, s: np.where(x < 0, x * s, x),
}
# NumPy's own answer in the dtype itself
DIVISION = {"fmod": np.fmod, "remainder": np.remainder, "floor_divide": np.floor_divide}
COMPARE = {"less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
           "equal": np.equal, "not_equal": np.not_equal, "isclose": np.isclose,
           "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
BINARY_INT = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
              "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod, "remainder": np.remainder,
              "floor_divide": np.floor_divide, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
              "bitwise_xor": np.bitwise_xor}


def int_power(x, y, dtype):
    """As Python's integers, wrapped; a negative power is that of 1/x, truncated."""
    def one(a, b):
        a, b = int(a), int(b)
        if b < 0:
            return 1 if a == 1 else (-1 if b % 2 else 1) if a == -1 else 0
        bits = np.iinfo(DTYPES[dtype]).bits
        c = pow(a, b, 1 << bits)
        return c - (1 << bits) if np.iinfo(DTYPES[dtype]).min < 0 and c >> (bits - 1) else c
    return np.array([one(a, b) for a, b in zip(x, y)], DTYPES[dtype])


def binary_cases(f):
    for dtype in FLOATS:
        x, y = pairs(dtype)
        f.name(f"x.{dtype}", x)
        f.name(f"y.{dtype}", y)
    for dtype in INTS:
        x, y = int_pairs(dtype)
        f.name(f"x.{dtype}", x)
        f.name(f"y.{dtype}", y)
    booleans = np.array([False, False, True, True]), np.array([False, True, False, True])
    rng = np.random.default_rng(7)
    column = rng.uniform(0.5, 3, (3, 1)).astype(np.float32)
    row = rng.uniform(-2, 3, (2, 1, 4)).astype(np.float32)
    for name, function in BINARY.items():
        for dtype in FLOATS:
            x, y = pairs(dtype)
            f.case(name, [f"x.{dtype}", f"y.{dtype}"], to_dtype(function(exact(x), exact(y)), dtype))
        wide = np.broadcast_arrays(exact(column), exact(row))
        flat = function(wide[0].ravel(), wide[1].ravel()).reshape(wide[0].shape)
        f.case(name, [column, row], to_dtype(flat, "f32"))
        f.case(name, [np.zeros((0, 2), np.float32), np.ones(2, np.float32)], np.zeros((0, 2), np.float32))
        zero_d = np.array(1.25, np.float32), np.array(0.5, np.float32)
        f.case(name, list(zero_d), to_dtype(function(exact(zero_d[0])[None], exact(zero_d[1])[None])[0], "f32").reshape(()))
    for name, function in DIVISION.items():
        for dtype in FLOATS:
            x, y = pairs(dtype)
            wide = function(x, y) if dtype in ("f32", "f64") else function(x.astype(np.float32), y.astype(np.float32))
            f.case(name, [x, y], to_dtype(wide, dtype))
    for name, function in COMPARE.items():
        for dtype in FLOATS:
            x, y = pairs(dtype)
            f.case(name, [f"x.{dtype}", f"y.{dtype}"], function(x.astype(np.float64), y.astype(np.float64)))
        if name != "isclose":
            for dtype in INTS:
                x, y = int_pairs(dtype)
                f.case(name, [f"x.{dtype}", f"y.{dtype}"], function(x, y))
    for name, function in BINARY_INT.items():
        for dtype in INTS:
            x, y = int_pairs(dtype)
            f.case(name, [f"x.{dtype}", f"y.{dtype}"], function(x, y))
        if "bitwise" in name:
            f.case(name, list(booleans), function(*booleans))
    for dtype in INTS:
        x, y = int_pairs(dtype)
        f.case("pow", [f"x.{dtype}", f"y.{dtype}"], int_power(x, y, dtype))
        bits = np.iinfo(DTYPES[dtype]).bits
        by = np.array([0, 1, 2, bits - 1, bits, 100], DTYPES[dtype])
        x = np.resize(int_pool(dtype), 12)
        by = np.resize(by, 12)
        low = (1 << bits) - 1
        def wrap(v):
            v &= low
            return v - (1 << bits) if dtype[0] == "i" and v >> (bits - 1) else v
        f.case("shift_left", [x, by], np.array([wrap(int(a) << int(b)) for a, b in zip(x, by)], DTYPES[dtype]))
        f.case("shift_right", [x, by], np.array([int(a) >> int(b) for a, b in zip(x, by)], DTYPES[dtype]))
    for dtype in FLOATS:
        x = pool(dtype)
        low, high = to_dtype(np.array(-1.0), dtype), to_dtype(np.array(2.0), dtype)
        f.case("clip", [x, low, high], to_dtype(np.clip(exact(x), -1, 2), dtype))
        a, b = pairs(dtype)
        a, b = a[:24], b[:24]
        w = to_dtype(np.array(0.25), dtype)
        f.case("lerp", [a, b, w], to_dtype(exact(a) + L(0.25) * (exact(b) - exact(a)), dtype))
    # Dtypes that meet.
    for a in DTYPES:
        for b in DTYPES:
            try:
                both = NAMES[np.promote_types(DTYPES[a], DTYPES[b])]
            except (TypeError, np.exceptions.DTypePromotionError):
                both = None
            if {a, b} & {"bf16", "f8e4m3", "f8e5m2"} and a != b:  # NumPy is silent or leaves it to casts
                narrow = {"bf16", "f8e4m3", "f8e5m2", "f16"}
                both = ("f64" if "f64" in (a, b) else "f32" if "f32" in (a, b) or {a, b} <= narrow
                        else a if a in narrow else b)
            one = np.array([1], np.int8)
            f.case("promote", [one.astype(DTYPES[a]), one.astype(DTYPES[b])], one.astype(DTYPES[both]))
