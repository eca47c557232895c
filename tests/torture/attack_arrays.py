# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of every dtype, of odd shapes and of every special value: what a graph hands through keeps every bit, on the
reference and on the device; files in other forms of .npy are read or refused, and never read wrongly."""
import os
import random
import struct
import tempfile

from harness import run

DTYPES = {  # dtype -> descr, bytes an element
    "bool": ("|b1", 1), "i8": ("|i1", 1), "i16": ("<i2", 2), "i32": ("<i4", 4), "i64": ("<i8", 8), "u8": ("|u1", 1),
    "u16": ("<u2", 2), "u32": ("<u4", 4), "u64": ("<u8", 8), "f16": ("<f2", 2), "f32": ("<f4", 4), "f64": ("<f8", 8),
    "bf16": ("<V2", 2), "f8e4m3": ("|V1", 1), "f8e5m2": ("|V1", 1),
}
SHAPES = [(), (0,), (1,), (7,), (2, 3), (3, 0, 5), (1, 1, 1, 1), (2, 1, 3, 1, 2), (1,) * 8, (257,), (65537,)]
#           NaNs quiet and signalling, with payload; infinities, subnormals, zeros, the largest, by width
SPECIAL = {2: [0x7e00, 0x7c01, 0xfdff, 0x7c00, 0xfc00, 0x0001, 0x8000, 0x7bff],
           4: [0x7fc00000, 0x7f800001, 0xffc12345, 0x7f800000, 0xff800000, 1, 0x80000000, 0x7f7fffff],
           8: [0x7ff8000000000000, 0x7ff0000000000001, 0xfff8123456789abc, 0x7ff0000000000000, 1, 1 << 63]}


def npy(descr, shape, data, version=1, fortran=False, pad=64):
    text = str({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)})
    size = 8 + (2 if version == 1 else 4)
    text += " " * (-(size + len(text) + 1) % pad) + "\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode() + data


def body(path):
    with open(path, "rb") as file:
        raw = file.read()
    return raw[10 + struct.unpack("<H", raw[8:10])[0]:]


def through(dtype, shape, data, where, content=None, statement="reshape %x"):
    """The graph's output, as bytes, or the process that refused."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = ", ".join(map(str, shape))
        with open(os.path.join(folder, "g.tn"), "w", encoding="ascii") as file:
            file.write(f"graph g(%x: {dtype}[{sizes}]) {{\n  %y = {statement} : {dtype}[{sizes}]\n  return %y, z=%x\n}}\n")
        with open(os.path.join(folder, "x.npy"), "wb") as file:
            file.write(content if content is not None else npy(DTYPES[dtype][0], shape, data))
        out = os.path.join(folder, "out")
        result = run("tenon", "run", os.path.join(folder, "g.tn"), "--input", f"x={folder}/x.npy", "-o", out, *where,
                     TENON_DEVICES="cpu")
        if result.returncode != 0:
            return result
        return body(os.path.join(out, "y.npy")), body(os.path.join(out, "z.npy"))


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def bits(dtype, shape, chance):
    width = DTYPES[dtype][1]
    if dtype == "bool":
        return bytes(chance.randrange(2) for _ in range(count(shape)))
    special = SPECIAL.get(width, [0, 0x7f, 0x80, 0xff])
    values = [chance.choice(special) if chance.random() < 0.3 else chance.getrandbits(8 * width) for _ in range(count(shape))]
    return b"".join(value.to_bytes(width, "little") for value in values)


def keeps_bits(dtype, shape, where):
    data = bits(dtype, shape, random.Random(f"{dtype}{shape}"))
    got = through(dtype, shape, data, where)
    assert got == (data, data), got if not isinstance(got, tuple) else [part[:64] for part in got]


def is_read(content):
    data = struct.pack("<6f", *range(6))
    got = through("f32", (2, 3), data, ["--reference"], content(data))
    assert got == (data, data), got


def is_refused(content, word):
    result = through("f32", (2, 3), b"", ["--reference"], content)
    assert not isinstance(result, tuple), "expected a refusal, got an array"
    assert result.returncode == 2 and word in result.stderr, (result.returncode, result.stderr)


def bools():
    """Bytes other than 0 and 1 are true, and nothing else."""
    got = through("bool", (4,), bytes([0, 1, 2, 255]), ["--reference"])
    assert got == (bytes([0, 1, 1, 1]),) * 2, got


def columns(data):
    """A (2, 3) array column by column."""
    x = struct.unpack("<6f", data)
    return struct.pack("<6f", *(x[3 * row + column] for column in range(3) for row in range(2)))


FORMS = {  # a (2, 3) array of f32 in other clothes
    "version 2": lambda data: npy("<f4", (2, 3), data, version=2),
    "version 3": lambda data: npy("<f4", (2, 3), data, version=3),
    "no padding": lambda data: npy("<f4", (2, 3), data, pad=1),
    "much padding": lambda data: npy("<f4", (2, 3), data, pad=8192),
    "big-endian": lambda data: npy(">f4", (2, 3), struct.pack(">6f", *struct.unpack("<6f", data))),
    "Fortran order": lambda data: npy("<f4", (2, 3), columns(data), fortran=True),
    "double quotes": lambda data: npy("<f4", (2, 3), data).replace(b"'", b'"'),
}
F32 = struct.pack("<6f", *range(6))
REFUSED = {
    "native order": (npy("=f4", (2, 3), F32), "'=f4'"),
    "another shape": (npy("<f4", (3, 2), F32), "expected shape"),
    "another rank": (npy("<f4", (6,), F32), "expected shape"),
    "another dtype": (npy("<i4", (2, 3), F32), "expected dtype f32, got i32"),
    "complex": (npy("<c8", (3,), F32), "'<c8'"),
    "time": (npy("<M8[s]", (3,), F32), "dtype"),
    "long double": (npy("<f16", (1,), F32[:16]), "'<f16'"),
    "bits without a dtype": (npy("<V4", (2, 3), F32), "'<V4'"),
    "negative zero size": (npy("<f4", (2, -3), F32), "expected a size"),
    "version 2 cut": (npy("<f4", (2, 3), F32, version=2)[:11], "header length"),
}


def attacks():
    for dtype in DTYPES:
        for shape in SHAPES[:9]:
            yield f"{dtype} {shape} reference", lambda d=dtype, s=shape: keeps_bits(d, s, ["--reference"])
        for shape in ((), (3, 0, 5), (257,)):
            yield f"{dtype} {shape} cpu", lambda d=dtype, s=shape: keeps_bits(d, s, [])
    for dtype in ("f32", "u8"):
        for shape in SHAPES[9:]:
            yield f"{dtype} {shape} cpu", lambda d=dtype, s=shape: keeps_bits(d, s, [])
    for name, content in FORMS.items():
        yield f"form {name}", lambda c=content: is_read(c)
    for name, (content, word) in REFUSED.items():
        yield f"refused {name}", lambda c=content, w=word: is_refused(c, w)
    yield "bools", bools
