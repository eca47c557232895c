# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random tensors from keys: one key, one draw; to draw again, split it. The same bits on every device.

>>> a, b = tn.random.Key(42).split()
>>> tn.random.randint(a, 3, 0, 10).shape
(3,)
"""
from tenon._core._random import (Key, bernoulli, beta, categorical, dirichlet, dropout_mask, exponential, gamma, normal,
                                poisson, randint, truncated_normal, uniform)
from tenon._core._random import _choice, _permutation, _permutation1
from tenon._creation import arange

__all__ = ["Key", "bernoulli", "beta", "categorical", "choice", "dirichlet", "dropout_mask", "exponential", "gamma",
           "normal", "permutation", "poisson", "randint", "truncated_normal", "uniform"]


def permutation(key, x, axis=0):
    """0, 1, .. x - 1 in random order, int64; of a tensor x with an axis in random order.

    >>> sorted(tn.random.permutation(tn.random.Key(1), 4).tolist())
    [0, 1, 2, 3]
    """
    return _permutation(key, x) if isinstance(x, int) else _permutation1(key, x, axis)


def choice(key, x, shape=(), replace=True, p=None):
    """Elements of x [n], or of 0, .. x - 1, with equal chances, or with chances p [n] in proportion.

    Without `replace` each one at most once. Raises InvalidError where that asks for more than n.

    >>> tn.random.choice(tn.random.Key(1), 5, (2, 3)).shape
    (2, 3)
    """
    if isinstance(x, int):
        x = arange(x)
    return _choice(key, x, shape, replace, p)
