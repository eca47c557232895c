#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds recursion over shared values without a memo: it takes a DAG for a tree, and need not end.

A function is suspect if it takes a value that several users share (a node of a graph, a value of a loop tree, or the
number of one) and may call itself, directly or through functions of its file. It is fine if it looks that value up in a
set or map and adds it, if each function on the way calls on in one place that is no loop (a chain), or if PROVEN says why
it is bounded. Calls are matched by name and number of arguments. Expressions (Expr) are not looked at: one of more than
16384 operations is refused when it is made (core/expr/expr.cpp), and tests/walks/dags.cpp holds that.

Usage: check.py SOURCE_DIR      checks the tree
       check.py --self-test     checks that the checker finds planted violations
"""
import os
import re
import sys
import tempfile

TOPS = ("core", "sdk", "conformance", "frontend")
SHARED = re.compile(r"\b(NodeRef|(?<!Expr :: )Node|KValueRef|KValue|GraphRef|Graph)\b")
# where numbers stand for nodes of a schedule, ops of a program and reductions of a kernel
NUMBERED = ("core/schedule/", "core/lower/op_tree", "core/budget/", "sdk/program/", "sdk/render/", "conformance/abi/programs/",
            "conformance/shrink/", "conformance/selftest/plugin/", "core/kernel/transforms/running_maximum")
NUMBER = re.compile(r"^(const )?(int|uint32_t|size_t|Value) (i|v|value|op|operand|node|reduction|id|here|there)$")
# "file function" -> why it is bounded. A line that nothing needs is an error.
PROVEN = {
    "core/autodiff/backward.cpp device_of": "asks the device of a PARAM through a function of the options",
    "core/autodiff/lift_leaves.cpp lift_into": "remap_into keeps each node in `done`, region_of each region",
    "core/autodiff/lift_leaves.cpp lifted": "as lift_into",
    "core/budget/longest_path.cpp loop": "loops of a program hold each other as a tree",
    "core/interval/interval.cpp run_if": "evaluates nodes in order; regions that differ in `result` share a run",
    "core/interval/interval.cpp run_loop": "as run_if",
    "core/interval/interval.cpp run_region": "as run_if",
    "core/interval/interval.cpp run": "as run_if",
    "core/interval/map.cpp only_moves": "a chain: each branch takes source 0",
    "core/interval/online_softmax.cpp find_masked_factors": "goes on only from products that it adds to masked_factors_",
    "core/ir/structure.cpp hash_inner": "hash_head keeps the hash of each graph inside, in one table",
    "core/ir/structure.cpp same_inner": "same_head keeps each pair of graphs inside, in one table",
    "core/ir/structure.cpp hash_head": "as hash_inner",
    "core/ir/structure.cpp same_head": "as same_inner",
    "core/ir/text/module.cpp height_of": "keeps the height of each graph in heights_",
    "core/kernel/templates/contraction/contraction.cpp divisor_of": "calls the one for an Expr",
    "core/kernel/transforms/running_maximum.cpp same": "makes a SameValue, which keeps what it compared",
    "core/kernel/transforms/running_maximum.cpp split": "a chain: goes on with the one operand that has the power",
    "core/kernel/transforms/running_maximum.cpp round": "as split",
    "core/kernel/tree/nest_statements.cpp add": "visits a value's DAG once, and each let once",
    "core/kernel/tree/print.cpp of": "a tree of at most 64 values, or values with names for what they share",
    "core/lower/leaves.cpp value": "find() looks in scopes_, where the value is put",
    "core/lower/leaves.cpp emit": "as value",
    "core/lower/leaves.cpp elementwise": "as value",
    "core/lower/op_tree.cpp one": "regions of a program hold each other as a tree",
    "core/reference/reference.cpp run_region": "evaluates nodes in order; regions that differ in `result` share a run",
    "core/reference/reference.cpp evaluate_node": "as run_region",
    "core/reference/reference.cpp evaluate": "as run_region",
    "core/rewrite/driver.cpp apply": "calls the function of a rule",
    "core/rewrite/pattern.cpp match": "follows the pattern, which is a tree from the source text",
    "core/rewrite/rules/one_place.cpp at_one": "at most 8 deep",
    "core/rewrite/rules/one_place.cpp at": "at most 8 deep",
    "core/schedule/split_kv.cpp rebuilt": "a chain: goes on with the one operand that depends on the scores",
    "conformance/abi/programs/model.cpp run_if": "runs the ops of a program in order; its regions are a tree",
    "conformance/abi/programs/model.cpp run_loop": "as run_if",
    "conformance/selftest/plugin/interpreter.cpp run_loop": "runs the ops of a program in order; its regions are a tree",
    "frontend/tensor/composite.cpp call": "calls the Builder's",
    "frontend/tensor/sizes.cpp add": "adds the dimensions of one node",
}
KEYWORDS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignof", "noexcept", "requires",
            "static_assert", "operator", "constexpr"}
LOOPS = {"for", "while", "any_of", "all_of", "none_of", "transform", "find_if", "walk", "visit"}
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|\d[\w.']*|\S")
LOOKUP = {"find", "contains", "count"}
STORE = {"insert", "emplace", "try_emplace"}


def without_comments(text):
    """The text with comments, strings and directives blanked; lines keep their numbers."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    def keep(match):
        return blank(match) if match.group(0).startswith("/") else '""' + blank(match)[2:]
    text = re.sub(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', keep,
                  text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def closing(tokens, at):
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] in "([{") - (tokens[i] in ")]}")
        if depth == 0:
            return i
    return len(tokens) - 1


