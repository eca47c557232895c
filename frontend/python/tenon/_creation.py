# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors from values, files, shapes and rules."""
import builtins

from tenon import _core
from tenon._common import refuse, tensor
from tenon._core import DType, Tensor
from tenon._devices import placed

__all__ = ["asarray", "array", "from_dlpack", "full", "zeros", "ones", "empty", "full_like", "zeros_like", "ones_like",
           "empty_like", "arange", "linspace", "logspace", "eye", "tri", "meshgrid", "from_file"]


def asarray(obj, dtype=None, *, device=None, copy=None):
    """A tensor of a number, nested lists, or an array of another library.

    Python's floats become float32, its integers int64. Arrays of others are copied; `copy=False` shares their memory, as
    `from_dlpack`, or raises. Raises InvalidError for ragged lists and numbers that the dtype does not hold, ArgumentError for other objects.

    >>> tn.asarray([[1, 2], [3, 4]])
    Tensor([[1 2]
            [3 4]], dtype=int64, device='cpu:0')
    """
    if not isinstance(obj, Tensor):
        if copy is False:
            if dtype is not None or not hasattr(obj, "__dlpack__"):
                refuse("asarray", "an array with DLPack, and no dtype, where copy=False", type(obj).__name__)
            return from_dlpack(obj, device=device, copy=False)
        return placed(_core._asarray(obj, dtype), device)
    x = _core._asarray(obj, dtype)
    if x.dtype == obj.dtype and (device is None or device == obj.device):
        return x if copy else obj
    if copy is False:
        refuse("asarray", "the same dtype and device where copy=False", f"{dtype or x.dtype} on {device or x.device}")
    return x if device is None else placed(x, device)


def array(obj, dtype=None, *, device=None, copy=True):
    """As `asarray`, a copy unless `copy` is False.

    >>> tn.array([1.0, 2.0])
    Tensor([1. 2.], dtype=float32, device='cpu:0')
    """
    return asarray(obj, dtype, device=device, copy=copy or None)


def from_dlpack(x, /, *, device=None, copy=None):
    """An array of another library by DLPack, without a copy where the device reads memory of the host, as cpu does.

    Memory that is shared must not be written while a tensor is made from it: tensors are computed late. `copy`: True for
    memory of its own, False where a copy is a BufferError. Raises BufferError for memory of another kind of device,
    ArgumentError for what has no `__dlpack__`.

    >>> import numpy
    >>> tn.from_dlpack(numpy.arange(3))
    Tensor([0 1 2], dtype=int64, device='cpu:0')
    """
    if not hasattr(x, "__dlpack__"):
        raise _core.ArgumentError(f"[from_dlpack] expected an array with __dlpack__, got {type(x).__name__}")
    try:
        capsule = x.__dlpack__(max_version=(1, 1), copy=None if copy else copy)
    except TypeError:  # of an older protocol
        capsule = x.__dlpack__()
    out = _core._from_capsule(capsule, copy)
    return out if device is None else placed(out, device)


def full(shape, fill_value, *, dtype=None, device=None):
    """One number in every element; without a dtype that of the number.

    >>> tn.full((2, 2), 7)
    Tensor([[7 7]
            [7 7]], dtype=int64, device='cpu:0')
    """
    if isinstance(fill_value, Tensor):
        return _core.broadcast_to(fill_value if dtype is None else fill_value.astype(dtype), shape)
    if dtype is None:
        dtype = (DType.bool if isinstance(fill_value, builtins.bool) else
                 DType.int64 if isinstance(fill_value, int) else DType.float32)
    return placed(_core._full(shape, fill_value, dtype=dtype), device)


def zeros(shape, dtype=None, *, device=None):
    """0 in every element, float32.

    >>> tn.zeros(2)
    Tensor([0. 0.], dtype=float32, device='cpu:0')
    """
    return full(shape, 0, dtype=dtype or DType.float32, device=device)


def ones(shape, dtype=None, *, device=None):
    """1 in every element, float32.

    >>> tn.ones((1, 2), dtype=tn.int32)
    Tensor([[1 1]], dtype=int32, device='cpu:0')
    """
    return full(shape, 1, dtype=dtype or DType.float32, device=device)


