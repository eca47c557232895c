# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of elements that NumPy has and the core has otherwise: operators by name, bounds, neighbours."""
from tenon import _core
from tenon._common import refuse, tensor
from tenon._core import DType, Tensor
from tenon._creation import asarray
from tenon._dtypes import finfo

__all__ = ["bitwise_invert", "positive", "real", "imag", "conj", "clip", "nextafter", "where", "add", "multiply",
           "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "equal", "less",
           "greater", "greater_equal", "subtract", "not_equal", "less_equal"]


_OPERANDS = (Tensor, bool, int, float)


def _operator(name, operation, doc, example):
    def function(x1, x2, /):
        x1, x2 = (x if isinstance(x, _OPERANDS) else tensor(name, x) for x in (x1, x2))
        if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
            x1 = tensor(name, x1)
        return operation(x1, x2)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc}\n\n    >>> {example[0]}\n    {example[1]}\n    "
    return function


def _on_integers(dtype="int64"):
    return f"dtype={dtype}, device='cpu:0')"


_A = "tn.asarray([5, 3])"
_OPERATORS = [
    ("add", lambda a, b: a + b, "a + b", "[7 5]"), ("subtract", lambda a, b: a - b, "a - b", "[3 1]"),
    ("multiply", lambda a, b: a * b, "a b", "[10  6]"),
    ("bitwise_and", lambda a, b: a & b, "Bits that both have.", "[0 2]"),
    ("bitwise_or", lambda a, b: a | b, "Bits that one of them has.", "[7 3]"),
    ("bitwise_xor", lambda a, b: a ^ b, "Bits that only one of them has.", "[7 1]"),
    ("bitwise_left_shift", lambda a, b: a << b, "Bits moved up; 0 for shifts out of the dtype.", "[20 12]"),
    ("bitwise_right_shift", lambda a, b: a >> b, "Bits moved down, the sign with them.", "[1 0]"),
]
_COMPARISONS = [
    ("equal", lambda a, b: a == b, "a == b", "[False False]"), ("not_equal", lambda a, b: a != b, "a != b", "[ True  True]"),
    ("less", lambda a, b: a < b, "a < b", "[False False]"), ("less_equal", lambda a, b: a <= b, "a <= b", "[False False]"),
    ("greater", lambda a, b: a > b, "a > b", "[ True  True]"),
    ("greater_equal", lambda a, b: a >= b, "a >= b", "[ True  True]"),
]
for _name, _f, _doc, _out in _OPERATORS + _COMPARISONS:
    _kind = "bool" if (_name, _f, _doc, _out) in _COMPARISONS else "int64"
    globals()[_name] = _operator(_name, _f, _doc, (f"tn.{_name}({_A}, 2)", f"Tensor({_out}, {_on_integers(_kind)}"))


def bitwise_invert(x, /):
    """Bits that it has not; of bools the contrary.

    >>> tn.bitwise_invert(tn.asarray([0, 1]))
    Tensor([-1 -2], dtype=int64, device='cpu:0')
    """
    return ~tensor("bitwise_invert", x)


def positive(x, /):
    """x.

    >>> tn.positive(tn.asarray([-1]))
    Tensor([-1], dtype=int64, device='cpu:0')
    """
    return tensor("positive", x)


def real(x, /):
    """x: there are no complex tensors.

    >>> tn.real(tn.asarray([1.0]))
    Tensor([1.], dtype=float32, device='cpu:0')
    """
    return tensor("real", x)


def imag(x, /):
    """0: there are no complex tensors.

    >>> tn.imag(tn.asarray([1.0]))
    Tensor([0.], dtype=float32, device='cpu:0')
    """
    x = tensor("imag", x)
    return asarray(0, x.dtype) * x


def conj(x, /):
    """x: there are no complex tensors.

    >>> tn.conj(tn.asarray([1.0]))
    Tensor([1.], dtype=float32, device='cpu:0')
    """
    return tensor("conj", x)


def clip(x, /, min=None, max=None):
    """min(max(x, min), max), NaN stays; without one of them there is no bound. The dtype of x.

    >>> tn.clip(tn.asarray([-2, 0, 5]), 0, 3)
    Tensor([0 0 3], dtype=int64, device='cpu:0')
    """
    x = tensor("clip", x)
    out = x
    if min is not None:
        out = _core.maximum(out, min)
    if max is not None:
        out = _core.minimum(out, max)
    return out if out.dtype == x.dtype else out.astype(x.dtype)


def nextafter(x1, x2, /):
    """The next number of the dtype from x1 towards x2; x2 where they are equal, NaN where one is.

    >>> tn.nextafter(tn.asarray(0.0), 1).item() > 0
    True
    """
    if not isinstance(x1, Tensor) and isinstance(x2, Tensor):
        x1 = asarray(x1, x2.dtype)
    x1 = tensor("nextafter", x1)
    if not isinstance(x2, Tensor):
        x2 = asarray(x2, x1.dtype)
    dtype = _core.promote_types(x1.dtype, x2.dtype)
    if dtype not in (DType.float16, DType.bfloat16, DType.float32, DType.float64):
        refuse("nextafter", "floats of 16 bits and more", dtype)
    x1, x2 = x1.astype(dtype), x2.astype(dtype)
    whole = {64: DType.int64, 32: DType.int32, 16: DType.int16}[finfo(dtype).bits]
    bits = x1.view(whole)
    # A step away from 0 adds one to the bits, whatever the sign.
    away = (x2 > x1) == (x1 > 0)
    step = where(away, asarray(1, whole), asarray(-1, whole))
    tiny = _core.copysign(asarray(1, whole).view(dtype), x2)
    out = where(x1 == 0, tiny, (bits + step).view(dtype))
    return where(_core.isnan(x1) | _core.isnan(x2), x1 + x2, where(x1 == x2, x2, out))


def where(condition, x1, x2, /):
    """x1 where the condition is true, else x2.

    >>> tn.where(tn.asarray([True, False]), 1, 2)
    Tensor([1 2], dtype=int64, device='cpu:0')
    """
    return _core._where(condition, x1, x2)
