# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of one tensor."""
import jax
import ml_dtypes
import mpmath
import numpy as np

from golden_file import DTYPES, FLOATS, INTS, L, exact, int_pool, pool, to_dtype

jax.config.update("jax_enable_x64", True)


def by_mpmath(function):
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
    "negative": (np.negative, None), "floor": (np.floor, None), "trunc": (np.trunc, None),
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
def with_limit(function):
    """Where a formula has -Inf times 0: the limit, -0."""
    return lambda x: np.where(x == -np.inf, L(-0.0), function(x))


for name in ("silu", "mish", "gelu", "gelu_exact", "hardswish"):
    UNARY[name] = (with_limit(UNARY[name][0]), UNARY[name][1])
ATTRIBUTES = {"celu": {"alpha": 2}}
QUESTIONS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "signbit": np.signbit,
             "logical_not": np.logical_not}
# on integers NumPy's own answer in the same dtype
UNARY_INT = {"sign": np.sign, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "round": np.positive,
             "abs": np.abs, "frac": lambda x: x - x, "relu": lambda x: np.maximum(x, 0),
             "relu6": lambda x: np.clip(x, 0, 6), "square": np.square, "negative": np.negative, "bitwise_not": np.bitwise_not}


def check_jax(name, function, x, expected):
    with np.errstate(all="ignore"):
        theirs = np.asarray(function(x), np.float64)
    for v, a, b in zip(x, theirs, np.asarray(expected, np.float64)):
        # JAX's XLA takes subnormal numbers for 0 on the CPU, and cancels in its tails.
        if 0 < abs(v) < 1e-300 or 0 < abs(b) < 1e-300:
            continue
        same = v == -np.inf or (np.isnan(a) and np.isnan(b)) or a == b or abs(a - b) <= max(1e-11 * max(abs(a), abs(b)), 1e-15 * abs(v))
        if not same and abs(v) < 600:
            raise SystemExit(f"{name}({v}): JAX {a}, here {b}")


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
            if name == "negative" and dtype[0] == "u":
                continue
            f.case(name, [f"n.{dtype}"], np.asarray(function(int_pool(dtype)), DTYPES[dtype]))
    f.case("bitwise_not", ["b"], np.array([True, False]))
    for dtype in FLOATS:
        x = pool(dtype)
        top = float(ml_dtypes.finfo(DTYPES[dtype]).max)
        wide = exact(x)
        f.case("nan_to_num", [f"x.{dtype}"],
               to_dtype(np.where(np.isnan(wide), 0, np.clip(wide, -top, top)), dtype))
