# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes and parts, in NumPy's form."""
import builtins

from tenon import _core
from tenon._common import along, refuse, tensor
from tenon._core import DType
from tenon._creation import asarray

__all__ = ["permute_dims", "concat", "concatenate", "unstack", "split", "take", "repeat", "roll", "rot90", "pad",
           "broadcast_shapes", "broadcast_arrays", "squeeze", "flip", "reshape"]


def permute_dims(x, /, axes):
    """The axes in the order given.

    >>> tn.permute_dims(tn.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    return _core.transpose(x, axes)


def concat(arrays, /, *, axis=0):
    """Joined along an axis; None: flattened first. dtypes promote.

    >>> tn.concat([tn.asarray([1, 2]), tn.asarray([3])])
    Tensor([1 2 3], dtype=int64, device='cpu:0')
    """
    arrays = [tensor("concat", x) for x in arrays]
    if axis is None:
        arrays, axis = [x.ravel() for x in arrays], 0
    return _core._concatenate(arrays, axis)


def concatenate(arrays, axis=0):
    """As `concat`: NumPy's name.

    >>> tn.concatenate([tn.asarray([1]), tn.asarray([2])])
    Tensor([1 2], dtype=int64, device='cpu:0')
    """
    return concat(arrays, axis=axis)


def unstack(x, /, *, axis=0):
    """The slices along an axis, a tuple.

    >>> tn.unstack(tn.asarray([1, 2]))
    (Tensor(1, dtype=int64, device='cpu:0'), Tensor(2, dtype=int64, device='cpu:0'))
    """
    x = tensor("unstack", x)
    moved = _core.moveaxis(x, axis, 0)
    return tuple(moved[i] for i in range(moved.shape[0]))


def split(x, indices_or_sections, axis=0):
    """Into so many equal parts, or before each of the positions given, as NumPy's.

    >>> [part.tolist() for part in tn.split(tn.arange(4), 2)]
    [[0, 1], [2, 3]]
    """
    x = tensor("split", x)
    size = x.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0 or size % indices_or_sections:
            refuse("split", f"a number of sections that divides {size}", indices_or_sections)
        sizes = [size // indices_or_sections] * indices_or_sections
    else:
        ends = [builtins.min(builtins.max(i + size if i < 0 else i, 0), size) for i in indices_or_sections] + [size]
        sizes = [builtins.max(b - a, 0) for a, b in zip([0] + ends[:-1], ends)]
        return [along(x, axis, slice(a, b)) for a, b in zip([0] + ends[:-1], ends)]
    return _core._split(x, sizes, axis)


def take(x, indices, /, *, axis=None):
    """Slices along an axis at positions, which may count from the end; None: of the flattened tensor.

    Raises RangeError for an integer outside of the axis; a position in a tensor that is outside reads 0.

    >>> tn.take(tn.asarray([5, 6, 7]), tn.asarray([0, -1]))
    Tensor([5 7], dtype=int64, device='cpu:0')
    """
    x = tensor("take", x)
    if axis is None:
        x, axis = x.ravel(), 0
    if not -x.ndim <= axis < x.ndim:
        refuse("take", f"an axis in [{-x.ndim}, {x.ndim})", axis)
    return along(x, axis, list(indices) if isinstance(indices, tuple) else indices)


def repeat(x, repeats, /, *, axis=None):
    """Each element so often in a row, or as often as a tensor says for each; None: of the flattened tensor.

    >>> tn.repeat(tn.asarray([1, 2]), 2)
    Tensor([1 1 2 2], dtype=int64, device='cpu:0')
    """
    x = tensor("repeat", x)
    if axis is None:
        x, axis = x.ravel(), 0
    if isinstance(repeats, int):
        return _core._repeat(x, repeats, axis)
    counts = asarray(repeats)
    if counts.ndim == 0 or counts.shape == (1,):
        return _core._repeat(x, counts.item(), axis)
    if counts.shape != (x.shape[axis],):
        refuse("repeat", f"{x.shape[axis]} counts", counts.shape)
    places = [i for i, count in enumerate(counts.tolist()) for _ in range(count)]
    return along(x, axis, asarray(places, DType.int64))


def roll(x, /, shift, *, axis=None):
    """Elements that leave an axis at its end come in at its begin; None: of the flattened tensor.

    >>> tn.roll(tn.asarray([1, 2, 3]), 1)
    Tensor([3 1 2], dtype=int64, device='cpu:0')
    """
    if isinstance(axis, tuple) and isinstance(shift, int):
        shift = (shift,) * len(axis)
    return _core._roll(x, shift, axis)


def rot90(x, k=1, axes=(0, 1)):
    """k quarter turns in the plane of two axes, from the first to the second.

    >>> tn.rot90(tn.asarray([[1, 2], [3, 4]]))
    Tensor([[2 4]
            [1 3]], dtype=int64, device='cpu:0')
    """
    return _core._rot90(x, k, axes[0], axes[1])


def pad(x, pad_width, mode="constant", *, constant_values=0):
    """What stands before and after each axis: a number, or what the mode says, as NumPy's.

    `pad_width`: an integer, a pair for all axes, or a pair for each axis. Modes: "constant", "reflect", "edge", "wrap".

    >>> tn.pad(tn.asarray([1, 2]), (1, 2))
    Tensor([0 1 2 0 0], dtype=int64, device='cpu:0')
    """
    x = tensor("pad", x)
    widths = [pad_width] if isinstance(pad_width, int) else list(pad_width)
    if builtins.all(isinstance(w, int) for w in widths) and len(widths) in (1, 2):
        widths = [(widths[0], widths[-1])] * x.ndim
    widths = [tuple(w) if isinstance(w, (tuple, list)) else w for w in widths]
    if len(widths) == 1:
        widths = widths * x.ndim
    if mode == "constant":
        return _core._pad(x, widths, constant_values)
    modes = {"reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    if mode not in modes:
        refuse("pad", 'a mode of "constant", "reflect", "edge" and "wrap"', repr(mode))
    return _core._pad1(x, widths, modes[mode])


def broadcast_shapes(*shapes):
    """The shape in which shapes meet.

    >>> tn.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    rank = builtins.max((len(s) for s in shapes), default=0)
    out = []
    for sizes in zip(*((1,) * (rank - len(s)) + tuple(s) for s in shapes)):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            refuse("broadcast_shapes", "shapes that meet", " and ".join(str(tuple(s)) for s in shapes))
        out.append(wide.pop() if wide else 1)
    return tuple(out)


