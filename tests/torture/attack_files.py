# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are damaged, endless, special or not there, as every file that a program reads; and places that are hard
to write. Each is refused with a name and a reason, at once; what exists already stays what it is."""
import os
import socket
import stat
import struct
import subprocess
import tempfile

from harness import BIN, CACHE, read_npy, run, write_npy

GRAPH = "graph g(%x: f32[4]) {\n  %y = add %x, %x\n  return %y\n}\n"
NOBODY = 65534


def header(text, version=1, length=None):
    raw = text.encode()
    size = len(raw) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", size) + raw


DATA = struct.pack("<4f", 1, 2, 3, 4)
GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
NPY = {  # content -> a word of the refusal
    "empty": (b"", "magic"),
    "half a magic": (b"\x93NUM", "magic"),
    "text": (b"hello", "magic"),
    "zip": (b"PK\x03\x04" + bytes(100), "magic"),
    "magic alone": (b"\x93NUMPY", "header"),
    "no length": (b"\x93NUMPY\x01\x00", "header"),
    "version 0": (header(GOOD, 0) + DATA, "version"),
    "version 9": (header(GOOD, 9) + DATA, "version"),
    "header cut": (header(GOOD)[:30], "header of"),
    "header of 4 GiB": (header(GOOD, 2, 0xffffffff) + DATA, "header of"),
    "header empty": (header("") + DATA, "expected '{'"),
    "header of quotes": (header("{" + "'" * 999) + DATA, "byte"),
    "header of brackets": (header("(" * 60000) + DATA, "byte"),
    "junk in the header": (header(GOOD + " junk") + DATA, "end of the header"),
    "two dictionaries": (header(GOOD + GOOD) + DATA, "end of the header"),
    "NUL in the header": (header(GOOD + "\0") + DATA, "end of the header"),
    "a key twice": (header(GOOD[:-1] + "'shape': (4,)}") + DATA, "once"),
    "a key missing": (header("{'descr': '<f4', 'shape': (4,)}") + DATA, "fortran_order"),
    "an unknown key": (header(GOOD[:-1] + "'x': 1}") + DATA, "'x'"),
    "objects": (header(GOOD.replace("<f4", "|O")) + DATA, "|O"),
    "records": (header(GOOD.replace("'<f4'", "[('a', '<f4')]")) + DATA, "byte"),
    "strings": (header(GOOD.replace("<f4", "<U8")) + DATA, "<U8"),
    "an empty dtype": (header(GOOD.replace("<f4", "")) + DATA, "dtype"),
    "negative": (header(GOOD.replace("4,", "-4,")) + DATA, "size"),
    "huge": (header(GOOD.replace("4,", "9223372036854775807,")) + DATA, "bytes for shape"),
    "overflow": (header(GOOD.replace("4,", "4294967296, 4294967296, 4")) + DATA, "too many"),
    "beyond 64 bits": (header(GOOD.replace("4,", "99999999999999999999,")) + DATA, "size"),
    "17 axes": (header(GOOD.replace("4,", "1, " * 17)) + DATA, "16 dimensions"),
    "data cut": (header(GOOD) + DATA[:-1], "expected 16 bytes"),
    "data missing": (header(GOOD), "expected 16 bytes"),
    "junk behind the data": (header(GOOD) + DATA + b"x", "expected 16 bytes"),
}
TN = {
    "empty": (b"", "'graph'"),
    "blank": (b" \n\n", "'graph'"),
    "comment": (b"# nothing", "'graph'"),
    "binary": (bytes(range(256)), "'graph'"),
    "NULs": (bytes(1000), "'graph'"),
    "UTF-16": (GRAPH.encode("utf-16"), "'graph'"),
    "byte order mark": (b"\xef\xbb\xbf" + GRAPH.encode(), "'graph'"),
    "cut": (GRAPH.encode()[:-3], "end of the text"),
    "junk behind": (GRAPH.encode() + b"junk", "junk"),
    "two graphs": (GRAPH.encode() * 2, "end of the text"),
    "junk behind the header": (GRAPH.replace("{", "junk {").encode(), "junk"),
    "one long line": (b"graph " + b"x" * 10_000_000, "name of at most"),
}


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)


def make_sparse(path):
    with open(path, "wb") as file:
        file.truncate(1 << 40)


PLACES = {  # what is no file to read
    "folder": (os.mkdir, "folder"),
    "pipe": (make_fifo, "pipe"),
    "socket": (make_socket, "socket"),
    "a tebibyte": (make_sparse, "at most"),
    "link to itself": (lambda path: os.symlink(path, path), "symbolic links"),
    "link to nothing": (lambda path: os.symlink(path + ".none", path), "No such file"),
    "link to zeros": (lambda path: os.symlink("/dev/zero", path), "device"),
    "link to noise": (lambda path: os.symlink("/dev/urandom", path), "device"),
    "link to a folder": (lambda path: os.symlink("/", path), "folder"),
}


def refused(result, name, word):
    assert result.returncode in (2, 3), (result.returncode, result.stdout, result.stderr)
    assert name in result.stderr and word in result.stderr, (word, result.stderr)
    assert "internal" not in result.stderr and "\x1b" not in result.stderr, result.stderr
    assert result.stdout == "", result.stdout


def graph_in(folder):
    path = os.path.join(folder, "g.tn")
    with open(path, "w", encoding="ascii") as file:
        file.write(GRAPH)
    return path


def content(kind, data, word):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "attacked." + kind)
        with open(path, "wb") as file:
            file.write(data)
        what = ["run", path, "--random", 1] if kind == "tn" else ["run", graph_in(folder), "--input", "x=" + path]
        refused(run("tenon", *what, "--reference"), "attacked", word)


COMMANDS = {
    "input": ("tenon", lambda path, graph: ["run", graph, "--reference", "--input", "x=" + path]),
    "graph": ("tenon", lambda path, graph: ["run", path, "--reference", "--random", 1]),
    "show": ("tenon", lambda path, graph: ["show", path, "--stage", "graph"]),
    "replay": ("tenon-conformance", lambda path, graph: ["replay", path, "--backend", "cpu"]),
    "expectations": ("tenon-conformance", lambda path, graph: ["fuzz", "--backend", "cpu", "--expectations", path]),
    "report": ("tenon-conformance", lambda path, graph: ["report", path]),
    "compare": ("tenon-conformance", lambda path, graph: ["compare", path, path]),
}


def place(command, make, word):
    program, arguments = COMMANDS[command]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "attacked")
        make(path)
        refused(run(program, *arguments(path, graph_in(folder))), "attacked", word)


def forbidden(command):
    """As another user, who may not read the file."""
    program, arguments = COMMANDS[command]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = os.path.join(folder, "attacked")
        with open(path, "w", encoding="ascii") as file:
            file.write(GRAPH)
        os.chmod(path, 0o600)
        line = [os.path.join(BIN, program), *map(str, arguments(path, graph_in(folder)))]
        result = subprocess.run(line, capture_output=True, text=True, timeout=30, check=False, user=NOBODY, group=NOBODY,
                                extra_groups=[], env={"PATH": "/usr/bin:/bin"})
        refused(result, "attacked", "Permission denied")


def run_into(folder, **options):
    write_npy(os.path.join(folder, "x.npy"), [1, 2, 3, 4], [4])
    out = os.path.join(folder, "out")
    return run("tenon", "run", graph_in(folder), "--reference", "--input", f"x={folder}/x.npy", "-o", out, **options)


def written(folder):
    values, shape = read_npy(os.path.join(folder, "out", "y.npy"))
    assert (values, shape) == ([2, 4, 6, 8], (4,)), (values, shape)
    assert os.listdir(os.path.join(folder, "out")) == ["y.npy"], os.listdir(os.path.join(folder, "out"))


def output(prepare, word, check):
    """`prepare` makes out/y.npy something; a word is that of the refusal."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "out"))
        victim = os.path.join(folder, "victim")
        with open(victim, "w", encoding="ascii") as file:
            file.write("precious")
        target = os.path.join(folder, "out", "y.npy")
        prepare(target, victim)
        result = run_into(folder)
        if word is None:
            assert result.returncode == 0, result.stderr
        else:
            assert result.returncode == 3 and word in result.stderr, (result.returncode, result.stderr)
        check(folder, target, victim)


