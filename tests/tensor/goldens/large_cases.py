# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations, softmaxes and norms where numbers are large: values and gradients of the exact inputs by JAX, in f64."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy.special import logsumexp

from golden_file import to_dtype
from gradient_cases import UNARY, UNARY_ATTRIBUTES, layer_norm, norm_of, seed
from sample_inputs import WIDE

POINTS = np.array([1e4, -1e4, 700, -700, 88, -88, 21, -21, 0.75, -0.75])
ROWS = np.array([[1e4, -1e4, 3, 0.5], [-1e4, -9e3, -700, -88], [1e4, 9e3, 700, 88]])
ACTIVATIONS = ["relu", "relu6", "sigmoid", "hardsigmoid", "tanh", "softplus", "log_sigmoid", "silu", "mish", "elu",
               "selu", "celu", "leaky_relu", "hardswish", "gelu", "gelu_exact", "erf", "erfc"]


def large_cases(f):
    def case(name, function, *inputs, **attributes):
        for dtype in WIDE:
            rounded = [to_dtype(x, dtype) for x in inputs]
            y, pull = jax.vjp(function, *[jnp.asarray(x.astype(np.float64)) for x in rounded])
            outputs = [np.asarray(v) for v in (y, *pull(seed(0, y.shape)))]
            if not all(np.isfinite(v).all() for v in outputs):
                raise SystemExit(f"{name}: JAX gives {outputs}")
            f.case(name, rounded, outputs, **attributes)
    for name in ACTIVATIONS:
        case(name, UNARY[name][0], POINTS, **UNARY_ATTRIBUTES.get(name, {}))
    case("prelu", lambda x, s: jnp.where(x < 0, x * s, x), POINTS, np.full(10, 0.25))
    case("logaddexp", jnp.logaddexp, POINTS, POINTS[::-1].copy())
    case("softmax", lambda x: nn.softmax(x, -1), ROWS, axis=-1)
    case("log_softmax", lambda x: nn.log_softmax(x, -1), ROWS, axes=[-1])
    case("logsumexp", lambda x: logsumexp(x, -1), ROWS, axes=[-1], keep=0)
    case("layer_norm", lambda x: layer_norm(x, 1e-5), ROWS, axis=-1, epsilon=1e-5)
    for p in (1, 1.5, 2, 3, 4, np.inf):
        case("norm", lambda x: norm_of(p)(x, -1), ROWS, axes=[-1], keep=0, p=p)
    for name, function in (("mean", jnp.mean), ("var", jnp.var), ("stddev", jnp.std)):
        case(name, lambda x: function(x, -1), ROWS, axes=[-1], keep=0)
