# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients by JAX in f64, away from kinks: of each function the vector-Jacobian product with a fixed seed, and the
gradient of the product of that with a second one. Outputs of a case: the first by each float input, then the second.

Where JAX lacks a function it is written in jax.numpy here, from its formula.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy.special import erf, erfc, logsumexp, xlogy

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_disable_most_optimizations", True)  # compiles faster


def seed(number, shape):
    """Of the result `number`; those of gradients count from 16. gradients.cpp has the same formula."""
    at = np.arange(int(np.prod(shape)), dtype=np.int64)
    return jnp.asarray(((7 * at + 3 * number + 5) % 11 - 5) / 4 + 0.125).reshape(shape)


def case(f, name, function, inputs, **attributes):
    inputs = [np.asarray(x) for x in inputs]
    floats = [i for i, x in enumerate(inputs) if x.dtype == np.float64]

    def of_floats(*values):
        every = list(inputs)
        for i, value in zip(floats, values):
            every[i] = value
        results = function(*every)
        results = results if isinstance(results, (list, tuple)) else [results]
        return [r for r in results if r.dtype == np.float64]

    def first(*values):
        results, pull = jax.vjp(of_floats, *values)
        return pull([seed(k, r.shape) for k, r in enumerate(results)])

    def inner(*values):
        return sum(jnp.vdot(g, seed(16 + k, g.shape)) for k, g in enumerate(first(*values)))

    values = [jnp.asarray(inputs[i]) for i in floats]
    both = jax.jit(lambda *v: (*first(*v), *jax.grad(inner, argnums=tuple(range(len(floats))))(*v)))
    outputs = [np.asarray(g, np.float64) for g in both(*values)]
    if not all(np.isfinite(g).all() for g in outputs):
        raise SystemExit(f"{name} {attributes}: JAX gives {outputs}")
    f.case(name, inputs, outputs, **attributes)


ANY = np.array([-2.3, -0.71, 0.32, 1.7])
POSITIVE = np.array([0.21, 0.9, 1.6, 3.3])
INSIDE = np.array([-0.83, -0.21, 0.34, 0.77])
ABOVE_ONE = np.array([1.2, 1.9, 4.5, 30.0])
WIDE = np.array([-7.5, -2.3, -0.71, 0.32, 1.7, 9.1])


def mish(x):
    return x * jnp.tanh(nn.softplus(x))


UNARY = {  # name -> (JAX's function, points)
    "exp": (jnp.exp, ANY), "exp2": (jnp.exp2, ANY), "log": (jnp.log, POSITIVE), "log2": (jnp.log2, POSITIVE),
    "sin": (jnp.sin, WIDE), "cos": (jnp.cos, WIDE), "sqrt": (jnp.sqrt, POSITIVE),
    "rsqrt": (lambda x: x ** -0.5, POSITIVE), "reciprocal": (lambda x: 1 / x, ANY), "square": (jnp.square, ANY),
    "abs": (jnp.abs, ANY), "negative": (jnp.negative, ANY), "floor": (jnp.floor, ANY), "trunc": (jnp.trunc, ANY),
    "sign": (jnp.sign, ANY), "ceil": (jnp.ceil, ANY), "round": (jnp.round, ANY),
    "frac": (lambda x: x - jnp.trunc(x), ANY), "degrees": (jnp.degrees, ANY), "radians": (jnp.radians, ANY),
    "expm1": (jnp.expm1, WIDE), "log1p": (jnp.log1p, np.concatenate([INSIDE, POSITIVE])), "log10": (jnp.log10, POSITIVE),
    "tan": (jnp.tan, ANY), "asin": (jnp.arcsin, INSIDE), "acos": (jnp.arccos, INSIDE), "atan": (jnp.arctan, WIDE),
    "sinh": (jnp.sinh, WIDE), "cosh": (jnp.cosh, WIDE), "tanh": (jnp.tanh, WIDE), "asinh": (jnp.arcsinh, WIDE),
    "acosh": (jnp.arccosh, ABOVE_ONE), "atanh": (jnp.arctanh, INSIDE), "erf": (erf, WIDE), "erfc": (erfc, ANY),
    "cbrt": (jnp.cbrt, WIDE), "sigmoid": (nn.sigmoid, WIDE), "softplus": (nn.softplus, WIDE),
    "log_sigmoid": (nn.log_sigmoid, WIDE), "silu": (nn.silu, WIDE), "mish": (mish, WIDE), "elu": (nn.elu, WIDE),
    "selu": (nn.selu, WIDE), "celu": (lambda x: nn.celu(x, 2.0), WIDE), "relu": (nn.relu, WIDE),
    "relu6": (nn.relu6, WIDE), "hardsigmoid": (nn.hard_sigmoid, WIDE), "hardswish": (nn.hard_swish, WIDE),
    "leaky_relu": (nn.leaky_relu, WIDE), "gelu": (nn.gelu, WIDE),
    "gelu_exact": (lambda x: nn.gelu(x, approximate=False), ANY), "nan_to_num": (jnp.nan_to_num, ANY),
}
UNARY_ATTRIBUTES = {"celu": {"alpha": 2}}

