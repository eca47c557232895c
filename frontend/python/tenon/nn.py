# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers, losses and models. A model is a Module, a layer, or a list, dict or dataclass of them.

>>> class Mlp(tn.nn.Module):
...     def __init__(self, key):
...         a, b = key.split()
...         self.fc1, self.fc2 = tn.nn.Linear(4, 8, key=a), tn.nn.Linear(8, 2, key=b)
...     def __call__(self, x):
...         return self.fc2(self.fc1(x).relu())
>>> model = Mlp(tn.random.Key(0))
>>> model(tn.ones((3, 4))).shape
(3, 2)
>>> list(tn.nn.named_parameters(model))
['fc1.weight', 'fc1.bias', 'fc2.weight', 'fc2.bias']
"""
import inspect

from tenon import _core
from tenon._core._nn import *
from tenon._core._nn import _load, _save
from tenon._core import tree_map

__all__ = sorted(name for name in vars(_core._nn) if not name.startswith("_")) + [
    "Module", "Residual", "Sequential", "load", "save"]


class Module:
    """A model whose attributes are parameters, tensors, options and other modules.

    `nn.Parameter`s are learned, `nn.Buffer`s and other tensors are kept with the model; all else tells traces of a compiled
    function apart. Attributes name tensors in checkpoints, as "fc1.weight"; elements of lists are numbered. A compiled
    function takes a model, works on a copy, and returns it.

    >>> class Scale(tn.nn.Module):
    ...     def __init__(self):
    ...         self.factor = tn.nn.Parameter(tn.asarray(2.0))
    ...     def __call__(self, x):
    ...         return x * self.factor
    >>> Scale()(3.0)
    Tensor(6.0, dtype=float32, device='cpu:0')
    """
    __tenon_module__ = True

    def __repr__(self):
        lines = [f"  ({name}): {value!r}".replace("\n", "\n  ") for name, value in vars(self).items()
                 if isinstance(value, (Module, list, tuple)) or type(value).__module__ == "tenon._core._nn"]
        return f"{type(self).__name__}(" + ("\n" + "\n".join(lines) + "\n" if lines else "") + ")"


def _call(layer, x, mode):
    """With a mode, if the layer takes one."""
    if mode is None:
        return layer(x)
    if isinstance(layer, Module):
        takes = "mode" in inspect.signature(type(layer).__call__).parameters
    else:
        takes = type(layer) in _WITH_MODE
    return layer(x, mode=mode) if takes else layer(x)


_WITH_MODE = {BatchNorm, Dropout, FractionalMaxPool2d, FractionalMaxPool3d, MultiHeadAttention}


class Sequential(Module):
    """Layers and functions one after another; their names are numbers: "0.weight".

    >>> model = tn.nn.Sequential(tn.nn.Linear(4, 8, key=tn.random.Key(0)), tn.relu, tn.nn.Linear(8, 2, key=tn.random.Key(1)))
    >>> model(tn.ones((3, 4))).shape
    (3, 2)
    """

    def __init__(self, *layers):
        for i, layer in enumerate(layers):
            if not callable(layer):
                raise _core.ArgumentError(f"[Sequential] expected layers and functions, got {layer!r} "
                                          f"({type(layer).__name__})")
            setattr(self, str(i), layer)

    def __call__(self, x, mode=None):
        for layer in self:
            x = _call(layer, x, mode)
        return x

    def __len__(self):
        return len(vars(self))

    def __iter__(self):
        return iter(vars(self).values())

    def __getitem__(self, i):
        return list(self)[i]


class Residual(Module):
    """x + body(x).

    >>> tn.nn.Residual(tn.sin)(tn.zeros(2))
    Tensor([0. 0.], dtype=float32, device='cpu:0')
    """

    def __init__(self, body):
        self.body = body

    def __call__(self, x, mode=None):
        return x + _call(self.body, x, mode)


def save(path, model, optimizer=None, state=None, metadata=None):
    """Writes a model, and what an optimizer keeps, as a safetensors file; an error leaves an old file as it was.

    `metadata`: a dict of strings. Raises EnvironmentError for what the system refuses.

    >>> import tempfile, os
    >>> model = tn.nn.Linear(2, 1, key=tn.random.Key(0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tn.nn.save(os.path.join(folder, "model.safetensors"), model, metadata={"epoch": "3"})
    ...     tn.nn.load(os.path.join(folder, "model.safetensors"), model)
    {'epoch': '3'}
    """
    _save(str(path), model, optimizer, state, metadata)


def load(path, model, optimizer=None, state=None):
    """Reads what `save` wrote into a model of the same tensors, names and shapes; returns the metadata.

    Raises InvalidError, naming the tensor, for a file of another model, and changes nothing then.

    >>> tn.nn.load("nowhere.safetensors", tn.nn.Linear(2, 1, key=tn.random.Key(0)))
    Traceback (most recent call last):
    tenon.EnvironmentError: nowhere.safetensors: expected a readable file, got: No such file or directory
    """
    return _load(str(path), model, optimizer, state)