def is_kind(test):
    def check(folder, target, victim):
        del folder, victim
        assert test(os.lstat(target).st_mode), oct(os.lstat(target).st_mode)
    return check


def followed(folder, target, victim):
    assert os.path.islink(target)
    values, _ = read_npy(victim)
    assert values == [2, 4, 6, 8], values
    assert stat.S_IMODE(os.stat(victim).st_mode) == 0o600, oct(os.stat(victim).st_mode)
    assert not [name for name in os.listdir(folder) if "part" in name]


def kept_mode(mode):
    def check(folder, target, victim):
        del victim
        written(folder)
        assert stat.S_IMODE(os.stat(target).st_mode) == mode
    return check


def with_mode(mode):
    def prepare(target, victim):
        del victim
        with open(target, "wb"):
            os.chmod(target, mode)
    return prepare


def linked(target, victim):
    os.chmod(victim, 0o600)
    os.symlink(victim, target)


OUTPUTS = {
    "new": (lambda t, v: None, None, lambda folder, t, v: written(folder)),
    "mode 0600": (with_mode(0o600), None, kept_mode(0o600)),
    "mode 0640": (with_mode(0o640), None, kept_mode(0o640)),
    "mode 0666": (with_mode(0o666), None, kept_mode(0o666)),
    "a link": (linked, None, followed),
    "a link to itself": (lambda t, v: os.symlink(t, t), "symbolic links", is_kind(stat.S_ISLNK)),
    "a folder": (lambda t, v: os.mkdir(t), "directory", is_kind(stat.S_ISDIR)),
    "a pipe that nobody reads": (lambda t, v: os.mkfifo(t), "nobody reads", is_kind(stat.S_ISFIFO)),
    "a socket": (lambda t, v: make_socket(t), "nobody reads", is_kind(stat.S_ISSOCK)),
    "a full device": (lambda t, v: os.symlink("/dev/full", t), "No space left", is_kind(stat.S_ISLNK)),
    "the null device": (lambda t, v: os.symlink("/dev/null", t), None, is_kind(stat.S_ISLNK)),
}