def broadcast_arrays(*arrays):
    """Tensors in the shape in which they meet.

    >>> tuple(x.shape for x in tn.broadcast_arrays(tn.ones((2, 1)), tn.ones(3)))
    ((2, 3), (2, 3))
    """
    arrays = [tensor("broadcast_arrays", x) for x in arrays]
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return tuple(_core.broadcast_to(x, shape) for x in arrays)


def squeeze(x, /, axis=None):
    """Without axes of size 1; None: without all of them.

    >>> tn.squeeze(tn.ones((1, 3))).shape
    (3,)
    """
    return tensor("squeeze", x) if axis == () else _core._squeeze(x, axis)


def flip(x, /, *, axis=None):
    """Elements in reverse order along axes; None: all.

    >>> tn.flip(tn.asarray([1, 2, 3]))
    Tensor([3 2 1], dtype=int64, device='cpu:0')
    """
    return tensor("flip", x) if axis == () else _core._flip(x, axis)


def reshape(x, /, shape, *, copy=None):
    """The elements in another shape; one -1 is inferred.

    >>> tn.reshape(tn.arange(4), (2, -1))
    Tensor([[0 1]
            [2 3]], dtype=int64, device='cpu:0')
    """
    out = _core.reshape(x, shape)
    return out.copy() if copy else out
