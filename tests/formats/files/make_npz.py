#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the .npz files beside it with NumPy."""
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
arrays = {f"a.{d}": np.arange(6).reshape(2, 3).astype(d) for d in DTYPES}
arrays |= {"scalar": np.float32(7.5), "none": np.zeros((0, 4), np.int64), "größe/量": np.array([1, 2], np.uint8),
           "many": np.arange(300, dtype=np.int32) % 7}
np.savez(HERE / "stored.npz", **arrays)
np.savez_compressed(HERE / "deflated.npz", **arrays)
