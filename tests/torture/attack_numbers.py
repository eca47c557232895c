# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers at the ends of every dtype, as constants and as fills of pads: the value, or exit code 2 with the dtype and
the number named."""
import os
import re
import tempfile

from harness import run

FOLDER = tempfile.TemporaryDirectory()
INTEGERS = {"i8": (-2 ** 7, 2 ** 7 - 1), "i16": (-2 ** 15, 2 ** 15 - 1), "i32": (-2 ** 31, 2 ** 31 - 1),
            "i64": (-2 ** 63, 2 ** 63 - 1), "u8": (0, 2 ** 8 - 1), "u16": (0, 2 ** 16 - 1), "u32": (0, 2 ** 32 - 1),
            "u64": (0, 2 ** 64 - 1)}
# dtype: what is printed of the largest and of the smallest above 0; a number that is refused
FLOATS = {"f16": ("65504", "6.55e+04", "5.960464477539063e-08", "6e-08", "65520"),
          "bf16": ("3.3895313892515355e+38", "3.39e+38", "9.183549615799121e-41", "9e-41", "3.4e+38"),
          "f32": ("3.4028234663852886e+38", "3.4028235e+38", "1.401298464324817e-45", "1e-45", "3.4028236e+38"),
          "f64": ("1.7976931348623157e+308", "1.7976931348623157e+308", "4.94e-324", "5e-324", "1.8e+308"),
          "f8e5m2": ("57344", "6e+04", "1.52587890625e-05", "2e-05", "61440")}


def graph(dtype, number, fill):
    if fill:
        return (f"graph main(%x: {dtype}[1]) {{\n  %p = pad %x, pairs=[(1, 0)], fill={number}\n"
                f"  %y = shrink %p, ranges=[(0, 1)]\n  return %y\n}}\n")
    return f"graph main() {{\n  %y = const {number} : {dtype}[1]\n  return %y\n}}\n"


def tenon_run(dtype, number, fill):
    path = os.path.join(FOLDER.name, re.sub(r"\W", "_", f"{dtype}_{number}_{fill}") + ".tn")
    with open(path, "w") as file:
        file.write(graph(dtype, number, fill))
    return run("tenon", "run", path, "--reference", "--random", "1")


def gives(dtype, number, value, fill=False):
    result = tenon_run(dtype, number, fill)
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    got = re.search(r"^y: \w+\[1\] = \[?([^\]\s]+)", result.stdout, re.M)
    assert got, result.stdout
    assert got[1] == value, (number, value, got[1])


def refuses(dtype, number, fill=False):
    result = tenon_run(dtype, number, fill)
    assert result.returncode == 2, (result.returncode, result.stdout, result.stderr)
    assert dtype in result.stderr and str(number)[:40] in result.stderr, result.stderr


def attacks():
    for fill in (False, True):
        form = "fill" if fill else "const"
        for dtype, (low, high) in INTEGERS.items():
            good = {str(low): low, str(high): high, f"{high}.0": high, hex(high): high, "0": 0, "1e1": 10, "1200e-2": 12}
            for number, value in good.items():
                yield f"{form} {dtype} {number}", lambda d=dtype, n=number, v=str(value), f=fill: gives(d, n, v, f)
            for number in (low - 1, high + 1, f"{high}.5", "1e30", "nan", "inf", "-inf", "0.5", "1e", "true", "--1"):
                yield f"{form} {dtype} {number}", lambda d=dtype, n=number, f=fill: refuses(d, n, f)
        for dtype, (largest, largest_text, least, least_text, beyond) in FLOATS.items():
            good = {largest: largest_text, f"-{largest}": f"-{largest_text}", least: least_text, "0": "0.0",
                    "-0.0": "-0.0", "inf": "inf", "-inf": "-inf", "1.5": "1.5", "nan": "nan"}
            for number, value in good.items():
                yield f"{form} {dtype} {number}", lambda d=dtype, n=number, v=value, f=fill: gives(d, n, v, f)
            for number in (beyond, f"-{beyond}", "1e999", "1.5.2", "true", "0x", "infinity"):
                yield f"{form} {dtype} {number}", lambda d=dtype, n=number, f=fill: refuses(d, n, f)
        for number, value in {"true": "true", "false": "false", "0": "false", "1": "true", "1.0": "true"}.items():
            yield f"{form} bool {number}", lambda n=number, v=value, f=fill: gives("bool", n, v, f)
        for number in ("2", "-1", "0.5", "yes", "nan"):
            yield f"{form} bool {number}", lambda n=number, f=fill: refuses("bool", n, f)
        for number in ("449.0", "464", "448"):
            yield f"{form} f8e4m3 {number}", lambda n=number, f=fill: gives("f8e4m3", n, "4.5e+02", f)
        for number in ("465", "-1000", "inf"):
            yield f"{form} f8e4m3 {number}", lambda n=number, f=fill: refuses("f8e4m3", n, f)
    yield "const i64 16777217", lambda: gives("i64", "16777217", "16777217")
    yield "const i64 2^53 + 1", lambda: gives("i64", "9007199254740993.0", "9007199254740993")
    yield "const f64 0.1", lambda: gives("f64", "0.1", "0.1")
    yield "const f32 16777217 rounds", lambda: gives("f32", "16777217", "16777216.0")