LEFT, RIGHT = np.array([-2.3, 0.8, 5.2, -3.1]), np.array([1.7, -0.6, 2.4, -1.9])
BINARY = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "divide": jnp.divide, "maximum": jnp.maximum,
    "minimum": jnp.minimum, "fmax": jnp.fmax, "fmin": jnp.fmin, "copysign": jnp.copysign, "heaviside": jnp.heaviside,
    "hypot": jnp.hypot, "atan2": jnp.arctan2, "logaddexp": jnp.logaddexp,
    "prelu": lambda x, s: jnp.where(x < 0, x * s, x), "fmod": jnp.fmod, "remainder": jnp.remainder,
    "floor_divide": lambda a, b: jnp.floor(a / b),
}


def elementwise(f):
    for name, (function, points) in UNARY.items():
        case(f, name, function, [points], **UNARY_ATTRIBUTES.get(name, {}))
    for name, function in BINARY.items():
        case(f, name, function, [LEFT, RIGHT])
    case(f, "mul", jnp.multiply, [LEFT.reshape(2, 2), np.array([0.7, -1.3])])  # broadcast
    case(f, "xlogy", xlogy, [LEFT, POSITIVE])
    case(f, "pow", jnp.power, [POSITIVE, RIGHT])
    case(f, "clip", jnp.clip, [WIDE, np.array(-1.0), np.array(2.0)])
    case(f, "lerp", lambda a, b, w: a + w * (b - a), [LEFT, RIGHT, np.array(0.25)])
    condition = np.array([True, False, False, True])
    case(f, "where", jnp.where, [condition, LEFT, RIGHT])
    for exponent in (3, -2, 0.5, 1.7):
        case(f, "pow_of_number", lambda x: x ** exponent, [POSITIVE], exponent=exponent)


def generic(shape, number=1, scale=2.0):
    """All elements, and their sizes, at least 0.02 apart."""
    n = int(np.prod(shape))
    rng = np.random.default_rng(number)
    steps = (rng.permutation(n) + rng.uniform(0.2, 0.8, n)) / n * scale
    return (steps * rng.choice([-1.0, 1.0], n)).reshape(shape)


X = generic((2, 3, 2))
M = generic((3, 4), 2)


def norm_of(p):
    def norm(x, axis):
        size = jnp.abs(x)
        if np.isinf(p):
            return size.max(axis) if p > 0 else size.min(axis)
        return (size ** p).sum(axis) ** (1 / p)
    return norm


def layer_norm(x, epsilon):
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred ** 2).mean(-1, keepdims=True) + epsilon)


def reductions(f):
    def over(name, function, axes=((0, 2), None), x=X, **attributes):
        for axis in axes:
            given = {} if axis is None else {"axes": list(axis)}
            case(f, name, lambda v: function(v, axis), [x], keep=0, **given, **attributes)
    for name, function in (("mean", jnp.mean), ("var", jnp.var), ("stddev", jnp.std), ("ptp", jnp.ptp),
                           ("sum", jnp.sum), ("prod", jnp.prod), ("max", jnp.max), ("min", jnp.min),
                           ("logsumexp", logsumexp), ("median", jnp.median)):
        over(name, function)
    over("var", lambda v, axis: jnp.var(v, axis, ddof=1), [(1,)], ddof=1)
    for p in (1, 2, 3, 1.5, -1, np.inf, -np.inf):
        over("norm", norm_of(p), [(1,)], p=p)
    for axes in ((-1,), (0, 1)):
        case(f, "log_softmax", lambda v: nn.log_softmax(v, axes), [X], axes=list(axes))
    for method in ("linear", "lower", "higher", "midpoint", "nearest"):
        case(f, "quantile", lambda v: jnp.quantile(v, 0.3, axis=1, method=method), [M], q=0.3, axes=[1], keep=0,
             method=method)
    for axis in (-1, 0):
        case(f, "softmax", lambda v: nn.softmax(v, axis), [M], axis=axis)
    case(f, "layer_norm", lambda v: layer_norm(v, 1e-3), [M], axis=-1, epsilon=1e-3)


