# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile plugins: every way to strike at every entry point, beside the CPU plugin. A program that names no device, or
the CPU, gets its results from the CPU, at once from the second start on; one that names the plugin gets an error with
the reason; `tenon devices` lists the reason; no process is left behind."""
import atexit
import glob
import json
import os
import shutil
import tempfile
import threading
import time

from harness import BUILD, run

HOSTILE = os.path.join(BUILD, "test-plugins", "torture", "libtenon_hostile.so")
CPU = os.path.join(BUILD, "lib", "tenon", "libtenon_cpu.so")
ENTRIES = ("load", "query", "enumerate", "open", "properties", "allocate", "map", "unmap", "supports", "compile",
           "submit", "destroy", "free", "close", "atexit", "unload")
GARBAGE = ("query", "enumerate", "open", "properties", "allocate", "map", "supports", "compile", "submit")
# way -> words of the reason, one of which is said; "" where a plugin may be used all the same
ENDS = {"crash": ("SIGSEGV",), "abort": ("SIGABRT",), "kill": ("SIGKILL",), "overflow": ("SIGSEGV",),
        "hang": ("no answer",), "spin": ("no answer",), "quit": ("exit code 0",), "exit": ("exit code 0",),
        "eat": ("memory", "no answer"), "fork": ("processes",), "close": ("descriptor", "lost", "standard", "self-test")}
CHANGES = {"cwd": ("working directory",), "umask": ("umask",), "signal": ("SIGINT",), "block": ("signal",),
           "fpu": ("rounding",), "stdout": ("standard output",), "locale": ("locale",), "environ": ("LD_PRELOAD",),
           "alarm": ("SIGALRM",)}
LIMIT = 3.0    # seconds of a probe that is to run out of time
MARGIN = 60.0  # for a busy machine

FOLDER = tempfile.mkdtemp(prefix="tenon-hostile-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
LOCK = threading.Lock()
STATE = {}


def hello(**environment):
    begin = time.monotonic()
    result = run("example_01_hello", **environment)
    return result, time.monotonic() - begin


def expected():
    """What the program prints on the CPU alone; the kernels and the CPU's probe are remembered from then on."""
    with LOCK:
        if "text" not in STATE:
            result, _ = hello(TENON_PLUGINS=CPU)
            assert result.returncode == 0 and not result.stderr, result
            STATE["text"] = result.stdout
        return STATE["text"]


def may_be_used(entry, way):
    """Nothing that harms the program: its process is ending anyway, or a thread of ours is changed that runs nothing
    but the plugin's calls."""
    if (entry, way) == ("supports", "garbage"):  # an answer that is not no, and the results are right
        return True
    if entry in ("atexit", "unload"):
        return way in CHANGES and way != "stdout"
    return way in ("block", "fpu") and entry not in ("load", "query", "enumerate")


def strike(entry, way):
    text = expected()
    backend = f"{entry}_{way}"
    plugin = os.path.join(FOLDER, f"libtenon_{backend}.so")
    shutil.copyfile(HOSTILE, plugin)
    both = {"TENON_PLUGINS": f"{plugin}:{CPU}"}
    if way in ("hang", "spin"):
        both["TENON_PROBE_SECONDS"] = str(LIMIT)
    reasons = {**ENDS, **CHANGES}.get(way, ("",))
    harmless = may_be_used(entry, way)

    for start in ("first", "second"):
        result, seconds = hello(**both)
        assert result.returncode == 0, (start, result)
        assert result.stdout.split(":", 1)[1] == text.split(":", 1)[1], (start, result)
        assert seconds < MARGIN + (LIMIT if start == "first" else 0), (start, seconds)
        if harmless:
            continue
        assert result.stdout == text, (start, result)
        lines = result.stderr.splitlines()
        assert len(lines) == 1 and "is not used" in lines[0], (start, result)
        assert any(reason in lines[0] for reason in reasons), (start, result)

    result, seconds = hello(TENON_DEVICES="cpu", **both)
    assert (result.returncode, result.stdout, result.stderr) == (0, text, ""), result

    result, seconds = hello(TENON_DEVICES=backend, **both)
    assert result.returncode in ((0, 3) if harmless else (3,)), result
    if result.returncode == 3:
        assert backend in result.stderr and any(reason in result.stderr for reason in reasons), result
    assert seconds < MARGIN, seconds

    result = run("tenon", "devices", "--json", **both)
    assert result.returncode == 0, result
    facts = json.loads(result.stdout)
    said = next(p for p in facts["plugins"] if p["path"] == plugin)
    words = said["reason"] + " ".join(d["reason"] for d in facts["devices"] if d["backend"] == backend)
    if not harmless:
        assert facts["default"] == "cpu:0", facts
        assert words and any(reason in words for reason in reasons), facts
    os.unlink(plugin)
    assert not left_over(plugin), f"processes of {plugin} are left"


def left_over(plugin):
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if plugin.encode() in file.read():
                    found.append(path)
        except OSError:  # gone meanwhile
            pass
    return found


def attacks():
    for way in [*ENDS, *CHANGES]:
        for entry in ENTRIES:
            yield f"{way} in {entry}", lambda e=entry, w=way: strike(e, w)
    for entry in GARBAGE:
        yield f"garbage from {entry}", lambda e=entry: strike(e, "garbage")