def empty(shape, dtype=None, *, device=None):
    """As `zeros`: no memory is shown that was another's.

    >>> tn.empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, dtype, device=device)


def full_like(x, fill_value, *, dtype=None, device=None):
    """One number in the shape, the dtype and on the device of x.

    >>> tn.full_like(tn.asarray([1, 2]), 5)
    Tensor([5 5], dtype=int64, device='cpu:0')
    """
    x = tensor("full_like", x)
    return placed(_core._full(x.shape, fill_value, dtype=dtype or x.dtype), device or x.device)


def zeros_like(x, *, dtype=None, device=None):
    """0 in the shape, the dtype and on the device of x.

    >>> tn.zeros_like(tn.asarray([1, 2]))
    Tensor([0 0], dtype=int64, device='cpu:0')
    """
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x, *, dtype=None, device=None):
    """1 in the shape, the dtype and on the device of x.

    >>> tn.ones_like(tn.asarray([1, 2]))
    Tensor([1 1], dtype=int64, device='cpu:0')
    """
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x, *, dtype=None, device=None):
    """As `zeros_like`.

    >>> tn.empty_like(tn.asarray([1, 2])).dtype
    tenon.int64
    """
    return zeros_like(x, dtype=dtype, device=device)


def arange(start, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, .. before stop; of one number from 0. int64 if all are integers, else float32.

    >>> tn.arange(1, 7, 2)
    Tensor([1 3 5], dtype=int64, device='cpu:0')
    """
    if stop is None:
        start, stop = 0, start
    if isinstance(stop, _core.Size) and start == 0 and step == 1:
        return placed(_core._arange(stop, dtype=dtype), device)
    return placed(_core._arange1(start, stop, step, dtype=dtype), device)


def linspace(start, stop, num=50, *, dtype=None, endpoint=True, device=None):
    """`num` numbers in equal steps from start to stop, which is the last one if `endpoint`.

    >>> tn.linspace(0, 1, 5)
    Tensor([0.   0.25 0.5  0.75 1.  ], dtype=float32, device='cpu:0')
    """
    return placed(_core._linspace(start, stop, num, endpoint, dtype=dtype), device)


def logspace(start, stop, num=50, *, endpoint=True, base=10.0, dtype=None, device=None):
    """base to the powers linspace(start, stop, num).

    >>> tn.logspace(0, 2, 3)
    Tensor([  1.  10. 100.], dtype=float32, device='cpu:0')
    """
    return placed(_core._logspace(start, stop, num, endpoint, base, dtype=dtype), device)


def _within(k):
    """A diagonal's number, which may be beyond any matrix."""
    return builtins.max(builtins.min(k, 2 ** 40), -2 ** 40) if isinstance(k, int) else k


def eye(n_rows, n_cols=None, *, k=0, dtype=None, device=None):
    """[rows, columns] of zeros with ones where column = row + k.

    >>> tn.eye(2)
    Tensor([[1. 0.]
            [0. 1.]], dtype=float32, device='cpu:0')
    """
    return placed(_core._eye(n_rows, n_cols, _within(k), dtype=dtype), device)


def tri(n_rows, n_cols=None, *, k=0, dtype=None, device=None):
    """Ones where column <= row + k.

    >>> tn.tri(2)
    Tensor([[1. 0.]
            [1. 1.]], dtype=float32, device='cpu:0')
    """
    return placed(_core._tri(n_rows, n_cols, k, dtype=dtype), device)


def meshgrid(*arrays, indexing="xy"):
    """Of tensors of rank 1 the tensors of all combinations; "xy": the first two axes change places.

    >>> [x.tolist() for x in tn.meshgrid(tn.arange(2), tn.arange(2))]
    [[[0, 1], [0, 1]], [[0, 0], [1, 1]]]
    """
    if indexing not in ("xy", "ij"):
        refuse("meshgrid", 'indexing as "xy" or "ij"', repr(indexing))
    return tuple(_core._meshgrid([tensor("meshgrid", x) for x in arrays], indexing == "ij"))


def from_file(device, dtype, shape, offset=0):
    """What a file holds from byte `offset` on, little-endian, the last axis fastest, on a device as "disk:/data/w.bin".

    Nothing is read before it is used. Raises EnvironmentError if the file is shorter.
    """
    return _core._from_file(device, dtype, shape, offset)
