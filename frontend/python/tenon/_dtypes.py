# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dtypes, their limits, and where they meet."""
import builtins
from collections import namedtuple

from tenon import _core
from tenon._common import FLOATS, SIGNED, UNSIGNED, refuse
from tenon._core import DType, Tensor
from tenon._creation import zeros
from tenon._devices import placed

__all__ = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
           "float32", "float64", "float8_e4m3fn", "float8_e5m2", "result_type", "can_cast", "isdtype", "finfo",
           "iinfo", "astype"]


bool, int8, int16, int32, int64 = DType.bool, DType.int8, DType.int16, DType.int32, DType.int64
uint8, uint16, uint32, uint64 = DType.uint8, DType.uint16, DType.uint32, DType.uint64
float16, bfloat16, float32, float64 = DType.float16, DType.bfloat16, DType.float32, DType.float64
float8_e4m3fn, float8_e5m2 = DType.float8_e4m3fn, DType.float8_e5m2
DType.__repr__ = lambda self: f"tenon.{self.name}"
DType.__str__ = lambda self: self.name

# Dtypes.

def result_type(*arrays_and_dtypes):
    """The dtype in which tensors, dtypes and Python numbers meet.

    >>> tn.result_type(tn.int8, tn.float16)
    tenon.float16
    """
    dtypes = [x if isinstance(x, DType) else x.dtype for x in arrays_and_dtypes if isinstance(x, (DType, Tensor))]
    numbers = [x for x in arrays_and_dtypes if isinstance(x, (builtins.bool, int, float))]
    if len(dtypes) + len(numbers) != len(arrays_and_dtypes) or not arrays_and_dtypes:
        raise _core.ArgumentError("[result_type] expected tensors, dtypes or numbers, got "
                                  f"{[type(x).__name__ for x in arrays_and_dtypes]}")
    if not dtypes:
        return (zeros((), DType.bool) + sum(numbers)).dtype
    out = dtypes[0]
    for each in dtypes[1:]:
        out = _core.promote_types(out, each)
    for number in numbers:
        out = (zeros((), out) + number).dtype
    return out


def can_cast(from_, to, /):
    """Whether a dtype, or that of a tensor, promotes to `to` and no further.

    >>> tn.can_cast(tn.int8, tn.int16), tn.can_cast(tn.float32, tn.int32)
    (True, False)
    """
    own = from_.dtype if isinstance(from_, Tensor) else from_
    if own == to:
        return True
    try:
        return _core.promote_types(own, to) == to
    except _core.InvalidError:
        return False


def isdtype(dtype, kind):
    """Whether a dtype is of a kind, or one of a tuple of kinds and dtypes.

    Kinds are "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric".

    >>> tn.isdtype(tn.int8, "integral")
    True
    """
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, DType):
        return dtype == kind
    kinds = {"bool": [DType.bool], "signed integer": SIGNED, "unsigned integer": UNSIGNED,
             "integral": SIGNED + UNSIGNED, "real floating": FLOATS, "complex floating": [],
             "numeric": SIGNED + UNSIGNED + FLOATS}
    if kind not in kinds:
        refuse("isdtype", f"a dtype or one of {', '.join(kinds)}", repr(kind))
    return dtype in kinds[kind]


finfo_object = namedtuple("finfo_object", "bits eps max min smallest_normal dtype")
iinfo_object = namedtuple("iinfo_object", "bits max min dtype")
# Bits of the significand that are stored, the exponent of the smallest normal number, the largest number.
_FLOAT_FACTS = {DType.float8_e4m3fn: (3, -6, 448.0), DType.float8_e5m2: (2, -14, 57344.0),
                DType.float16: (10, -14, 65504.0), DType.bfloat16: (7, -126, 3.3895313892515355e38),
                DType.float32: (23, -126, 3.4028234663852886e38), DType.float64: (52, -1022, 1.7976931348623157e308)}


def finfo(type, /):
    """Limits of a float dtype: bits, eps, max, min, smallest_normal, dtype.

    >>> tn.finfo(tn.float16).max
    65504.0
    """
    dtype = type.dtype if isinstance(type, Tensor) else type
    if dtype not in _FLOAT_FACTS:
        refuse("finfo", "a float dtype", dtype)
    stored, least, most = _FLOAT_FACTS[dtype]
    bits = {DType.float64: 64, DType.float32: 32, DType.float16: 16, DType.bfloat16: 16}.get(dtype, 8)
    return finfo_object(bits, 2.0 ** -stored, most, -most, 2.0 ** least, dtype)


def iinfo(type, /):
    """Limits of an integer dtype: bits, max, min, dtype.

    >>> tn.iinfo(tn.uint8).max
    255
    """
    dtype = type.dtype if isinstance(type, Tensor) else type
    if dtype in SIGNED:
        bits = 8 << SIGNED.index(dtype)
        return iinfo_object(bits, 2 ** (bits - 1) - 1, -2 ** (bits - 1), dtype)
    if dtype in UNSIGNED:
        bits = 8 << UNSIGNED.index(dtype)
        return iinfo_object(bits, 2 ** bits - 1, 0, dtype)
    return refuse("iinfo", "an integer dtype", dtype)


def astype(x, dtype, /, *, copy=True, device=None):
    """The same numbers in another dtype: floats truncate to integers, not 0 is True.

    >>> tn.astype(tn.asarray([1.5, -1.5]), tn.int32)
    Tensor([ 1 -1], dtype=int32, device='cpu:0')
    """
    out = _core.astype(x, dtype)
    return out if device is None else placed(out, device)
