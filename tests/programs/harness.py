# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the end-to-end tests share: running a built program in a clean environment, .npy files without NumPy."""
import ast
import json
import os
import struct
import subprocess
import tempfile

BUILD = os.environ["TENON_BUILD"]
SOURCE = os.environ["TENON_SOURCE"]
BIN = os.path.join(BUILD, "bin")
GRAPHS = os.path.join(SOURCE, "tests", "golden", "in")
FORMATS = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B", "|b1": "?"}

CACHE = tempfile.TemporaryDirectory()
SECONDS = 600  # of a program that hangs; none takes a minute on a machine that does little else


def run(program, *arguments, timeout=SECONDS, **environment):
    """Runs build/bin/<program>; TENON_ variables of the caller are not passed on."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("TENON_")}
    variables.update({"TENON_CACHE_DIR": CACHE.name, **environment})
    return subprocess.run([os.path.join(BIN, program), *map(str, arguments)], env=variables, text=True,
                          capture_output=True, timeout=timeout, check=False)


def run_json(program, *arguments, expect=0, **environment):
    result = run(program, *arguments, "--json", **environment)
    assert result.returncode == expect, (arguments, result.returncode, result.stdout, result.stderr)
    return json.loads(result.stdout)


def paste(line, **environment):
    """A command line of a report, as someone copies it into a shell."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("TENON_")}
    variables.update(TENON_CACHE_DIR=CACHE.name, PATH=BIN + os.pathsep + os.environ["PATH"], **environment)
    return subprocess.run(["sh", "-c", line], env=variables, text=True, capture_output=True, timeout=SECONDS,
                          check=False)


def write_npy(path, values, shape, descr="<f4"):
    header = str({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{FORMATS[descr]}", *values)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    """(values, shape)"""
    with open(path, "rb") as file:
        raw = file.read()
    assert raw[:6] == b"\x93NUMPY"
    size = struct.unpack("<H", raw[8:10])[0]
    header = ast.literal_eval(raw[10:10 + size].decode())
    body = raw[10 + size:]
    code = FORMATS[header["descr"]]
    return list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body)), header["shape"]
