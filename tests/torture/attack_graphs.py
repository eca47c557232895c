# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs from strangers: names that are paths or escapes, texts without end, sizes beyond everything. A program refuses
with line and reason or gives the right result; it does not crash, hang, eat the machine or write anywhere else."""
import json
import os
import tempfile

from harness import read_npy, run, write_npy

ESCAPED = os.path.join(tempfile.gettempdir(), f"tenon-escaped-{os.getpid()}")


def attempt(text, *arguments, program="tenon", command="run", **options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "attack.tn")
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return run(program, command, path, *arguments, **options)


def harmless(result):
    """Nothing of ours is left out, nothing of theirs is obeyed."""
    for text in (result.stdout, result.stderr):
        for char in text:
            assert char in "\n\t" or (ord(char) >= 0x20 and not 0x7f <= ord(char) < 0xa0), repr(text[:500])
        assert "\u202e" not in text and "\u2028" not in text, repr(text[:500])
    assert "internal error" not in result.stderr, result.stderr


def refused(text, word, arguments=("--reference", "--random", "1")):
    result = attempt(text, *arguments)
    harmless(result)
    assert result.returncode == 2 and word in result.stderr, (result.returncode, result.stderr[-1000:])
    assert result.stdout == "", result.stdout


def survived(text, arguments=("--random", "1")):
    """Right or refused."""
    result = attempt(text, *arguments, TENON_DEVICES="cpu")
    harmless(result)
    assert result.returncode in (0, 2, 3), (result.returncode, result.stderr[-1000:])
    assert result.returncode == 0 or result.stderr.strip(), "expected words"


def body(statements, params="%x: f32[4]", result="%y"):
    return f"graph g({params}) {{\n{statements}\n  return {result}\n}}\n"


def quoted(name):
    return '"' + "".join(chr(b) if 0x20 < b < 0x7f and b not in (0x22, 0x5c) else f"\\x{b:02x}" for b in name) + '"'


HOSTILE = {  # names as bytes
    "up": b"../../escaped", "absolute": ESCAPED.encode(), "a folder": b"sub/y", "NUL": b"y\0z", "dot": b"..",
    "slash": b"/", "clear": b"\x1b[2J\x1b[H", "title": b"\x1b]0;owned\x07", "one byte escape": b"\xc2\x9b2J",
    "line": b"y\nok: all is well", "return": b"y\rok", "backspaces": b"y\b\b\b\b", "delete": b"y\x7f", "not UTF-8": b"\xff\xfe",
    "half a character": b"y\xe2\x82", "turned": "y\u202etxt.exe".encode(), "separator": "y\u2028z".encode(),
    "quotes": b"'\"`$(id)`", "256 bytes": b"n" * 256, "option": b"-rf", "blank": b" ", "braces": b"{}{0}%s%n",
}
IS_FILE = {"dot", "quotes", "option", "blank", "braces"}  # good file names: "...npy" is one


def output_name(name, key):
    """As an output's name: shown harmlessly, kept by JSON, and written into the folder or nowhere."""
    text = body("  %y = add %x, %x", result=f"{quoted(name)}=%y")
    with tempfile.TemporaryDirectory() as folder:
        inner = os.path.join(folder, "a", "b", "out")
        write_npy(os.path.join(folder, "x.npy"), [1, 2, 3, 4], [4])
        given = ("--reference", "--input", f"x={folder}/x.npy")
        for form in ((), ("--json",)):
            shown = attempt(text, *given, *form)
            harmless(shown)
            assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["outputs"][0]["name"] == name.decode("utf-8", "replace"), shown.stdout
        result = attempt(text, *given, "-o", inner)
        harmless(result)
        found = [os.path.join(where, file) for where, _, files in os.walk(folder) for file in files]
        found.remove(os.path.join(folder, "x.npy"))
        assert not os.path.exists(ESCAPED + ".npy")
        if key in IS_FILE:
            assert result.returncode == 0 and len(found) == 1, (result.stderr, found)
            assert os.path.dirname(found[0]) == inner and read_npy(found[0])[0] == [2, 4, 6, 8]
        else:
            assert result.returncode == 2 and "file names" in result.stderr and not found, (result.stderr, found)


