# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links in Markdown lead somewhere, and so do decisions named by number.

Usage: links.py DIR   the source folder, or share/tenon of an installed tree
"""
import os
import re
import sys

SKIPPED = {".git", "build", "shared"}
SUFFIXES = (".md", ".hpp", ".cpp", ".h", ".def", ".txt", ".cmake", ".py", ".c", ".comp", ".cu", ".tn")
NAMED = re.compile(r"\b[Dd]ecisions?\s+(\d+)\b|docs/decisions/(\d{4})\b")


def texts():
    for folder, folders, files in os.walk("."):
        folders[:] = [name for name in folders if name not in SKIPPED and not name.startswith(("build", ".git"))]
        for name in files:
            if name.endswith(SUFFIXES):
                path = os.path.relpath(os.path.join(folder, name))
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield path, file.read()


def anchors(text):
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def dead_links(path, text):
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        name, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        other = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(other):
            yield f"{path}: no file '{target}'"
        elif anchor and other.endswith(".md") and anchor not in anchors(open(other, encoding="utf-8").read()):
            yield f"{path}: no title '{target}'"


def decisions():
    """Number to (file, title)."""
    found = {}
    for name in sorted(os.listdir("docs/decisions")):
        if name != "README.md":
            with open(os.path.join("docs/decisions", name), encoding="utf-8") as file:
                found[int(name[:4])] = (name, file.readline()[2:].strip())
    return found


def index_faults(known):
    listed = re.findall(r"^- \[(.*)\]\((.*)\)$", open("docs/decisions/README.md", encoding="utf-8").read(), re.M)
    expected = [(title, name) for name, title in known.values()]
    for number, (name, title) in known.items():
        if not title.startswith(f"{number}. "):
            yield f"docs/decisions/{name}: expected a title that begins with '{number}. '"
    for row in sorted(set(expected) ^ set(listed)):
        yield f"docs/decisions/README.md: {'lists' if row in listed else 'lacks'} {row}"


def main(source):
    os.chdir(source)
    known = decisions()
    faults = list(index_faults(known))
    for path, text in texts():
        if path.endswith(".md"):
            faults += dead_links(path, text)
        numbers = [int(a or b) for a, b in NAMED.findall(text)]
        faults += [f"{path}: no decision {number}" for number in numbers if number not in known]
        for number, name in re.findall(r"\[[Dd]ecision\s+(\d+)\]\([^)]*?(\d{4})-", text):
            if int(number) != int(name):
                faults.append(f"{path}: 'decision {number}' leads to {name}")
    print("\n".join(faults) or f"links hold, {len(known)} decisions")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
