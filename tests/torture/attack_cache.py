# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache: processes killed while they use it, damaged files, folders and files of others. A program's result
is right whatever lies there, and at most a line of warning is said."""
import glob
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import tempfile
import time

from harness import BIN, BUILD, read_npy, write_npy

GRAPH = "graph g{0}(%x: f32[{1}]) {{\n  %y = mul %x, %x\n  %z = sub %y, %x\n  return %z\n}}\n"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "TENON_PLUGINS": os.path.join(BUILD, "lib", "tenon", "libtenon_cpu.so"),
               "TENON_DEVICES": "cpu"}
KILLED_GROUPS, KILLED_EACH = 20, 20  # 400 processes
STRANGER = 65534


class Place:
    """A folder with some graphs, their input and a cache."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.cache = self.path("cache")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def line(self, size):
        graph, data = self.path(f"g{size}.tn"), self.path(f"x{size}.npy")
        if not os.path.exists(graph):
            with open(graph, "w", encoding="ascii") as file:
                file.write(GRAPH.format(size, size))
            write_npy(data, list(range(size)), [size])
        return [os.path.join(BIN, "tenon"), "run", graph, "--input", "x=" + data, "-o", self.path(f"out{size}")]

    def start(self, size, **options):
        variables = dict(ENVIRONMENT, TENON_CACHE_DIR=self.cache)
        return subprocess.Popen(self.line(size), env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                **options)

    def run(self, size=5, seconds=60, **options):
        """Right, or it raises; what was said on stderr."""
        process = self.start(size, **options)
        said = process.communicate(timeout=seconds)[1]
        assert process.returncode == 0, (process.returncode, said)
        values, _ = read_npy(self.path(f"out{size}/z.npy"))
        assert values == [k * k - k for k in range(size)], values
        return said