def other_names(name):
    """As the name of a graph, a param and a value, in runs, listings and errors."""
    text = f"graph {quoted(name)}(%x {quoted(name)}: f32[4]) {{\n  %{quoted(name)} = add %x, %x\n  return %{quoted(name)}\n}}\n"
    for arguments in (("--reference", "--random", "1"), ("--reference",), ("--reference", "--input", "nobody=/x.npy"),
                      ("--random", "1", "--check"), ("--reference", "--random", "1", "--symbol", "n=3")):
        survived(text, arguments)
    for stage in ("graph", "schedule", "program", "source"):
        for form in ((), ("--json",)):
            result = attempt(text, "--stage", stage, *form, command="show", TENON_DEVICES="cpu" if stage != "graph" else "")
            harmless(result)
            assert result.returncode == 0, result.stderr
    refused(text.replace("add %x, %x", "add %x, %nothing"), "expected a value defined above")


def same_names():
    text = body("  %y = add %x, %x\n  %z = mul %x, %x", result="a=%y, a=%z")
    refused(text, "different names", ("--reference", "--random", "1", "-o", "/nowhere"))
    hidden = body("  %y = add %x, %x\n  %0 = mul %x, %x", result="out1=%y, %0")
    refused(hidden, "different names", ("--reference", "--random", "1", "-o", "/nowhere"))


def chain(count, op="add %{0}, %{0}"):
    lines = "\n".join(f"  %v{k + 1} = " + op.format(f"v{k}") for k in range(count))
    return body(lines, "%v0: f32[4]", f"%v{count}")


def nested(depth):
    inner, name = "", "b0"
    for level in range(depth):
        inner = (f"  graph b{level}(%i: i32[], %c: f32[]) {{\n{inner}" +
                 (f"    %r = loop %i, %c, body=b{level - 1}, carried=1\n    return %r\n" if level else "    return %c\n") + "  }\n")
        name = f"b{level}"
    return f"graph g(%n: i32[], %x: f32[]) {{\n{inner}  %y = loop %n, %x, body={name}, carried=1\n  return %y\n}}\n"


