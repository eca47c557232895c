# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Members of Tensor, and what the array API standard asks of a namespace."""
import builtins

from tenon import _core, _devices
from tenon._common import refuse
from tenon._core import DType, Tensor
from tenon._dtypes import isdtype
from tenon._elementwise import clip
from tenon._shapes import repeat, roll, take
from tenon._statistics import argsort, dot, nonzero, quantile, sort, std, var

__all__ = ["__array_namespace_info__"]


def _member(f):
    def method(self, *args, **kwargs):
        return f(self, *args, **kwargs)
    method.__name__ = method.__qualname__ = f.__name__
    method.__doc__ = f.__doc__
    return method


for _f in (var, std, quantile, clip, take, repeat, roll, argsort, sort, nonzero, dot):
    setattr(Tensor, _f.__name__, _member(_f))


def _to(self, device):
    """A copy on another device, or the tensor where it is there.

    >>> tn.ones(2).to("cpu:0").device
    'cpu:0'
    """
    name = _core._device(device)["id"] if isinstance(device, str) else getattr(device, "id", device)
    return self if name == self.device else _core._to(self, name)


def _to_device(self, device, /, *, stream=None):
    """The array API standard's name of `to`.

    >>> tn.ones(2).to_device("cpu").device
    'cpu:0'
    """
    if stream is not None:
        refuse("to_device", "stream=None", stream)
    return _to(self, device)


def _numpy(self):
    """The elements as a NumPy array of its own memory. bfloat16 and float8 need ml_dtypes.

    >>> tn.ones(2).numpy()
    array([1., 1.], dtype=float32)
    """
    return _core._to_numpy(self)


def _array(self, dtype=None, copy=None):
    out = _core._to_numpy(self)
    return out if dtype is None else out.astype(dtype)


def _namespace(self, /, *, api_version=None):
    import tenon
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        refuse("__array_namespace__", "a version up to 2025.12", repr(api_version))
    return tenon


def _iterate(self):
    if self.ndim == 0:
        raise _core.ArgumentError("[iter] expected a tensor of rank 1 and more, got one of rank 0")
    return (self[i] for i in range(len(self)))


Tensor.to, Tensor.to_device, Tensor.numpy, Tensor.__array__ = _to, _to_device, _numpy, _array
Tensor.__array_namespace__, Tensor.__iter__ = _namespace, _iterate
def _rebuilt(data, dtype, shape):
    return _core._from_bytes(data, dtype, shape)


Tensor.__reduce__ = lambda self: (_rebuilt, (_core._to_bytes(self), self.dtype, self.shape))
Tensor.__array_priority__ = 100.0  # NumPy's operators leave it to Tensor's
Tensor.__array_ufunc__ = None
Tensor.__complex__ = lambda self: complex(self.item())
Tensor.__contains__ = lambda self, value: builtins.bool((self == value).any())
Tensor.__divmod__ = lambda self, other: (self // other, self % other)
Tensor.__rdivmod__ = lambda self, other: (other // self, other % self)
Tensor.__format__ = lambda self, spec: format(self.item() if spec else str(self), spec)


class _Info:
    """What there is, as the array API standard asks."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self):
        return _devices.current() or _core._device_ids()[0]

    def default_dtypes(self, *, device=None):
        return {"real floating": DType.float32, "complex floating": None, "integral": DType.int64, "indexing": DType.int64}

    def devices(self):
        return tuple(each.id for each in _devices.devices() if each.compute)

    def dtypes(self, *, device=None, kind=None):
        names = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
        return {name: DType[name] for name in names if kind is None or isdtype(DType[name], kind)}


def __array_namespace_info__():
    """What the array API standard asks of a namespace: capabilities, devices and dtypes.

    >>> tn.__array_namespace_info__().default_dtypes()["integral"]
    tenon.int64
    """
    return _Info()
