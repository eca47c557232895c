# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statistics, order, counts and products, in NumPy's form."""
from collections import namedtuple

from tenon import _core
from tenon._common import along, refuse, tensor
from tenon._core import DType, Tensor
from tenon._core import _linalg
from tenon._creation import full
from tenon._shapes import concat

__all__ = ["quantile", "sort", "argsort", "searchsorted", "nonzero", "cumsum", "cumprod", "bincount", "histogram", "unique_values", "unique_counts",
           "unique_inverse", "unique_all", "isin", "diff", "tensordot", "vecdot", "dot", "outer", "einsum", "var",
           "std", "cumulative_sum", "cumulative_prod"]


def _spread(name, core):
    def function(x, axis=None, *, keepdims=False, ddof=None, correction=None):
        if ddof is not None and correction is not None:
            refuse(name, "ddof or correction", "both")
        return core(x, axis, keepdims=keepdims, ddof=correction if ddof is None else ddof)
    function.__name__ = function.__qualname__ = name
    return function


var, std = _spread("var", _core._var), _spread("std", _core._std)
var.__doc__ = """The mean of squared distances from the mean; the count is less by `ddof`, or `correction`: the same.

    >>> tn.var(tn.asarray([1.0, 3.0]))
    Tensor(1.0, dtype=float32, device='cpu:0')
    """
std.__doc__ = """The root of `var`.

    >>> tn.std(tn.asarray([1.0, 3.0]), ddof=1)
    Tensor(1.4142135, dtype=float32, device='cpu:0')
    """


