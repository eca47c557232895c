# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damaged shared libraries, each made from a whole plugin in one place: a program that names no device runs on the CPU,
one that names the plugin gets the right result or an error with the reason, and neither crashes."""
import atexit
import os
import random
import shutil
import struct
import tempfile

from attack_plugins import CPU, HOSTILE, LIMIT
from harness import run

FOLDER = tempfile.mkdtemp(prefix="tenon-elf-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
HEADER = {"class": (4, 1), "order": (5, 1), "version": (6, 1), "abi": (7, 1), "type": (16, 2), "machine": (18, 2),
          "version2": (20, 4), "entry": (24, 8), "phoff": (32, 8), "shoff": (40, 8), "flags": (48, 4), "ehsize": (52, 2),
          "phentsize": (54, 2), "phnum": (56, 2), "shentsize": (58, 2), "shnum": (60, 2), "shstrndx": (62, 2)}
# What the system's loader trusts: tags of the dynamic segment.
TAGS = {"needed": 1, "pltrelsz": 2, "pltgot": 3, "hash": 4, "strtab": 5, "symtab": 6, "rela": 7, "relasz": 8,
        "relaent": 9, "strsz": 10, "syment": 11, "init": 12, "fini": 13, "soname": 14, "jmprel": 23, "init_array": 25,
        "fini_array": 26, "init_arraysz": 27, "gnu_hash": 0x6ffffef5, "versym": 0x6ffffff0, "verneed": 0x6ffffffe,
        "verneednum": 0x6fffffff}
PT_LOAD, PT_DYNAMIC, PT_TLS = 1, 2, 7


def segments(data):
    offset, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    for i in range(count):
        at = offset + 56 * i
        kind, flags, where, address, _, size, memory, align = struct.unpack_from("<IIQQQQQQ", data, at)
        yield {"at": at, "kind": kind, "flags": flags, "offset": where, "address": address, "size": size,
               "memory": memory, "align": align}


def dynamic_entry(data, tag):
    """Where the value of a tag stands; None if there is no such tag."""
    segment = next(s for s in segments(data) if s["kind"] == PT_DYNAMIC)
    for at in range(segment["offset"], segment["offset"] + segment["size"], 16):
        if struct.unpack_from("<Q", data, at)[0] == tag:
            return at + 8
    return None


def damaged():
    """(name, bytes) of each, the same in every run."""
    with open(HOSTILE, "rb") as file:
        whole = file.read()

    def with_bytes(at, new):
        return whole[:at] + new + whole[at + len(new):]

    for name, (at, size) in HEADER.items():
        for value in (0, (1 << 8 * size) - 1):
            yield f"{name} {'zero' if value == 0 else 'all ones'}", with_bytes(at, value.to_bytes(size, "little"))
    for size in (0, 3, 17, 63, 64, 500, len(whole) // 2, len(whole) - 1):
        yield f"{size} bytes", whole[:size]
    for name, tag in TAGS.items():
        at = dynamic_entry(whole, tag)
        if at is None:
            continue
        for label, value in (("far", 0x7fff_ffff_f000), ("at 8", 8)):
            yield f"{name} {label}", with_bytes(at, struct.pack("<Q", value))
    for i, segment in enumerate(segments(whole)):
        for field, at in (("flags", 4), ("address", 16), ("file size", 32), ("memory size", 40), ("align", 48)):
            if segment["kind"] in (PT_LOAD, PT_DYNAMIC, PT_TLS):
                width = 4 if field == "flags" else 8
                yield f"segment {i} {field}", with_bytes(segment["at"] + at, b"\xff" * (width - 1) + b"\x7f")
    for seed in range(10):
        source = random.Random(seed)
        data = bytearray(whole)
        for _ in range(200):
            data[source.randrange(len(data))] = source.randrange(256)
        yield f"200 random bytes, seed {seed}", bytes(data)


def load(index, data):
    backend = f"none_{index}"
    plugin = os.path.join(FOLDER, f"libtenon_{backend}.so")
    with open(plugin, "wb") as file:
        file.write(data)
    common = {"TENON_PLUGINS": f"{plugin}:{CPU}", "TENON_PROBE_SECONDS": str(LIMIT)}
    unnamed = run("example_01_hello", **common)
    assert unnamed.returncode == 0 and "141.5 and 321.5" in unnamed.stdout, unnamed
    named = run("example_01_hello", TENON_DEVICES=backend, **common)
    if named.returncode == 0:
        assert "141.5 and 321.5" in named.stdout, named
    else:
        assert named.returncode == 3 and backend in named.stderr, named
    os.unlink(plugin)


def attacks():
    if not os.path.exists(HOSTILE):
        return
    for index, (name, data) in enumerate(damaged()):
        yield name, lambda i=index, d=data: load(i, d)