def split_arguments(tokens):
    """The tokens between commas that no bracket, round or of a template, holds."""
    out, depth, angle = [[]], 0, 0
    for t in tokens:
        depth += (t in "([{") - (t in ")]}")
        angle = max(0, angle + (t == "<") - (t == ">"))
        if t == "," and depth == 0 and angle == 0:
            out.append([])
        else:
            out[-1].append(t)
    return [p for p in out if p]


class Function:
    """A body, its name and its parameters. A lambda with a name is one, too."""

    def __init__(self, name, params, body, line, numbered):
        self.name, self.body, self.line = name, body, line
        split = split_arguments(params)
        self.most = len(split)
        self.least = sum("=" not in p for p in split)
        self.shared = set()
        for p in split:
            p = p[:p.index("=")] if "=" in p else p
            if SHARED.search(" ".join(p)) or (numbered and NUMBER.match(" ".join(p))):
                self.shared.add(p[-1])
        self.shared -= {"&", "*", ">"}

    def takes(self, count):
        return self.least <= count <= self.most

    def has_memo(self):
        """Looks a shared parameter up and adds it: seen.insert(v.get()).second, or memo.find(v.get()) and memo[v] = .."""
        looked = added = False
        for i, t in enumerate(self.body[:-1]):
            end = closing(self.body, i + 1) if self.body[i + 1] in "([" else i
            names = self.shared & set(self.body[i + 2:end]) or "key" in self.body[i + 2:end]
            if self.body[i + 1] == "[" and self.body[end + 1] == "=" and names:
                added = True
            if t in LOOKUP | STORE and self.body[i - 1] in (".", "->") and self.body[i + 1] == "(" and names:
                looked |= t in LOOKUP or t == "try_emplace" or self.body[end + 1:end + 3] == [".", "second"]
                added |= t in STORE
        return looked and added


def functions_of(text, numbered):
    text = without_comments(text)
    found = [(m.group(0), m.start()) for m in TOKEN.finditer(text)]
    tokens = [t for t, _ in found]
    match, stack = {}, []
    for i, t in enumerate(tokens):
        if t in "([{":
            stack.append(i)
        elif t in ")]}" and stack:
            match[i] = stack.pop()
            match[match[i]] = i
    out = []
    for i, t in enumerate(tokens):
        if t == "{" and i in match:
            head = head_of(tokens, match, i)
            if head:
                name, opening = head
                out.append(Function(name, tokens[opening + 1:match[opening]], tokens[i:match[i] + 1],
                                    text.count("\n", 0, found[opening][1]) + 1, numbered))
    return out


def head_of(tokens, match, brace):
    """Name and opening parenthesis of the function whose body begins at `brace`; None if it is no function."""
    def is_word(i):
        return i >= 0 and re.match(r"[A-Za-z_]", tokens[i])
    j = brace - 1
    while j >= 0 and (tokens[j] in ("&", "*", "->", "::", "<", ">", ",") or is_word(j)):
        if tokens[j] in ("else", "do", "try", "return", "struct", "class", "enum", "namespace", "union"):
            return None
        j -= 1
    if j < 0 or tokens[j] != ")" or j not in match:
        return None
    opening = match[j]
    while True:
        at = opening - 1
        if tokens[at] == "]" and at in match:
            b = match[at] - 1
            return (tokens[b - 1], opening) if tokens[b] == "=" and is_word(b - 1) else None
        if tokens[at] == ")" and tokens[match[at] - 1] == "operator":
            return "operator()", opening
        if not is_word(at) or tokens[at] in KEYWORDS:
            return None
        if tokens[at - 1] in (",", ":") and tokens[at - 2] in (")", "}") and at - 2 in match:
            opening = match[at - 2]  # another initialiser, or the parameters
            continue
        return tokens[at], opening


def calls_of(function, named):
    """(function of the file, whether in a loop) for each place that may call one."""
    tokens, out, loops = function.body, [], []
    for i, t in enumerate(tokens[:-1]):
        loops = [end for end in loops if end > i]
        if t in LOOPS and tokens[i + 1] == "(":
            end = closing(tokens, i + 1)
            if t in ("for", "while"):  # and its body
                end = closing(tokens, end + 1) if tokens[end + 1] == "{" else tokens.index(";", end)
            loops.append(end)
        name, opening = t, i + 1
        if t == "this" and tokens[i - 1] == "*" and tokens[i + 1] == ")" and tokens[i + 2] == "(":
            name, opening = "operator()", i + 2
        elif t == "self" and tokens[i + 1] == "(":
            name = function.name
        if name not in named or tokens[opening] != "(":
            continue
        count = function.most if t == "self" else len(split_arguments(tokens[opening + 1:closing(tokens, opening)]))
        out += [(f, bool(loops)) for f in named[name] if f.takes(count)]
    return out