def quantile(x, q, axis=None, *, keepdims=False, method="linear"):
    """The value below which a part q of the elements lies; several q give a new first axis. It sorts.

    Between neighbours by `method`: "linear", "lower", "higher", "midpoint", "nearest". Raises InvalidError for q outside
    of [0, 1] and for no elements.

    >>> tn.quantile(tn.asarray([1.0, 2.0, 4.0]), 0.5)
    Tensor(2.0, dtype=float32, device='cpu:0')
    """
    core = _core._quantile1 if isinstance(q, (list, tuple)) else _core._quantile
    return core(x, q, axis, keepdims=keepdims, method=method)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """In order along an axis, NaN after all numbers.

    >>> tn.sort(tn.asarray([3, 1, 2]))
    Tensor([1 2 3], dtype=int64, device='cpu:0')
    """
    return _core._sort(x, axis, descending=descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Positions of that order, int64; of equals the first one first.

    >>> tn.argsort(tn.asarray([3, 1, 2]))
    Tensor([1 2 0], dtype=int64, device='cpu:0')
    """
    return _core._argsort(x, axis, descending=descending)


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where values of x2 would go into x1 [n] to keep it sorted, int64: before equals, or after them if side is "right".

    `sorter`: positions that sort x1. Dtypes promote.

    >>> tn.searchsorted(tn.asarray([1, 3, 5]), tn.asarray([3, 4]))
    Tensor([1 2], dtype=int64, device='cpu:0')
    """
    if side not in ("left", "right"):
        refuse("searchsorted", 'side as "left" or "right"', repr(side))
    x1 = tensor("searchsorted", x1)
    if sorter is not None:
        x1 = x1[sorter]
    if not isinstance(x2, Tensor):
        x2 = full((), x2, dtype=x1.dtype)
    dtype = _core.promote_types(x1.dtype, x2.dtype)
    return _core._searchsorted(x1.astype(dtype), x2.astype(dtype), side == "right")


def nonzero(x, /):
    """Positions of elements that are not 0, a tensor for each axis. Reads back how many there are.

    >>> tn.nonzero(tn.asarray([0, 5, 6]))
    (Tensor([1 2], dtype=int64, device='cpu:0'),)
    """
    return tuple(_core._nonzero(x))


def bincount(x, weights=None, *, length=None):
    """How often 0, 1, .. occur in integers, or the sums of their weights, up to the largest or below `length`.

    >>> tn.bincount(tn.asarray([0, 2, 2]))
    Tensor([1 0 2], dtype=int64, device='cpu:0')
    """
    if weights is not None:
        if length is None:
            length = (tensor("bincount", x).max().item() + 1) if tensor("bincount", x).size else 0
        return _core._bincount1(x, length, weights)
    return _core._bincount2(x) if length is None else _core._bincount(x, length)


def histogram(x, bins=10, range=None):
    """Counts in bins of equal width, int64 [bins], and their edges, [bins + 1]. Without a range from min to max.

    >>> tn.histogram(tn.asarray([1.0, 2.0, 2.0]), 2)[0]
    Tensor([1 2], dtype=int64, device='cpu:0')
    """
    if range is None:
        x = tensor("histogram", x)
        range = (x.min().item(), x.max().item())
        if range[0] == range[1]:
            range = (range[0] - 0.5, range[1] + 0.5)
    return _core._histogram(x, bins, range[0], range[1])


unique_all_result = namedtuple("unique_all_result", "values indices inverse_indices counts")
unique_counts_result = namedtuple("unique_counts_result", "values counts")
unique_inverse_result = namedtuple("unique_inverse_result", "values inverse_indices")


def unique_values(x, /):
    """Values that differ, sorted. Reads back how many there are.

    >>> tn.unique_values(tn.asarray([2, 1, 2]))
    Tensor([1 2], dtype=int64, device='cpu:0')
    """
    return _core._unique(tensor("unique", x)).values


def unique_counts(x, /):
    """Values that differ, sorted, and how often each occurs.

    >>> tn.unique_counts(tn.asarray([2, 1, 2])).counts
    Tensor([1 2], dtype=int64, device='cpu:0')
    """
    found = _core._unique(tensor("unique", x))
    return unique_counts_result(found.values, found.counts)


def unique_inverse(x, /):
    """Values that differ, and values[inverse_indices] that is x.

    >>> tn.unique_inverse(tn.asarray([2, 1, 2])).inverse_indices
    Tensor([1 0 1], dtype=int64, device='cpu:0')
    """
    found = _core._unique(tensor("unique", x))
    return unique_inverse_result(found.values, found.inverse)


def unique_all(x, /):
    """Values that differ, where each occurs first, the inverse, and how often each occurs.

    >>> tn.unique_all(tn.asarray([2, 1, 2])).indices
    Tensor([1 0], dtype=int64, device='cpu:0')
    """
    found = _core._unique(tensor("unique", x))
    return unique_all_result(found.values, found.indices, found.inverse, found.counts)


def isin(x1, x2, /, *, invert=False):
    """Which elements of x1 are among those of x2.

    >>> tn.isin(tn.asarray([1, 2]), tn.asarray([2, 3]))
    Tensor([False  True], dtype=bool, device='cpu:0')
    """
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        x1 = tensor("isin", x1)
    x2 = tensor("isin", x2) if not isinstance(x2, Tensor) else x2
    found = _core.any(_core.expand_dims(x1, -1) == x2.ravel(), -1)
    return ~found if invert else found


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences of neighbours along an axis, n times.

    >>> tn.diff(tn.asarray([1, 4, 9]))
    Tensor([3 5], dtype=int64, device='cpu:0')
    """
    x = concat([each for each in (prepend, tensor("diff", x), append) if each is not None], axis=axis)
    for _ in range(n):
        after, before = along(x, axis, slice(1, None)), along(x, axis, slice(None, -1))
        x = after != before if x.dtype == DType.bool else after - before
    return x


def cumsum(x, axis=None, *, dtype=None):
    """Running sums along an axis; None: of the flattened tensor. The dtype of `sum`.

    >>> tn.cumsum(tn.asarray([1, 2, 3]))
    Tensor([1 3 6], dtype=int64, device='cpu:0')
    """
    return _core._cumsum(x, axis, dtype=dtype)


def cumprod(x, axis=None, *, dtype=None):
    """Running products along an axis; None: of the flattened tensor. The dtype of `prod`.

    >>> tn.cumprod(tn.asarray([1, 2, 3]))
    Tensor([1 2 6], dtype=int64, device='cpu:0')
    """
    return _core._cumprod(x, axis, dtype=dtype)


def _cumulative(name, core, first, example):
    def function(x, /, *, axis=None, dtype=None, include_initial=False):
        x = tensor(name, x)
        if axis is None:
            if x.ndim > 1:
                refuse(name, "an axis of a tensor of rank 2 and more", "none")
            axis = 0 if x.ndim == 0 else -1
        out = core(x, axis, dtype=dtype)
        if not include_initial:
            return out
        shape = list(out.shape)
        shape[axis] = 1
        return concat([full(shape, first, dtype=out.dtype), out], axis=axis)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f"Running {'sums' if first == 0 else 'products'} along an axis; `include_initial`: {first} before "
                        f"them.\n\n    >>> tn.{name}(tn.asarray([1, 2, 3]))\n    {example}\n    ")
    return function


cumulative_sum = _cumulative("cumulative_sum", _core._cumsum, 0, "Tensor([1 3 6], dtype=int64, device='cpu:0')")
cumulative_prod = _cumulative("cumulative_prod", _core._cumprod, 1, "Tensor([1 2 6], dtype=int64, device='cpu:0')")


# Products.

def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over the last `axes` axes of x1 and the first of x2, or over axes of x1 with axes of x2.

    >>> tn.tensordot(tn.ones((2, 3)), tn.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    if isinstance(axes, int):
        return _linalg._tensordot(x1, x2, axes)
    return _linalg._tensordot1(x1, x2, *(tuple(each) if not isinstance(each, int) else each for each in axes))


def vecdot(x1, x2, /, *, axis=-1):
    """Sums of products along an axis.

    >>> tn.vecdot(tn.asarray([1, 2]), tn.asarray([3, 4]))
    Tensor(11, dtype=int64, device='cpu:0')
    """
    x1, x2 = tensor("vecdot", x1), tensor("vecdot", x2)
    x1, x2 = _core.moveaxis(x1, axis, -1), _core.moveaxis(x2, axis, -1)
    if x1.shape[-1] != x2.shape[-1]:
        refuse("vecdot", f"axes of one size, {x1.shape[-1]}", x2.shape[-1])
    return _core.matmul(_core.expand_dims(x1, -2), _core.expand_dims(x2, -1))[..., 0, 0]


def dot(x1, x2, /):
    """NumPy's: the last axis of x1 with the second last of x2.

    >>> tn.dot(tn.asarray([1, 2]), tn.asarray([3, 4]))
    Tensor(11, dtype=int64, device='cpu:0')
    """
    return _linalg.dot(x1, x2)


def outer(x1, x2, /):
    """Products of all pairs of the flattened tensors, [m, n].

    >>> tn.outer(tn.asarray([1, 2]), tn.asarray([3, 4]))
    Tensor([[3 4]
            [6 8]], dtype=int64, device='cpu:0')
    """
    return _linalg.outer(x1, x2)


def einsum(text, *tensors):
    """Einstein's sum, as NumPy's: "ij,jk->ik".

    >>> tn.einsum("ij->i", tn.ones((2, 3)))
    Tensor([3. 3.], dtype=float32, device='cpu:0')
    """
    return _linalg._einsum(text, [tensor("einsum", x) for x in tensors])
