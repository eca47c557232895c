# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lazy tensors with NumPy's functions, on any device that has a Tenon plugin.

>>> import tenon as tn
>>> x = tn.asarray([[1.0, 2.0], [3.0, 4.0]])
>>> (x @ x.T).sum(axis=0)
Tensor([16. 36.], dtype=float32, device='cpu:0')
"""
import math as _math

from tenon._core import *
from tenon import (_creation, _devices, _dtypes, _elementwise, _members, _shapes, _statistics, _transforms, autodiff, fft,
                   linalg, nn, optim, random)
from tenon._creation import *
from tenon._devices import *
from tenon._dtypes import *
from tenon._elementwise import *
from tenon._members import *
from tenon._shapes import *
from tenon._statistics import *
from tenon._transforms import *
from tenon._core import __version__

e, inf, nan, pi = _math.e, _math.inf, _math.nan, _math.pi
newaxis = None
#: The array API standard that the names of this module follow: https://data-apis.org/array-api/2025.12
__array_api_version__ = "2025.12"
__all__ = sorted({name for name in globals() if not name.startswith("_")} | {
    "__array_api_version__", "__array_namespace_info__", "__version__"})