def scans_and_order(f):
    line = generic((2, 9), 3)
    for name, function in (("cumsum", jnp.cumsum), ("cumprod", jnp.cumprod), ("cummax", jax.lax.cummax),
                           ("cummin", jax.lax.cummin), ("logcumsumexp", jax.lax.cumlogsumexp)):
        case(f, name, lambda v: function(v, axis=1), [line], axis=1)
    long = generic((40,), 4)
    case(f, "cumsum", jnp.cumsum, [long], axis=0)
    for down in (0, 1):
        case(f, "sort", lambda v: jnp.flip(jnp.sort(v, axis=1), 1) if down else jnp.sort(v, axis=1), [line], axis=1,
             descending=down)
    for largest in (1, 0):
        def top(v):
            values, at = jax.lax.top_k(v if largest else -v, 4)
            return [values if largest else -values, at]
        case(f, "topk", top, [line], axis=1, k=4, largest=largest)
    case(f, "bincount", lambda n, w: jnp.bincount(n, w, length=5), [np.array([0, 3, 1, 3, 3, 7]), generic((6,), 5)],
         length=5)
    mask = np.array([[True, False, True, False], [False, False, True, True], [True, True, False, False]])
    case(f, "masked_select", lambda v, m: v[mask], [M, mask])
    case(f, "unique", lambda v: [jnp.sort(v.ravel())], [M[:2]])


def moves(f):
    x, y = X, generic((2, 3, 2), 6)
    case(f, "concatenate", lambda a, b: jnp.concatenate([a, b], 1), [x, y], axis=1)
    case(f, "stack", lambda a, b: jnp.stack([a, b], 1), [x, y], axis=1)
    case(f, "vstack", lambda a, b: jnp.vstack([a, b]), [x, y])
    case(f, "hstack", lambda a, b: jnp.hstack([a, b]), [x, y])
    case(f, "split", lambda v: jnp.split(v, [1, 3], 1), [M], sizes=(1, 2, 1), axis=1)
    case(f, "chunk", lambda v: [v[:2], v[2:]], [M], count=2, axis=0)
    case(f, "tile", lambda v: jnp.tile(v, (2, 1, 3)), [M], counts=(2, 1, 3))
    case(f, "repeat", lambda v: jnp.repeat(v, 3, 1), [M], count=3, axis=1)
    case(f, "roll", lambda v: jnp.roll(v, (1, 2), (0, -1)), [M], shifts=(1, 2), axes=(0, -1))
    case(f, "broadcast_to", lambda v: jnp.broadcast_to(v, (2, 3, 4)), [M[:, :1]], shape=(2, 3, 4))
    case(f, "moveaxis", lambda v: jnp.moveaxis(v, (2, 0), (0, 1)), [x], **{"from": (2, 0), "to": (0, 1)})
    case(f, "swapaxes", lambda v: jnp.swapaxes(v, 0, 2), [x], axes=(0, 2))
    case(f, "rot90", lambda v: jnp.rot90(v, 1, (1, 2)), [x], times=1, axes=(1, 2))
    case(f, "expand_dims", lambda v: jnp.expand_dims(v, (0, -1)), [M], axes=(0, -1))
    case(f, "squeeze", lambda v: jnp.squeeze(v, 0), [M[:1]], axes=(0,))
    case(f, "atleast_nd", lambda v: v[None], [M], rank=3)
    case(f, "ravel", jnp.ravel, [M])
    case(f, "slice", lambda v: v[::-1, 0:4:3], [M], ranges="::-1,0:4:3")
    at = np.arange(3)[:, None] * 3 + np.arange(4)
    case(f, "as_strided", lambda v: v.ravel()[at], [M], shape=(3, 4), strides=(3, 1), offset=0)
    case(f, "diagonal", lambda v: jnp.diagonal(v, 1, 0, 1), [M], offset=1, axes=(0, 1))
    case(f, "diag", lambda v: jnp.diag(v, -1), [M[0]], offset=-1)
    case(f, "diag", lambda v: jnp.diag(v, 1), [M], offset=1)
    windows = (np.arange(2) * 2)[:, None] + np.arange(2)
    case(f, "unfold", lambda v: v[:, windows], [M], axis=1, size=2, step=2)
    for mode in ("reflect", "edge", "wrap", "constant"):
        options = {"constant_values": 9} if mode == "constant" else {}
        case(f, "pad", lambda v: jnp.pad(v, ((1, 2), (2, 1)), mode, **options), [M], pairs=(1, 2, 2, 1), mode=mode,
             value=9)
    case(f, "contiguous", lambda v: jnp.swapaxes(v, -1, -2), [M])
    case(f, "copy", lambda v: v * 1.0, [M])
    case(f, "tril", lambda v: jnp.tril(v, 1), [M], offset=1)
    case(f, "triu", lambda v: jnp.triu(v, -1), [M], offset=-1)
    case(f, "meshgrid", lambda a, b: jnp.meshgrid(a, b, indexing="ij"), [M[0], M[1, :2]], ij=1)
    case(f, "reshape", lambda v: v.reshape(2, 6), [M], shape=(2, 6))
    case(f, "transpose", lambda v: v.transpose(2, 0, 1), [x], axes=(2, 0, 1))
    case(f, "flip", lambda v: jnp.flip(v, 1), [M], axes=(1,))
    case(f, "take_of_position", lambda v: v[:, 2], [M], axis=1, at=2)
    case(f, "astype", lambda v: v.astype(jnp.float32).astype(jnp.float64), [np.round(M * 64) / 64])


