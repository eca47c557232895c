# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the modules of functions share."""
from tenon import _core
from tenon._core import DType, Tensor

FLOATS = [DType.float8_e4m3fn, DType.float8_e5m2, DType.float16, DType.bfloat16, DType.float32, DType.float64]
SIGNED = [DType.int8, DType.int16, DType.int32, DType.int64]
UNSIGNED = [DType.uint8, DType.uint16, DType.uint32, DType.uint64]


def refuse(function, expected, got):
    raise _core.InvalidError(f"[{function}] expected {expected}, got {got}")


def tensor(function, x):
    """A tensor out of what functions take; not of lists."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, (list, tuple)):
        raise _core.ArgumentError(f"[{function}] expected a tensor, a number or an array, got a {type(x).__name__}; "
                                  "asarray makes tensors of lists")
    return _core._asarray(x, None)


def along(x, axis, index):
    """x[.., index, ..] on one axis."""
    axis = axis % max(x.ndim, 1)
    return x[(slice(None),) * axis + (index,)]