HUGE = 2**62
REFUSED = {
    "unknown op": (body("  %y = frobnicate %x"), ":2:"),
    "no such value": (body("  %y = add %x, %z"), ":2:"),
    "a value twice": (body("  %y = add %x, %x\n  %y = mul %x, %x"), ":3:"),
    "itself": (body("  %y = add %y, %x"), ":2:"),
    "later value": (body("  %y = add %z, %x\n  %z = add %x, %x"), ":2:"),
    "a param twice": (body("  %y = add %x, %x", "%x: f32[4], %x: f32[4]"), ":1:"),
    "three operands": (body("  %y = add %x, %x, %x"), ":2:"),
    "5000 operands": (body("  %y = add " + ", ".join(["%x"] * 5000)), "4096"),
    "unknown dtype": (body("  %y = add %x, %x", "%x: f33[4]"), ":1:"),
    "dtypes mixed": (body("  %y = add %x, %z", "%x: f32[4], %z: i32[4]"), ":2:"),
    "shapes mixed": (body("  %y = add %x, %z", "%x: f32[4], %z: f32[5]"), ":2:"),
    "17 axes": (body("  %y = add %x, %x", "%x: f32[" + ", ".join("1" * 17) + "]"), "16"),
    "negative size": (body("  %y = add %x, %x", "%x: f32[-4]"), ""),
    "size beyond 64 bits": (body("  %y = add %x, %x", "%x: f32[99999999999999999999]"), "64 bits"),
    "count beyond 64 bits": (body("  %y = add %x, %x", f"%x: f32[{HUGE}, {HUGE}]"), ""),
    "constant beyond everything": (body(f"  %y = const 1 : f32[{HUGE}, 8]"), ""),
    "reshape to another count": (body("  %y = reshape %x : f32[5]"), ":2:"),
    "reshape to a huge count": (body(f"  %y = reshape %x : f32[{HUGE}, {HUGE}, {HUGE}, 0]"), ":2:"),
    "pad beyond 64 bits": (body(f"  %y = pad %x, pairs=[({2**63 - 1}, {2**63 - 1})]"), ""),
    "pad by less than nothing": (body("  %y = pad %x, pairs=[(-9, 0)]"), ":2:"),
    "shrink outside": (body("  %y = shrink %x, ranges=[(2, 9)]"), ":2:"),
    "shrink backwards": (body("  %y = shrink %x, ranges=[(3, 1)]"), ":2:"),
    "permute twice": (body("  %y = permute %x, axes=[0, 0]"), ":2:"),
    "axis outside": (body("  %y = reduce.add %x, axes=[7]"), ":2:"),
    "axis of a million": (body("  %y = reduce.add %x, axes=[1000001]"), ":2:"),
    "division by zero": (body("  %y = reshape %x : f32[4 // 0]"), ""),
    "modulo zero": (body("  %y = reshape %x : f32[4 % 0]"), ""),
    "parentheses": (body("  %y = reshape %x : f32[" + "(" * 100000 + "4" + ")" * 100000 + "]"), "256"),
    "open parentheses": ("graph g(" + "(" * 100000, ":1:"),
    "no symbol": (body("  %y = add %x, %x", "%x: f32[n]"), ":1:"),
    "bounds turned": ("graph g(%x: f32[n]) where 9 <= n <= 1 {\n  return %x\n}\n", ""),
    "bounds below zero": ("graph g(%x: f32[n]) where -9 <= n <= 9 {\n  return %x\n}\n", ""),
    "bounds beyond": ("graph g(%x: f32[n]) where 0 <= n <= 99999999999999999999 {\n  return %x\n}\n", "64 bits"),
    "a symbol twice": ("graph g(%x: f32[n]) where 0 <= n <= 1, 0 <= n <= 2 {\n  return %x\n}\n", ""),
    "name of 257 bytes": (body("  %y = add %x, %x").replace(" g(", " " + "g" * 257 + "("), "256"),
    "name of ten million": ("graph g(%" + "x" * 10_000_000 + ": f32[4]) {\n  return %x\n}\n", "256"),
    "string without end": ('graph "g', "closing"),
    "bad escape": ('graph "\\q"() {\n  return\n}\n', "escape"),
    "junk behind": (body("  %y = add %x, %x") + "junk", "junk"),
    "a second graph": (body("  %y = add %x, %x") * 2, "end of the text"),
    "no end": ("graph g(%x: f32[4]) {\n  return %x\n", "end of the text"),
    "17 graphs deep": (nested(17), "16"),
    "10000 graphs deep": ("graph g() {\n" * 10000, "16"),
    "no body": (body("  %y = loop %x, %x, body=nobody, carried=1"), "nobody"),
    "a body that is itself": (body("  %y = loop %x, %x, body=g, carried=1"), "g"),
    "carried a million": (body("  %y = loop %x, %x, body=b, carried=1000001"), ""),
    "constant of another dtype": (body("  %y = const 1.5 : i32[4]"), ":2:"),
    "constant of letters": (body("  %y = const " + "f" * 10000 + " : f32[4]"), ":2:"),
    "take of floats": (body("  %y = take %x, %x, axis=0"), ":2:"),
    "cast to nothing": (body("  %y = cast %x"), "a dtype"),
    "bitcast to another size": (body("  %y = bitcast %x : f64"), ":2:"),
}
SURVIVED = {
    "nothing": "graph g() {\n  return\n}\n",
    "the param itself": body("", result="%x"),
    "an output twice": body("  %y = add %x, %x", result="%y, %y"),
    "100 outputs": body("  %y = add %x, %x", result=", ".join(f"o{k}=%y" for k in range(100))),
    "1000 params": body("  %y = add %x0, %x999", ", ".join(f"%x{k}: f32[1]" for k in range(1000))),
    "chain of 2000": chain(2000),
    "doubling of 200": chain(200, "mul %{0}, %{0}"),
    "views of 60": chain(60, "flip %{0}, axes=[0]"),
    "no elements": body("  %y = reduce.add %x, axes=[0]", "%x: f32[0, 3]"),
    "no elements times huge": body("  %y = add %x, %x", f"%x: f32[0, {2**40}]"),
    "16 axes": body("  %y = add %x, %x", "%x: f32[" + ", ".join("1" * 16) + "]"),
    "a tebibyte": body("  %y = add %x, %x", f"%x: f32[{2**38}]"),
    "expand to a tebibyte": body(f"  %e = expand %x : f32[{2**38}]\n  %y = add %e, %e", "%x: f32[1]"),
    "reduce of an exbibyte": body(f"  %e = expand %x : f32[{2**60}]\n  %y = reduce.max %e, axes=[0]\n", "%x: f32[1]"),
    "16 graphs deep": nested(15),
    "subnormal constants": body("  %c = const 1e-45 : f32[4]\n  %y = mul %x, %c"),
    "NaN constants": body("  %c = const nan(0x7fc01234) : f32[4]\n  %y = add %x, %c"),
    "take outside": body(f"  %i = const {2**31 - 1} : i32[4]\n  %y = take %x, %i, axis=0"),
    "minus signs": body("  %y = reshape %x : f32[" + "-" * 100000 + "4]"),
    "comments alone": "# x\n" * 100000 + body("  %y = add %x, %x"),
    "Windows lines": body("  %y = add %x, %x").replace("\n", "\r\n"),
}
SLOW_BY_NATURE = {"a tebibyte", "expand to a tebibyte", "reduce of an exbibyte"}  # refused before they run


