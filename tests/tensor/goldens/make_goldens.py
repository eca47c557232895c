#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the golden files of the tensor API from NumPy, JAX and mpmath: `pip install numpy jax mpmath`.

A golden file has a line a case:

    name | inputs | attributes | outputs

Inputs and outputs are `dtype[shape]:hex`, the elements' bits in order, or `@name` of a line
`@name = dtype[shape]:hex`. Attributes are `key=value`, values numbers or words with commas.
golden.hpp reads them.

Real functions are evaluated in 80-bit floats (or by mpmath) on the exact inputs and rounded once;
where JAX has the function too, it must agree. Everything else is NumPy's own answer.
"""
import os
import sys

import jax
import ml_dtypes
import mpmath
import numpy as np

jax.config.update("jax_enable_x64", True)
HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
}
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}
FLOATS = ["f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2"]
SIGNED = ["i8", "i16", "i32", "i64"]
INTS = SIGNED + ["u8", "u16", "u32", "u64"]


def to_dtype(values, dtype):
    """Rounds exact values once. Integers wrap, f8e4m3 saturates, as CAST does."""
    if dtype == "f8e4m3":
        values = np.where(np.isnan(values), values, np.clip(values, -448, 448)).astype(np.float64)
    elif dtype in ("f8e5m2", "bf16"):
        values = np.asarray(values, np.float64)
    return np.asarray(values).astype(DTYPES[dtype])


def exact(x):
    """Floats in 80 bits, whatever their dtype."""
    if NAMES[x.dtype] in ("bf16", "f8e4m3", "f8e5m2"):
        x = x.astype(np.float64)
    return x.astype(np.longdouble)


class File:
    def __init__(self, name, about):
        self.path = os.path.join(HERE, name + ".txt")
        self.lines = [f"# {about}",
                      f"# Made by make_goldens.py with NumPy {np.__version__}, JAX {jax.__version__}, "
                      f"mpmath {mpmath.__version__}."]
        self.named = {}

    def text(self, x):
        x = np.asarray(x)
        dims = ",".join(str(d) for d in x.shape)
        size = x.dtype.itemsize
        bits = x.ravel().view(f"u{size}") if x.size else []
        if x.dtype == np.bool_:
            bits = x.ravel().astype(np.uint8)
        hexes = "".join(f"{int(b):0{2 * size}x}" for b in bits)
        return f"{NAMES[x.dtype]}[{dims}]:{hexes}"

    def name(self, key, x):
        self.named[key] = self.text(x)
        self.lines.append(f"@{key} = {self.named[key]}")

    def case(self, function, inputs, outputs, **attributes):
        """`inputs`: arrays, or keys given to name(). `outputs`: an array or several."""
        words = [f"@{x}" if isinstance(x, str) else self.text(x) for x in inputs]
        several = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        def value(v):
            return ",".join(str(e) for e in v) if isinstance(v, (list, tuple)) else str(v)
        options = " ".join(f"{k}={value(v)}" for k, v in attributes.items())
        self.lines.append(f"{function} | {' '.join(words)} | {options} | "
                          f"{' '.join(self.text(o) for o in several)}")

    def write(self):
        with open(self.path, "w") as f:
            f.write("\n".join(self.lines) + "\n")
        print(f"{self.path}: {os.path.getsize(self.path)} bytes, {len(self.lines)} lines", file=sys.stderr)


# --- elementwise ---------------------------------------------------------------------------------

L = np.longdouble
PLAIN = [0.0, -0.0, 1, -1, 0.5, -0.5, 0.25, 1.5, 2, -2.5, 3, -3.7, 0.1, 1e-3, -1e-5, -0.3, 0.42, 0.7, 0.9, -0.95,
         -1.2, 5, -5, 9.5, -10, 20, -20.5, 87, -88, 700, -700, 1000, -1e4]


def limits(dtype):
    info = ml_dtypes.finfo(DTYPES[dtype])
    out = [float(info.max), -float(info.max), float(info.tiny), float(info.smallest_subnormal),
           -float(info.smallest_subnormal) * 3, np.nan]
    return out + ([] if dtype == "f8e4m3" else [np.inf, -np.inf])


def pool(dtype):
    with np.errstate(all="ignore"):
        x = to_dtype(np.array(PLAIN), dtype)
    keep = np.unique(x.view(f"u{x.dtype.itemsize}"), return_index=True)[1]
    keep = [i for i in np.sort(keep) if np.isfinite(float(x[i]))]
    return np.concatenate([x[keep], np.array(limits(dtype), np.float64).astype(DTYPES[dtype])])


def by_mpmath(function):
    mpmath.mp.prec = 120
    def one(v):
        if np.isnan(v):
            return L(np.nan)
        y = function(mpmath.mpf(float(v)))
        # to 80 bits in two parts
        if y == 0:
            return L(np.copysign(0.0, v))
        high = float(y)
        return L(high) + L(float(y - high)) if np.isfinite(high) else L(high)
    return lambda x: np.array([one(v) for v in x.ravel()], L).reshape(x.shape)


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


SELU_ALPHA, SELU_SCALE = L("1.6732632423543772848170429916717"), L("1.0507009873554804934193349852946")
def near(x):  # mpmath wants no huge arguments; there erf is 1
    return max(min(x, mpmath.mpf(1000)), mpmath.mpf(-1000))


mp_erf = by_mpmath(lambda x: mpmath.erf(near(x)))
mp_erfc = by_mpmath(lambda x: mpmath.erfc(near(x)))
mp_gelu = by_mpmath(lambda x: mpmath.nan if x == -mpmath.inf else
                    x * mpmath.erfc(near(-x / mpmath.sqrt(2))) / 2)


def gelu_tanh(x):
    pi = L("3.14159265358979323846264338327950288")
    return x * sigmoid(2 * np.sqrt(2 / pi) * (x + L("0.044715") * x ** 3))


def mish(x):
    e = np.exp(np.minimum(x, L(60)))
    w = e * (e + 2)
    return x * (w / (w + 2))


# name -> (function of 80-bit floats, JAX's function or None)
nn = jax.nn
UNARY = {
    "exp": (np.exp, None), "exp2": (np.exp2, None), "log": (np.log, None), "log2": (np.log2, None),
    "sin": (np.sin, None), "cos": (np.cos, None), "sqrt": (np.sqrt, None), "rsqrt": (lambda x: 1 / np.sqrt(x), None),
    "reciprocal": (lambda x: 1 / x, None), "square": (np.square, None), "abs": (np.abs, None),
    "neg": (np.negative, None), "floor": (np.floor, None), "trunc": (np.trunc, None),
    "sign": (np.sign, None), "ceil": (np.ceil, None), "round": (np.rint, None),
    "frac": (lambda x: x - np.trunc(x), None), "degrees": (np.degrees, None), "radians": (np.radians, None),
    "expm1": (np.expm1, None), "log1p": (np.log1p, None), "log10": (np.log10, None),
    "tan": (np.tan, None), "asin": (np.arcsin, None), "acos": (np.arccos, None), "atan": (np.arctan, None),
    "sinh": (np.sinh, None), "cosh": (np.cosh, None), "tanh": (np.tanh, None),
    "asinh": (np.arcsinh, None), "acosh": (np.arccosh, None), "atanh": (np.arctanh, None),
    "erf": (mp_erf, jax.scipy.special.erf), "erfc": (mp_erfc, jax.scipy.special.erfc),
    "cbrt": (np.cbrt, None),
    "sigmoid": (sigmoid, nn.sigmoid), "softplus": (softplus, nn.softplus),
    "log_sigmoid": (lambda x: -softplus(-x), nn.log_sigmoid),
    "silu": (lambda x: x * sigmoid(x), nn.silu), "mish": (mish, nn.mish),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), nn.elu),
    "selu": (lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(np.minimum(x, 0))), nn.selu),
    "celu": (lambda x: np.where(x > 0, x, 2 * np.expm1(np.minimum(x, 0) / 2)), lambda x: nn.celu(x, 2.0)),
    "relu": (lambda x: np.maximum(x, 0), nn.relu), "relu6": (lambda x: np.clip(x, 0, 6), nn.relu6),
    "hardsigmoid": (lambda x: np.clip(x + 3, 0, 6) / 6, nn.hard_sigmoid),
    "hardswish": (lambda x: x * np.clip(x + 3, 0, 6) / 6, nn.hard_swish),
    "leaky_relu": (lambda x: np.where(x < 0, x * L("0.01"), x), nn.leaky_relu),
    "gelu": (gelu_tanh, lambda x: nn.gelu(x, approximate=True)),
    "gelu_exact": (mp_gelu, lambda x: nn.gelu(x, approximate=False)),
}
ATTRIBUTES = {"celu": {"alpha": 2}}
QUESTIONS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit,
             "logical_not": np.logical_not}
# on integers NumPy's own answer in the same dtype
UNARY_INT = {"sign": np.sign, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.positive,
             "abs": np.abs, "square": np.square, "neg": np.negative, "bitwise_not": np.bitwise_not}


def check_jax(name, function, x, expected):
    with np.errstate(all="ignore"):
        theirs = np.asarray(function(x), np.float64)
    for v, a, b in zip(x, theirs, np.asarray(expected, np.float64)):
        # JAX's XLA takes subnormal numbers for 0 on the CPU, and cancels in its tails.
        if 0 < abs(v) < 1e-300 or 0 < abs(b) < 1e-300:
            continue
        same = (np.isnan(a) and np.isnan(b)) or a == b or abs(a - b) <= max(1e-11 * max(abs(a), abs(b)), 1e-15 * abs(v))
        if not same and abs(v) < 600:
            raise SystemExit(f"{name}({v}): JAX {a}, here {b}")


def int_pool(dtype):
    info = np.iinfo(DTYPES[dtype])
    values = [0, 1, 2, 3, 7, 100, info.max, info.min]
    if info.min < 0:
        values += [-1, -2, -3, -100]
    return np.array(values, DTYPES[dtype])


def unary_cases(f):
    for dtype in FLOATS:
        f.name(f"x.{dtype}", pool(dtype))
    for dtype in INTS:
        f.name(f"n.{dtype}", int_pool(dtype))
    f.name("b", np.array([False, True]))
    f.name("none", np.zeros((0, 3), np.float32))
    f.name("one", np.array(0.7, np.float32))
    for name, (function, peer) in UNARY.items():
        attributes = ATTRIBUTES.get(name, {})
        for dtype in FLOATS:
            x = pool(dtype)
            expected = function(exact(x))
            if peer and dtype == "f64":
                check_jax(name, peer, x, expected)
            f.case(name, [f"x.{dtype}"], to_dtype(expected, dtype), **attributes)
        f.case(name, ["none"], np.zeros((0, 3), np.float32), **attributes)
        f.case(name, ["one"], to_dtype(function(exact(np.array([0.7], np.float32))), "f32").reshape(()), **attributes)
        if name not in UNARY_INT and name not in ("relu", "relu6", "frac"):
            x = np.array([-3, -1, 0, 1, 2, 30], np.int32)
            f.case(name, [x], to_dtype(function(x.astype(L)), "f32"), **attributes)
    for name, function in QUESTIONS.items():
        for dtype in FLOATS:
            x = pool(dtype)
            f.case(name, [f"x.{dtype}"], function(x.astype(np.float64)))
        for dtype in INTS:
            f.case(name, [f"n.{dtype}"], function(int_pool(dtype)))
    for name, function in UNARY_INT.items():
        for dtype in INTS:
            if name == "neg" and dtype[0] == "u":
                continue
            f.case(name, [f"n.{dtype}"], np.asarray(function(int_pool(dtype)), DTYPES[dtype]))
    f.case("bitwise_not", ["b"], np.array([True, False]))
    for dtype in FLOATS:
        x = pool(dtype)
        top = float(ml_dtypes.finfo(DTYPES[dtype]).max)
        wide = exact(x)
        f.case("nan_to_num", [f"x.{dtype}"],
               to_dtype(np.where(np.isnan(wide), 0, np.clip(wide, -top, top)), dtype))


# --- two tensors ---------------------------------------------------------------------------------

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
        c = np.power(np.float64(a), np.float64(b))
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
# NumPy's own answer in the dtype itself: exact, but where a quotient is too large
DIVISION = {"fmod": np.fmod, "remainder": np.remainder, "floor_divide": np.floor_divide}
COMPARE = {"less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
           "equal": np.equal, "not_equal": np.not_equal, "isclose": np.isclose,
           "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
BINARY_INT = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
              "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod, "remainder": np.remainder,
              "floor_divide": np.floor_divide, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
              "bitwise_xor": np.bitwise_xor}


def wide_quotient(x, y):
    with np.errstate(all="ignore"):
        q = np.abs(x / y)
    return np.isfinite(x) & (y != 0) & (q >= 2.0 ** 60)


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
        for dtype in ("f16", "f32", "f64"):
            x, y = pairs(dtype)
            keep = ~wide_quotient(x.astype(np.float64), y.astype(np.float64))
            f.case(name, [x[keep], y[keep]], function(x, y)[keep])
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


# --- shapes --------------------------------------------------------------------------------------


def make_cases(f):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for dtype in DTYPES:
        own = x.astype(np.float32).astype(DTYPES[dtype])
        f.case("ones_like", [own], np.ones((2, 3), np.float32).astype(DTYPES[dtype]))
        f.case("full_like", [x], np.full((2, 3), 1, np.float32).astype(DTYPES[dtype]), value=1, dtype=dtype)
    f.case("zeros_like", [x], np.zeros_like(x))
    f.case("zeros_like", [np.zeros((0, 2), np.int8)], np.zeros((0, 2), np.int8))
    for begin, end, step in ((0, 5, 1), (2, 11, 3), (5, -4, -2), (3, 3, 1), (4, 0, 1), (-7, 8, 4)):
        f.case("arange_int", [], np.arange(begin, end, step), begin=begin, end=end, step=step)
        f.case("arange_int", [], np.arange(begin, end, step, dtype=np.float32), begin=begin, end=end, step=step,
               dtype="f32")
        f.case("arange_int", [], np.arange(begin, end, step, dtype=np.int8), begin=begin, end=end, step=step, dtype="i8")
    for begin, end, step in ((0, 1, 0.25), (1.5, -2, -0.3), (0.1, 2, 0.1)):
        for dtype in ("f32", "f64", "f16"):
            f.case("arange_float", [], to_dtype(begin + np.arange(len(np.arange(begin, end, step))) * L(step), dtype), begin=begin, end=end, step=step,
                   dtype=dtype)
    for begin, end, count in ((0, 1, 5), (-1, 1, 7), (3, -2.5, 12), (2, 3, 1), (2, 3, 0), (0, 1, 2)):
        for endpoint in (0, 1):
            for dtype in ("f32", "f64", "bf16"):
                f.case("linspace", [], to_dtype(np.linspace(begin, end, count, endpoint=bool(endpoint)), dtype),
                       begin=begin, end=end, count=count, endpoint=endpoint, dtype=dtype)
                f.case("logspace", [], to_dtype(np.logspace(begin, end, count, endpoint=bool(endpoint), base=2.5), dtype),
                       begin=begin, end=end, count=count, endpoint=endpoint, base=2.5, dtype=dtype)
    for rows, columns, offset in ((3, 3, 0), (3, 4, 1), (4, 2, -1), (0, 2, 0), (2, 2, 5), (2, 3, -4)):
        for dtype in ("f32", "i32", "bool"):
            f.case("eye", [], np.eye(rows, columns, offset).astype(DTYPES[dtype]), rows=rows, columns=columns,
                   offset=offset, dtype=dtype)
            f.case("tri", [], np.tri(rows, columns, offset).astype(DTYPES[dtype]), rows=rows, columns=columns,
                   offset=offset, dtype=dtype)
    y = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    for offset in (0, 1, -1, 3, -5):
        for v in (y, y[0].astype(np.int16)):
            f.case("tril", [v], np.tril(v, offset), offset=offset)
            f.case("triu", [v], np.triu(v, offset), offset=offset)
    names = np.array([[0, 2], [-1, 3], [1, 9]])
    for dtype in ("i8", "i32", "i64", "u8"):
        v = np.maximum(names, 0).astype(DTYPES[dtype]) if dtype == "u8" else names.astype(DTYPES[dtype])
        for to in ("f32", "i64"):
            f.case("one_hot", [v], (v[..., None] == np.arange(4)).astype(DTYPES[to]), classes=4, dtype=to)
    axes = [np.arange(3, dtype=np.float32), np.arange(2, dtype=np.float32), np.arange(4, dtype=np.float32)]
    for n in (1, 2, 3):
        f.case("meshgrid", axes[:n], list(np.meshgrid(*axes[:n], indexing="ij")), ij=1)
        f.case("meshgrid", axes[:n], list(np.meshgrid(*axes[:n], indexing="xy")), ij=0)


def move_cases(f):
    x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    m = np.arange(1, 13, dtype=np.int32).reshape(3, 4)
    v = np.arange(1, 6, dtype=np.float32)
    none = np.zeros((0, 3), np.float32)
    f.name("x", x)
    f.name("m", m)
    f.name("v", v)
    for axis in (0, 1, -1):
        f.case("concatenate", [x, x + 30], np.concatenate([x, x + 30], axis), axis=axis)
        f.case("stack", [x, x + 30, x + 60], np.stack([x, x + 30, x + 60], axis), axis=axis)
    f.case("concatenate", [m[:1], m[:0], m], np.concatenate([m[:1], m[:0], m]), axis=0)
    f.case("concatenate", [m, m.astype(np.float64)], np.concatenate([m, m.astype(np.float64)], 1), axis=1)
    f.case("concatenate", [m.astype(np.int8), m.astype(np.uint8)],
           np.concatenate([m.astype(np.int8), m.astype(np.uint8)]), axis=0)
    f.case("stack", [np.array(1.5, np.float32), np.array(2, np.float32)], np.array([1.5, 2], np.float32), axis=0)
    f.case("vstack", [v, v + 1], np.vstack([v, v + 1]))
    f.case("vstack", ["m", "m"], np.vstack([m, m]))
    f.case("hstack", [v, v + 1], np.hstack([v, v + 1]))
    f.case("hstack", ["m", "m"], np.hstack([m, m]))
    f.case("split", ["x"], np.split(x, [1, 3], 2), sizes=(1, 2, 1), axis=2)
    f.case("split", ["x"], np.split(x, [0, 2], 1), sizes=(0, 2, 1), axis=1)
    f.case("chunk", ["v"], [v[:2], v[2:4], v[4:]], count=3, axis=0)
    f.case("chunk", ["v"], [v[i:i + 1] for i in range(5)], count=9, axis=0)
    for counts in ((2,), (2, 1), (1, 2, 3), (0, 2)):
        f.case("tile", ["m"], np.tile(m, counts), counts=counts)
    for axis in (0, 1, -1):
        f.case("repeat", ["m"], np.repeat(m, 3, axis), count=3, axis=axis)
    f.case("repeat", ["m"], np.repeat(m, 0, 0), count=0, axis=0)
    for shifts, axes in (((1,), ()), ((-2,), ()), ((1,), (0,)), ((-7,), (1,)), ((1, 2), (0, -1)), ((0,), (1,))):
        f.case("roll", ["m"], np.roll(m, shifts if axes else shifts[0], axes or None),
               shifts=shifts, **({"axes": axes} if axes else {}))
    f.case("roll", [none], none, shifts=(1,), axes=(0,))
    f.case("broadcast_to", [v], np.broadcast_to(v, (2, 5)).copy(), shape=(2, 5))
    f.case("broadcast_to", [np.array(3, np.int8)], np.full((2, 2), 3, np.int8), shape=(2, 2))
    for a, b in (((0,), (2,)), ((-1,), (0,)), ((0, 1), (-1, -2)), ((2, 0), (0, 1))):
        f.case("moveaxis", ["x"], np.moveaxis(x, a, b).copy(), **{"from": a, "to": b})
    f.case("swapaxes", ["x"], np.swapaxes(x, 0, 2).copy(), axes=(0, 2))
    for times in (-1, 0, 1, 2, 3, 6):
        f.case("rot90", ["x"], np.rot90(x, times, (1, 2)).copy(), times=times, axes=(1, 2))
    f.case("expand_dims", ["m"], np.expand_dims(m, (0, 2, -1)), axes=(0, 2, -1))
    f.case("squeeze", [m[:1, :, None]], m[0], axes=(0, 2))
    f.case("squeeze", [m[:1, :, None]], m[0])
    f.case("squeeze", [m[:1, :1]], m[0, 0])
    f.case("atleast_nd", ["v"], v[None, None], rank=3)
    f.case("atleast_nd", ["x"], x, rank=1)
    f.case("ravel", ["x"], x.ravel())
    for text in ("1:,::2,::-1", "::-1,1:3,0:4:3", ":,-2:,3:0:-2", ":,::-2", "0:0,::3,::7", ":,2:2:-1,-1:-4:-1",
                 "1::-1,:,1:4:2"):
        key = tuple(slice(*(int(p) if p else None for p in part.split(":"))) for part in text.split(","))
        f.case("slice", ["x"], x[key].copy(), ranges=text)
    for dtype in DTYPES:
        own = x[0].astype(DTYPES[dtype])
        f.case("slice", [own], own[::-1, ::3].copy(), ranges="::-1,::3")
    flat = x.ravel()
    for shape, strides, offset in (((3, 4), (5, 1), 0), ((2, 3, 2), (0, 4, 1), 3), ((4,), (-2,), 20), ((0, 2), (1, 1), 0),
                                   ((), (), 7)):
        at = offset + sum((i * s for i, s in zip(np.indices(shape), strides)), np.zeros(shape, int))
        f.case("as_strided", ["x"], flat[at] if shape else np.array(flat[offset]), shape=shape, strides=strides,
               offset=offset)
    for offset in (0, 1, -1, 3, -5, 9):
        f.case("diagonal", ["x"], np.diagonal(x, offset, 1, 2).copy(), offset=offset, axes=(1, 2))
        f.case("diagonal", ["x"], np.diagonal(x, offset, 2, 0).copy(), offset=offset, axes=(2, 0))
        f.case("diag", ["m"], np.diag(m, offset), offset=offset)
        f.case("diag", ["v"], np.diag(v, offset), offset=offset)
    for axis, size, step in ((2, 2, 1), (1, 3, 1), (2, 1, 3), (-1, 3, 2), (0, 2, 5)):
        w = np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, size, axis), axis % 3, 0)[::step]
        f.case("unfold", ["x"], np.moveaxis(w, 0, axis % 3).copy(),
               axis=axis, size=size, step=step)
    for pairs in ((1, 2), (0, 1, 2, 0), (2, 2, 3, 1)):
        shape = [(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)]
        shape += [(0, 0)] * (2 - len(shape))
        for mode in ("reflect", "edge", "wrap"):
            f.case("pad", ["m"], np.pad(m, shape, mode), pairs=pairs, mode=mode)
        if len(pairs) == 4:
            f.case("pad", ["m"], np.pad(m, shape, constant_values=9), pairs=pairs, mode="constant", value=9)
    f.case("pad", ["v"], np.pad(v, (40, 30), "edge"), pairs=(40, 30), mode="edge")
    f.case("contiguous", ["x"], np.swapaxes(x, 1, 2).copy())
    f.case("copy", ["x"], x)
    f.case("copy", [none], none)


def main():
    with np.errstate(all="ignore"):
        f = File("unary", "Functions of one tensor, element by element.")
        unary_cases(f)
        f.write()
        f = File("binary", "Functions of two and three tensors, element by element.")
        binary_cases(f)
        f.write()
        f = File("make", "Tensors from shapes and rules.")
        make_cases(f)
        f.write()
        f = File("move", "Shapes, order and parts.")
        move_cases(f)
        f.write()


if __name__ == "__main__":
    main()
