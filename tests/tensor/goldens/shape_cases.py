# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors from shapes and rules; shapes, order and parts."""
import numpy as np

from golden_file import DTYPES, L, to_dtype

def make_cases(f):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for dtype in DTYPES:
        own = x.astype(np.float32).astype(DTYPES[dtype])
        f.case("ones_like", [own], np.ones((2, 3), np.float32).astype(DTYPES[dtype]))
        f.case("full_like", [x], np.full((2, 3), 1, np.float32).astype(DTYPES[dtype]), value=1, dtype=dtype)
    f.case("zeros_like", [x], np.zeros_like(x))
    f.case("zeros_like", [np.zeros((0, 2), np.int8)], np.zeros((0, 2), np.int8))
    for begin, end, step in ((0, 5, 1), (2, 11, 3), (5, -4, -2), (3, 3, 1), (4, 0, 1), (-7, 8, 4)):
        f.case("arange_int", [], np.arange(begin, end, step), begin=begin, end=end, step=step)
        f.case("arange_int", [], np.arange(begin, end, step, dtype=np.float32), begin=begin, end=end, step=step,
               dtype="f32")
        f.case("arange_int", [], np.arange(begin, end, step, dtype=np.int8), begin=begin, end=end, step=step, dtype="i8")
    for begin, end, step in ((0, 1, 0.25), (1.5, -2, -0.3), (0.1, 2, 0.1)):
        for dtype in ("f32", "f64", "f16"):
            f.case("arange_float", [], to_dtype(begin + np.arange(len(np.arange(begin, end, step))) * L(step), dtype), begin=begin, end=end, step=step,
                   dtype=dtype)
    for begin, end, count in ((0, 1, 5), (-1, 1, 7), (3, -2.5, 12), (2, 3, 1), (2, 3, 0), (0, 1, 2)):
        for endpoint in (0, 1):
            for dtype in ("f32", "f64", "bf16"):
                f.case("linspace", [], to_dtype(np.linspace(begin, end, count, endpoint=bool(endpoint)), dtype),
                       begin=begin, end=end, count=count, endpoint=endpoint, dtype=dtype)
                f.case("logspace", [], to_dtype(np.logspace(begin, end, count, endpoint=bool(endpoint), base=2.5), dtype),
                       begin=begin, end=end, count=count, endpoint=endpoint, base=2.5, dtype=dtype)
    for rows, columns, offset in ((3, 3, 0), (3, 4, 1), (4, 2, -1), (0, 2, 0), (2, 2, 5), (2, 3, -4)):
        for dtype in ("f32", "i32", "bool"):
            f.case("eye", [], np.eye(rows, columns, offset).astype(DTYPES[dtype]), rows=rows, columns=columns,
                   offset=offset, dtype=dtype)
            f.case("tri", [], np.tri(rows, columns, offset).astype(DTYPES[dtype]), rows=rows, columns=columns,
                   offset=offset, dtype=dtype)
    y = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    for offset in (0, 1, -1, 3, -5):
        for v in (y, y[0].astype(np.int16)):
            f.case("tril", [v], np.tril(v, offset), offset=offset)
            f.case("triu", [v], np.triu(v, offset), offset=offset)
    names = np.array([[0, 2], [-1, 3], [1, 9]])
    for dtype in ("i8", "i32", "i64", "u8"):
        v = np.maximum(names, 0).astype(DTYPES[dtype]) if dtype == "u8" else names.astype(DTYPES[dtype])
        for to in ("f32", "i64"):
            f.case("one_hot", [v], (v[..., None] == np.arange(4)).astype(DTYPES[to]), classes=4, dtype=to)
    axes = [np.arange(3, dtype=np.float32), np.arange(2, dtype=np.float32), np.arange(4, dtype=np.float32)]
    for n in (1, 2, 3):
        f.case("meshgrid", axes[:n], list(np.meshgrid(*axes[:n], indexing="ij")), ij=1)
        f.case("meshgrid", axes[:n], list(np.meshgrid(*axes[:n], indexing="xy")), ij=0)


