# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra over the last two axes: axes before them are a batch."""
from tenon import _core
from tenon._core._linalg import (cholesky, det, eigh, expm, inv, kron, lstsq, lu, matrix_power, outer, qr, slogdet, solve,
                                solve_triangular, svd, trace)
from tenon._core import diagonal, matmul, matrix_transpose, norm
from tenon._common import tensor
from tenon._dtypes import finfo
from tenon._elementwise import where
from tenon._statistics import tensordot, vecdot

__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "expm", "inv", "kron", "lstsq", "lu", "matmul",
           "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "norm", "outer", "pinv", "qr", "slogdet",
           "solve", "solve_triangular", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm"]


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of 3 along an axis.

    >>> tn.linalg.cross(tn.asarray([1, 0, 0]), tn.asarray([0, 1, 0]))
    Tensor([0 0 1], dtype=int64, device='cpu:0')
    """
    x1, x2 = tensor("cross", x1), tensor("cross", x2)
    x1, x2 = _core.moveaxis(x1, axis, -1), _core.moveaxis(x2, axis, -1)
    if x1.shape[-1] != 3 or x2.shape[-1] != 3:
        raise _core.InvalidError(f"[cross] expected axes of 3 elements, got {x1.shape[-1]} and {x2.shape[-1]}")
    a, b, c = (x1[..., i] for i in range(3))
    d, e, f = (x2[..., i] for i in range(3))
    return _core.moveaxis(_core.stack([b * f - c * e, c * d - a * f, a * e - b * d], -1), -1, axis)


def eigvalsh(x, /):
    """The eigenvalues of a symmetric matrix, ascending.

    >>> tn.linalg.eigvalsh(tn.eye(2) * 3)
    Tensor([3. 3.], dtype=float32, device='cpu:0')
    """
    return eigh(x).values


def svdvals(x, /):
    """The singular values, descending.

    >>> tn.linalg.svdvals(tn.eye(2) * 3)
    Tensor([3. 3.], dtype=float32, device='cpu:0')
    """
    return svd(x).values


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse; singular values up to rtol times the largest count as 0.

    >>> tn.linalg.pinv(tn.eye(2) * 4)
    Tensor([[0.25 0.  ]
            [0.   0.25]], dtype=float32, device='cpu:0')
    """
    x = tensor("pinv", x)
    u, values, vh = svd(x)
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(values.dtype).eps
    kept = values > values.max(-1, keepdims=True) * rtol
    inverse = where(kept, _core.reciprocal(where(kept, values, 1)), 0)
    return (vh.mT * inverse[..., None, :]) @ u.mT


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are above rtol times the largest.

    >>> tn.linalg.matrix_rank(tn.ones((3, 3)))
    Tensor(1, dtype=int64, device='cpu:0')
    """
    x = tensor("matrix_rank", x)
    values = svdvals(x)
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(values.dtype).eps
    return _core.count_nonzero(values > values.max(-1, keepdims=True) * rtol, -1)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """(sum of |x|^ord)^(1/ord) over axes.

    >>> tn.linalg.vector_norm(tn.asarray([3.0, 4.0]))
    Tensor(5.0, dtype=float32, device='cpu:0')
    """
    return norm(x, ord, axis, keepdims=keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """A norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf, -inf.

    >>> tn.linalg.matrix_norm(tn.asarray([[3.0, 4.0]]))
    Tensor(5.0, dtype=float32, device='cpu:0')
    """
    x = tensor("matrix_norm", x)
    if ord == "fro":
        return norm(x, 2, (-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        out = values.sum(-1) if ord == "nuc" else values.max(-1) if ord == 2 else values.min(-1)
        return out[..., None, None] if keepdims else out
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise _core.InvalidError(f'[matrix_norm] expected ord as "fro", "nuc", 1, -1, 2, -2, inf or -inf, got {ord!r}')
    sums = _core.abs(x).sum(-2 if abs(ord) == 1 else -1, keepdims=True)
    out = _core.max(sums, (-2, -1), keepdims=True) if ord > 0 else _core.min(sums, (-2, -1), keepdims=True)
    return out if keepdims else out[..., 0, 0]
