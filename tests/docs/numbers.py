# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers in prose are those of their source. Usage: numbers.py SOURCE_DIR"""
import glob
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def lines(*patterns):
    return sum(len(read(path).splitlines()) for pattern in patterns for path in glob.glob(pattern))


def rows(path, name):
    return len(re.findall(rf"^{name}\(", read(path), re.M))


def principal_ops():
    table = read("sdk/include/tenon/ops.def").partition("principal operators. */")[2]
    return len(re.findall(r"^TN_OP_ROW\(", table.partition("/*")[0], re.M))


def variants(kind):
    return lambda: rows("conformance/selftest/plugin/variants.def", kind)


def found_bar(seconds):
    return lambda: int(re.search(rf"seconds >= {seconds} \? (\d+)", read("conformance/selftest/score.cpp"))[1])


def own_words():
    table = read("docs/glossary.md").partition("| word | what it means |")[2].partition("\n\n")[0]
    return table.count("\n| ")


def lessons():
    return [lines(path) for path in glob.glob("examples/0*.cpp")]


# (page, what it says with the numbers as groups, what they have to be: a number, or a rule)
CLAIMS = [
    ("README.md", r"a template of under (\d+) lines", lambda n: lines("examples/90_null_backend/null_backend.cpp") < n),
    ("README.md", r"the (\d+) operators, shapes", principal_ops),
    ("docs/ir.md", r"## The (\d+) principal operators", principal_ops),
    ("docs/conformance.md", r"of (\d+) planted bugs", variants("TN_PLANTED")),
    ("docs/conformance/measuring.md", r"fuzzer on (\d+) variants", variants("TN_PLANTED")),
    ("docs/conformance/measuring.md", r"(\d+) more variants are \*benign\*", variants("TN_BENIGN")),
    ("docs/conformance/measuring.md", r"found: (\d+) with 300 seconds", found_bar(300)),
    ("docs/conformance/measuring.md", r"seconds each, (\d+) with 30 seconds", found_bar(30)),
    ("docs/glossary.md", r"at most (\d+)\.", lambda most: own_words() <= most),
    ("docs/decisions/README.md", r"at most (\d+) lines", lambda most: all(lines(path) <= most for path in glob.glob("docs/decisions/0*.md"))),
    ("docs/backends/from-nothing.md", r"saved binaries, (\d+) lines in all",
     lambda: lines("examples/91_opencl/*.?pp", "examples/91_opencl/CMakeLists.txt")),
    ("docs/writing-a-backend.md", r"backend by libgccjit, (\d+) lines in all",
     lambda: lines("examples/92_gccjit/*.?pp", "examples/92_gccjit/CMakeLists.txt")),
    ("docs/writing-a-backend.md", r"with the (\d+) functions of the concept",
     lambda: len(set(re.findall(r"\bb\.(\w+)\(", read("sdk/walk/builder.hpp"))))),
    ("docs/architecture.md", r"no file is longer than (\d+) lines",
     lambda: int(re.search(r"^MAX_LINES = (\d+)", read("tests/layering/check.py"), re.M)[1])),
    ("docs/quickstart.md", r"are programs of (\d+) to (\d+) lines",
     lambda least, most: least <= min(lessons()) and max(lessons()) <= most),
]


def fault(page, pattern, expected):
    found = re.search(pattern, re.sub(r"\s+", " ", read(page)))
    if not found:
        return f"{page}: expected words like '{pattern}', found none"
    said = [int(number) for number in found.groups()]
    is_rule = expected.__code__.co_argcount > 0
    right = expected(*said) if is_rule else said == [expected()]
    return None if right else f"{page}: '{found[0]}': expected {'what its source has' if is_rule else expected()}"


def main(source):
    os.chdir(source)
    faults = [text for text in (fault(*claim) for claim in CLAIMS) if text]
    print("\n".join(faults) or f"{len(CLAIMS)} claims hold")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
