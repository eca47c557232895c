# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brackets, and elements along an axis. An index is written as NumPy's: `1;0:5:2;...;None;t0`, t0 being the input after x."""
import numpy as np

from golden_file import DTYPES, exact, to_dtype
from sample_inputs import floats, integers

X = np.arange(4 * 5 * 6, dtype=np.int16).reshape(4, 5, 6)
ROWS, COLUMNS = np.array([2, 0, -1, 2]), np.array([1, -5, 4, 1], np.int32)
GRID = np.array([[0, 3], [1, -2]], np.int8)
BASIC = ["1", "-1;2", "0;1;2", "1:3", ":;2", "...;1", "1;...", "...", "None", "None;1;None;...", "::2", "::-1", "3:0:-2",
         "-3:-1", "1:100", "-100:2", "3:1", ":;::-3;4:1:-1", "10:", "2;:;1::2", "...;None", ":;...;0", "::-1;...;::-2",
         "-1:-100:-1", "2:2"]
LOOKUPS = [("t0", [ROWS]), ("t0;t1", [ROWS, COLUMNS]), (":;t0", [ROWS]), ("t0;:;t1", [ROWS, COLUMNS]),
           ("...;t0", [ROWS]), ("t0", [GRID]), ("t0;t1", [GRID, np.array([1, 2])]), ("1;:;t0", [ROWS]),
           ("1;t0", [ROWS]), (":;1;t0", [ROWS]), ("None;t0;None", [ROWS]), ("t0;1:4:2;t1", [GRID, ROWS[:2]]),
           ("::-1;t0;t1", [ROWS, COLUMNS]), ("t0", [np.array(2)]), ("t0", [np.zeros((0, 2), np.int64)]),
           ("t0", [np.array([3, 0, 1], np.uint8)]), (":;t0;...;1", [ROWS]), ("t0;None;t1", [ROWS, COLUMNS])]
MASKS = [("t0", [X % 3 == 0]), ("t0", [X[:, :, 0] % 2 == 0]), ("t0", [np.array([True, False, True, True])]),
         (":;t0", [np.array([True, False, False, True, True])]), ("...;t0", [np.arange(6) > 3]),
         ("t0;1", [np.array([False, False, True, True])]), ("t0;t1", [np.array([True, False, True, False]), np.array([3, 4])]),
         ("t0", [np.zeros((4, 5, 6), bool)]), ("1;t0", [np.ones((5, 6), bool)])]


def parsed(text, tensors):
    def one(word):
        if word == "...":
            return Ellipsis
        if word == "None":
            return None
        if word[0] == "t":
            return tensors[int(word[1:])]
        if ":" in word:
            return slice(*[int(p) if p else None for p in word.split(":")])
        return int(word)
    return tuple(one(word) for word in text.split(";"))


UPDATES = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def written(x, index, values, combine):
    """In the order of the values; a mean counts the element too."""
    y = x.copy()
    if combine == "replace":
        y[index] = values
    elif combine == "mean":
        wide, count = exact(x), np.ones(x.shape, np.longdouble)
        np.add.at(wide, index, exact(values))
        np.add.at(count, index, 1)
        y = to_dtype(wide / count, {v: k for k, v in DTYPES.items()}[x.dtype.type])
    else:
        UPDATES[combine].at(y, index, values)
    return y


def index_cases(f):
    f.name("x", X)
    for text, tensors in [(b, []) for b in BASIC] + LOOKUPS + MASKS:
        index = parsed(text, tensors)
        part = X[index]
        f.case("get", ["x"] + tensors, part, index=text)
        values = -1 - np.arange(part.size, dtype=np.int16).reshape(part.shape)
        if not (text == "t0" and tensors[0].dtype != bool and tensors[0].size > 4):
            f.case("set", ["x"] + tensors + [values], written(X, index, values, "replace"), index=text)
        f.case("set", ["x"] + tensors + [np.array(7, np.int16)], written(X, index, np.int16(7), "replace"), index=text)
    for dtype in DTYPES:
        x = np.array([[0, 1, 1], [1, 0, 1]]).astype(DTYPES[dtype])
        f.case("get", [x, np.array([1, 0, 1])], x[:, [1, 0, 1]], index=":;t0")
        f.case("set", [x, np.array([2, 2]), x[:, :2]], written(x, (slice(None), np.array([2, 2])), x[:, :2], "replace"),
               index=":;t0")
    for combine in ["add", "mul", "max", "min", "mean", "replace"]:
        for dtype in ("f16", "bf16", "f32", "f64", "i32", "u8", "i64"):
            if combine == "mean" and dtype[0] in "iu":
                continue
            make = floats if dtype not in ("i32", "u8", "i64") else integers
            x, values = make(dtype, (5, 3), 5), make(dtype, (9, 3), 6)
            if dtype in ("f16", "bf16"):  # each addition rounds: whole numbers are exact
                x, values = np.round(x.astype(np.float32)).astype(x.dtype), np.round(values.astype(np.float32)).astype(x.dtype)
            at = np.array([1, 4, 1, -1, 0, 1, 1, -4, 4])
            f.case("set", [x, at, values], written(x, at, values, combine), index="t0", combine=combine)
            column = np.array([[0, 0, 2, 0], [1, 1, 1, 1], [2, -1, 0, 0], [0, 1, 2, 0], [-1, -1, -1, 2]])
            v = make(dtype, (5, 4), 8)
            if dtype in ("f16", "bf16"):
                v = np.round(v.astype(np.float32)).astype(x.dtype)
            where = (np.arange(5)[:, None], column)
            f.case("put_along_axis", [x, column, v], written(x, where, v, combine), axis=1, combine=combine)
    x = floats("f32", (3, 4))
    at = np.array([[0, -1, 2], [3, 3, -4], [1, 1, 1]])
    f.case("take_along_axis", [x, at], np.take_along_axis(x, at, 1), axis=1)
    f.case("take_along_axis", [x, at.T[:, :1].repeat(4, 1) % 3], np.take_along_axis(x, at.T[:, :1].repeat(4, 1) % 3, 0), axis=0)
    # outside: 0 is read, nothing is written
    f.case("take_along_axis", [np.float32([1, 2, 3]), np.array([3, -4, 2, 100])], np.float32([0, 0, 3, 0]), axis=0)
    f.case("put_along_axis", [np.float32([1, 2, 3]), np.array([3, -4, 2, 100]), np.float32([9, 9, 9, 9])],
           np.float32([1, 2, 9]), axis=0, combine="replace")
    f.case("get", [np.float32([[1, 2], [3, 4]]), np.array([1, 2, -3]), np.array([-1, 0, 0])], np.float32([4, 0, 0]),
           index="t0;t1")
    f.case("set", [np.float32([[1, 2], [3, 4]]), np.array([1, 2, -3]), np.array([-1, 0, 0]), np.float32([7, 8, 9])],
           np.float32([[1, 2], [3, 7]]), index="t0;t1")