def move_cases(f):
    x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    m = np.arange(1, 13, dtype=np.int32).reshape(3, 4)
    v = np.arange(1, 6, dtype=np.float32)
    none = np.zeros((0, 3), np.float32)
    f.name("x", x)
    f.name("m", m)
    f.name("v", v)
    for axis in (0, 1, -1):
        f.case("concatenate", [x, x + 30], np.concatenate([x, x + 30], axis), axis=axis)
        f.case("stack", [x, x + 30, x + 60], np.stack([x, x + 30, x + 60], axis), axis=axis)
    f.case("concatenate", [m[:1], m[:0], m], np.concatenate([m[:1], m[:0], m]), axis=0)
    f.case("concatenate", [m, m.astype(np.float64)], np.concatenate([m, m.astype(np.float64)], 1), axis=1)
    f.case("concatenate", [m.astype(np.int8), m.astype(np.uint8)],
           np.concatenate([m.astype(np.int8), m.astype(np.uint8)]), axis=0)
    f.case("stack", [np.array(1.5, np.float32), np.array(2, np.float32)], np.array([1.5, 2], np.float32), axis=0)
    f.case("vstack", [v, v + 1], np.vstack([v, v + 1]))
    f.case("vstack", ["m", "m"], np.vstack([m, m]))
    f.case("hstack", [v, v + 1], np.hstack([v, v + 1]))
    f.case("hstack", ["m", "m"], np.hstack([m, m]))
    f.case("split", ["x"], np.split(x, [1, 3], 2), sizes=(1, 2, 1), axis=2)
    f.case("split", ["x"], np.split(x, [0, 2], 1), sizes=(0, 2, 1), axis=1)
    f.case("chunk", ["v"], [v[:2], v[2:4], v[4:]], count=3, axis=0)
    f.case("chunk", ["v"], [v[i:i + 1] for i in range(5)], count=9, axis=0)
    for counts in ((2,), (2, 1), (1, 2, 3), (0, 2)):
        f.case("tile", ["m"], np.tile(m, counts), counts=counts)
    for axis in (0, 1, -1):
        f.case("repeat", ["m"], np.repeat(m, 3, axis), count=3, axis=axis)
    f.case("repeat", ["m"], np.repeat(m, 0, 0), count=0, axis=0)
    for shifts, axes in (((1,), ()), ((-2,), ()), ((1,), (0,)), ((-7,), (1,)), ((1, 2), (0, -1)), ((0,), (1,))):
        f.case("roll", ["m"], np.roll(m, shifts if axes else shifts[0], axes or None),
               shifts=shifts, **({"axes": axes} if axes else {}))
    f.case("roll", [none], none, shifts=(1,), axes=(0,))
    f.case("broadcast_to", [v], np.broadcast_to(v, (2, 5)).copy(), shape=(2, 5))
    f.case("broadcast_to", [np.array(3, np.int8)], np.full((2, 2), 3, np.int8), shape=(2, 2))
    for a, b in (((0,), (2,)), ((-1,), (0,)), ((0, 1), (-1, -2)), ((2, 0), (0, 1))):
        f.case("moveaxis", ["x"], np.moveaxis(x, a, b).copy(), **{"from": a, "to": b})
    f.case("swapaxes", ["x"], np.swapaxes(x, 0, 2).copy(), axes=(0, 2))
    for times in (-1, 0, 1, 2, 3, 6):
        f.case("rot90", ["x"], np.rot90(x, times, (1, 2)).copy(), times=times, axes=(1, 2))
    f.case("expand_dims", ["m"], np.expand_dims(m, (0, 2, -1)), axes=(0, 2, -1))
    f.case("squeeze", [m[:1, :, None]], m[0], axes=(0, 2))
    f.case("squeeze", [m[:1, :, None]], m[0])
    f.case("squeeze", [m[:1, :1]], m[0, 0])
    f.case("atleast_nd", ["v"], v[None, None], rank=3)
    f.case("atleast_nd", ["x"], x, rank=1)
    f.case("ravel", ["x"], x.ravel())
    for text in ("1:,::2,::-1", "::-1,1:3,0:4:3", ":,-2:,3:0:-2", ":,::-2", "0:0,::3,::7", ":,2:2:-1,-1:-4:-1",
                 "1::-1,:,1:4:2"):
        key = tuple(slice(*(int(p) if p else None for p in part.split(":"))) for part in text.split(","))
        f.case("slice", ["x"], x[key].copy(), ranges=text)
    for dtype in DTYPES:
        own = x[0].astype(DTYPES[dtype])
        f.case("slice", [own], own[::-1, ::3].copy(), ranges="::-1,::3")
    flat = x.ravel()
    for shape, strides, offset in (((3, 4), (5, 1), 0), ((2, 3, 2), (0, 4, 1), 3), ((4,), (-2,), 20), ((0, 2), (1, 1), 0),
                                   ((), (), 7)):
        at = offset + sum((i * s for i, s in zip(np.indices(shape), strides)), np.zeros(shape, int))
        f.case("as_strided", ["x"], flat[at] if shape else np.array(flat[offset]), shape=shape, strides=strides,
               offset=offset)
    for offset in (0, 1, -1, 3, -5, 9):
        f.case("diagonal", ["x"], np.diagonal(x, offset, 1, 2).copy(), offset=offset, axes=(1, 2))
        f.case("diagonal", ["x"], np.diagonal(x, offset, 2, 0).copy(), offset=offset, axes=(2, 0))
        f.case("diag", ["m"], np.diag(m, offset), offset=offset)
        f.case("diag", ["v"], np.diag(v, offset), offset=offset)
    for axis, size, step in ((2, 2, 1), (1, 3, 1), (2, 1, 3), (-1, 3, 2), (0, 2, 5)):
        w = np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, size, axis), axis % 3, 0)[::step]
        f.case("unfold", ["x"], np.moveaxis(w, 0, axis % 3).copy(),
               axis=axis, size=size, step=step)
    for pairs in ((1, 2), (0, 1, 2, 0), (2, 2, 3, 1)):
        shape = [(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)]
        shape += [(0, 0)] * (2 - len(shape))
        for mode in ("reflect", "edge", "wrap"):
            f.case("pad", ["m"], np.pad(m, shape, mode), pairs=pairs, mode=mode)
        if len(pairs) == 4:
            f.case("pad", ["m"], np.pad(m, shape, constant_values=9), pairs=pairs, mode="constant", value=9)
    f.case("pad", ["v"], np.pad(v, (40, 30), "edge"), pairs=(40, 30), mode="edge")
    f.case("contiguous", ["x"], np.swapaxes(x, 1, 2).copy())
    f.case("copy", ["x"], x)
    f.case("copy", [none], none)