def combined(combine, hits):
    """JAX lacks some gradients of scatter. hits[value, row, column]: whether the value goes there."""
    ones = jnp.asarray(hits, jnp.float64)
    choose = {
        "replace": lambda v, w: v * (1 - ones.sum(0)) + (ones * w).sum(0),
        "add": lambda v, w: v + (ones * w).sum(0),
        "mul": lambda v, w: v * jnp.where(hits, w, 1).prod(0),
        "max": lambda v, w: jnp.maximum(v, jnp.where(hits, w, -jnp.inf).max(0)),
        "min": lambda v, w: jnp.minimum(v, jnp.where(hits, w, jnp.inf).min(0)),
        "mean": lambda v, w: (v + (ones * w).sum(0)) / (1 + ones.sum(0)),
    }[combine]
    return lambda v, _, w: choose(v, w[:, None])


def indexing(f):
    rows, columns = np.array([2, 0, -1, 2]), np.array([1, 3, 0, 1])
    case(f, "get", lambda v: v[1, ::-2], [M], index="1;::-2")
    case(f, "get", lambda v, i, j: v[rows, columns], [M, rows, columns], index="t0;t1")
    case(f, "get", lambda v, i: v[:, columns], [M, columns], index=":;t0")
    mask = np.array([True, False, True])
    case(f, "get", lambda v, m: v[mask], [M, mask], index="t0")
    case(f, "set", lambda v, w: v.at[1].set(w), [M, generic((4,), 7)], index="1")
    once = np.array([2, 0])
    values = generic((2, 4), 8)
    deep = np.array([[2, 0, 1, 0], [0, 0, 2, 1]])
    x = generic((3, 4), 9) + 3.0  # no product, and no quotient by an element, is near 0
    twice = np.array([2, 0, 2])
    several = generic((3, 4), 10) + 3.1
    case(f, "set", lambda v, i, w: v.at[once].set(w), [x, once, values], index="t0", combine="replace")
    at = np.array([[2, 0, 1, 0], [0, 1, 2, 1]])
    for combine in ("replace", "add", "mul", "max", "min", "mean"):
        hits = at[:, None, :] == np.arange(3)[None, :, None]
        case(f, "put_along_axis", combined(combine, hits), [x, at, generic((2, 4), 11) + 2.9], axis=0, combine=combine)
        hits = twice[:, None, None] == np.arange(3)[None, :, None]
        if combine != "replace":
            case(f, "set", combined(combine, hits), [x, twice, several], index="t0", combine=combine)
    case(f, "take_along_axis", lambda v, i: jnp.take_along_axis(v, deep, 0), [M, deep], axis=0)
    case(f, "take", lambda v, i: jnp.take(v, columns, 1), [M, columns], axis=1)
    case(f, "scatter_add", lambda v, i, w: v.at[twice].add(w), [x, twice[:, None].repeat(4, 1), several], axis=0)


def products(f):
    a, b = generic((2, 3, 4), 12), generic((4, 2), 13)
    case(f, "matmul", jnp.matmul, [a, b])
    case(f, "matmul", jnp.matmul, [a[0, 0], b])


def gradient_cases(f):
    elementwise(f)
    reductions(f)
    scans_and_order(f)
    moves(f)
    indexing(f)
    products(f)
