# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of edges: values and gradients at zeros, infinities, NaN, ends of dtypes and of domains.

All numbers are f64, as hexadecimal bits without their last zeros, so that 1 is 3ff; a test takes those points that its
dtype has, and rounds what is expected. A line is

    function key=value .. | name of the points | values | gradient by the first input | by the second

`-` stands for what is not compared: the gradient where the value is no number, and where only one side has a limit that
libraries do not agree on (each such choice is named below). Values are C99's (Annex F) and NumPy's; where these let 0 times
infinity be NaN and the function has a limit, the limit. Gradients are derivatives, at an infinity and at the end of a domain
their limits. Where a function bends, what is chosen: equal operands of max and min share, relu and abs have 0.
"""
from fractions import Fraction

import ml_dtypes
import mpmath
import numpy as np

from binary_cases import BINARY as VALUES_OF_TWO
from binary_cases import COMPARE
from golden_file import DTYPES, L, to_dtype
from unary_cases import QUESTIONS, SELU_ALPHA, SELU_SCALE, UNARY, sigmoid

PI, INF, NAN = L("3.14159265358979323846264338327950288"), L(np.inf), L(np.nan)
WIDE = ["f16", "bf16", "f32", "f64"]


def word(x):
    if x is None:
        return "-"
    bits = f"{int(np.float64(x).view('u8')):016x}".rstrip("0")
    return bits or "0"


def words(values):
    return " ".join(word(v) for v in values)


def ends(dtype):
    info = ml_dtypes.finfo(DTYPES[dtype])
    return dict(max=float(info.max), tiny=float(info.tiny), sub=float(info.smallest_subnormal), eps=float(info.eps))


PLAIN = [0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 0.25, -0.25, 1.5, 6, -6, 7.5, -10, 20, -20.5, 100, -100,
         np.inf, -np.inf, np.nan]


def points():
    found = list(PLAIN)
    for dtype in WIDE:
        e = ends(dtype)
        found += [e["max"], -e["max"], e["tiny"], -e["tiny"], e["sub"], -3 * e["sub"], 1 + e["eps"], 1 - e["eps"] / 2,
                  -(1 - e["eps"] / 2), e["tiny"] - e["sub"]]
    return found


def unique(values):
    seen, kept = set(), []
    for v in values:
        key = np.float64(v).tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(float(v))
    return kept


POINTS = unique(points())


def slope_of_mish(x):
    # tanh(s) + x (1 - tanh(s)^2) sigmoid(x), s = softplus(x)
    if x > 1000:
        return L(1)
    if x < -1000:
        return L(0)
    e = np.exp(np.minimum(x, L(200)))
    w = e * (e + 2)
    t = w / (w + 2)
    return t + x * (4 * e * (e + 1)) / (w + 2) ** 2


def slope_of_silu(x):
    if np.isinf(x):
        return L(x > 0)
    s = sigmoid(x)
    return s * (1 + x * sigmoid(-x))


def slope_of_gelu(x):
    if np.isinf(x) or abs(x) > 1000:
        return L(x > 0)
    k, c = 2 * np.sqrt(2 / PI), L("0.044715")
    u = k * (x + c * x ** 3)
    return sigmoid(u) + x * sigmoid(u) * sigmoid(-u) * k * (1 + 3 * c * x * x)


def slope_of_gelu_exact(x):
    if np.isinf(x) or abs(x) > 1000:
        return L(x > 0)
    share = UNARY["erfc"][0](np.array([-x / np.sqrt(L(2))]))[0] / 2
    return share + x * np.exp(-x * x / 2) / np.sqrt(2 * PI)


def ties(x, low, high, inside, outside=0):
    """Of clip(x, low, high): half at an end."""
    return L(inside) if low < x < high else (L(inside) + L(outside)) / 2 if x in (low, high) else L(outside)


def slope_of_hardswish(x):
    if np.isinf(x):
        return L(x > 0)
    return np.clip(x + 3, 0, 6) / 6 + x * ties(x, -3, 3, 1) / 6


SLOPES = {
    "exp": np.exp, "exp2": lambda x: np.exp2(x) * np.log(L(2)), "log": lambda x: 1 / x,
    "log2": lambda x: 1 / (x * np.log(L(2))), "log10": lambda x: 1 / (x * np.log(L(10))), "sin": np.cos,
    "cos": lambda x: -np.sin(x), "sqrt": lambda x: L(0.5) / np.sqrt(x), "rsqrt": lambda x: L(-0.5) / (x * np.sqrt(x)),
    "reciprocal": lambda x: -1 / (x * x), "square": lambda x: 2 * x, "abs": np.sign, "negative": lambda x: L(-1),
    "degrees": lambda x: 180 / PI, "radians": lambda x: PI / 180, "frac": lambda x: L(1), "expm1": np.exp,
    "log1p": lambda x: 1 / (1 + x), "tan": lambda x: 1 + np.tan(x) ** 2,
    "asin": lambda x: 1 / np.sqrt((1 - x) * (1 + x)), "acos": lambda x: -1 / np.sqrt((1 - x) * (1 + x)),
    "atan": lambda x: 1 / (1 + x * x), "sinh": np.cosh, "cosh": np.sinh, "tanh": lambda x: 1 / np.cosh(x) ** 2,
    "asinh": lambda x: 1 / np.sqrt(x * x + 1), "acosh": lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)),
    "atanh": lambda x: 1 / ((1 - abs(x)) * (1 + abs(x))), "erf": lambda x: 2 / np.sqrt(PI) * np.exp(-x * x),
    "erfc": lambda x: -2 / np.sqrt(PI) * np.exp(-x * x), "cbrt": lambda x: 1 / (3 * np.cbrt(x) ** 2),
    "sigmoid": lambda x: sigmoid(x) * sigmoid(-x), "softplus": sigmoid, "log_sigmoid": lambda x: sigmoid(-x),
    "silu": slope_of_silu, "mish": slope_of_mish, "elu": lambda x: L(1) if x > 0 else np.exp(x),
    "selu": lambda x: SELU_SCALE if x > 0 else SELU_SCALE * SELU_ALPHA * np.exp(x),
    "celu": lambda x: L(1) if x > 0 else np.exp(x / 2), "relu": lambda x: L(x > 0),
    "relu6": lambda x: ties(x, 0, 6, 1), "hardsigmoid": lambda x: ties(x, -3, 3, L(1) / 6),
    "hardswish": slope_of_hardswish, "leaky_relu": lambda x: L("0.01") if x < 0 else L(1), "gelu": slope_of_gelu,
    "gelu_exact": slope_of_gelu_exact,
}
JUMPS = ["floor", "trunc", "sign", "ceil", "round"]  # without a derivative
ROOTS = ["sqrt", "rsqrt", "pow_of_number exponent=0.5", "pow_of_number exponent=-0.5"]
EXPONENTS = [0, 0.5, 1, 2, 3, -1, -2, 1.5, -0.5, 9, 11.5]


def wide_power(x, y):
    """x^y beyond f64 too: what it is multiplied with may bring it back."""
    if x > 0 and np.isfinite(x) and np.isfinite(y):
        p = mpmath.power(mpmath.mpf(float(x)), mpmath.mpf(float(y)) + mpmath.mpf(float(y - L(float(y)))))
        high = L(mpmath.nstr(p, 25))
        return high
    return VALUES_OF_TWO["pow"](np.array([L(x)]), np.array([L(y)]))[0]


def power_slope(x, n):
    return L(0) if n == 0 else L(n) * wide_power(x, L(n) - 1)


def one(function, x):
    return L(function(np.array([L(x)]))[0])


def gradients(at, values, slope, of_root):
    """None where the value is no number; of NaN a gradient may be anything. At -0, beside which a root has no values, its
    slope is infinite of either sign."""
    return [None if of_root and x == 0 and np.signbit(x) else None if np.isnan(np.float64(y)) or np.isnan(x) else slope(L(x)) for x, y in zip(at, values)]


def edges_unary(f):
    f.lines.append(f"@x {words(POINTS)}")

    def line(name, function, slope):
        values = [function(x) for x in POINTS]
        parts = [name, "x", words(values)]
        if slope is not None:
            parts.append(words(gradients(POINTS, values, slope, name in ROOTS)))
        f.lines.append(" | ".join(parts))
    for name, (function, _) in UNARY.items():
        text = name + (" alpha=2" if name == "celu" else "")
        line(text, lambda x: one(function, x), SLOPES.get(name))
        assert name in SLOPES or name in JUMPS, name
    for name, function in QUESTIONS.items():
        line(name, lambda x: float(function(np.float64(x))), None)
    for n in EXPONENTS:
        line(f"pow_of_number exponent={n}", lambda x: np.sqrt(L(x)) if n == 0.5 else VALUES_OF_TWO["pow"](np.array([L(x)]), np.array([L(n)]))[0],
             lambda x: power_slope(x, n))


    line("clip low=-1 high=2", lambda x: np.clip(L(x), -1, 2), lambda x: ties(x, -1, 2, 1))
    line("nan_to_num nan=7 posinf=2 neginf=-2", lambda x: np.nan_to_num(x, nan=7, posinf=2, neginf=-2),
         lambda x: L(np.isfinite(x)))
    line("searchsorted", lambda x: float(np.searchsorted(np.array([-1, 0, 0.5, 1, np.inf]), x)), None)


def pairs():
    some = [0.0, -0.0, 1, -1, 0.5, -2, 3, np.inf, -np.inf, np.nan]
    found = [(a, b) for a in some for b in some]
    for dtype in WIDE:
        e = ends(dtype)
        for v in (e["max"], -e["max"], e["tiny"], e["sub"], -e["sub"] * 3, 1 - e["eps"] / 2):
            for w in (v, 1.0, -3.0, -0.0, np.inf, np.nan):
                found += [(v, w)] if v == w else [(v, w), (w, v)]
        found += [(e["max"], e["sub"]), (e["sub"], e["max"]), (e["max"], e["max"] / 2), (e["max"], 3 * e["tiny"]),
                  (e["sub"] * 3, e["sub"] * 2), (e["max"], e["sub"] * 3), (e["tiny"], e["sub"] * 5)]
    seen, kept = set(), []
    for a, b in found:
        key = np.array([a, b], np.float64).tobytes()
        if key not in seen:
            seen.add(key)
            kept.append((float(a), float(b)))
    return kept


PAIRS = pairs()


def exactly(x, y, function):
    """Of finite x and y != 0, as fractions."""
    return function(Fraction(float(x)), Fraction(float(y)))


def rounded(fraction):
    try:
        return float(fraction)
    except OverflowError:
        return np.inf if fraction > 0 else -np.inf


def remainder(x, y):
    if not np.isfinite(x) or not np.isfinite(y) or y == 0:
        return np.remainder(np.float64(x), np.float64(y))
    rest = exactly(x, y, lambda a, b: a - b * (a // b))
    return rounded(rest) if rest else np.copysign(0.0, y)


def floor_divide(x, y):
    if not np.isfinite(x) or not np.isfinite(y) or y == 0:
        return np.floor_divide(np.float64(x), np.float64(y))
    whole = exactly(x, y, lambda a, b: Fraction(a // b))
    return rounded(whole) if whole else np.copysign(0.0, x) * np.copysign(1.0, y)


def quotient(x, y, towards):
    """trunc(x / y) or floor(x / y), exact."""
    if np.isinf(y):
        return L(0) if towards == "0" or x == 0 or (x < 0) == (y < 0) else L(-1)
    if y == 0 or not np.isfinite(x):
        return None
    whole = exactly(x, y, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if towards == "0" else a // b)
    return rounded(Fraction(whole))


def by_hypot(a, b):
    if a == 0 and b == 0:
        return L(0)  # chosen, as of norm
    if np.isinf(a) and np.isinf(b):
        return None
    if np.isinf(a):
        return np.copysign(L(1), a)
    return a / np.hypot(a, b)


def by_atan2(numerator, y, x):
    if (y == 0 and x == 0) or np.isinf(x) or np.isinf(y):
        return L(0)  # at the origin chosen
    return numerator / (x * x + y * y)


def shares(a, b):
    """Of max by the first."""
    return L(a > b) if a != b else L(0.5)


def by_logaddexp(a, b):
    return L(0.5) if a == b else sigmoid(a - b)


def pow_by_x(x, y):
    if y == 0:
        return L(0)
    if np.isinf(y):
        return None
    if x < 0 and abs(y) > 2.0 ** 53:  # y - 1 is not, and would be even
        return y / x * VALUES_OF_TWO["pow"](np.array([x]), np.array([y]))[0]
    return y * wide_power(x, y - 1)


def pow_by_y(x, y):
    z = wide_power(x, y)
    if np.signbit(x) or np.isinf(x) or np.isinf(y):
        return None
    if x == 0:  # ln(x) x^y
        return L(0) if y > 0 else -INF if y < 0 else None
    return np.log(x) * z


SLOPES_OF_TWO = {
    "add": (lambda a, b: L(1), lambda a, b: L(1)), "sub": (lambda a, b: L(1), lambda a, b: L(-1)),
    "mul": (lambda a, b: b, lambda a, b: a), "divide": (lambda a, b: 1 / b, lambda a, b: -a / b / b),
    "maximum": (shares, lambda a, b: shares(b, a)), "minimum": (lambda a, b: shares(b, a), shares),
    "fmax": (shares, lambda a, b: shares(b, a)), "fmin": (lambda a, b: shares(b, a), shares),
    "copysign": (lambda a, b: L(1) if np.signbit(a) == np.signbit(b) else L(-1), lambda a, b: L(0)),
    "heaviside": (lambda a, b: L(0), lambda a, b: L(a == 0)),
    "hypot": (by_hypot, lambda a, b: by_hypot(b, a)),
    "atan2": (lambda y, x: by_atan2(x, y, x), lambda y, x: by_atan2(-y, y, x)),
    "logaddexp": (by_logaddexp, lambda a, b: by_logaddexp(b, a)),
    "xlogy": (lambda x, y: None if x == 0 and not 0 < y < INF else np.log(y),
              lambda x, y: None if x == 0 and not 0 < y < INF else x / y),
    "pow": (pow_by_x, pow_by_y),
    "prelu": (lambda x, s: s if x < 0 else L(1), lambda x, s: x if x < 0 else L(0)),
    "fmod": (lambda x, y: L(1), lambda x, y: None if quotient(x, y, "0") is None else -quotient(x, y, "0")),
    "remainder": (lambda x, y: L(1), lambda x, y: None if quotient(x, y, "floor") is None else -quotient(x, y, "floor")),
}


def edges_binary(f):
    f.lines.append(f"@x {words(a for a, _ in PAIRS)}")
    f.lines.append(f"@y {words(b for _, b in PAIRS)}")

    def line(name, values, slopes):
        parts = [name, "x y", words(values)]
        for slope in slopes:
            parts.append(words(None if np.isnan(np.float64(v)) or np.isnan(a) or np.isnan(b) else slope(L(a), L(b))
                               for v, (a, b) in zip(values, PAIRS)))
        f.lines.append(" | ".join(parts))

    def two(function):
        return [function(np.array([L(a)]), np.array([L(b)]))[0] for a, b in PAIRS]
    for name, function in VALUES_OF_TWO.items():
        line(name, two(function), SLOPES_OF_TWO[name])
    line("fmod", two(np.fmod), SLOPES_OF_TWO["fmod"])
    line("remainder", [remainder(a, b) for a, b in PAIRS], SLOPES_OF_TWO["remainder"])
    line("floor_divide", [floor_divide(a, b) for a, b in PAIRS], ())
    for name, function in COMPARE.items():
        line(name, [float(function(np.float64(a), np.float64(b))) for a, b in PAIRS], ())
    line("where", two(lambda a, b: np.where(a > 0, a, b)), (lambda a, b: L(a > 0), lambda a, b: L(not a > 0)))
    line("lerp weight=0.25", two(lambda a, b: a + (b - a) / 4), (lambda a, b: L(0.75), lambda a, b: L(0.25)))


# Rows, reduced over their last axis. A gradient is that of the sum of results times 1, 2, ..; where a row has an infinity or
# a NaN only the value is compared.
def rows():
    found = [[1, 2, 3, 4], [5, 5, 1, 5], [0.0, -0.0, 0.0, -0.0], [-0.0, -0.0, -0.0, -0.0], [3, -4, 0.0, 0.0],
             [np.nan, 1, 2, 3], [1, np.inf, 2, 3], [-np.inf, 1, 2, 3], [np.inf, -np.inf, 1, 0.0], [np.inf] * 4, [-np.inf] * 4,
             [np.inf, np.nan, -np.inf, 0.0], [-1, -2, -3, -3], [1, np.inf, np.inf, np.inf], [-np.inf, -np.inf, 1, np.inf],
             [0.5, 1, 2, 0.25], [2, 0.0, 3, 0.0]]
    for dtype in WIDE:
        e = ends(dtype)
        found += [[e["max"], 0.0, 1, 2], [e["max"], e["max"], 1, -1], [-e["max"], 0.0, e["max"] / 2, e["max"]],
                  [e["max"], -e["max"], e["max"], -e["max"]], [3 * e["tiny"], -4 * e["tiny"], 0.0, 0.0], [e["sub"]] * 4,
                  [e["sub"], -e["sub"], 2 * e["sub"], e["sub"]], [e["max"] / 4] * 4]
    return np.array(found)


ROWS = rows()
SEEDS = np.array([1, 2, 3, 4], L)


def norm(p):
    def value(x):
        a = abs(x)
        if p == np.inf or p == -np.inf:
            return a.max() if p > 0 else a.min()
        if p == 0:
            return L((a != 0).sum())
        return (a ** L(p)).sum() ** (1 / L(p))

    def slope(x):
        y = value(x)
        with np.errstate(all="ignore"):
            if np.isinf(p):
                hit = abs(x) == y
                return np.where(hit, np.sign(x) / hit.sum(), 0)
            return np.where((x == 0) | (y == 0), 0, np.sign(x) * (abs(x) / y) ** L(p - 1))
    return value, (slope if p != 0 else None)


def logsumexp(x):
    m = x.max()
    m = m if np.isfinite(m) else L(0)
    return np.log(np.exp(x - m).sum()) + m


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def extreme(sign):
    def slope(x):
        hit = x == (x.max() if sign > 0 else x.min())
        return hit / L(hit.sum())
    return slope


def sorted_with_nan(x):
    return np.sort(x)


def neighbours(q, method):
    """(share below, share above) and their places."""
    place = L(q) * 3
    low, high = int(np.floor(place)), int(np.ceil(place))
    part = place - low
    if method == "lower":
        part = L(0)
    elif method == "higher":
        part, low = L(0), high
    elif method == "nearest":
        part, low = L(0), int(np.rint(place))
    elif method == "midpoint":
        part = L(0.5) if part > 0 else L(0)
    return low, high, part


def quantile(q, method):
    low, high, part = neighbours(q, method)

    def value(x):
        if np.isnan(x).any():
            return NAN
        s = np.sort(x)
        if part == 0 or s[low] == s[high]:
            return s[low]
        return s[low] * (1 - part) + s[high] * part

    def slope(x):
        at, out = np.argsort(x, kind="stable"), np.zeros(4, L)
        s = x[at]
        if part == 0 or s[low] == s[high]:
            out[at[low]] = 1
        else:
            out[at[low]], out[at[high]] = 1 - part, part
        return out
    return value, slope


def products(x):
    return np.array([np.prod(np.delete(x, i)) for i in range(4)], L)


def of_running(matrix):
    """The transposed Jacobian times the seeds."""
    return lambda x: np.array([sum(SEEDS[i] * matrix(x, i, j) for i in range(4)) for j in range(4)], L)


def by_sort(descending):
    def slope(x):
        order = np.argsort(x, kind="stable")
        if descending:
            order = 3 - np.argsort(x[::-1], kind="stable")[::-1]
        out = np.zeros(4, L)
        out[order] = SEEDS
        return out
    return slope


def running(function):
    return lambda x: function.accumulate(x)


def by_softmax(x):
    y = softmax(x)
    return y * (SEEDS - (SEEDS * y).sum())


def moments(x):
    return x - x.mean()


def by_layer_norm(x, epsilon=L(1e-5)):
    d = moments(x)
    scale = 1 / np.sqrt((d * d).mean() + epsilon)
    y = d * scale
    return scale * (SEEDS - SEEDS.mean() - y * (SEEDS * y).mean())


def by_stddev(x):
    s = x.std()
    return moments(x) / (4 * s) if s else np.zeros(4, L)


KEEP = "keep=0 axes=1"
REDUCTIONS = {
    f"sum {KEEP}": (np.sum, lambda x: np.ones(4, L)), f"prod {KEEP}": (np.prod, products),
    f"max {KEEP}": (np.max, extreme(1)), f"min {KEEP}": (np.min, extreme(-1)),
    f"mean {KEEP}": (np.mean, lambda x: np.full(4, L(0.25))), f"ptp {KEEP}": (np.ptp, lambda x: extreme(1)(x) - extreme(-1)(x)),
    f"var {KEEP}": (np.var, lambda x: moments(x) / 2), f"stddev {KEEP}": (np.std, by_stddev),
    f"logsumexp {KEEP}": (logsumexp, softmax), f"median {KEEP}": quantile(0.5, "linear"),
    f"any {KEEP}": (lambda x: L(np.any(x)), None), f"all {KEEP}": (lambda x: L(np.all(x)), None),
    f"count_nonzero {KEEP}": (lambda x: L(np.count_nonzero(x)), None),
    "argmax axis=1 keep=0": (lambda x: L(np.argmax(x)), None), "argmin axis=1 keep=0": (lambda x: L(np.argmin(x)), None),
    "softmax axis=1": (softmax, by_softmax), "layer_norm axis=1 epsilon=1e-5": (
        lambda x: moments(x) / np.sqrt((moments(x) ** 2).mean() + L(1e-5)), by_layer_norm),
    "log_softmax axes=1": (lambda x: x - x.max() - np.log(np.exp(x - x.max()).sum()),
                           lambda x: SEEDS - softmax(x) * SEEDS.sum()),
    "cumsum axis=1": (running(np.add), of_running(lambda x, i, j: L(j <= i))),
    "cumprod axis=1": (running(np.multiply), of_running(
        lambda x, i, j: np.prod(np.delete(x[:i + 1], j)) if j <= i else L(0))),
    "cummax axis=1": (running(np.maximum), None), "cummin axis=1": (running(np.minimum), None),
    "logcumsumexp axis=1": (running(np.logaddexp), None),
    "sort axis=1 descending=0": (sorted_with_nan, by_sort(False)),
    "sort axis=1 descending=1": (lambda x: np.sort(x)[::-1], by_sort(True)),
    "argsort axis=1 descending=0": (lambda x: np.argsort(x, kind="stable").astype(L), None),
}
def by_topk(x):
    out = np.zeros(4, L)
    out[3 - np.argsort(x[::-1], kind="stable")[::-1][:2]] = SEEDS[:2]
    return out


FACTORS = np.array([1, -2, 0.5, 3], L)
REDUCTIONS["topk k=2 axis=1 largest=1"] = (lambda x: np.sort(x)[::-1][:2], by_topk)
REDUCTIONS["dot"] = (lambda x: (x * FACTORS).sum(), lambda x: FACTORS)
REDUCTIONS["argsort axis=1 descending=1"] = (
    lambda x: (3 - np.argsort(x[::-1], kind="stable")[::-1]).astype(L), None)
for p in (1, 2, 3, 0.5, -1, 0, np.inf, -np.inf):
    REDUCTIONS[f"norm p={p} {KEEP}"] = norm(p)
for method in ("linear", "lower", "higher", "midpoint", "nearest"):
    REDUCTIONS[f"quantile q=0.3 method={method} {KEEP}"] = quantile(0.3, method)


def edges_rows(f):
    f.lines.append(f"@rows {words(ROWS.ravel())}")
    for name, (value, slope) in REDUCTIONS.items():
        values = [np.atleast_1d(value(row.astype(L))) for row in ROWS]
        parts = [name, "rows", words(np.concatenate(values))]
        if slope is not None:
            finite = [np.isfinite(row).all() and np.isfinite(v.astype(np.float64)).all() for row, v in zip(ROWS, values)]
            parts.append(words(x for row, ok in zip(ROWS, finite)
                               for x in (slope(row.astype(L)) if ok else [None] * 4)))
        f.lines.append(" | ".join(parts))