def killed(seed):
    """Processes that are killed at any moment, then one that is not."""
    chance = random.Random(seed)
    with Place() as place:
        for _ in range(KILLED_EACH // 4):
            running = [place.start(chance.randint(3, 6)) for _ in range(4)]
            for process in running:
                time.sleep(chance.random() * 0.1)
                process.send_signal(signal.SIGKILL)
            for process in running:
                process.communicate(timeout=60)
        for size in range(3, 7):
            said = place.run(size)
            assert "damaged" not in said and "off" not in said, said
        assert place.run(3) == ""
        left = [name for name in os.listdir(place.cache) if not name.startswith("cache.sqlite")]
        assert not left, left


def mutate(data, chance):
    data = bytearray(data)
    kind = chance.randrange(6)
    if kind == 0:
        return bytes(data[:chance.randrange(len(data))])
    if kind == 1:
        return bytes(chance.randrange(256) for _ in range(len(data)))
    if kind == 2:
        return bytes(len(data))
    if kind == 3:  # two pages change places
        a, b = (chance.randrange(len(data) // 4096) * 4096 for _ in range(2))
        data[a:a + 4096], data[b:b + 4096] = data[b:b + 4096], data[a:a + 4096]
    if kind >= 4:
        for _ in range(chance.randint(1, 40)):
            at = chance.randrange(len(data)) if kind == 4 else chance.randrange(len(data) // 4096) * 4096 + chance.randrange(110)
            data[at] = chance.randrange(256)
    return bytes(data)


def corrupted(seed):
    chance = random.Random(seed)
    with Place() as place:
        place.run()
        database = os.path.join(place.cache, "cache.sqlite")
        with open(database, "rb") as file:
            good = file.read()
        for _ in range(4):
            with open(database, "wb") as file:
                file.write(mutate(good, chance))
            for suffix in ("-journal", "-wal", "-shm"):
                if chance.randrange(4) == 0:
                    with open(database + suffix, "wb") as file:
                        file.write(mutate(good, chance))
            assert place.run().count("\n") <= 2
            place.run()


def sql(statement):
    """A sound database of another content."""
    def attack():
        with Place() as place:
            place.run(5)
            place.run(6)
            connection = sqlite3.connect(os.path.join(place.cache, "cache.sqlite"))
            connection.executescript(statement)
            connection.close()
            place.run(5)
            place.run(6)
    return attack


SWAPPED = """CREATE TEMP TABLE k AS SELECT key, row_number() OVER (ORDER BY key) n, count(*) OVER () c FROM entries;
UPDATE entries SET key = 'x' || (SELECT b.key FROM k a JOIN k b ON b.n = a.n % a.c + 1 WHERE a.key = entries.key);
UPDATE entries SET key = substr(key, 2);"""
SQL = {
    "keys rotated": SWAPPED,
    "bytes of the others": "UPDATE entries SET bytes = (SELECT bytes FROM entries ORDER BY key LIMIT 1)",
    "empty bytes": "UPDATE entries SET bytes = x''",
    "texts for bytes": "UPDATE entries SET bytes = 'text'",
    "numbers for bytes": "UPDATE entries SET bytes = 1.5, about = 7",
    "no table": "DROP TABLE entries",
    "another table": "DROP TABLE entries; CREATE TABLE entries(x)",
    "a view": "ALTER TABLE entries RENAME TO old; CREATE VIEW entries AS SELECT * FROM old",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
    "version 0": "PRAGMA user_version = 0",
    "version 99": "PRAGMA user_version = 99",
    "a log ahead": "PRAGMA journal_mode = WAL",
    "a mebibyte of garbage": "UPDATE entries SET bytes = randomblob(1048576)",
}


def refused(prepare, word):
    """`prepare` makes the cache's place unsafe: one warning that says why, the right result, nothing written."""
    with Place() as place:
        place.run()
        prepare(place)
        before = sorted((path, os.lstat(path).st_mtime_ns) for path in glob.glob(place.cache + "*/*"))
        said = place.run()
        assert said.count("\n") == 1 and "cache is off" in said and word in said, said
        assert before == sorted((path, os.lstat(path).st_mtime_ns) for path in glob.glob(place.cache + "*/*"))


def moved(make):
    def prepare(place):
        os.rename(place.cache, place.cache + ".real")
        make(place.cache + ".real", place.cache)
    return prepare


def planted(suffix, make):
    def prepare(place):
        target = os.path.join(place.cache, "cache.sqlite" + suffix)
        victim = place.path("victim")
        if os.path.exists(target):
            os.rename(target, victim)
        else:
            with open(victim, "wb") as file:
                file.write(b"precious")
        make(victim, target)
    return prepare


def file_mode(place):
    os.chmod(os.path.join(place.cache, "cache.sqlite"), 0o666)


def file_owner(place):
    os.chown(os.path.join(place.cache, "cache.sqlite"), STRANGER, STRANGER)


def above(mode, owner=0):
    def prepare(place):
        os.mkdir(place.path("above"), 0o700)
        os.rename(place.cache, place.path("above/cache"))
        place.cache = place.path("above/cache")
        os.chmod(place.path("above"), mode)
        if owner:
            os.chown(place.path("above"), owner, owner)
    return prepare


REFUSED = {
    "link to a folder": (moved(os.symlink), "symbolic link"),
    "pipe for the file": (planted("", lambda victim, target: os.mkfifo(target)), "regular file"),
    "folder for the file": (planted("", lambda victim, target: os.mkdir(target)), "regular file"),
    "file mode 0666": (file_mode, "0666"),
    "above mode 0777": (above(0o777), "not everyone"),
}
for _mode in (0o777, 0o1777, 0o770, 0o707, 0o755, 0o750):
    REFUSED[f"mode {_mode:04o}"] = (lambda place, m=_mode: os.chmod(place.cache, m), f"{_mode:04o}")
for _suffix in ("", "-journal", "-wal", "-shm"):
    REFUSED[f"link for cache.sqlite{_suffix}"] = (planted(_suffix, os.symlink), "symbolic link")
    REFUSED[f"second name of cache.sqlite{_suffix}"] = (planted(_suffix, os.link), "2 names")
AS_ROOT = {
    "folder of another user": (lambda place: os.chown(place.cache, STRANGER, STRANGER), f"user {STRANGER}"),
    "file of another user": (file_owner, f"user {STRANGER}"),
    "above of another user": (above(0o755, STRANGER), f"user {STRANGER}"),
}


def strangers_entry():
    """The first attack of all: another user fills a folder for all, and we come after him."""
    with Place() as place:
        os.chmod(place.folder.name, 0o755)
        os.mkdir(place.cache)
        os.chmod(place.cache, 0o777)
        place.line(5)
        os.mkdir(place.path("out5"))
        os.chmod(place.path("out5"), 0o777)
        theirs = place.start(5, user=STRANGER, group=STRANGER, extra_groups=[])
        said = theirs.communicate(timeout=60)[1]
        assert theirs.returncode == 0 and "cache is off" in said, said
        assert os.listdir(place.cache) == [], "expected nobody to use a folder for all"
        assert "cache is off" in place.run()


def private(mask):
    """What we make is ours alone, whatever the umask."""
    with Place() as place:
        place.line(5)
        os.mkdir(place.path("out5"))
        place.run(umask=mask)
        assert stat.S_IMODE(os.stat(place.cache).st_mode) == 0o700
        assert stat.S_IMODE(os.stat(os.path.join(place.cache, "cache.sqlite")).st_mode) == 0o600


def locked():
    with Place() as place:
        place.run()
        connection = sqlite3.connect(os.path.join(place.cache, "cache.sqlite"))
        connection.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        alone = place.run(5)
        seconds = time.monotonic() - began
        assert alone.count("\n") <= 1, alone
        connection.rollback()
        connection.close()
        began = time.monotonic()
        place.run(5)
        free = time.monotonic() - began
        assert seconds - free < 9, (seconds, free)  # it was 10 s more


def full():
    """A cache on a full disk."""
    with Place() as place:
        process = subprocess.Popen(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *place.line(5)],
                                   env=dict(ENVIRONMENT, TENON_CACHE_DIR=place.cache), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0, (process.returncode, said)
        place.run()


def gone():
    """The folder is removed while others use it."""
    with Place() as place:
        running = [place.start(size) for size in (3, 4, 5, 6)]
        for _ in range(20):
            shutil.rmtree(place.cache, ignore_errors=True)
            time.sleep(0.01)
        for process in running:
            said = process.communicate(timeout=60)[1]
            assert process.returncode == 0, said
        place.run()


def attacks():
    for seed in range(KILLED_GROUPS):
        yield f"killed {seed}", lambda s=seed: killed(s)
    for seed in range(15):
        yield f"corrupted {seed}", lambda s=seed: corrupted(s)
    for name, statement in SQL.items():
        yield f"sql {name}", sql(statement)
    for name, (prepare, word) in (REFUSED | (AS_ROOT if os.geteuid() == 0 else {})).items():
        yield f"refused {name}", lambda p=prepare, w=word: refused(p, w)
    for mask in (0, 0o022, 0o077):
        yield f"umask {mask:03o}", lambda m=mask: private(m)
    yield "locked", locked
    yield "full disk", full
    yield "folder removed", gone
    if os.geteuid() == 0:
        yield "a strangers entry", strangers_entry