def device_stays():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "out"))
        target = os.path.join(folder, "out", "y.npy")
        os.mknod(target, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        result = run_into(folder)
        assert result.returncode == 0, result.stderr
        assert stat.S_ISCHR(os.lstat(target).st_mode)


def strangers_link():
    """In a folder as /tmp, a link of another user."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "out"))
        os.chmod(os.path.join(folder, "out"), 0o1777)
        victim = os.path.join(folder, "victim")
        with open(victim, "w", encoding="ascii") as file:
            file.write("precious")
        target = os.path.join(folder, "out", "y.npy")
        os.symlink(victim, target)
        os.lchown(target, NOBODY, NOBODY)
        result = run_into(folder)
        assert result.returncode == 3 and "another user" in result.stderr, (result.returncode, result.stderr)
        with open(victim, encoding="ascii") as file:
            assert file.read() == "precious"


def writers():
    """Eight at once: every one succeeds, the file is whole, nothing is left beside it."""
    with tempfile.TemporaryDirectory() as folder:
        write_npy(os.path.join(folder, "x.npy"), [1, 2, 3, 4], [4])
        line = [os.path.join(BIN, "tenon"), "run", graph_in(folder), "--reference", "--input", f"x={folder}/x.npy", "-o",
                os.path.join(folder, "out")]
        running = [subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                    env={"PATH": "/usr/bin:/bin", "TENON_CACHE_DIR": CACHE.name}) for _ in range(8)]
        for one in running:
            said = one.communicate(timeout=60)[1]
            assert one.returncode == 0, said
        written(folder)


def attacks():
    for kind, table in (("npy", NPY), ("tn", TN)):
        for name, (data, word) in table.items():
            yield f"{kind} {name}", lambda k=kind, d=data, w=word: content(k, d, w)
    for command in COMMANDS:
        for name, (make, word) in PLACES.items():
            yield f"{command} {name}", lambda c=command, m=make, w=word: place(c, m, w)
    for name, how in OUTPUTS.items():
        yield f"output {name}", lambda h=how: output(*h)
    yield "output eight writers", writers
    if os.geteuid() == 0:
        for command in COMMANDS:
            yield f"{command} forbidden", lambda c=command: forbidden(c)
        yield "output device node", device_stays
        yield "output strangers link", strangers_link
