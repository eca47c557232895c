# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra over the last two axes: axes before them are a batch."""
from collections import namedtuple

from tenon import _core

from tenon._core._linalg import (_cholesky, _qr, _svd, det, eigh, expm, inv, kron, lstsq, lu, matrix_power, outer, slogdet,
                                 solve, solve_triangular)
from tenon._core import matmul, matrix_transpose, norm
from tenon._common import tensor
from tenon._dtypes import finfo
from tenon._creation import eye
from tenon._elementwise import where
from tenon._shapes import concat
from tenon._statistics import tensordot, vecdot

__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "expm", "inv", "kron", "lstsq", "lu", "matmul",
           "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "norm", "outer", "pinv", "qr", "slogdet",
           "solve", "solve_triangular", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm"]


QRResult, SVDResult = namedtuple("QRResult", "Q R"), namedtuple("SVDResult", "U S Vh")


def cholesky(x, /, *, upper=False):
    """L with x = L L^T, lower, or its transpose if `upper`. NaN where x is not positive definite.

    >>> tn.linalg.cholesky(tn.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Tensor([[2. 0.]
            [1. 2.]], dtype=float32, device='cpu:0')
    """
    lower = _cholesky(x)
    return lower.mT if upper else lower


def _complete(q):
    """Columns of length 1 and at right angles [.., m, k], with m - k more of that kind."""
    m, k = q.shape[-2:]
    if k >= m:
        return q
    whole = _core.broadcast_to(eye(m, dtype=q.dtype), (*q.shape[:-2], m, m))
    return concat([q, _qr(concat([q, whole], axis=-1)).Q[..., k:]], axis=-1)


def qr(x, /, *, mode="reduced"):
    """Q with columns of length 1 and at right angles, and R, upper, with x = Q R; "complete": Q is [.., m, m].

    >>> tn.linalg.qr(tn.eye(2)).R.shape
    (2, 2)
    """
    if mode not in ("reduced", "complete"):
        raise _core.InvalidError(f'[qr] expected mode as "reduced" or "complete", got {mode!r}')
    found = _qr(x)
    if mode == "reduced":
        return found
    q = _complete(found.Q)
    rows = q.shape[-1] - found.R.shape[-2]
    return QRResult(q, _core._pad(found.R, [(0, 0)] * (found.R.ndim - 2) + [(0, rows), (0, 0)], 0))


def svd(x, /, *, full_matrices=True):
    """U, S and Vh with x = U S Vh; S descending. `full_matrices`: U is [.., m, m] and Vh [.., n, n].

    >>> tn.linalg.svd(tn.asarray([[3.0, 0.0], [0.0, 2.0]])).S
    Tensor([3. 2.], dtype=float32, device='cpu:0')
    """
    found = _svd(x)
    return SVDResult(_complete(found.U), found.S, _complete(found.Vh.mT).mT) if full_matrices else found


def trace(x, /, *, offset=0, dtype=None):
    """The sum of a diagonal of the last two axes, in the dtype of `sum`.

    >>> tn.linalg.trace(tn.asarray([[3, 1], [2, 4]]))
    Tensor(7, dtype=int64, device='cpu:0')
    """
    return _core.sum(diagonal(x, offset=offset), -1, dtype=dtype)


def diagonal(x, /, *, offset=0):
    """The diagonal of the last two axes.

    >>> tn.linalg.diagonal(tn.asarray([[3, 1], [2, 4]]))
    Tensor([3 4], dtype=int64, device='cpu:0')
    """
    return _core.diagonal(x, offset, -2, -1)


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
    return eigh(x).eigenvalues


def svdvals(x, /):
    """The singular values, descending.

    >>> tn.linalg.svdvals(tn.eye(2) * 3)
    Tensor([3. 3.], dtype=float32, device='cpu:0')
    """
    return _svd(x).S


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse; singular values up to rtol times the largest count as 0.

    >>> tn.linalg.pinv(tn.eye(2) * 4)
    Tensor([[0.25 0.  ]
            [0.   0.25]], dtype=float32, device='cpu:0')
    """
    x = tensor("pinv", x)
    u, values, vh = _svd(x)
    kept = _above(values, rtol, x)
    inverse = where(kept, _core.reciprocal(where(kept, values, 1)), 0)
    return (vh.mT * inverse[..., None, :]) @ u.mT


def _above(values, rtol, x):
    """Which singular values of x are above rtol, of each matrix, times the largest."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * finfo(values.dtype).eps
    if isinstance(rtol, _core.Tensor) and rtol.ndim:
        rtol = rtol[..., None]
    return values > values.max(-1, keepdims=True) * rtol if values.shape[-1] else values > 0


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are above rtol times the largest.

    >>> tn.linalg.matrix_rank(tn.ones((3, 3)))
    Tensor(1, dtype=int64, device='cpu:0')
    """
    x = tensor("matrix_rank", x)
    return _core.count_nonzero(_above(svdvals(x), rtol, x), -1)


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
