# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that are correct and nasty, and graphs that are wrong: movements without end, sizes beyond 64 bits, sizes of
0, symbols at their ends, ranks and depths at their limits. Right results on cpu, or exit code 2 with words."""
import os
import random
import tempfile

from harness import run

FOLDER = tempfile.TemporaryDirectory()


def tenon_run(name, text, *options):
    path = os.path.join(FOLDER.name, "".join(c if c.isalnum() else "_" for c in name) + ".tn")
    with open(path, "w") as file:
        file.write(text)
    return run("tenon", "run", path, "--devices", "cpu", "--random", "1", *options)


def right(name, text, *options):
    result = tenon_run(name, text, "--check", *options)
    assert result.returncode == 0, (result.returncode, result.stdout[-500:], result.stderr[-500:])


def refused(name, text, *options):
    result = tenon_run(name, text, *options)
    assert result.returncode == 2 and result.stderr.strip(), (result.returncode, result.stdout[-500:],
                                                              result.stderr[-500:])


def graph(params, lines, result, where=""):
    body = "".join(f"  {line}\n" for line in lines)
    return f"graph main({params}){where} {{\n{body}  return {result}\n}}\n"


def factors(size, rank, rng):
    shape = []
    for _ in range(rank - 1):
        divisors = [d for d in range(2, size) if size % d == 0]
        if not divisors:
            break
        shape.append(rng.choice(divisors))
        size //= shape[-1]
    return shape + [size]


def pairs(count, size, ranks, seed):
    """Reshapes to random factors of the size, each with a random permute."""
    rng = random.Random(seed)
    lines, at = [], "x"
    for i in range(count):
        shape = factors(size, rng.choice(ranks), rng)
        axes = list(range(len(shape)))
        rng.shuffle(axes)
        lines += [f"%r{i} = reshape %{at} : f32{shape}", f"%p{i} = permute %r{i}, axes={axes}"]
        at = f"p{i}"
    return graph(f"%x: f32[{size}]", lines + [f"%y = reshape %{at} : f32[{size}]"], "%y")


def moves(count, seed):
    """Pads, shrinks, flips, permutes and reshapes that keep f32[6, 8] what it is."""
    rng = random.Random(seed)
    lines, at, shape = [], "x", [6, 8]
    for i in range(count):
        kind = rng.choice(["pad", "flip", "permute", "reshape"])
        if kind == "pad":
            by = rng.randrange(3)
            lines.append(f"%q{i} = pad %{at}, pairs=[({by}, {2 - by}), (0, 1)], fill={i}.5")
            cut = rng.randrange(3)
            lines.append(f"%v{i} = shrink %q{i}, ranges=[({cut}, {cut + shape[0]}), (1, {shape[1] + 1})]")
        elif kind == "flip":
            lines.append(f"%v{i} = flip %{at}, axes=[{rng.randrange(2)}]")
        elif kind == "permute":
            lines.append(f"%v{i} = permute %{at}, axes=[1, 0]")
            shape = shape[::-1]
        else:
            shape = rng.choice([[6, 8], [4, 12], [48, 1], [3, 16], [8, 6]])
            lines.append(f"%v{i} = reshape %{at} : f32{shape}")
        at = f"v{i}"
    return graph("%x: f32[6, 8]", lines, f"%{at}")


def chain(count, width=16):
    lines = ["%v0 = neg %x"] + [f"%v{i} = {'max' if i % 2 else 'add'} %v{i - 1}, %x" for i in range(1, count)]
    return graph(f"%x: f32[{width}]", lines, f"%v{count - 1}")


def reductions(count):
    lines = [line for i in range(count) for line in (
        f"%r{i} = reduce.max %{'x' if i == 0 else f'a{i - 1}'}, axes=[1]", f"%e{i} = expand %r{i} : f32[64, 512]",
        f"%a{i} = add %e{i}, %x")]
    return graph("%x: f32[64, 512]", lines, f"%a{count - 1}")


def gathers(count):
    lines = [f"%t{i} = take %{'x' if i == 0 else f't{i - 1}'}, %i, axis=0" for i in range(count)]
    return graph("%x: f32[64], %i: i32[64]", lines, f"%t{count - 1}")


def nested(kind, depth):
    """IF or LOOP graphs in each other, `depth` graphs in all."""
    def inner(level):
        pad = "  " * level
        if level == depth:
            return f"{pad}graph g{level}({header}) {{\n{pad}  %y = add %a, %a\n{pad}  return %y\n{pad}}}\n"
        call = (f"%y = if %c, %a, %c, then=g{level + 1}, else=g{level + 1}" if kind == "if" else
                f"%n = const 1 : i64[]\n{pad}  %y = loop %n, %a, body=g{level + 1}, carried=1")
        own = "%a: f32[4], %c: bool[]" if level == 1 and kind == "if" else "%a: f32[4]" if level == 1 else header
        name = "main" if level == 1 else f"g{level}"
        return (f"{pad}graph {name}({own}) {{\n{inner(level + 1)}{pad}  {call}\n"
                f"{pad}  return %y\n{pad}}}\n")
    header = "%a: f32[4], %c: bool[]" if kind == "if" else "%i: i64[], %a: f32[4]"
    return inner(1)


def symbolic(body, result="%y", bounds="1 <= n <= 12"):
    return graph("%x: f32[n, 6]", body, result, f" where {bounds}")


HUGE = 2 ** 62
WRONG = {
    "product beyond 64 bits": graph(f"%x: f32[{2 ** 32}, {2 ** 32}]", [], "%x"),
    "product beyond 2^60 bytes": graph(f"%x: f32[{2 ** 40}, {2 ** 30}]", [], "%x"),
    "product wraps to 0": graph(f"%x: f32[{2 ** 32}, {2 ** 32}, 0]", [], "%x"),
    "size beyond 64 bits": graph(f"%x: f32[{2 ** 64}]", [], "%x"),
    "negative size": graph("%x: f32[-1]", [], "%x"),
    "expand beyond 64 bits": graph("%x: f32[1, 1]", [f"%y = expand %x : f32[{HUGE}, {HUGE}]"], "%y"),
    "reshape beyond 64 bits": graph("%x: f32[4]", [f"%y = reshape %x : f32[{2 ** 33}, {2 ** 33}]"], "%y"),
    "pad beyond 64 bits": graph("%x: f32[4]", [f"%y = pad %x, pairs=[({HUGE}, {HUGE})]"], "%y"),
    "pad by less than nothing": graph("%x: f32[4]", ["%y = pad %x, pairs=[(-1, 0)]"], "%y"),
    "shrink outside": graph("%x: f32[4]", ["%y = shrink %x, ranges=[(0, 5)]"], "%y"),
    "shrink backwards": graph("%x: f32[4]", ["%y = shrink %x, ranges=[(3, 1)]"], "%y"),
    "shrink below": graph("%x: f32[4]", [f"%y = shrink %x, ranges=[(-{HUGE}, 2)]"], "%y"),
    "rank 17": graph("%x: f32[" + ", ".join(["1"] * 17) + "]", [], "%x"),
    "permute twice": graph("%x: f32[2, 3]", ["%y = permute %x, axes=[0, 0]"], "%y"),
    "permute an axis short": graph("%x: f32[2, 3]", ["%y = permute %x, axes=[0]"], "%y"),
    "flip an axis that is not there": graph("%x: f32[2]", ["%y = flip %x, axes=[1]"], "%y"),
    "reduce an axis that is not there": graph("%x: f32[2]", ["%y = reduce.add %x, axes=[1000000]"], "%y"),
    "reshape of 0 to 1": graph("%x: f32[0]", ["%y = reshape %x : f32[1]"], "%y"),
    "300 parentheses": graph("%x: f32[" + "(" * 300 + "4" + ")" * 300 + "]", [], "%x"),
    "division by 0": symbolic(["%y = reshape %x : f32[n//0, 6]"]),
    "modulo a negative": symbolic(["%y = reshape %x : f32[n%(-3), 6]"]),
    "symbol without bounds": graph("%x: f32[n]", [], "%x"),
    "bounds upside down": symbolic([], "%x", "5 <= n <= 4"),
    "symbol beyond its bounds": symbolic([], "%x", f"1 <= n <= {2 ** 62}"),
    "17 graphs in each other, if": nested("if", 17),
    "17 graphs in each other, loop": nested("loop", 17),
}
RIGHT = {
    "rank 16": graph("%x: f32[" + ", ".join(["2", "1"] * 8) + "]",
                     [f"%y = permute %x, axes={list(range(15, -1, -1))}", "%z = reduce.add %y, axes=[1, 3, 5]"], "%z"),
    "size 0": graph("%x: f32[0]", ["%y = neg %x"], "%y"),
    "reduce over 0": graph("%x: f32[0, 5]", ["%y = reduce.add %x, axes=[0]"], "%y"),
    "largest of 0": graph("%x: f32[3, 0]", ["%y = reduce.max %x, axes=[1]"], "%y"),
    "0 moved": graph("%x: f32[0, 5]", ["%p = permute %x, axes=[1, 0]", "%y = reshape %p : f32[7, 0, 3]"], "%y"),
    "0 padded": graph("%x: f32[0, 5]", ["%y = pad %x, pairs=[(2, 1), (0, 0)], fill=3.0"], "%y"),
    "shrunk to 0": graph("%x: f32[4]", ["%y = shrink %x, ranges=[(2, 2)]"], "%y"),
    "0 of 2^40": graph(f"%x: f32[0, {2 ** 40}]", ["%y = neg %x"], "%y"),
    "no axes": graph("%x: f32[]", ["%r = reshape %x : f32[1, 1]", "%y = expand %r : f32[3, 4]"], "%y"),
    "400 outputs": graph("%x: f32[8]", [f"%v{i} = {['neg', 'sqrt', 'exp2', 'sin'][i % 4]} "
                                        f"%{'x' if i < 4 else f'v{i - 4}'}" for i in range(40)],
                         ", ".join(f"%v{i}" for i in range(40))),
    "300 params": graph(", ".join(f"%x{i}: f32[4]" for i in range(300)),
                        ["%s1 = add %x0, %x1"] + [f"%s{i} = add %s{i - 1}, %x{i}" for i in range(2, 300)], "%s299"),
    "a value and its permutes, again and again": graph(
        "%x: f32[4, 4]", [line for i in range(30) for line in (
            f"%p{i} = permute %{'x' if i == 0 else f's{i - 1}'}, axes=[1, 0]",
            f"%s{i} = max %{'x' if i == 0 else f's{i - 1}'}, %p{i}")], "%s29"),
    "an expression of 2,000 terms": graph("%x: f32[" + "+".join(["n"] * 2000) + "]", ["%y = neg %x"], "%y",
                                          " where 1 <= n <= 3"),
    "divisions of divisions": symbolic(["%r = reshape %x : f32[n*6]", "%p = pad %r, pairs=[(" + "(" * 40 + "n" +
                                        "//2+n%3)" * 40 + ", 0)]", "%y = neg %p"]),
    "16 graphs in each other, if": nested("if", 16),
    "10,000 in a chain": chain(10000),
    "200 reductions in a chain": reductions(200),
    "500 gathers in a chain": gathers(500),
}


def shown(name, text):
    path = os.path.join(FOLDER.name, name + ".tn")
    with open(path, "w") as file:
        file.write(text)
    result = run("tenon", "show", path, "--stage", "graph")
    assert result.returncode == 0 and result.stdout.count("\n") > 10 ** 6, (result.returncode, result.stderr[-500:])


def attacks():
    for count in (1, 3, 9, 17, 40):
        for seed in range(4):
            yield (f"{count} pairs, seed {seed}",
                   lambda n=count, s=seed: right(f"pairs{n}_{s}", pairs(n, 720, [2, 3, 5], s)))
    yield "1,000 pairs of one kind", lambda: right("same", pairs(1000, 720, [2], 5))
    yield "a million in a chain", lambda: shown("million", chain(10 ** 6))
    yield "1,000 pairs of many kinds", lambda: right("thousand", pairs(1000, 720, [2, 3, 4, 5], 0))
    yield "300 pairs of many kinds", lambda: right("many", pairs(300, 720, [2, 3, 4], 6))
    yield "pairs of a prime", lambda: right("prime", pairs(20, 719, [2], 7))
    yield "pairs of 5040 elements", lambda: right("large", pairs(30, 5040, [2, 3, 6], 8))
    for count in (10, 100, 600):
        for seed in range(3):
            yield f"{count} moves, seed {seed}", lambda n=count, s=seed: right(f"moves{n}_{s}", moves(n, s))
    for name, text in RIGHT.items():
        yield name, lambda n=name, t=text: right(n, t)
    for name, text in WRONG.items():
        yield name, lambda n=name, t=text: refused(n, t)
    body = ["%p = permute %x, axes=[1, 0]", "%r = reshape %p : f32[n, 6]", "%q = permute %r, axes=[1, 0]",
            "%s = reshape %q : f32[n, 2, 3]", "%y = permute %s, axes=[2, 0, 1]"]
    for n in (1, 2, 5, 12):
        yield f"symbolic pairs, n = {n}", lambda n=n: right(f"symbolic{n}", symbolic(body), "--symbol", f"n={n}")
    for n in ("0", "13", "-1", str(2 ** 63), "1e1", "", "n"):
        yield f"symbol n = '{n}'", lambda n=n: refused("symbol", symbolic(body), "--symbol", f"n={n}")
