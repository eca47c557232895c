# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws by threefry2x32 in NumPy: the same bits on every device. The key is an input."""
import numpy as np

from golden_file import DTYPES

BITS = {"f16": 11, "bf16": 8, "f32": 24, "f8e4m3": 4, "f8e5m2": 3}


def threefry(c0, c1, key):
    keys = [int(key[0]), int(key[1]), 0x1BD11BDA ^ int(key[0]) ^ int(key[1])]
    x0, x1 = np.uint32(c0) + np.uint32(keys[0]), np.uint32(c1) + np.uint32(keys[1])
    for group in range(5):
        for r in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(r) | x1 >> np.uint32(32 - r)) ^ x0
        x0 = x0 + np.uint32(keys[(group + 1) % 3])
        x1 = x1 + np.uint32((keys[(group + 2) % 3] + group + 1) & 0xFFFFFFFF)
    return x0, x1


def words(key, count, stream=0):
    return threefry(np.arange(count, dtype=np.uint32), np.full(count, stream << 24, np.uint32), key)


def wide(key, count):
    first, second = words(key, count)
    return first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)


def random_cases(f):
    for key in (np.array([0, 0], np.uint32), np.array([7, 0xFFFFFFFF], np.uint32)):
        for dtype, bits in BITS.items():
            u = (words(key, 12)[0] >> np.uint32(32 - bits)).astype(np.float64) * 2.0 ** -bits
            f.case("uniform", [key], u.astype(DTYPES[dtype]).reshape(3, 4), shape=[3, 4], dtype=dtype)
        f.case("uniform", [key], (wide(key, 5) >> np.uint64(11)).astype(np.float64) * 2.0 ** -53, shape=[5], dtype="f64")
        for dtype, low, high in (("i64", -3, 10 ** 15), ("i32", -7, 8), ("u8", 0, 256), ("i64", -2 ** 63, 2 ** 63 - 1)):
            n = wide(key, 9) % np.uint64(high - low)
            f.case("randint", [key], np.array([int(v) + low for v in n]).astype(DTYPES[dtype]), shape=[9], dtype=dtype,
                   low=low, high=high)
        u = (words(key, 20)[0] >> np.uint32(8)).astype(np.float32) * np.float32(2.0 ** -24)
        f.case("bernoulli", [key], u < np.float32(0.3), shape=[20], p=0.3)
        f.case("dropout_mask", [key], np.where(u >= np.float32(0.25), np.float32(1 / 0.75), np.float32(0)), shape=[20],
               rate=0.25)
        v = (words(key, 20, 1)[0] >> np.uint32(8)).astype(np.float32) * np.float32(2.0 ** -24)
        f.case("normal", [key], (np.sqrt(-2 * np.log(1 - u.astype(np.float64))) * np.cos(2 * np.pi * v.astype(np.float64))
                                 ).astype(np.float32), shape=[20])
        f.case("exponential", [key], -np.log(1 - u.astype(np.float64)).astype(np.float32), shape=[20])
        f.case("permutation", [key], np.argsort(wide(key, 30), kind="stable"), n=30)
        f.case("uniform", [key], np.zeros((0, 2), np.float32), shape=[0, 2], dtype="f32")
        for i in (0, 1, 5):
            first, second = threefry(np.uint32([i]), np.uint32([1 << 31]), key)
            f.case("split_key", [key], np.array([first[0], second[0]], np.uint32), child=i)
