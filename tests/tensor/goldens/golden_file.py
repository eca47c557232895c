# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dtypes, rounding, and the file that cases go into; make_goldens.py says what is in it."""
import os
import sys

import jax
import ml_dtypes
import mpmath
import numpy as np

mpmath.mp.prec = 120
HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
}
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}
FLOATS = ["f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2"]
SIGNED = ["i8", "i16", "i32", "i64"]
INTS = SIGNED + ["u8", "u16", "u32", "u64"]

L = np.longdouble


def to_dtype(values, dtype):
    """Rounds exact values once. Integers wrap, f8e4m3 saturates, as CAST does."""
    if dtype == "f8e4m3":
        values = np.where(np.isnan(values), values, np.clip(values, -448, 448)).astype(np.float64)
    elif dtype in ("f8e5m2", "bf16"):
        values = np.asarray(values, np.float64)
    return np.asarray(values).astype(DTYPES[dtype])


def exact(x):
    """Floats in 80 bits, whatever their dtype."""
    if NAMES[x.dtype] in ("bf16", "f8e4m3", "f8e5m2"):
        x = x.astype(np.float64)
    return x.astype(np.longdouble)


class File:
    def __init__(self, name, about):
        self.path = os.path.join(HERE, name + ".txt")
        self.lines = [f"# {about}",
                      f"# Made by make_goldens.py with NumPy {np.__version__}, JAX {jax.__version__}, "
                      f"mpmath {mpmath.__version__}."]
        self.named = {}

    def text(self, x):
        x = np.asarray(x)
        dims = ",".join(str(d) for d in x.shape)
        size = x.dtype.itemsize
        bits = x.ravel().view(f"u{size}") if x.size else []
        if x.dtype == np.bool_:
            bits = x.ravel().astype(np.uint8)
        hexes = "".join(f"{int(b):0{2 * size}x}" for b in bits)
        return f"{NAMES[x.dtype]}[{dims}]:{hexes}"

    def name(self, key, x):
        self.named[key] = self.text(x)
        self.lines.append(f"@{key} = {self.named[key]}")

    def case(self, function, inputs, outputs, **attributes):
        """`inputs`: arrays, or keys given to name(). `outputs`: an array or several."""
        words = [f"@{x}" if isinstance(x, str) else self.text(x) for x in inputs]
        several = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        def value(v):
            return ",".join(str(e) for e in v) if isinstance(v, (list, tuple)) else str(v)
        options = " ".join(f"{k}={value(v)}" for k, v in attributes.items())
        self.lines.append(f"{function} | {' '.join(words)} | {options} | "
                          f"{' '.join(self.text(o) for o in several)}")

    def write(self):
        with open(self.path, "w") as f:
            f.write("\n".join(self.lines) + "\n")
        print(f"{self.path}: {os.path.getsize(self.path)} bytes, {len(self.lines)} lines", file=sys.stderr)


PLAIN = [0.0, -0.0, 1, -1, 0.5, -0.5, 0.25, 1.5, 2, -2.5, 3, -3.7, 0.1, 1e-3, -1e-5, -0.3, 0.42, 0.7, 0.9, -0.95,
         -1.2, 5, -5, 9.5, -10, 20, -20.5, 87, -88, 700, -700, 1000, -1e4]


def limits(dtype):
    info = ml_dtypes.finfo(DTYPES[dtype])
    out = [float(info.max), -float(info.max), float(info.tiny), float(info.smallest_subnormal),
           -float(info.smallest_subnormal) * 3, np.nan]
    return out + ([] if dtype == "f8e4m3" else [np.inf, -np.inf])


def pool(dtype):
    with np.errstate(all="ignore"):
        x = to_dtype(np.array(PLAIN), dtype)
    keep = np.unique(x.view(f"u{x.dtype.itemsize}"), return_index=True)[1]
    keep = [i for i in np.sort(keep) if np.isfinite(float(x[i]))]
    return np.concatenate([x[keep], np.array(limits(dtype), np.float64).astype(DTYPES[dtype])])


def int_pool(dtype):
    info = np.iinfo(DTYPES[dtype])
    values = [0, 1, 2, 3, 7, 100, info.max, info.min]
    if info.min < 0:
        values += [-1, -2, -3, -100]
    return np.array(values, DTYPES[dtype])
