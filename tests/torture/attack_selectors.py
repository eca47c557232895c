# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selectors: the good ones pick the device that they name, the bad ones are an error that says what is wrong."""
import json
import os

from harness import BUILD, GRAPHS, run

LIB = os.path.join(BUILD, "lib", "tenon")
PLUGINS = ":".join([os.path.join(LIB, "libtenon_cpu.so"), os.path.join(LIB, "libtenon_disk.so"),
                    os.path.join(BUILD, "lib", "tenon-examples", "libtenon_null.so")])
GRAPH = os.path.join(GRAPHS, "softmax.tn")

GOOD = {  # selector -> the device that runs
    "cpu": "cpu:0", "cpu:0": "cpu:0", "cpu:all": "cpu:0", "cpu:cpu": "cpu:0", "cpu:0+0": "cpu:0", "cpu:all+0": "cpu:0",
    "cpu:cpu+all": "cpu:0", "cpu:gpu+0": "cpu:0", "cpu@threads=1": "cpu:0", "cpu@threads=2@pool=64M": "cpu:0",
    "cpu@pool=64M@threads=2": "cpu:0", "cpu@pool=1G": "cpu:0", "cpu@pool=104857600": "cpu:0", "cpu@optional": "cpu:0",
    "cpu@noprobe": "cpu:0", "cpu@noprobe@optional@threads=1": "cpu:0", "null": "null:0", "null:0": "null:0",
    "null:all": "null:0", "null@noprobe": "null:0", "cpu,null": "cpu:0", "null,cpu": "null:0", "cpu:0,null:0": "cpu:0",
    "null:0,cpu:0": "null:0", "cpu,cpu": "cpu:0", "cpu:0,cpu": "cpu:0", "cpu@threads=2,cpu": "cpu:0",
    "cpu@threads=2,cpu@threads=2": "cpu:0", "cpu@threads=1@pool=64M,cpu:0@pool=64M@threads=1": "cpu:0",
    "warp@optional,cpu": "cpu:0", "warp:gpu@optional,null": "null:0", "warp@wings=2@optional,cpu": "cpu:0",
    "cpu:9@optional,cpu": "cpu:0", "cpu:gpu@optional,null": "null:0", "cpu:uuid=00@optional,null": "null:0",
    "-null": "cpu:0", "-null:0": "cpu:0", "-cpu": "null:0", "-cpu:0": "null:0", "-cpu:all": "null:0",
    "-cpu:cpu": "null:0", "-null,-disk": "cpu:0", "-disk,-cpu": "null:0", "cpu,-null": "cpu:0",
    "cpu,null,-cpu": "null:0", "-cpu,cpu,null": "null:0", "cpu:0,-cpu:1": "cpu:0", "disk:/tmp/,cpu": "cpu:0",
}
BAD = {  # selector -> (exit codes, a word of the error)
    "": ("selector", 2), ",": ("column 1", 2), ",cpu": ("column 1", 2), "cpu,": ("column 5", 2),
    "cpu,,null": ("column 5", 2), " cpu": ("column 1", 2), "cpu ": ("column 4", 2), "cpu null": ("column 4", 2),
    "CPU": ("column 1", 2), "cpu;null": ("column 4", 2), "-": ("column 2", 2), "--cpu": ("column 2", 2),
    "cpu:": ("column 5", 2), "cpu::0": ("column 5", 2), "cpu:0+": ("column 7", 2), "cpu:+0": ("column 5", 2),
    "cpu:-1": ("column 5", 2), "cpu:tpu": ("column 5", 2), "cpu:2147483648": ("column 5", 2),
    "cpu:99999999999999999999": ("column 5", 2), "cpu:0x0": ("column 6", 2), "cpu:1.0": ("column 6", 2),
    "cpu:uuid=": ("uuid", 2), "cpu:uuid": ("column 5", 2), "cpu@": ("column 5", 2), "cpu@@": ("column 5", 2),
    "cpu@=1": ("column 5", 2), "cpu@threads=": ("column", 2), "cpu@threads=1@threads=2": ("once", 2),
    "cpu@threads=1 2": ("column", 2), "cpu@pool": ("pool", 2), "cpu@pool=": ("pool", 2), "cpu@pool=0": ("pool", 2),
    "cpu@pool=-1": ("pool", 2), "cpu@pool=lots": ("pool", 2), "cpu@pool=1GB": ("pool", 2),
    "cpu@pool=99999999999T": ("pool", 2), "cpu@optional=1": ("@optional", 2), "cpu@noprobe=0": ("@noprobe", 2),
    "-cpu@optional": ("option", 2), "-disk:/x": ("path", 2), "cpu@path=/x,disk:/y@path=/z": ("path", 2),
    "disk:/x%": ("hexadecimal", 2), "disk:/x%zz": ("hexadecimal", 2), "disk:/x%00": ("hexadecimal", 2),
    "cpu\n": ("\\x0a", 2), "cpu\x1b[31m": ("\\x1b", 2), "c\u00e9": ("\\xc3", 2), "c" * 5000: ("cccc", 2),
    "warp": ("warp", 2), "warp,cpu": ("warp", 2), "cpu,warp": ("warp", 2), "-warp": ("warp", 2), "cpu:9": ("cpu:9", 2),
    "cpu:gpu": ("cpu:gpu", 2), "cpu:uuid=00": ("uuid", 2), "cpu,-cpu": ("at least one", 2),
    "warp@optional": ("at least one", 2), "cpu@wings=2": ("wings", 2), "cpu@threads=bad": ("threads", 2),
    "cpu@threads=0": ("threads", 2), "cpu@threads=-1": ("threads", 2), "cpu@threads=1e9": ("threads", 2),
    # A wrong option is a mistake, and not an absence.
    "cpu@threads=bad@optional,null": ("threads", 2), "cpu@wings=2@optional,null": ("wings", 2),
    "null,cpu@wings=2@optional": ("wings", 2),
    # A second term cannot change what the first has opened.
    "cpu,cpu@threads=2": ("cpu@threads=2", 2), "cpu@threads=1,cpu@threads=2": ("cpu@threads=2", 2),
    "cpu@pool=64M,cpu@pool=128M": ("cpu@pool=128M", 2), "cpu:0,cpu:all@pool=1G": ("cpu:all@pool=1G", 2),
    "cpu@threads=1,cpu@threads=1@pool=1G": ("pool=1G", 2),
    "disk:/tmp/": ("computes", 3), "disk:/nowhere/x": ("/nowhere/x", 3),
}


def good(selector, device):
    result = run("tenon", "run", GRAPH, "--random", 1, "--symbol", "n=3", "--check", "--json", TENON_DEVICES=selector, TENON_PLUGINS=PLUGINS)
    assert result.returncode == 0, result
    facts = json.loads(result.stdout)
    assert facts["device"] == device and facts["check"]["ok"], facts


def bad(selector, word, code):
    result = run("tenon", "run", GRAPH, "--random", 1, "--symbol", "n=3", "--json", TENON_DEVICES=selector, TENON_PLUGINS=PLUGINS)
    assert result.returncode == code, result
    assert word in result.stderr, result
    assert result.stderr.isprintable() or result.stderr.replace("\n", "").isprintable(), repr(result.stderr)


def attacks():
    for selector, device in GOOD.items():
        yield f"good '{selector}'", lambda s=selector, d=device: good(s, d)
    for selector, (word, code) in BAD.items():
        yield f"bad {selector[:40]!r}", lambda s=selector, w=word, c=code: bad(s, w, c)