def suspects_of(text, numbered):
    functions = functions_of(text, numbered)
    named = {}
    for f in functions:
        named.setdefault(f.name, []).append(f)
    memoised = {f for f in functions if f.has_memo()}
    calls = {f: [c for c in calls_of(f, named) if c[0] not in memoised] for f in functions}

    def reached(f):
        out, todo = set(), [f]
        while todo:
            for g, _ in calls[todo.pop()]:
                if g not in out:
                    out.add(g)
                    todo.append(g)
        return out
    below = {f: reached(f) for f in functions}
    out = []
    for f in functions:
        if f in memoised or not f.shared or f not in below[f]:
            continue
        circle = {g for g in below[f] if f in below[g]}
        places = {g: [c for c in calls[g] if c[0] in circle] for g in circle}
        if any(len(p) > 1 or any(in_loop for _, in_loop in p) for p in places.values()):
            out.append(f)
    return out


def check(root, proven):
    problems, used, count = [], set(), 0
    for top in TOPS:
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if not name.endswith((".cpp", ".hpp", ".h")):
                    continue
                count += 1
                path = os.path.relpath(os.path.join(folder, name), root)
                with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                    for f in suspects_of(file.read(), path.startswith(NUMBERED)):
                        used.add(f"{path} {f.name}")
                        if f"{path} {f.name}" not in proven:
                            problems.append(f"{path}:{f.line}: {f.name} calls itself over a value that others share, and "
                                            "neither looks it up nor is proven (tests/walks/check.py)")
    problems += [f"tests/walks/check.py: nothing needs the proof of '{line}'" for line in sorted(set(proven) - used)]
    return problems, count


PLANTED = {  # each with the number of problems that it has
    "int f(const NodeRef& x) { return f(x->sources[0]) + f(x->sources[1]); }": 1,
    "int f(const NodeRef& x) { for (auto& s : x->sources) f(s); return 0; }": 1,
    "int f(const Node& x) { return g(x); }\nint g(const Node& x) { return f(*x.a) + f(*x.b); }": 2,
    "const auto f = [&](const auto& self, const KValueRef& v) -> int { return self(self, v->a) + self(self, v->b); };": 1,
    "class F {\n bool operator()(const KValueRef& a) { return (*this)(a->x) && (*this)(a->y); }\n};": 1,
    # a look-up of what is never added, an addition that is never looked up
    "int f(const NodeRef& x) { if (known.contains(x.get())) return 0; return f(x->a) + f(x->b); }": 1,
    "int f(const NodeRef& x) { known.insert(x.get()); return f(x->a) + f(x->b); }": 1,
    # fine: a memo, a chain, another function of the name, a number of no node, words in comments and strings
    "int f(const NodeRef& x) { if (!seen.insert(x.get()).second) return 0; return f(x->a) + f(x->b); }": 0,
    "int f(const NodeRef& x) {\n if (auto at = memo.find(x.get()); at != memo.end()) return at->second;\n"
    " return memo[x.get()] = g(x);\n}\nint g(const NodeRef& x) { return f(x->a) + f(x->b); }": 0,
    "bool f(const NodeRef& x) { return x->op == Op::CAST ? f(x->sources[0]) : true; }": 0,
    "int f(const NodeRef& x) { return f(x, 1) + f(x, 2); }\nint f(const NodeRef& x, int y) { return y; }": 0,
    "int f(int i) { return f(i - 1) + f(i - 2); }": 0,
    "int f(const NodeRef& x) { return 1; }  // f(x) and f(x)\nconst char* g(const NodeRef& x) { return \"g(x) g(x)\"; }": 0,
}


def self_test():
    for text, expected in PLANTED.items():
        found = suspects_of(text, False)
        assert len(found) == expected, (text, [f.name for f in found])
    numbered = "int f(int i) { return f(a(i)) + f(b(i)); }"
    assert len(suspects_of(numbered, True)) == 1 and not suspects_of(numbered, False)
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "core", "ir"))
        with open(os.path.join(root, "core", "ir", "a.cpp"), "w", encoding="utf-8") as file:
            file.write("\n" + next(iter(PLANTED)))
        problems, count = check(root, {})
        assert count == 1 and len(problems) == 1 and problems[0].startswith("core/ir/a.cpp:2: f "), problems
        assert not check(root, {"core/ir/a.cpp f": "a reason"})[0]
        assert "nothing needs" in check(root, {"core/ir/a.cpp f": "", "core/ir/b.cpp f": ""})[0][0]
    print(f"finds {sum(PLANTED.values())} planted walks in {len(PLANTED)} texts")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    problems, count = check(sys.argv[1], PROVEN)
    print("\n".join(problems) or f"no walk of {count} files takes a DAG for a tree")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