def refused_at_once(text):
    """What no machine holds is refused: for want of memory, and before the machine is out of it."""
    for arguments in (("--random", "1"), ("--reference", "--random", "1")):
        result = attempt(text, *arguments, TENON_DEVICES="cpu")
        harmless(result)
        assert result.returncode in (2, 3) and result.stderr.strip(), (result.returncode, result.stderr)


def idle_options():
    """Options that do nothing at a stage are errors."""
    text = body("  %y = add %x, %x")
    for arguments in (["--stage", "graph", "--devices", "cpu"], ["--stage", "graph", "--on", "x=cpu"],
                      ["--stage", "graph", "--backend", "cpu", "--target", "host"], ["--stage", "graph", "--transforms", "x"],
                      ["--stage", "schedule", "--transforms", "x"], ["--on", "x=cpu", "--on", "x=cpu"],
                      ["--backend", "cpu", "--target", "x86-64", "--on", "x=cpu"], ["--backend", "cpu"], ["--target", "host"],
                      ["--devices", "cpu", "--backend", "cpu", "--target", "x86-64"]):
        result = attempt(text, *arguments, command="show", TENON_DEVICES="cpu")
        assert result.returncode == 2 and result.stderr.strip(), (arguments, result.returncode, result.stderr)
    for arguments in (["--reference", "--devices", "cpu"], ["--reference", "--check"], ["--random", "-1"], ["--random", "x"],
                      ["--random", "1", "--symbol", "n=3"], ["--random", "1", "--symbol", "n"]):
        result = attempt(text, *arguments)
        assert result.returncode == 2 and result.stderr.strip() + result.stdout, (arguments, result.returncode, result.stderr)


def attacks():
    for key, name in HOSTILE.items():
        yield f"output name {key}", lambda n=name, k=key: output_name(n, k)
        yield f"other names {key}", lambda n=name: other_names(n)
    yield "two outputs of one name", same_names
    for name, (text, word) in REFUSED.items():
        yield f"refused {name}", lambda t=text, w=word: refused(t, w)
    for name, text in SURVIVED.items():
        if name in SLOW_BY_NATURE:
            yield f"refused at once {name}", lambda t=text: refused_at_once(t)
        else:
            yield f"survived {name}", lambda t=text: survived(t)
    yield "idle options", idle_options
