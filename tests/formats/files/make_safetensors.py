#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the .safetensors files beside it with the format's own library: python3 -m pip install safetensors==0.5.3"""
import pathlib

from safetensors import serialize

HERE = pathlib.Path(__file__).parent
BYTES = {"bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
         "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1}


def tensor(dtype, shape):
    count = BYTES[dtype]
    for size in shape:
        count *= size
    # Bytes 1, 0, 1, .. are values of every dtype.
    return {"dtype": dtype, "shape": shape, "data": bytes((i + 1) % 2 for i in range(count))}


def write(name, tensors, metadata=None):
    (HERE / name).write_bytes(serialize(tensors, metadata))


write("dtypes.safetensors", {f"a.{d}": tensor(d, [2, 3]) for d in BYTES}, {"format": "pt"})
write("shapes.safetensors", {"scalar": tensor("float32", []), "none": tensor("int64", [0]),
                             "empty": tensor("float32", [2, 0, 5]), "long": tensor("uint8", [1, 1, 3, 1])})
write("names.safetensors", {'quote " and \\': tensor("uint8", [1]), "tab\t line\n bell\x07": tensor("uint8", [2]),
                            "größe.量": tensor("uint8", [3]), "": tensor("uint8", [4])}, {"a\"b": "c\\d\x1f é"})
write("nothing.safetensors", {})
